"""The guard: what a worker's agents left ends when the worker is dead, or silent for too long."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest

from airboss.machines.guarding import Guard
from airboss.machines.lease import awake_and_asleep
from airboss.runtime.environment import OWNER
from tests.runtime.endless import endless_environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="It looks into /proc.")
# Another process of tests may have such agents at the same time, and ends its own only.
MARK = f"own_of_a_test_{os.getpid()}"


@contextlib.contextmanager
def agents(mark: str = MARK) -> "Generator[list[psutil.Process]]":
    """A command with the mark, and a child of it without one."""
    program = (
        "import subprocess, time\n"
        "subprocess.Popen(['sleep', '60'], env={}, start_new_session=True)\n"
        "print('up', flush=True)\n"
        "time.sleep(60)\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, OWNER: mark},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == b"up\n"
    shell = psutil.Process(started.pid)
    both = [shell, *shell.children()]
    try:
        yield both
    finally:
        for one in both:
            with contextlib.suppress(psutil.Error):
                one.kill()
        started.wait(10)
        started.stdout.close()


@contextlib.contextmanager
def guarded(folder: Path, silence: float = 60) -> Generator[Guard]:
    tell = [sys.executable, "-c", f"open({str(folder / 'told')!r}, 'w').close()"]
    guard = Guard.started(MARK, folder, silence, 5, tell, os.environ)
    assert guard is not None
    try:
        yield guard
    finally:
        guard.dismiss()
        with contextlib.suppress(ProcessLookupError):
            guard.process.kill()
        guard.process.wait(10)


def until_gone(processes: list[psutil.Process], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while any(_lives(process) for process in processes):
        assert time.monotonic() < end, processes
        time.sleep(0.02)


def _lives(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def test_a_worker_that_ends_without_a_word_takes_its_agents_along_and_is_told_of(
    tmp_path: Path,
) -> None:
    with agents() as ours, agents("own_of_somebody_else") as others, guarded(tmp_path) as guard:
        assert guard.process.stdin is not None
        guard.process.stdin.close()
        until_gone(ours)
        guard.process.wait(20)
        assert (tmp_path / "told").exists()
        assert all(_lives(process) for process in others)


def test_an_environment_without_end_does_not_keep_the_guard(tmp_path: Path) -> None:
    with endless_environment() as other, agents() as ours, guarded(tmp_path) as guard:
        assert guard.process.stdin is not None
        guard.process.stdin.close()
        until_gone(ours)
        guard.process.wait(20)
        assert other.poll() is None


def test_a_worker_that_says_goodbye_is_told_of_by_nobody(tmp_path: Path) -> None:
    with agents() as ours, guarded(tmp_path) as guard:
        guard.dismiss()
        guard.process.wait(20)
        assert not (tmp_path / "told").exists()
        assert all(_lives(process) for process in ours)


def test_silence_ends_agents_and_good_beats_keep_them(tmp_path: Path) -> None:
    with agents() as ours, guarded(tmp_path, silence=1.5) as guard:
        end = time.monotonic() + 3
        while time.monotonic() < end:
            guard.feed(awake_and_asleep())
            time.sleep(0.1)
        assert all(_lives(process) for process in ours), "fed for twice the time"
        until_gone(ours)
        assert guard.process.poll() is None
        assert not (tmp_path / "told").exists(), "the worker may only be stopped"


def test_a_guard_that_was_held_up_hears_first_what_was_said_meanwhile(tmp_path: Path) -> None:
    """By its own clock the silence is over when it looks, and a good beat lies there unread."""
    said = tmp_path / "said"
    said.write_text(f"{awake_and_asleep() + 60:.3f}\nbye\n")
    with agents() as ours, said.open("rb") as heard:
        words = [sys.executable, "-c", "from airboss.machines.guard import main; main()"]
        subprocess.run([*words, MARK, str(tmp_path), "0", "5"], stdin=heard, check=True)
        assert all(_lives(process) for process in ours)


def test_a_beat_counts_from_when_it_was_sent(tmp_path: Path) -> None:
    with agents() as ours, guarded(tmp_path, silence=30) as guard:
        guard.feed(awake_and_asleep() - 31)
        until_gone(ours)


def test_signals_that_end_the_workers_group_do_not_end_the_guard(tmp_path: Path) -> None:
    with guarded(tmp_path) as guard:
        guard.feed(awake_and_asleep())
        assert os.getsid(guard.process.pid) != os.getsid(0)
        # It is ready when it has asked for its signals.
        status = Path(f"/proc/{guard.process.pid}/status")
        end = time.monotonic() + 20
        while not _ignores(status.read_text("ascii"), signal.SIGTERM):
            assert time.monotonic() < end
            time.sleep(0.02)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(guard.process.pid, number)
        time.sleep(0.2)
        assert guard.process.poll() is None


def _ignores(status: str, number: signal.Signals) -> bool:
    line = next(line for line in status.splitlines() if line.startswith("SigIgn"))
    return bool(int(line.split()[1], 16) >> (number - 1) & 1)


def test_a_guard_that_somebody_killed_is_followed_by_another_at_the_next_beat(
    tmp_path: Path,
) -> None:
    with agents() as ours, guarded(tmp_path) as guard:
        guard.process.kill()
        guard.process.wait(10)
        guard.feed(awake_and_asleep())
        assert guard.process.poll() is None
        assert all(_lives(process) for process in ours)
        assert guard.process.stdin is not None
        guard.process.stdin.close()
        until_gone(ours)
