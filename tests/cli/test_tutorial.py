"""The tutorial, word for word: every file of it is written and every command is run. Only the real
models are played, from the moment that they are needed."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.documents import Command, Reader, blocks, commands, not_said
from tests.nursery import PYTHON_VARIABLE, Streams, the_nursery
from tests.portal import Portal, Process
from tests.quick_command import quick_command_in

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs/tutorial.md").read_text("utf-8")
MODELS = r"""
models: [{id: gpt-4.1}, {id: gpt-5.2}]
rules:
  - when: "Read the git log"
    steps:
      - call: {tool: create, arguments: {path: "{cwd}/RELEASE-NOTES.md", file_text: "# 1.0\n"}}
      - say: "I wrote RELEASE-NOTES.md."
"""


class Servers:
    """The one that the reader starts, in the folder that they are in."""

    def __init__(self, folder: Path, data: Path) -> None:
        self._folder, self._data = folder, data
        self._running: list[Process] = []

    def serve(self, reader: Reader) -> None:
        models = self._folder / "models.yaml"
        models.write_text(MODELS, encoding="utf-8")
        log = str(self._folder / "serve.log")
        words = ("serve", "--port", "0", "--rehearsal", str(models))
        streams = Streams(out=log, wrong=log)
        process = the_nursery().fork(words, dict(reader.environ), reader.folder, streams)
        self._running.append(process)
        until = time.monotonic() + 60
        while not (self._data / "server.json").exists():
            assert process.poll() is None, Path(log).read_text("utf-8")
            assert time.monotonic() < until, Path(log).read_text("utf-8")
            time.sleep(0.05)

    def stop(self) -> None:
        for process in self._running:
            process.terminate()
            process.wait(30)


def set_up_and_serve(reader: Reader) -> None:
    """All of the tests do it; here it is enough that the command still means that."""
    planned = subprocess.run(
        ["make", "--dry-run", "run"], cwd=reader.folder, capture_output=True, text=True, check=True
    )
    assert ".venv/bin/airboss serve --port 8888" in planned.stdout


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    portal = Portal(tmp_path)
    clone, notes = tmp_path / "home" / "airboss", tmp_path / "notes"
    (clone / ".venv").mkdir(parents=True)
    notes.mkdir()
    for path in ROOT.iterdir():
        if path.name != ".venv":
            (clone / path.name).symlink_to(path)
    servers = Servers(tmp_path, portal.data)
    author = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com"}
    committer = {"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com"}
    with quick_command_in(tmp_path / "bin") as bin:
        (clone / ".venv/bin").symlink_to(bin)
        quick = {PYTHON_VARIABLE: str(bin / "python")}
        yield Reader(
            folder=clone,
            environ={**portal.environ, **author, **committer, **quick},
            notes=notes,
            instead={"make run": set_up_and_serve, "airboss serve": servers.serve},
            looks=frozenset({"airboss inbox"}),
        )
        servers.stop()


@pytest.mark.timeout(300)
def test_the_tutorial_ends_in_a_job_of_ones_own(reader: Reader, tmp_path: Path) -> None:
    reader.follow(TUTORIAL)
    shop = tmp_path / "home" / "shop"
    assert (shop / "RELEASE-NOTES.md").read_text("utf-8") == "# 1.0\n"
    assert len(reader.done) == TUTORIAL.count("\n$ ")
    assert any(words.startswith("airboss rehearse ") for words in reader.done)


def test_what_a_document_shows_is_compared_with_what_is_said() -> None:
    [block] = blocks("Say:\n\n```console\n$ airboss runs\nrun_…  done\n…\n$ true\n```\n")
    assert commands(block) == [Command("airboss runs", ("run_…  done", "…")), Command("true", ())]
    assert not_said(("run_… done", "…"), "first\nrun_1\t0:01  done\n") is None
    assert not_said(("run_… done",), "run_1 failed\n") == "run_… done"
    assert not_said(("b", "a"), "a\nb\n") == "a", "in this order"
