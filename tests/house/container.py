"""Plays the first stage of a Containerfile in a folder: its files and steps, without any image."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.trials import IS_WHOLE

# What needs the rights and the packages of an image.
SYSTEM = ("apt-get ", "useradd ")
VENV = "python3 -m venv venv"
PIP = "venv/bin/python -m pip install --no-cache-dir"


def quicker(step: str) -> str | None:
    """The same from uv's cache, in a second instead of a minute."""
    if step == VENV:
        return f"{step} --without-pip"
    uv = Path(sys.executable).with_name("uv")
    quick = f"{uv} pip install --offline --python venv/bin/python"
    return step.replace(PIP, quick) if step.startswith(PIP) else None


def instructions(file: Path) -> Iterator[tuple[str, str]]:
    text = file.read_text("utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            yield name, rest.strip()


@dataclass
class Container:
    """`root` stands for `/` of the image, `context` is what is copied from."""

    root: Path
    context: Path
    folder: Path = field(init=False)
    environ: dict[str, str] = field(default_factory=dict[str, str])

    def build(self, file: Path) -> None:
        self.folder = self.root
        stages = 0
        for name, rest in instructions(file):
            stages += name == "FROM"
            if stages > 1:
                return
            self._do(name, rest)

    def _do(self, name: str, rest: str) -> None:
        match name:
            case "FROM":
                pass
            case "WORKDIR":
                self.folder = self.inside(rest)
                self.folder.mkdir(parents=True, exist_ok=True)
            case "ENV":
                key, _, value = rest.partition("=")
                self.environ[key] = str(self.inside(value))
            case "COPY":
                *patterns, into = rest.split()
                for pattern in patterns:
                    (source,) = self.context.glob(pattern)
                    shutil.copy(source, self.folder / into)
            case "RUN":
                if not rest.startswith(SYSTEM):
                    self._run(rest)
            case _:
                raise AssertionError(f"nobody plays {name} here")

    def _run(self, step: str) -> None:
        quick = None if IS_WHOLE else quicker(step)
        if quick and self._shell(quick).returncode == 0:
            return
        if quick:
            self._shell(VENV)  # with pip, which has to do it after all
        done = self._shell(step)
        assert done.returncode == 0, f"{step}\n{done.stdout}{done.stderr}"

    def _shell(self, step: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", step],
            cwd=self.folder,
            env={**os.environ, **self.environ},
            capture_output=True,
            text=True,
            check=False,
        )

    def inside(self, path: str) -> Path:
        return self.root / path.removeprefix("/")
