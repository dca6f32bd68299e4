"""Requests as the real runtime makes them, and what rules make of those [PERM]."""

from airboss.harness.rules import holds, suggest
from airboss.model.rules import Rule
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from airboss.runtime.signals import TurnIdle
from tests.runtime.conftest import Flight, Listener


async def wished(flight: Flight, listener: Listener, *prompts: str) -> list[PermissionRequest]:
    """What is asked for; nothing of it is done."""
    listener.answer = PermissionAnswer(allowed=False, reason="Not now.")
    session = await flight.session(listener)
    for prompt in prompts:
        listener.told.clear()
        await session.send(prompt)
        await listener.until(TurnIdle)
    return listener.permissions


async def test_a_command_is_told_with_its_parts_but_not_with_what_it_touches(
    flight: Flight, listener: Listener
) -> None:
    """Why rules read the text of a command themselves: nothing tells of `>` or of files."""
    commands = ("echo a && echo b > out", "cat /etc/hosts; curl https://example.com", "x $(y z)")
    several = await wished(flight, listener, *(f"shell {command}" for command in commands))
    assert [asked_for.command for asked_for in several] == list(commands)
    parts = [
        [part["fullCommandText"] for part in asked_for.raw["commandSegments"]]
        for asked_for in several
    ]
    assert parts == [["echo a", "echo b"], ["cat /etc/hosts", "curl https://example.com"], parts[2]]
    assert parts[2][-1] == "y z"
    assert [(asked_for.paths, asked_for.raw["possibleUrls"]) for asked_for in several] == [
        ((), [])
    ] * 3
    assert [asked_for.raw["hasWriteFileRedirection"] for asked_for in several] == [False] * 3
    echo = Rule(verdict="allow", wish="shell", command="echo *")
    assert not any(holds(echo, asked_for, flight.folder) for asked_for in several)
    hosts = Rule(verdict="deny", path="/etc/hosts")
    assert [holds(hosts, asked_for, flight.folder) for asked_for in several] == [False, True, False]


async def test_what_is_suggested_for_a_real_wish_holds_for_it_and_for_no_other(
    flight: Flight, listener: Listener
) -> None:
    folder = flight.folder
    permissions = await wished(
        flight,
        listener,
        "shell echo one",
        "shell echo one; echo two",
        f'call create {{"path": "{folder}/one", "file_text": "x"}}',
        f'call create {{"path": "{folder}/two", "file_text": "x"}}',
        f'call view {{"path": "{folder}/../one"}}',
        'call web_fetch {"url": "https://example.com/one"}',
    )
    assert [asked_for.kind for asked_for in permissions] == [
        "shell",
        "shell",
        "write",
        "write",
        "read",
        "url",
    ]
    rules = [suggest(asked_for, folder) for asked_for in permissions]
    held = [
        [bool(rule and holds(rule, asked_for, folder)) for asked_for in permissions]
        for rule in rules
    ]
    assert held == [[row == column for column in range(6)] for row in range(6)]
