"""Plays the first stage of a Containerfile in a folder: its files and steps, without any image."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from tests.trials import IS_WHOLE

# What needs the rights and the packages of an image.
SYSTEM = ("apt-get ", "useradd ")
VENV = "python3 -m venv venv"
PIP = "venv/bin/python -m pip install --no-cache-dir"
LOCK = f"{PIP} --no-deps --require-hashes -r run.txt"


def quicker(step: str) -> str:
    """The same without pip, which takes most of a minute."""
    if step == VENV:
        return f"{step} --without-pip"
    uv = Path(sys.executable).with_name("uv")
    return step.replace(PIP, f"{uv} pip install --offline --python venv/bin/python")


def lend_packages(lock: Path, venv: Path) -> None:
    """Link what the lock names, and nothing else of this environment, into another one."""
    [into] = venv.glob("lib/python*/site-packages")
    for name, version, condition in re.findall(
        r"^([\w.-]+)==(\S+) ?(;?)", lock.read_text("utf-8"), re.MULTILINE
    ):
        try:
            found = distribution(name)
        except PackageNotFoundError:
            assert condition, f"{name} is in the lock, and not installed"
            continue
        assert found.version == version
        tops = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
        for top in tops:
            if not (into / top).exists():
                (into / top).symlink_to(Path(str(found.locate_file(top))))


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
        if step == LOCK and not IS_WHOLE:
            lend_packages(self.folder / "run.txt", self.folder / "venv")
            return
        done = self._shell(step if IS_WHOLE else quicker(step))
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
