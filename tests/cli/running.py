"""A command in the background that says what it has to say while the test goes on."""

import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.nursery import Streams
from tests.portal import Portal, Process


@dataclass(frozen=True)
class Running:
    """The command, and what it has said so far."""

    process: Process
    said: Path
    wrong: Path

    def wait_for(self, text: str, *, beside: bool = False, seconds: float = 20) -> None:
        until = time.monotonic() + seconds
        while text not in self.told(beside=beside):
            assert time.monotonic() < until, self.told() + self.told(beside=True)
            time.sleep(0.02)

    def told(self, *, beside: bool = False) -> str:
        return (self.wrong if beside else self.said).read_text(encoding="utf-8")

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def end(self, seconds: float = 30) -> int:
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            said = self.told() + self.told(beside=True)
            raise AssertionError(f"It goes on after {seconds:.0f} s: {said}") from None


@contextmanager
def running(portal: Portal, *words: str) -> Generator[Running]:
    """Until it ends by itself, or the test does."""
    name = time.monotonic_ns()
    said, wrong = portal.folder / f"{name}.out", portal.folder / f"{name}.err"
    said.touch()
    wrong.touch()
    process = portal.begin(*words, streams=Streams(out=str(said), wrong=str(wrong)))
    try:
        yield Running(process, said, wrong)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)
