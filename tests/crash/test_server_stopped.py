"""The server is stopped in order, in the middle of everything: exit 0, in time, nothing left."""

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Generator
from typing import Any

import httpx2
import psutil
import pytest

from tests.crash.marks import left_of, owner_of, running, soon
from tests.crash.witness import ask, follow, read_all, show, start_session, until
from tests.portal import Portal
from tests.trials import sampled

pytestmark = [pytest.mark.anyio, pytest.mark.timed]

STOP_SECONDS = 5


async def ended(portal: Portal) -> float:
    """How long the server takes from here; it ends with 0 and leaves nothing."""
    began = time.monotonic()
    code = await asyncio.to_thread(portal.process.wait, STOP_SECONDS)
    took = time.monotonic() - began
    assert code == 0, portal.log
    assert left_of(portal) == []
    assert not (portal.data / "server.json").exists()
    assert "Traceback" not in portal.log, portal.log
    return took


async def busy(portal: Portal, client: httpx2.AsyncClient) -> list[str]:
    """A turn that streams, one that runs a shell command, and a session that rests."""
    talking, running_shell, resting = [await start_session(client, portal.work) for _ in range(3)]
    await ask(client, talking, "wait for it")
    await ask(client, running_shell, f"shell sleep {portal.pid}.5")
    await until(client, talking, "message.delta")
    await until(client, running_shell, "tool.started")
    assert soon(lambda: running(f"sleep {portal.pid}.5"))
    return [talking, running_shell, resting]


def detached(command: str) -> str:
    """What an agent is asked to run that then outlives its shell."""
    return f"shell sh -c 'setsid nohup {command} >/dev/null 2>&1 &'"


@pytest.fixture
def neighbour() -> Generator["subprocess.Popen[bytes]"]:
    """A process of somebody else."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


async def viewer(client: httpx2.AsyncClient, session: str) -> list[dict[str, Any]]:
    return [recorded async for recorded in follow(client, session)]


async def live(client: httpx2.AsyncClient, session: str) -> list[dict[str, Any]]:
    """All that `live` gives until it says that this is all, or nobody is there any more."""
    told: list[dict[str, Any]] = []
    with contextlib.suppress(httpx2.HTTPError):
        while not told or set(told[-1]) != {"error"}:
            told.append((await client.get(f"/api/copilot/session/{session}/live")).json())
    return told


@pytest.mark.parametrize(
    "how", sampled(1, ["SIGTERM", "SIGINT", "SIGHUP", "api/stop", "airboss stop"])
)
async def test_a_stop_in_the_middle_of_everything_ends_all_of_it(portal: Portal, how: str) -> None:
    async with portal.client() as client:
        sessions = await busy(portal, client)
        async with asyncio.TaskGroup() as group:
            viewers = [group.create_task(viewer(client, session)) for session in sessions]
            callers = [group.create_task(live(client, session)) for session in sessions]
            await asyncio.sleep(0.3)
            began = time.monotonic()
            match how:
                case "api/stop":
                    assert (await client.get("/api/stop")).json() == {}
                case "airboss stop":
                    told = await asyncio.to_thread(portal.run, "stop", "--yes")
                    assert told.returncode == 0, told.stderr
                case _:
                    portal.process.send_signal(signal.Signals[how])
            await ended(portal)
        assert time.monotonic() - began < STOP_SECONDS
    for seen in viewers:
        kinds = [recorded["event"]["kind"] for recorded in seen.result()]
        assert kinds[-1] == "session.interrupted", "viewers are told, then the stream ends"
    assert running(f"sleep {portal.pid}.5") == []
    portal.start()
    async with portal.client() as client:
        for session, caller in zip(sessions, callers, strict=True):
            told = [*caller.result(), *await live(client, session)]
            assert any("SessionInterrupted" in answer.get("sessionError", "") for answer in told)
            assert {"error": "SessionClosed"} in told, "what was not read in time is read later"


@pytest.mark.parametrize("number", sampled(1, [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
async def test_an_impatient_person_does_not_cut_off_the_end(
    portal: Portal, number: signal.Signals
) -> None:
    async with portal.client() as client:
        await busy(portal, client)
        ending = asyncio.create_task(ended(portal))
        while not ending.done():
            portal.process.send_signal(number)
            await asyncio.sleep(0.01)
        await ending


async def test_after_a_stop_every_session_is_interrupted_and_goes_on_with_its_history(
    portal: Portal,
) -> None:
    async with portal.client() as client:
        sessions = await busy(portal, client)
        await asyncio.sleep(1)
    portal.process.send_signal(signal.SIGTERM)
    await ended(portal)
    portal.start()
    async with portal.client() as client:
        for session in sessions:
            assert (await show(client, session))["state"] == "interrupted"
            before = await read_all(client, session)
            answer = await client.post(f"/api/v1/sessions/{session}/resume")
            assert answer.status_code == 200, answer.text
            receipt = await ask(client, session, "say something")
            await until(client, session, "session.idle", receipt["seq"])
            after = await read_all(client, session)
            assert after[: len(before)] == before


async def test_a_stop_while_a_session_starts_ends_in_time_and_tells_its_caller(
    portal: Portal,
) -> None:
    async def start() -> int:
        try:
            asked = {"model": "rehearsal", "cwd": str(portal.work)}
            return (await client.post("/api/v1/sessions", json=asked)).status_code
        except httpx2.HTTPError:
            return 0

    async with portal.client() as client, asyncio.TaskGroup() as group:
        starts = [group.create_task(start()) for _ in range(5)]
        await asyncio.sleep(0.08)
        portal.process.send_signal(signal.SIGTERM)
        await ended(portal)
    assert {task.result() for task in starts} <= {0, 201, 409, 503}
    portal.start()
    async with portal.client() as client:
        listed = (await client.get("/api/v1/sessions")).json()["items"]
        assert {session["state"] for session in listed} <= {"interrupted", "closed"}


@pytest.mark.parametrize("seconds", sampled(2, [0.1, 0.3, 0.0]))
async def test_a_stop_in_the_first_moments_of_a_server_is_heard(
    portal: Portal, seconds: float
) -> None:
    portal.stop()
    words = ["serve", "--port", "0", "--rehearsal", str(portal.folder / "script.yaml")]
    process = portal.launch(words, portal.folder / "serve.log")
    await asyncio.sleep(seconds)
    process.send_signal(signal.SIGTERM)
    code = await asyncio.to_thread(process.wait, STOP_SECONDS)
    # Before its first line of code runs, a process knows no signal of ours.
    assert code in (0, -signal.SIGTERM)
    assert left_of(portal) == []


async def test_a_runtime_that_hangs_does_not_hold_the_stop_up(portal: Portal) -> None:
    async with portal.client() as client:
        await busy(portal, client)
        pid = (await client.get("/api/v1/status")).json()["runtime"]["pid"]
        os.kill(pid, signal.SIGSTOP)
        portal.process.send_signal(signal.SIGTERM)
        await ended(portal)
    assert not psutil.pid_exists(pid)


async def test_what_detached_itself_goes_with_an_orderly_stop(portal: Portal) -> None:
    words = f"sleep {portal.pid}.75"
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        receipt = await ask(
            client, session, f"shell sh -c 'setsid nohup {words} >/dev/null 2>&1 &'"
        )
        await until(client, session, "session.idle", receipt["seq"])
        assert soon(lambda: running(words))
    portal.process.send_signal(signal.SIGTERM)
    await ended(portal)
    assert running(words) == []


async def test_what_detached_itself_and_outlived_a_kill_is_swept_by_the_next_start(
    portal: Portal, neighbour: "subprocess.Popen[bytes]"
) -> None:
    words = f"sleep {portal.pid}.25"
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        receipt = await ask(client, session, detached(words))
        await until(client, session, "session.idle", receipt["seq"])
    assert soon(lambda: running(words))
    [survivor] = running(words)
    environ = psutil.Process(survivor).environ()
    assert environ["COPILOT_AGENT_SESSION_ID"] == session
    assert environ["AIRBOSS_OWNER"] == owner_of(portal)
    # All who would have ended it go at once.
    portal.process.send_signal(signal.SIGSTOP)
    for child in psutil.Process(portal.pid).children():
        child.kill()
    portal.kill()
    await asyncio.sleep(0.5)
    assert running(words) == [survivor], "nobody is there to sweep it"
    portal.start()
    assert running(words) == []
    assert neighbour.poll() is None
