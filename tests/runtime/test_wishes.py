"""Wishes as the real runtime makes them, and what rules make of those [PERM]."""

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
    return listener.wishes


async def test_a_command_is_told_with_its_parts_but_not_with_what_it_touches(
    flight: Flight, listener: Listener
) -> None:
    """Why rules read the text of a command themselves: nothing tells of `>` or of files."""
    commands = ("echo a && echo b > out", "cat /etc/hosts; curl https://example.com", "x $(y z)")
    several = await wished(flight, listener, *(f"shell {command}" for command in commands))
    assert [wish.command for wish in several] == list(commands)
    parts = [[part["fullCommandText"] for part in wish.raw["commandSegments"]] for wish in several]
    assert parts == [["echo a", "echo b"], ["cat /etc/hosts", "curl https://example.com"], parts[2]]
    assert parts[2][-1] == "y z"
    assert [(wish.paths, wish.raw["possibleUrls"]) for wish in several] == [((), [])] * 3
    assert [wish.raw["hasWriteFileRedirection"] for wish in several] == [False] * 3
    echo = Rule(verdict="allow", wish="shell", command="echo *")
    assert not any(holds(echo, wish, flight.folder) for wish in several)
    hosts = Rule(verdict="deny", path="/etc/hosts")
    assert [holds(hosts, wish, flight.folder) for wish in several] == [False, True, False]


async def test_what_is_suggested_for_a_real_wish_holds_for_it_and_for_no_other(
    flight: Flight, listener: Listener
) -> None:
    folder = flight.folder
    wishes = await wished(
        flight,
        listener,
        "shell echo one",
        "shell echo one; echo two",
        f'call create {{"path": "{folder}/one", "file_text": "x"}}',
        f'call create {{"path": "{folder}/two", "file_text": "x"}}',
        f'call view {{"path": "{folder}/../one"}}',
        'call web_fetch {"url": "https://example.com/one"}',
    )
    assert [wish.kind for wish in wishes] == ["shell", "shell", "write", "write", "read", "url"]
    rules = [suggest(wish, folder) for wish in wishes]
    held = [[bool(rule and holds(rule, wish, folder)) for wish in wishes] for rule in rules]
    assert held == [[row == column for column in range(6)] for row in range(6)]
