"""Hostile extensions, each beside a good one that works: the server stays quick, and small."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psutil
import pytest

from airboss.model.events import PromptAccepted, ToolEnded
from airboss.model.extension_events import (
    ExtensionEnded,
    ExtensionHooked,
    ExtensionRefused,
    ExtensionSaid,
)
from airboss.runtime.sweep import processes_of_extensions
from airboss.runtime.tools import OutsideCall
from tests.extensions.hosted import Hosted, is_alive, results_in, tools_in, until
from tests.heap import settle
from tests.service.house import ME
from tests.trials import sampled, whole_only

SHELL = f"call bash {json.dumps({'command': 'echo hi', 'description': 'x'})}"
# A machine that many share is slower than that; the first is what is meant.
LAG, SLACK = 0.1, 0.4
MEGABYTES = 20


@dataclass
class Strain:
    """The longest time that the event loop took for one round, and what memory grew by."""

    lag: float = 0.0
    grown: int = 0


@asynccontextmanager
async def unharmed(lag: float = LAG) -> AsyncGenerator[None]:
    """The server stays quick, and small."""
    strain, process = Strain(), psutil.Process()
    settle()
    before = process.memory_info().rss

    async def look() -> None:
        while True:
            began, worked = time.monotonic(), time.thread_time()
            await asyncio.sleep(0.01)
            took = time.monotonic() - began - 0.01
            # What others on the machine, and other threads, took is not the loop's.
            strain.lag = max(strain.lag, min(took, time.thread_time() - worked))

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
    strain.grown = (process.memory_info().rss - before) >> 20
    assert strain.lag < lag
    assert strain.grown < MEGABYTES


@pytest.fixture(scope="module", autouse=True)
async def warmed_up(shared: Hosted) -> None:
    """What a first session imports and keeps is not an extension's."""
    warm = shared.apart("warm")
    await warm.bring("good")
    session = await warm.open()
    await good_works(warm, session)
    await shared.house.sessions.close(session, ME)


async def good_works(hosted: Hosted, session: str) -> None:
    request = await hosted.ask(session, 'call echo {"text": "me"}')
    assert results_in(request)[-1] == "me"
    assert "The good extension was here." in str(request["messages"])


@pytest.mark.parametrize(
    ("name", "why"),
    sampled(
        4,
        [
            ("floods-stdout", "more than 1 MiB to its standard output"),
            ("frame-of-100-gb", "a message of 100,000,000,000 bytes"),
            ("crashes-at-import", "exit code 1: extension.py:4: KeyError"),
            ("floods-stdout-py", "more than 1 MiB to its standard output"),
            ("floods-stdout-lines", "more than 1 MiB to its standard output"),
            ("crashes-at-import-mjs", "exit code 1"),
        ],
    ),
)
async def test_what_floods_or_fails_at_its_start_ends(hosted: Hosted, name: str, why: str) -> None:
    await hosted.bring("good", f"hostile/{name}")
    async with unharmed():
        session = await hosted.open()
        await until(lambda: why in hosted.extension(session, name).reason)
        await good_works(hosted, session)
    first = (await hosted.said(session, ExtensionEnded))[0]
    assert first.crashed
    assert why in first.reason
    await hosted.house.sessions.close(session, ME)


@pytest.mark.parametrize(
    ("name", "call", "told"),
    sampled(
        2,
        [
            ("floods-stderr", "after_the_flood", "still here"),
            ("replies-a-gigabyte", "gigabyte", "It sent a message of 1,073,"),
            ("result-too-long", "far_too_much", "1,048,576 are the most"),
        ],
    ),
)
async def test_far_too_much_in_a_call_is_left_out(
    hosted: Hosted, name: str, call: str, told: str
) -> None:
    await hosted.bring("good", f"hostile/{name}")
    async with unharmed():
        session = await hosted.open()
        assert told in results_in(await hosted.ask(session, f"call {call} {{}}"))[-1]
        await good_works(hosted, session)
    assert len(hosted.extension(session, name).log.encode()) <= 64 << 10
    await hosted.house.sessions.close(session, ME)


@pytest.mark.parametrize("name", sampled(1, ["never-joins", "never-joins-mjs"]))
async def test_one_that_never_joins_keeps_nobody_waiting_for_long(
    hosted: Hosted, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airboss.extensions.extension.JOIN_SECONDS", 1.5)
    monkeypatch.setattr("airboss.extensions.host.JOIN_SECONDS", 1.5)
    await hosted.bring("good", f"hostile/{name}")
    async with unharmed():
        session = await hosted.open()
        await good_works(hosted, session)
    assert "did not join within" in hosted.extension(session, name).reason
    await hosted.house.sessions.close(session, ME)


async def test_one_that_never_answers_is_late_refused_and_started_again(
    hosted: Hosted,
) -> None:
    await hosted.bring("good", "hostile/never-answers")
    session = await hosted.open()
    hosted.host(session).hooks.seconds = 1.0
    async with unharmed():
        request = await hosted.ask(session, SHELL)
    assert "it did not answer within 1 s" in results_in(request)[-1]
    [hooked] = [one for one in await hosted.said(session, ExtensionHooked) if one.tool]
    assert (hooked.hook, hooked.outcome) == ("preToolUse", "late")
    await until(lambda: "It hangs" in hosted.extension(session, "never-answers").reason)
    await good_works(hosted, session)
    await until(lambda: hosted.extension(session, "never-answers").is_running)
    await hosted.house.sessions.close(session, ME)


async def test_one_that_is_late_and_awake_stays(hosted: Hosted) -> None:
    await hosted.bring("good", "hostile/never-answers-awake")
    session = await hosted.open()
    hosted.host(session).hooks.seconds = 0.5
    assert "did not answer" in results_in(await hosted.ask(session, SHELL))[-1]
    call = results_in(await hosted.ask(session, "call never_answers_awake {}"))[-1]
    assert "did not answer within 3 s" in call
    await asyncio.sleep(2.5)
    assert hosted.extension(session, "never-answers-awake").is_running
    assert [one for one in await hosted.said(session, ExtensionEnded) if one.crashed] == []
    await good_works(hosted, session)
    await hosted.house.sessions.close(session, ME)


@whole_only
async def test_a_hung_before_hook_refuses_at_fifteen_seconds(hosted: Hosted) -> None:
    await hosted.bring("hostile/never-answers-awake")
    session = await hosted.open()
    began = time.monotonic()
    turns = (await hosted.house.sessions.show(session)).turns
    await hosted.house.sessions.prompt(session, SHELL, ME)
    await hosted.house.until(session, "idle", turns=turns + 1, seconds=40)
    assert 15 <= time.monotonic() - began < 20
    [ended] = await hosted.said(session, ToolEnded)
    assert ended.error
    assert "it did not answer within 15 s" in ended.error.message


async def test_one_that_never_reads_loses_events_first_and_ends_at_last(hosted: Hosted) -> None:
    await hosted.bring("good", "hostile/never-reads")
    session = await hosted.open()
    one = hosted.extension(session, "never-reads")
    await hosted.host(session).ready()
    event = {"type": "session.idle", "id": "e", "data": {"pad": "x" * 100_000}}
    for _ in range(100):
        one.tell(event)
    assert one.is_running  # events are dropped
    calls: list[asyncio.Task[object]] = []
    for number in range(100):
        arguments = {"pad": "x" * 200_000, "number": number}
        call = OutsideCall(f"r{number}", f"c{number}", "never_reads", arguments)
        calls.append(asyncio.create_task(one.call(one.joined.tools["never_reads"], call)))
    await until(lambda: "8 MiB unread" in one.reason)
    for waiting in calls:
        waiting.cancel()
    # What its own hooks would see is refused meanwhile; the hook of the good one is asked.
    hosted.host(session).hooks.seconds = 0.5
    async with unharmed():
        assert "The good extension was here." in str((await hosted.ask(session))["messages"])
    await hosted.house.sessions.close(session, ME)


@pytest.mark.parametrize("name", sampled(1, ["logs-without-end", "logs-at-once"]))
async def test_ten_thousand_logs_become_a_few(hosted: Hosted, name: str) -> None:
    await hosted.bring("good", f"hostile/{name}")
    session = await hosted.open()
    began = time.monotonic()
    async with unharmed(SLACK):
        if name == "logs-without-end":
            assert results_in(await hosted.ask(session, "call log_a_lot {}"))[-1] == "logged"
        await good_works(hosted, session)
        async with asyncio.timeout(60):
            while not await hosted.said(session, ExtensionSaid):  # noqa: ASYNC110 - no event for it
                await asyncio.sleep(0.1)
    took = time.monotonic() - began
    said = await hosted.said(session, ExtensionSaid)
    assert 0 < len(said) <= 50 * (took + 2)
    assert all(len(one.text) <= 4_100 for one in said)
    await hosted.house.sessions.close(session, ME)


async def test_one_that_sends_for_ever_is_stopped_at_ten(hosted: Hosted) -> None:
    await hosted.bring("good", "hostile/sends-for-ever")
    session = await hosted.open()

    async def sent() -> int:
        accepted = await hosted.said(session, PromptAccepted)
        return sum(1 for one in accepted if one.who == "extension sends-for-ever")

    async with unharmed(), asyncio.timeout(60):
        await hosted.ask(session)
        while await sent() < 10:  # noqa: ASYNC110 - there is no event for this
            await asyncio.sleep(0.1)
    await asyncio.sleep(1)
    assert await sent() == 10
    await hosted.house.until(session, "idle")
    await hosted.house.sessions.close(session, ME)


async def test_names_that_others_have_are_refused(hosted: Hosted) -> None:
    named = ("bash", "rg", "extensions-reload", "with-a-space", "twice-a", "twice-b")
    await hosted.bring("good", *(f"hostile/named-{name}" for name in named))
    async with unharmed():
        session = await hosted.open()
        shown = await hosted.shown(session)
    states = {name.removeprefix("named-"): one.state for name, one in shown.items()}
    failed = dict.fromkeys(("bash", "rg", "extensions-reload", "with-a-space", "twice-b"), "failed")
    assert states == {"good": "running", "twice-a": "running", **failed}
    refused = {one.name: one.reason for one in await hosted.said(session, ExtensionRefused)}
    assert "the agent runtime already uses" in refused["named-bash"]
    assert "the agent runtime already uses" in refused["named-rg"]
    assert "Airboss already uses" in refused["named-extensions-reload"]
    assert "use 1 to 64 letters" in refused["named-with-a-space"]
    assert "the extension named-twice-a already uses" in refused["named-twice-b"]
    await good_works(hosted, session)
    request = await hosted.ask(session, SHELL)
    assert "hi" in results_in(request)[-1]
    assert tools_in(request).count("bash") == 1
    assert results_in(await hosted.ask(session, "call wanted_by_two {}"))[-1] == "a"
    await hosted.house.sessions.close(session, ME)


async def test_answers_that_mean_nothing_refuse_a_call_and_are_passed_over_elsewhere(
    hosted: Hosted,
) -> None:
    await hosted.bring("good", "hostile/answers-oddly")
    session = await hosted.open()
    assert "could not check this call" in results_in(await hosted.ask(session, SHELL))[-1]
    failed = [one.hook for one in await hosted.said(session, ExtensionHooked)]
    assert {"preToolUse", "userPromptSubmitted"} <= set(failed)
    await hosted.house.sessions.close(session, ME)


ODD_JSON = """
// A text cut in the middle of a character, a number that is none, and a list in lists.
import { joinSession } from "@github/copilot-sdk/extension";
const deep = (levels) => (levels ? [deep(levels - 1)] : []);

await joinSession({
    tools: [
        { name: "half", description: "x", handler: async () => "owl \\u{1f989}".slice(0, 5) },
        {
            name: "typeless",
            description: "x",
            parameters: { properties: { most: { type: "number", maximum: 1 / 3 } } },
            handler: async () => ({ textResultForLlm: "x", resultType: ["success"] }),
        },
    ],
    hooks: {
        onPreToolUse: async ({ toolArgs }) =>
            toolArgs.command === "deep" ? { modifiedArgs: { command: "x", deep: deep(200) } } : {},
    },
});
"""


async def test_what_the_runtime_could_not_read_stops_no_turn(hosted: Hosted) -> None:
    await hosted.bring("good")
    await hosted.add("odd", ODD_JSON, "extension.mjs")
    session = await hosted.open()
    assert (
        results_in(await hosted.ask(session, "call half {}"))[-1] == "owl \N{REPLACEMENT CHARACTER}"
    )
    assert "success" in results_in(await hosted.ask(session, "call typeless {}"))[-1]
    deep = f"call bash {json.dumps({'command': 'deep', 'description': 'x'})}"
    told = results_in(await hosted.ask(session, deep))[-1]
    assert "could not check this call" in told
    assert "more than 100 levels deep" in told
    await until(lambda: hosted.extension(session, "odd").is_running)
    await good_works(hosted, session)
    await hosted.house.sessions.close(session, ME)


async def test_one_that_only_ends_is_not_said_to_have_said_why(hosted: Hosted) -> None:
    await hosted.add("brief", "process.exit(5);", "extension.mjs")
    session = await hosted.open()
    await until(lambda: hosted.extension(session, "brief").reason)
    assert hosted.extension(session, "brief").reason == "It ended with exit code 5."
    await hosted.house.sessions.close(session, ME)


async def test_one_that_leaves_many_times_has_left_once(hosted: Hosted) -> None:
    await hosted.add(
        "leaver",
        """
        @tool
        async def leave() -> str:
            "Leaves."
            await asyncio.gather(*(session.detach() for _ in range(100)))
        """,
    )
    session = await hosted.open()
    await hosted.ask(session, "call leave {}")
    await until(lambda: hosted.extension(session, "leaver").state == "stopped")
    [ended] = await hosted.said(session, ExtensionEnded)
    assert (ended.reason, ended.crashed) == ("It has left the session.", False)
    await hosted.house.sessions.close(session, ME)


async def test_one_that_closes_its_streams_keeps_no_call_waiting(hosted: Hosted) -> None:
    await hosted.bring("good")
    await hosted.add(
        "deaf",
        """
        import { closeSync } from "node:fs";
        import { joinSession } from "@github/copilot-sdk/extension";

        await joinSession({
            tools: [
                {
                    name: "close_it",
                    description: "x",
                    handler: async () => {
                        closeSync(1);
                        await new Promise((done) => setTimeout(done, 60_000));
                    },
                },
            ],
        });
        """,
        "extension.mjs",
    )
    session = await hosted.open()
    began = time.monotonic()
    told = results_in(await hosted.ask(session, "call close_it {}"))[-1]
    assert "The extension deaf failed: It closed its standard output" in told
    assert time.monotonic() - began < 20
    await good_works(hosted, session)
    await hosted.house.sessions.close(session, ME)


async def test_one_that_starts_too_many_processes_is_ended_with_all_of_them(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airboss.extensions.room.MOST_PROCESSES", 4)
    room = hosted.host(await hosted.open()).room
    await hosted.bring("good")
    await hosted.add(
        "breeds",
        """
        import subprocess
        @tool
        def breed() -> str:
            "x"
            for _ in range(6):
                started = subprocess.Popen(["/bin/sleep", "61"], start_new_session=True, env={})
                note("bred", started.pid)
            time.sleep(30)
            return "many"
        """,
    )
    room.look_seconds = 0.2
    try:
        session = await hosted.open()
        await hosted.host(session).ready()
        mark = hosted.extension(session, "breeds").mark
        result = results_in(await hosted.ask(session, "call breed {}"))[-1]
        assert "processes; 4 are the most" in result
        await until(lambda: mark not in processes_of_extensions())
        bred = [int(pid) for pid in hosted.noted("bred")]
        await until(lambda: not [pid for pid in bred if is_alive(pid)])
        await good_works(hosted, session)
    finally:
        room.look_seconds = 2.0
    await hosted.house.sessions.close(session, ME)


async def test_one_that_eats_memory_is_ended(hosted: Hosted) -> None:
    room = hosted.host(await hosted.open()).room
    await hosted.bring("good", "hostile/eats-memory")
    memory, room.memory, room.look_seconds = room.memory, 150 << 20, 0.1
    try:
        session = await hosted.open()
        async with unharmed():
            result = results_in(await hosted.ask(session, "call eat {}"))[-1]
            assert "MiB of memory; 150 are the most" in result
            await good_works(hosted, session)
    finally:
        room.memory, room.look_seconds = memory, 2.0
    await hosted.house.sessions.close(session, ME)
