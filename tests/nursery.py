"""Commands that start fast: a process that has everything imported forks one for each life.

What a fork runs is the command `airboss` itself; only the imports are saved, which take seconds,
and the parser of all its commands, which took a command as long as all else.
"""

import contextlib
import functools
import gc
import importlib
import json
import mmap
import os
import pkgutil
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, cast

import airboss
from airboss.runtime.sdk import load_sdk

ROOT = Path(__file__).parents[1]
# What our modules import late, where somebody needs it.
_IMPORTED = (
    "anyio._backends._asyncio",
    "dbos",
    "encodings.idna",
    "httpcore2",
    "httpx2",
    "jsonschema",
    "rich.console",
    "rich.table",
    "sqlite3",
    "typer._click.decorators",
    "uvicorn.lifespan.off",
)
# Names what a command starts servers of its own with, where those come out of the nursery too.
PYTHON_VARIABLE = "NURSERY_PYTHON"
# Names a file with the seconds by which a command's clock of the wall is off, to be changed at any
# time. Its agents have the machine's.
CLOCK_VARIABLE = "NURSERY_CLOCK"
# What an interpreter reads when it starts, which no fork does.
_OF_THE_INTERPRETER = ("PYTHON", "LC_", "LANG", "TZ")


@dataclass(frozen=True)
class Child:
    """A process of the nursery's; to the outside like one's own."""

    nursery: "Nursery"
    pid: int

    def poll(self) -> int | None:
        return self.nursery.ask({"poll": self.pid})

    def wait(self, timeout: float | None = None) -> int:
        until = time.monotonic() + (timeout or 60)
        while (code := self.poll()) is None:
            left = until - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 60)
            _sleep_until_end(self.pid, left)
        return code

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _sleep_until_end(pid: int, seconds: float) -> None:
    """Wait for a process without asking the nursery again and again. Its number stays its own until
    the nursery is asked how it ended."""
    if sys.platform != "linux":
        time.sleep(0.01)
        return
    descriptor = os.pidfd_open(pid)
    try:
        select.select([descriptor], [], [], seconds)
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class Streams:
    """The files that a command reads and writes; a terminal is all three."""

    said: str = os.devnull
    out: str = os.devnull
    wrong: str = os.devnull
    is_terminal: bool = False


class Nursery:
    """The process that forks. It ends, with all its children, when its input does."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        program = [sys.executable, "-m", "tests.nursery"]
        self._process = subprocess.Popen(program, stdin=pipe, stdout=pipe, text=True, cwd=ROOT)
        self._one_at_a_time = threading.Lock()
        self._asked = 0

    def wait_until_ready(self) -> None:
        """Everything is imported then."""
        self.ask({})

    def fork(
        self, words: tuple[str, ...], environ: dict[str, str], cwd: Path, streams: Streams
    ) -> Child:
        """`airboss` with these words, in an environment of its own."""
        birth = {"words": words, "environ": environ, "cwd": str(cwd), "streams": vars(streams)}
        pid = self.ask({"fork": birth})
        assert pid is not None
        return Child(self, pid)

    def ask(self, question: dict[str, Any]) -> int | None:
        assert self._process.stdin
        assert self._process.stdout
        with self._one_at_a_time:
            self._asked += 1
            asked = {**question, "number": self._asked}
            print(json.dumps(asked), file=self._process.stdin, flush=True)
            # Whoever ran out of time before it was answered has left the answer behind.
            while (said := json.loads(self._process.stdout.readline()))["number"] != self._asked:
                pass
            return said["answer"]

    def close(self) -> None:
        try:
            self._process.communicate(timeout=10)
        except subprocess.TimeoutExpired:  # it still imports, and has no children
            self._process.kill()
            self._process.communicate()


@functools.cache
def the_nursery() -> Nursery:
    """One for all who start commands in this process, from the first of them on."""
    return Nursery()


def close_the_nursery() -> None:
    if the_nursery.cache_info().currsize:
        the_nursery().close()
        the_nursery.cache_clear()


def can_be_forked(environ: dict[str, str]) -> bool:
    """Whether an interpreter of its own would start in this environment like ours did."""
    names = {name for name in (*environ, *os.environ) if name.startswith(_OF_THE_INTERPRETER)}
    return all(environ.get(name) == os.environ.get(name) for name in names)


def _live(words: list[str], environ: dict[str, str], cwd: str, streams: dict[str, Any]) -> None:
    """What the fork does until its end."""
    os.environ.clear()
    os.environ.update(environ)
    sys.path.remove(str(ROOT))
    os.chdir(cwd)
    _take(Streams(**streams))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Tests that run under nohup begin servers that do not: those would be deaf to it.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    sys.argv = ["airboss", *words]
    sys.executable = environ.get(PYTHON_VARIABLE, sys.executable)
    if clock := os.environ.pop(CLOCK_VARIABLE, None):
        _set_clock(clock)
    from airboss.cli.main import main

    main()


def _set_clock(file: str) -> None:
    """All that is imported asks the module for its clocks of the wall."""
    seconds, nanoseconds = time.time, time.time_ns
    with open(file, "r+b") as opened:
        off = mmap.mmap(opened.fileno(), 8)
    time.time = lambda: seconds() + struct.unpack("d", off)[0]
    time.time_ns = lambda: nanoseconds() + int(struct.unpack("d", off)[0] * 1e9)


def _take(streams: Streams) -> None:
    """Its own streams, as an interpreter opens them."""
    if streams.is_terminal:
        os.setsid()  # the terminal that it opens next is its own, and sends it signals
    else:
        os.setpgid(0, 0)
    said = os.open(streams.said, os.O_RDWR if streams.is_terminal else os.O_RDONLY)
    out, wrong = (
        os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        for path in (streams.out, streams.wrong)
    )
    for number, target in enumerate((said, out, wrong)):
        os.dup2(target, number)
        os.close(target)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding=old.encoding, errors=old.errors, closefd=False)  # noqa: SIM115
        for number, mode, old in ((0, "r", sys.stdin), (1, "w", sys.stdout), (2, "w", sys.stderr))
    )
    cast("TextIOWrapper", sys.stderr).reconfigure(line_buffering=True)


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
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.flush()
        os._exit(code)


def _tend() -> None:
    """Answer one question a line: fork somebody, or say how somebody ended."""
    _import_all()
    ends: dict[int, int | None] = {}
    # Ctrl-C is meant for whoever asks: they end their servers through this process, then this.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for line in sys.stdin:
            told = _answer(json.loads(line), ends)
            sys.stdout.write(f"{json.dumps(told)}\n")
            sys.stdout.flush()
    finally:
        for pid, code in ends.items():
            if code is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def _answer(question: dict[str, Any], ends: dict[int, int | None]) -> dict[str, int | None]:
    answer: int | None = None
    if birth := question.get("fork"):
        answer = _fork(birth)
        ends[answer] = None
    elif pid := question.get("poll"):
        answer = _end_of(ends, pid)
    return {"number": question["number"], "answer": answer}


def _import_all() -> None:
    for name in _IMPORTED:
        importlib.import_module(name)
    load_sdk()
    for found in pkgutil.walk_packages(airboss.__path__, "airboss."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    import typer.main

    typer.main.get_command = functools.cache(typer.main.get_command)
    typer.main.get_command(importlib.import_module("airboss.cli.main").app)
    # Both look at the environment once, and each fork has its own.
    assert "readline" not in sys.modules
    assert sys.modules["tempfile"].tempdir is None
    gc.collect()
    gc.freeze()


def _end_of(ends: dict[int, int | None], pid: int) -> int | None:
    if ends[pid] is None:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            ends[pid] = os.waitstatus_to_exitcode(status)
    return ends[pid]


if __name__ == "__main__":
    _tend()
