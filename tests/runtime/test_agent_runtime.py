"""The runtime dies, hangs, is missing or is stopped; the real one, by real signals."""

import asyncio
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from airboss.errors import NotSignedIn, RuntimeMissing, RuntimeUnavailable
from airboss.model.events import MessageDelta, MessageEnded, ToolEnded, ToolStarted
from airboss.runtime.agent_runtime import Runtime, RuntimePlan
from airboss.runtime.copilot_models import CopilotModel
from airboss.runtime.locate import CLI_VERSION
from airboss.runtime.signals import RuntimeLost, TurnIdle
from airboss.runtime.sweep import CHILDREN
from tests.runtime.conftest import Flight, Listener, running, soon

pytestmark = pytest.mark.anyio


async def test_the_runtime_starts_when_it_is_asked_and_says_what_it_is(flight: Flight) -> None:
    assert flight.runtime.pid is None
    status = await flight.runtime.status()
    assert (status.version, status.protocol) == (CLI_VERSION, 3)
    assert status.pid == flight.runtime.pid
    assert oct(flight.runtime.plan.home.stat().st_mode)[-3:] == "700"


async def test_many_who_ask_at_once_share_one_process(flight: Flight) -> None:
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(flight.runtime.status()) for _ in range(5)]
    assert len({task.result().pid for task in asked}) == 1
    assert flight.runtime.starts == 1


@pytest.mark.timed
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_runtime_that_dies_or_hangs_in_a_turn_is_noticed_within_two_seconds(
    flight: Flight, listener: Listener, how: signal.Signals
) -> None:
    session = await flight.session(listener)
    await session.send("wait one two")
    await listener.until(MessageDelta)
    first = flight.runtime.pid
    assert first is not None
    await asyncio.sleep(0.45)  # anywhere in the watchdog's round

    began = time.monotonic()
    os.kill(first, how)
    lost = await listener.until(RuntimeLost)
    assert time.monotonic() - began < 2
    assert "agent runtime" in lost.reason
    ended = listener.all(MessageEnded)
    assert [(end.text, end.cut) for end in ended] == [("one two ", True)]
    assert listener.told[-1] is lost
    with pytest.raises(RuntimeUnavailable):
        await session.send("say more")
    await session.close()

    again = Listener()
    later = await flight.session(again)
    await later.send("say here")
    assert await again.until(TurnIdle) == TurnIdle(aborted=False)
    assert flight.runtime.pid != first
    assert not psutil.pid_exists(first)
    await later.close()


async def test_all_sessions_of_a_dead_runtime_are_told(flight: Flight) -> None:
    listeners = [Listener() for _ in range(4)]
    for listener in listeners:
        session = await flight.session(listener)
        await session.send("wait one")
    for listener in listeners:
        await listener.until(MessageDelta)
    assert flight.runtime.pid is not None
    os.kill(flight.runtime.pid, signal.SIGKILL)
    for listener in listeners:
        await listener.until(RuntimeLost)


@pytest.mark.timed
async def test_a_question_that_is_open_when_the_runtime_hangs_ends_with_words(
    flight: Flight,
) -> None:
    running = await flight.runtime.process()
    assert running.pid is not None
    os.kill(running.pid, signal.SIGSTOP)
    process = psutil.Process(running.pid)
    assert await soon(lambda: process.status() == psutil.STATUS_STOPPED)
    began = time.monotonic()
    with pytest.raises(RuntimeUnavailable, match="stopped responding"):
        await running.ask(running.client.get_status())
    assert time.monotonic() - began < 2
    assert (await flight.runtime.status()).starts == 2


async def test_a_question_to_a_runtime_that_just_died_is_answered_by_the_next(
    flight: Flight,
) -> None:
    for _ in range(5):
        before = await flight.runtime.status()
        assert before.pid is not None
        os.kill(before.pid, signal.SIGKILL)
        assert (await flight.runtime.status()).starts == before.starts + 1


async def test_what_a_dead_runtime_left_running_is_gone_before_the_next_one_starts(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("shell sleep 4711.25")
    await listener.until(ToolStarted)
    assert await soon(lambda: running("sleep 4711.25"))
    assert flight.runtime.pid is not None
    os.kill(flight.runtime.pid, signal.SIGKILL)
    await flight.runtime.status()
    assert running("sleep 4711.25") == []
    [ended] = listener.all(ToolEnded)
    assert ended.cut
    assert ended.error is not None


@pytest.mark.timed
async def test_a_runtime_that_hangs_while_it_says_much_is_noticed_in_time_too(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("flood 20000")
    await listener.until(MessageDelta)
    assert flight.runtime.pid is not None
    began = time.monotonic()
    os.kill(flight.runtime.pid, signal.SIGSTOP)
    await listener.until(RuntimeLost)
    assert time.monotonic() - began < 2


async def test_our_own_slowness_is_not_blamed_on_the_runtime(flight: Flight) -> None:
    await flight.runtime.status()
    first = flight.runtime.pid
    for _ in range(2):
        time.sleep(1.5)  # noqa: ASYNC251  # the loop is held, on purpose
        await asyncio.sleep(0.1)
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(2))
    sleepers = [loop.run_in_executor(None, time.sleep, 1.0) for _ in range(4)]
    await asyncio.wait(sleepers)
    await asyncio.sleep(0.5)
    assert flight.runtime.pid == first


async def test_restarts_leave_no_task_no_child_and_no_open_file(flight: Flight) -> None:
    async def die() -> None:
        await flight.runtime.status()
        assert flight.runtime.pid is not None
        os.kill(flight.runtime.pid, signal.SIGKILL)
        assert await soon(lambda: flight.runtime.pid is None)
        await flight.runtime.status()

    await die()
    ours = psutil.Process()
    before = (len(asyncio.all_tasks()), len(ours.children()), ours.num_fds())
    for _ in range(5):
        await die()
    assert await soon(lambda: len(asyncio.all_tasks()) <= before[0])
    assert len(ours.children()) == before[1]
    assert ours.num_fds() <= before[2] + 2
    assert len(CHILDREN.known) == 1


@pytest.mark.timed
async def test_stop_leaves_nothing_and_comes_within_two_seconds(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("shell sleep 4712.25")
    assert await soon(lambda: running("sleep 4712.25"))
    pid = flight.runtime.pid
    assert pid is not None
    began = time.monotonic()
    await flight.runtime.stop()
    assert time.monotonic() - began < 2
    assert not psutil.pid_exists(pid)
    assert running("sleep 4712.25") == []
    assert listener.all(RuntimeLost)
    with pytest.raises(RuntimeUnavailable, match="stopping"):
        await flight.runtime.status()


@pytest.mark.timed
async def test_stop_ends_a_runtime_that_hangs(flight: Flight) -> None:
    await flight.runtime.status()
    assert flight.runtime.pid is not None
    pid = flight.runtime.pid
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    await flight.runtime.stop()
    assert time.monotonic() - began < 2.5
    assert not psutil.pid_exists(pid)


async def test_a_runtime_that_does_not_start_is_an_error_with_advice(tmp_path: Path) -> None:
    broken = tmp_path / "copilot-runtime"
    broken.write_text("#!/bin/sh\necho no such luck >&2\nexit 3\n", encoding="utf-8")
    broken.chmod(0o755)
    runtime = Runtime(RuntimePlan(home=tmp_path / "home", owner="test", path=broken))
    with pytest.raises(RuntimeUnavailable, match=r"no such luck.*airboss setup"):
        await runtime.status()
    await runtime.stop()


async def test_a_missing_runtime_is_named(tmp_path: Path) -> None:
    plan = RuntimePlan(home=tmp_path / "home", owner="test", path=tmp_path / "nowhere")
    with pytest.raises(RuntimeMissing, match="nowhere"):
        await Runtime(plan).status()


async def test_models_are_listed_for_a_token_and_refused_without_a_sign_in(flight: Flight) -> None:
    flight.stage.models = ("claude-sonnet-4.5",)
    with pytest.raises(NotSignedIn):
        await flight.runtime.list_models()
    offers = await flight.runtime.list_models("made-up-token")
    name = "claude-sonnet-4.5"
    sonnet = CopilotModel(name, name, 1.0, 112000, "enabled", 128000, (), None, 16000)
    assert [offer for offer in offers if offer.id != "auto"] == [sonnet]
    assert not (await flight.runtime.sign_in()).signed_in


async def test_a_service_that_cannot_be_reached_is_told_with_what_to_look_at(
    flight: Flight, tmp_path: Path
) -> None:
    plan = flight.runtime.plan
    nowhere = dict.fromkeys(
        ("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL"), "http://127.0.0.1:9"
    )
    runtime = Runtime(replace(plan, environ={**plan.environ, **nowhere}, home=tmp_path / "other"))
    with pytest.raises(RuntimeUnavailable, match="Could not connect"):
        await runtime.list_models("made-up-token")
    await runtime.stop()


async def test_the_single_file_takes_over_where_the_native_one_does_not_start(
    flight: Flight, tmp_path: Path, environ: dict[str, str]
) -> None:
    located = (await flight.runtime.status()).located
    assert located is not None
    cache = tmp_path / "cache" / "copilot" / CLI_VERSION
    native = cache / "pkg" / "prebuilds" / located.path.parent.name / located.path.name
    native.parent.mkdir(parents=True)
    native.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    native.chmod(0o755)
    (cache / "copilot").symlink_to(located.path)
    environ["AIRBOSS_CACHE"] = str(tmp_path / "cache")
    environ.pop("COPILOT_CLI_PATH", None)
    other = Runtime(replace(flight.runtime.plan, environ=environ, owner="other"))
    found = (await other.status()).located
    assert found is not None
    assert (found.path.name, found.native) == ("copilot", False)
    await other.stop()
