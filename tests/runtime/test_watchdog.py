"""What tells a runtime that hangs from one that others leave no processor."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

import psutil
import pytest

from airboss.runtime.watchdog import processor_seconds
from tests.pauses import pauses

BUSY = "while True: pass"


@contextmanager
def busy(processor: int, niceness: int = 0) -> Generator[subprocess.Popen[bytes]]:
    """A program that computes without end on one processor."""
    with subprocess.Popen([sys.executable, "-c", BUSY]) as program:
        try:
            os.sched_setaffinity(program.pid, {processor})
            os.setpriority(os.PRIO_PROCESS, program.pid, niceness)
            yield program
        finally:
            program.kill()


def grows(pid: int, seconds: float) -> bool:
    before = processor_seconds(pid)
    until = time.monotonic() + seconds
    for pause in pauses():
        if processor_seconds(pid) > before + 0.1:
            return True
        if time.monotonic() > until:
            return False
        time.sleep(pause)
    raise AssertionError


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who waits for a processor")
def test_a_program_that_others_leave_no_processor_shows_signs_of_life() -> None:
    processor = min(os.sched_getaffinity(0))
    with busy(processor), busy(processor, niceness=19) as starved:
        used = psutil.Process(starved.pid).cpu_times().user
        assert grows(starved.pid, 20)
        assert psutil.Process(starved.pid).cpu_times().user - used < 0.05, "it only waited"


def test_a_program_that_was_stopped_shows_none() -> None:
    with busy(min(os.sched_getaffinity(0))) as program:
        assert grows(program.pid, 20)
        os.kill(program.pid, signal.SIGSTOP)
        time.sleep(0.05)
        assert not grows(program.pid, 0.5)


def test_a_program_that_is_gone_shows_none() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as program:
        program.wait()
    assert processor_seconds(program.pid) == 0
