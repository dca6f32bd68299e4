"""Extensions that are opened, reloaded and closed at awkward moments: nobody waits for ever, no
process is left, and no guard is forgotten."""

import asyncio
import json
import shutil

import psutil
import pytest

from airboss.extensions.extension import HostedExtension
from airboss.extensions.hooks import ExtensionHooks
from airboss.extensions.host import ExtensionHost
from airboss.model.extension_events import ExtensionHooked
from airboss.runtime.sweep import processes_of_extensions
from tests.extensions.hosted import GOOD, Hosted, results_in, tools_in, until
from tests.service.house import ME

SHELL = f"call bash {json.dumps({'command': 'echo hi', 'description': 'x'})}"
# Says what the SDK would never say.
RAW = """
const framed = (text) => `Content-Length: ${Buffer.byteLength(text)}\\r\\n\\r\\n${text}`;
const said = (id, method, params) =>
  framed(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`);
setInterval(() => {}, 1000);
"""
LEAVES_AT_ONCE = """
process.stdout.write(said(1, "session.resume", "{}") + said(2, "session.detach", "{}"));
"""
TOO_MANY_SECONDS = """
const tool = `{"name": "endless", "description": "x", "seconds": 1${"0".repeat(400)}}`;
process.stdout.write(said(1, "session.resume", `{"tools": [${tool}]}`));
"""
NO_NUMBER = """
const tool = `{"name": "endless", "description": "x", "seconds": NaN}`;
process.stdout.write(said(1, "session.resume", `{"tools": [${tool}]}`));
"""
SLOW = "time.sleep(0.5)\n" + GOOD


def own_processes() -> set[str]:
    """By mark. Other tests run extensions at the same time."""
    children = {child.pid for child in psutil.Process().children()}
    return {mark for mark, pids in processes_of_extensions().items() if children & {*pids}}


async def with_slow_one(hosted: Hosted) -> tuple[str, ExtensionHost, HostedExtension]:
    """A session, and its one extension, which takes its time to start and is there now."""
    await hosted.add("slow", SLOW)
    session = await hosted.open()
    host = hosted.host(session)
    await host.ready()
    [one] = host.extensions
    return session, host, one


async def being_stopped(one: HostedExtension) -> None:
    while one.state != "stopped":  # noqa: ASYNC110 - the very moment
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("text", "state"),
    [(LEAVES_AT_ONCE, "stopped"), (TOO_MANY_SECONDS, "running"), (NO_NUMBER, "running")],
    ids=["leaves at once", "far too many seconds", "no number of seconds"],
)
async def test_whatever_one_says_as_it_joins_nobody_waits_for_it_for_ever(
    hosted: Hosted, text: str, state: str
) -> None:
    await hosted.add("odd", RAW + text, "extension.mjs")
    session = await hosted.open()
    async with asyncio.timeout(30):
        await hosted.host(session).ready()
    assert (await hosted.shown(session))["odd"].state == state
    assert "hi" in results_in(await hosted.ask(session, SHELL))[-1]
    await hosted.house.sessions.close(session, ME)


async def test_a_close_during_a_reload_leaves_no_process(hosted: Hosted) -> None:
    before = own_processes()
    session, host, former = await with_slow_one(hosted)
    reloading = asyncio.create_task(host.reload())
    await being_stopped(former)
    await host.stop()
    await reloading
    await host.reload()
    assert own_processes() <= before
    await hosted.house.sessions.close(session, ME)


async def test_a_reload_during_the_opening_leaves_one_process_of_each(hosted: Hosted) -> None:
    session, running, _ = await with_slow_one(hosted)
    before = own_processes()
    host = ExtensionHost(running.room, running.door)
    host.begin()
    async with asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(host.reload())
    await host.ready()
    [one] = host.extensions
    assert one.is_running
    assert own_processes() - before == {one.mark}
    await host.stop()
    assert own_processes() <= before
    await hosted.house.sessions.close(session, ME)


async def test_a_reload_that_nobody_waits_for_any_more_is_finished(hosted: Hosted) -> None:
    session, host, former = await with_slow_one(hosted)
    reloading = asyncio.create_task(host.reload())
    await being_stopped(former)
    reloading.cancel()
    await until(lambda: [one for one in host.extensions if one.is_running and one is not former])
    assert former.mark not in processes_of_extensions()
    await hosted.house.sessions.close(session, ME)


async def test_a_guard_that_cannot_start_again_still_guards_after_a_reload(hosted: Hosted) -> None:
    await hosted.add(
        "guard",
        """
        if (HERE / "broken").exists():
            sys.exit(1)
        @hook.pre_tool_use(tools=["bash"])
        def check(use):
            return None
        """,
    )
    session = await hosted.open()
    assert "hi" in results_in(await hosted.ask(session, SHELL))[-1]
    (hosted.notes / "broken").touch()
    try:
        await hosted.house.sessions.reload_extensions(session)
        assert "could not check this call" in results_in(await hosted.ask(session, SHELL))[-1]
        await hosted.house.sessions.reload_extensions(session)
        assert "could not check this call" in results_in(await hosted.ask(session, SHELL))[-1]
    finally:
        (hosted.notes / "broken").unlink()
    # The version that joins says what it watches over.
    await hosted.add("guard", GOOD)
    await hosted.house.sessions.reload_extensions(session)
    assert "hi" in results_in(await hosted.ask(session, SHELL))[-1]
    await hosted.house.sessions.close(session, ME)


async def test_the_last_hooks_of_all_extensions_have_their_time(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airboss.runtime.session._CLOSE_SECONDS", 0.1)
    for name in ("one", "two"):
        await hosted.add(
            name,
            """
            @hook.session_end
            async def over(ended):
                await asyncio.sleep(0.5)
                return "done"
            """,
        )
    session = await hosted.open()
    await hosted.ask(session)
    hooks: ExtensionHooks = hosted.host(session).hooks
    hooks.seconds = 0.75
    assert hooks.seconds_of("sessionEnd") == 1.5
    await hosted.house.sessions.close(session, ME)
    ended = [one for one in await hosted.said(session, ExtensionHooked) if one.hook == "sessionEnd"]
    assert [(one.name, one.outcome) for one in ended] == [("one", "changed"), ("two", "changed")]


async def test_tools_come_and_go_in_a_session_that_was_opened_without(hosted: Hosted) -> None:
    session = await hosted.open()
    assert "good" not in tools_in(await hosted.ask(session))
    folder = await hosted.add("good", GOOD)
    await hosted.host(session).reload()
    assert results_in(await hosted.ask(session, 'call good {"word": "day"}'))[-1] == "good day"
    shutil.rmtree(folder)
    await hosted.host(session).reload()
    assert "good" not in tools_in(await hosted.ask(session))
    await hosted.add("good", GOOD)
    await hosted.host(session).reload()
    assert "good" in tools_in(await hosted.ask(session))
    await hosted.house.sessions.close(session, ME)
