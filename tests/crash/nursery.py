"""Servers that start fast: a process that has everything imported forks one for each life.

What a fork runs is the command `airboss` itself; only the two seconds of imports are saved.
"""

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.portal import Portal, Process

ROOT = Path(__file__).parents[2]
_IMPORTED = ("airboss.cli.main", "airboss.cli.client", "airboss.server", "copilot")


@dataclass(frozen=True)
class Child:
    """A server in a process of the nursery's; to the outside like one's own."""

    nursery: "Nursery"
    pid: int

    def poll(self) -> int | None:
        return self.nursery.ask({"poll": self.pid})

    def wait(self, timeout: float | None = None) -> int:
        until = time.monotonic() + (timeout or 60)
        while (code := self.poll()) is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 60)
            time.sleep(0.01)
        return code

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Nursery:
    """The process that forks. It ends, with all its children, when its input does."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        program = [sys.executable, "-m", "tests.crash.nursery"]
        self._process = subprocess.Popen(program, stdin=pipe, stdout=pipe, text=True, cwd=ROOT)
        self._one_at_a_time = threading.Lock()

    def ask(self, question: dict[str, Any]) -> int | None:
        assert self._process.stdin
        assert self._process.stdout
        with self._one_at_a_time:
            print(json.dumps(question), file=self._process.stdin, flush=True)
            return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=10)


@dataclass
class QuickPortal(Portal):
    """A portal whose server comes out of a nursery."""

    nursery: Nursery | None = field(default=None, repr=False)

    def launch(self, words: list[str], log: Path) -> Process:
        assert self.nursery is not None
        birth = {"words": words, "environ": self.environ, "cwd": str(self.work), "log": str(log)}
        pid = self.nursery.ask({"fork": birth})
        assert pid is not None
        return Child(self.nursery, pid)


def _live(words: list[str], environ: dict[str, str], cwd: str, log: str) -> None:
    """What the fork does until its end."""
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(cwd)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    said = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for number, target in enumerate((nowhere, said, said)):
        os.dup2(target, number)
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["airboss", *words]
    from airboss.cli.main import main

    main()


def _fork(birth: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        _live(**birth)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - what an interpreter of its own would say at its end
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def _tend() -> None:
    """Answer one question a line: fork somebody, or say how somebody ended."""
    for name in _IMPORTED:
        importlib.import_module(name)
    ends: dict[int, int | None] = {}
    # Ctrl-C is meant for whoever asks: they end their servers through this process, then this.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        question = json.loads(line)
        if birth := question.get("fork"):
            answer = _fork(birth)
            ends[answer] = None
        else:
            answer = _end_of(ends, question["poll"])
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()
    for pid, code in ends.items():
        if code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _end_of(ends: dict[int, int | None], pid: int) -> int | None:
    if ends[pid] is None:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            ends[pid] = os.waitstatus_to_exitcode(status)
    return ends[pid]


if __name__ == "__main__":
    _tend()
