"""Processes that agents left: found by their mark, ended with their children, and nobody else."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

import psutil
import pytest

from airboss.runtime.sweep import (
    processes_of_extensions,
    sweep_hooks,
    sweep_life,
    sweep_owner,
    sweep_session,
)
from tests.runtime.conftest import running, soon
from tests.runtime.endless import endless_environment

pytestmark = pytest.mark.anyio


@contextmanager
def started(command: str, **marks: str) -> Generator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(["sh", "-c", command], env={**os.environ, **marks})
    try:
        yield process
    finally:
        with suppress(psutil.NoSuchProcess):
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
        process.kill()
        process.wait()


async def test_a_sessions_processes_end_with_their_children_and_no_other_does() -> None:
    tree = "sleep 4721.1 & (sleep 4721.2; true) & setsid sleep 4721.3 & wait"
    with (
        started(tree, COPILOT_AGENT_SESSION_ID="ses_mine") as mine,
        started("sleep 4722.1; true", COPILOT_AGENT_SESSION_ID="ses_other") as other,
        started("sleep 4722.2; true") as stranger,
    ):
        assert await soon(lambda: len(running("sleep 4721")) >= 4)
        assert await sweep_session("ses_mine") >= 4
        assert mine.wait(10) == -9
        assert running("sleep 4721") == []
        assert (other.poll(), stranger.poll()) == (None, None)
        assert await sweep_session("ses_mine") == 0


async def test_a_child_that_dropped_the_mark_goes_with_its_marked_parent() -> None:
    with started("env -i sleep 4723.1; true", COPILOT_AGENT_SESSION_ID="ses_mine"):
        assert await soon(lambda: len(running("sleep 4723.1")) == 2)
        await sweep_session("ses_mine")
        assert running("sleep 4723.1") == []


async def test_at_the_start_an_earlier_servers_leftovers_go_but_not_the_spared() -> None:
    with (
        started("sleep 4724.1; true", AIRBOSS_OWNER="data-7") as old,
        started("sleep 4724.2; true", COPILOT_AGENT_SESSION_ID="ses_old") as shell,
        started("sleep 4724.3; true", AIRBOSS_OWNER="data-7") as spared,
        started("sleep 4724.4; true", AIRBOSS_OWNER="data-8") as foreign,
    ):
        assert await soon(lambda: len(running("sleep 4724")) >= 8)
        family = {spared.pid, *(child.pid for child in psutil.Process(spared.pid).children())}
        await sweep_owner("data-7", ["ses_old"], but=family)
        assert (old.wait(10), shell.wait(10)) == (-9, -9)
        assert (spared.poll(), foreign.poll()) == (None, None)


async def test_a_runtimes_life_is_swept_by_its_own_mark() -> None:
    with (
        started("sleep 4725.1; true", AIRBOSS_LIFE="rtl_1") as dead,
        started("sleep 4725.2; true", AIRBOSS_LIFE="rtl_2") as living,
    ):
        assert await soon(lambda: len(running("sleep 4725")) >= 4)
        await sweep_life("rtl_1", ["ses_of_it"])
        assert dead.wait(10) == -9
        assert living.poll() is None


@pytest.mark.skipif(sys.platform != "linux", reason="It reads /proc.")
async def test_an_environment_without_end_holds_up_no_sweep() -> None:
    with (
        endless_environment() as stranger,
        endless_environment("AIRBOSS_HOOK=hok_endless") as hidden,
        started("sleep 4726.1; true", AIRBOSS_HOOK="hok_endless") as marked,
    ):
        assert await soon(lambda: len(running("sleep 4726")) >= 2)
        async with asyncio.timeout(30):
            await sweep_hooks("hok_endless")
        assert (hidden.wait(10), marked.wait(10)) == (-9, -9)
        assert stranger.poll() is None


async def test_a_mark_is_found_behind_long_variables() -> None:
    long = {f"A_{number}": "x" * 60_000 for number in range(4)}
    with started("sleep 4727.1; true", **long, AIRBOSS_LIFE="rtl_long") as process:
        assert await soon(lambda: len(running("sleep 4727")) >= 2)
        await sweep_life("rtl_long", [])
        assert process.wait(10) == -9


@pytest.mark.skipif(sys.platform != "linux", reason="It reads /proc.")
async def test_a_mark_that_is_no_text_hides_no_other_process() -> None:
    odd = os.fsdecode(b"\xff\xfe")
    with (
        started("sleep 4728.1; true", AIRBOSS_EXTENSION=odd),
        started("sleep 4728.2; true", AIRBOSS_EXTENSION="x" * 60_000),
        started("sleep 4728.3; true", AIRBOSS_EXTENSION="ext_mine") as mine,
    ):
        assert await soon(lambda: len(running("sleep 4728")) >= 6)
        found = processes_of_extensions()
        assert mine.pid in found["ext_mine"]
        assert max(map(len, found)) <= 200


def test_we_are_never_swept_ourselves() -> None:
    script = (
        "import asyncio; from airboss.runtime.sweep import sweep_session;"
        "print(asyncio.run(sweep_session('ses_us')))"
    )
    environ = {**os.environ, "COPILOT_AGENT_SESSION_ID": "ses_us"}
    done = subprocess.run(
        ["sh", "-c", f'{sys.executable} -c "{script}"; echo alive'],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["0", "alive"]


async def test_a_look_is_quick_enough_for_every_abort() -> None:
    began = time.process_time()  # what others on the machine take is not its own
    await sweep_session("ses_nobody")
    assert time.process_time() - began < 0.5


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each is looked at alone")
async def test_hundreds_are_ended_before_they_start_more() -> None:
    tree = "for n in $(seq 300); do sleep 4730.1 & done; wait"
    with started(tree, COPILOT_AGENT_SESSION_ID="ses_many") as many:
        assert await soon(lambda: len(running("sleep 4730.1")) >= 300)
        began = time.process_time()
        await sweep_session("ses_many")
        assert time.process_time() - began < 1
        assert many.wait(10) == -9
        assert running("sleep 4730.1") == []


SUBREAPER = """
import asyncio, os, subprocess, sys, time
import psutil
from airboss.runtime.sweep import CHILDREN, become_subreaper, reap_adopted, sweep_life
assert become_subreaper()
ours = psutil.Process()
known = subprocess.Popen(["sleep", "4726.1"], start_new_session=True)
CHILDREN.known.add(known.pid)
plain = subprocess.Popen(["sleep", "4726.3"])
ended = subprocess.Popen(["false"])
subprocess.run(["sh", "-c", "env -i setsid sleep 4726.2 & env -i setsid sleep 0.3 &"], check=True)
end = time.monotonic() + 5
while len(ours.children()) < 5 and time.monotonic() < end: time.sleep(0.02)
assert len(ours.children()) == 5, ours.children()
time.sleep(0.5)
assert reap_adopted() == 1
asyncio.run(sweep_life("rtl_none", []))
left = {child.pid for child in ours.children()}
assert left == {known.pid, plain.pid, ended.pid}, ours.children()
assert (known.poll(), plain.poll(), ended.wait()) == (None, None, 1)
for child in (known, plain): child.kill(); child.wait()
print("clean")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_a_subreaper_ends_and_buries_unmarked_orphans_but_not_its_own_children() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SUBREAPER], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("clean", "")


MANY_AT_ONCE = """
import subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import psutil
from airboss.runtime.sweep import become_subreaper, reap_adopted
assert become_subreaper()
# They end behind their shell, which would bury some of them itself.
subprocess.run(["sh", "-c", "for n in $(seq 40); do setsid sleep 2 & done"], check=True)
def dead(): return [one for one in psutil.Process().children() if one.status() == "zombie"]
end = time.monotonic() + 20
while len(dead()) < 40 and time.monotonic() < end: time.sleep(0.05)
sys.setswitchinterval(1e-5)  # threads take turns in the middle of everything
gate = Barrier(8)
def reap(): gate.wait(); return reap_adopted()
with ThreadPoolExecutor(8) as pool:
    asked = [pool.submit(reap) for _ in range(8)]
print(sum(one.result() for one in asked), psutil.Process().children())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_sweeps_at_once_bury_each_orphan_once_and_none_stumbles() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MANY_AT_ONCE], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("40 []", "")
