"""A person's home: its folders, its `airboss`, and the server that they start."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from airboss.runtime.locate import cache_folder
from tests.nursery import PYTHON_VARIABLE
from tests.portal import Portal
from tests.quick_command import quick_command_in

_FOREIGN = ("AIRBOSS_", "XDG_", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_", "NO_COLOR")
_PERSON = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
}
_SECONDS = 60


@dataclass
class Home(Portal):
    """Everything is where it is by default. Only the port is another, so that many can serve."""

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def data(self) -> Path:
        return self.home / ".local/share/airboss"

    @property
    def work(self) -> Path:
        """The repository that they work in."""
        return self.home / "shop"

    @property
    def environ(self) -> dict[str, str]:
        kept = {name: text for name, text in os.environ.items() if not name.startswith(_FOREIGN)}
        path = f"{self.folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        ours = {"HOME": str(self.home), "PATH": path, "AIRBOSS_CACHE": str(_cache())}
        quick = {PYTHON_VARIABLE: str(self.folder / "bin/python")}
        return {**kept, **_PERSON, **ours, **quick, **self.extra_environ}

    def serve(
        self,
        words: str = "airboss serve",
        folder: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """In a second terminal. A server that runs there already is ended by Ctrl-C before."""
        self.stop()
        models = () if "--rehearsal" in words else self._rehearsal()
        line = f"{words} --port 0 {shlex.join(models)} >>{shlex.quote(str(self._log))} 2>&1"
        before = self.note
        self._process = subprocess.Popen(
            ["bash", "-c", f"exec {line}"], cwd=folder or self.work, env=environ or self.environ
        )
        until = time.monotonic() + _SECONDS
        while self.note in (None, before):
            assert self._process.poll() is None, self.log
            assert time.monotonic() < until, self.log
            time.sleep(0.02)

    @property
    def _log(self) -> Path:
        return self.folder / "serve.log"


def _cache() -> Path:
    return cache_folder().parents[1]


@contextmanager
def home_in(folder: Path, script: str | None) -> Generator[Home]:
    home = Home(folder, script=script)
    clone = home.home / "airboss"
    home.work.mkdir(parents=True)
    (clone / ".venv").mkdir(parents=True)
    _git(home, "init", "--quiet", "--initial-branch", "main")
    (home.work / "README.md").write_text("# Shop\n", encoding="utf-8")
    _git(home, "add", "--all")
    _git(home, "commit", "--quiet", "--message", "Add a readme")
    with quick_command_in(folder / "bin") as commands:
        (clone / ".venv/bin").symlink_to(commands)
        try:
            yield home
        finally:
            home.stop()


def _git(home: Home, *words: str) -> None:
    subprocess.run(["git", *words], cwd=home.work, env=home.environ, check=True)
