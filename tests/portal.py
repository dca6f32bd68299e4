"""A real server in a process of its own, with the real runtime and a scripted model."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import httpx2

from tests.nursery import Streams, can_be_forked, the_nursery

SCRIPT = r"""
models:
  - {id: rehearsal, name: Rehearsal, multiplier: 0}
rules:
  - when: "hello"
    steps:
      - reasoning: "Somebody greets me."
      - say: "Hello, captain."
  - when: "look around"
    steps:
      - say: "I will look."
      - call: {tool: view, arguments: {path: "{cwd}"}}
      - say: "That is all."
  - when: "write it"
    steps:
      - call: {tool: create, arguments: {path: "{cwd}/hello.txt", file_text: "hi"}}
      - say: "I tried."
  - when: "take your time"
    steps:
      - say: "One moment. "
      - sleep: 30
      - say: "There it is."
  - when: "unlucky"
    steps: [{fail: {status: 400}}]
  - when: "trap"
    steps:
      - say: "A \e[31mred\e[0m \u202etrap"
"""

_START_SECONDS = 30


class Process(Protocol):
    """What a test does with a command's process."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


@dataclass
class Portal:
    """`airboss serve` on a data folder, and every other command as its client.

    Commands come out of the nursery, unless it is cold: then an interpreter starts for each.
    """

    folder: Path
    options: tuple[str, ...] = ()
    # None is the built-in rehearsal, as those have it who only try Airboss.
    script: str | None = SCRIPT
    extra_environ: dict[str, str] = field(default_factory=dict[str, str])
    is_cold: bool = False
    # What a command is started by: another user, say. Such are always cold.
    prefix: tuple[str, ...] = ()
    _process: Process | None = field(default=None, repr=False)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def environ(self) -> dict[str, str]:
        """Ours, without what a developer's own Airboss or sign-in would bring in."""
        ours = ("AIRBOSS_DATA", "AIRBOSS_URL", "AIRBOSS_TOKEN", "NO_COLOR")
        tokens = ("AIRBOSS_GITHUB_TOKEN", "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
        kept = {name: text for name, text in os.environ.items() if name not in (*ours, *tokens)}
        return {**kept, "AIRBOSS_DATA": str(self.data), **self.extra_environ}

    def start(self) -> None:
        self.work.mkdir(parents=True, exist_ok=True)
        options = ("--port", "0", *self._rehearsal(), "--root", str(self.work))
        before = self.note
        # Nobody is there to be asked, unless the test says so.
        policy = () if "--permissions" in self.options else ("--permissions", "read-only")
        words = ["serve", *options, *policy, *self.options]
        self._process = self.launch(words, self.folder / "serve.log")
        until = time.monotonic() + _START_SECONDS
        while self.note in (None, before):
            assert self._process.poll() is None, self.log
            if time.monotonic() > until:
                self.kill()  # nobody else would
                raise AssertionError(f"It did not start in time.\n{self.log}")
            time.sleep(0.05)

    @contextmanager
    def serving(self) -> "Generator[Portal]":
        """From its start to its end, whatever comes in between."""
        self.start()
        try:
            yield self
        finally:
            self.stop()

    def _rehearsal(self) -> tuple[str, ...]:
        if self.script is None:
            return ()
        script = self.folder / "script.yaml"
        script.write_text(self.script, encoding="utf-8")
        return ("--rehearsal", str(script))

    def launch(self, words: list[str], log: Path) -> Process:
        return self.begin(*words, streams=Streams(out=str(log), wrong=str(log)))

    def begin(self, *words: str, streams: Streams, **environ: str) -> Process:
        """One command, beside the test."""
        given = {**self.environ, **environ}
        cwd = self.work if self.work.exists() else self.folder
        if can_be_forked(given) and not self.is_cold and not self.prefix:
            return the_nursery().fork(words, given, cwd, streams)
        with (
            open(streams.said, "rb") as said,
            open(streams.out, "ab") as out,
            open(streams.wrong, "ab") as wrong,
        ):
            return subprocess.Popen(
                [*self.prefix, *command(*words)],
                env=given,
                cwd=cwd,
                stdin=said,
                stdout=out,
                stderr=wrong,
            )

    @property
    def note(self) -> dict[str, Any] | None:
        try:
            return json.loads((self.data / "server.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    @property
    def url(self) -> str:
        assert self.note is not None, self.log
        return str(self.note["url"])

    @property
    def token(self) -> str:
        return (self.data / "token").read_text(encoding="utf-8").strip()

    @property
    def pid(self) -> int:
        return self.process.pid

    def client(self, **options: Any) -> httpx2.AsyncClient:
        """Somebody with the token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=30, **options)

    @property
    def log(self) -> str:
        return (self.folder / "serve.log").read_text(encoding="utf-8", errors="replace")

    @property
    def process(self) -> Process:
        assert self._process is not None
        return self._process

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """In order, within the time that a server takes to end; else by force."""
        if self._process is None:
            return
        if self.is_running:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(10)

    def run(
        self, *words: str, said: str | None = None, **environ: str
    ) -> "subprocess.CompletedProcess[str]":
        """One command, to its end."""
        with tempfile.TemporaryDirectory() as folder:
            given, out, wrong = (Path(folder) / name for name in ("given", "out", "wrong"))
            given.write_text(said or "", encoding="utf-8")
            streams = Streams(str(given), str(out), str(wrong))
            process = self.begin(*words, streams=streams, **environ)
            try:
                code = process.wait(50)
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait(10)
            recorded = [file.read_text(encoding="utf-8") for file in (out, wrong)]
        return subprocess.CompletedProcess(words, code, *recorded)

    def sessions(self) -> list[dict[str, Any]]:
        said = self.run("sessions", "--json")
        assert said.returncode == 0, said.stderr
        return json.loads(said.stdout)["items"]

    def new_session(self) -> str:
        """An open session with one turn behind it."""
        done = self.run("chat", "--keep", "--json", "hello")
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout.splitlines()[0])["session"])


def command(*words: str) -> list[str]:
    # -P: an `airboss.py` in the folder is an entry, and not the package.
    return [sys.executable, "-P", "-m", "airboss", *words]
