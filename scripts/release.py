"""Makes a release: wheel and source archive, tried in an empty environment. It uploads nothing."""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx2

from airboss.runtime.locate import cache_folder
from airboss.store.folder import DataFolder

ROOT = Path(__file__).parents[1]
CHANGELOG = "CHANGELOG.md"
UNRELEASED = "## Unreleased\n"
# What names the version. The description of the API is generated, and says what is installed.
VERSIONED = {
    "pyproject.toml": r'^(version = ")[^"]*(")$',
    "docs/api.json": r'^(  "version": ")[^"]*(")$',
}
_VERSION = re.compile(r"\d+\.\d+\.\d+(rc\d+)?")
_PATIENCE_SECONDS = 60.0


class ReleaseRefused(Exception):
    """Why there is no release, in words."""


@dataclass(frozen=True)
class Release:
    """One version of the project in a folder."""

    root: Path
    version: str

    def refuse_what_is_not_ready(self) -> None:
        if not _VERSION.fullmatch(self.version):
            raise ReleaseRefused(f"“{self.version}” is no version. Say: make release VERSION=1.2.3")
        changed = self._git("status", "--porcelain")
        if changed:
            raise ReleaseRefused(f"The working tree has changes. Commit them first:\n{changed}")
        if self._git("tag", "--list", f"v{self.version}"):
            raise ReleaseRefused(f"There is a tag v{self.version} already.")
        with_heading(self._changelog.read_text("utf-8"), self.version, "")

    @contextmanager
    def written(self) -> Generator[None]:
        """The version and the heading in their files; as they were if something goes wrong."""
        files = [self.root / name for name in (*VERSIONED, CHANGELOG)]
        before = {file: file.read_bytes() for file in files}
        try:
            for name, pattern in VERSIONED.items():
                text = (self.root / name).read_text("utf-8")
                changed = with_version(text, pattern, self.version)
                (self.root / name).write_text(changed, "utf-8")
            day = datetime.now(UTC).date().isoformat()
            changelog = self._changelog.read_text("utf-8")
            self._changelog.write_text(with_heading(changelog, self.version, day), "utf-8")
            yield
        except BaseException:
            for file, content in before.items():
                file.write_bytes(content)
            raise

    @property
    def _changelog(self) -> Path:
        return self.root / CHANGELOG

    def _git(self, *words: str) -> str:
        return _run(["git", *words], self.root).stdout.strip()


def with_version(text: str, pattern: str, version: str) -> str:
    changed, count = re.subn(pattern, rf"\g<1>{version}\g<2>", text, count=1, flags=re.MULTILINE)
    if not count:
        raise ReleaseRefused(f"There is no version to change: nothing matches {pattern}")
    return changed


def with_heading(changelog: str, version: str, day: str) -> str:
    """What was unreleased gets the version as its heading, and a new list begins above it."""
    if re.search(rf"(?m)^## {re.escape(version)}\b", changelog):
        raise ReleaseRefused(f"CHANGELOG.md has a heading for {version} already.")
    above, found, below = changelog.partition(UNRELEASED)
    news = re.split(r"(?m)^## ", below, maxsplit=1)[0]
    if not found or not news.strip():
        raise ReleaseRefused("CHANGELOG.md has nothing below its heading “Unreleased”.")
    return f"{above}{UNRELEASED}\n## {version} ({day})\n{below}"


def build(root: Path, into: Path, *kinds: str) -> list[Path]:
    """With the project's own backend, which is in this environment; nothing is fetched."""
    targets = [word for kind in kinds for word in ("-t", kind)]
    _run([sys.executable, "-m", "hatchling", "build", *targets, "-d", str(into)], root)
    return sorted(into.iterdir())


def compare_archive(archive: Path, wheel: Path, within: Path) -> None:
    """A wheel that is built from the source archive holds what ours does."""
    with tarfile.open(archive) as packed:
        packed.extractall(within, filter="data")
    (source,) = within.iterdir()
    (rebuilt,) = build(source, within / "dist", "wheel")
    ours, theirs = _names(wheel), _names(rebuilt)
    if ours != theirs:
        differing = ", ".join(sorted(ours ^ theirs)[:5])
        raise ReleaseRefused(f"{archive.name} does not build the same wheel: {differing}")


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as packed:
        return set(packed.namelist())


def install(wheel: Path, lock: Path, environment: Path) -> None:
    """Into an empty environment: what the lock names, by its hashes, and the wheel."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent))
    python = environment / "bin" / "python"
    _run([sys.executable, "-m", "venv", str(environment)], environment.parent)
    locked = ["--no-deps", "--require-hashes", "-r", str(lock)]
    # From uv's cache in a second; pip knows a person's own index.
    offline = [str(uv), "pip", "install", "--quiet", "--offline", "--python", str(python), *locked]
    if not uv or subprocess.run(offline, check=False, capture_output=True).returncode:
        _run([str(python), "-m", "pip", "install", "--quiet", *locked], environment.parent)
    alone = ["--no-deps", "--no-index", str(wheel)]
    _run([str(python), "-m", "pip", "install", "--quiet", *alone], environment.parent)


def try_out(airboss: Path, version: str, folder: Path, *, runs_a_job: bool = True) -> None:
    """In an empty home: its version, its doctor, a server with its pages, and a job."""
    environ = {
        "HOME": str(folder),
        "PATH": os.defpath,
        "AIRBOSS_CACHE": os.environ.get("AIRBOSS_CACHE", str(cache_folder().parents[1])),
        "AIRBOSS_DATA": str(folder / "data"),
    }
    told = _run([str(airboss), "--version"], folder, environ).stdout.strip()
    if told != f"airboss {version}":
        raise ReleaseRefused(f"The installed command says “{told}” and not {version}.")
    _run([str(airboss), "doctor"], folder, environ)
    with _server(airboss, folder, environ) as url:
        token = (folder / "data" / "token").read_text("utf-8").strip()
        headers = {"Authorization": f"Bearer {token}"}
        for path in ("/readyz", "/"):
            answer = httpx2.get(url + path, headers=headers, timeout=_PATIENCE_SECONDS)
            if answer.status_code != 200:
                raise ReleaseRefused(f"{path} answers {answer.status_code}: {answer.text}")
        if runs_a_job:
            _run([str(airboss), "run", "sample"], folder, environ)


@contextmanager
def _server(airboss: Path, folder: Path, environ: dict[str, str]) -> Generator[str]:
    log = folder / "serve.log"
    with log.open("wb") as said:
        command = [str(airboss), "serve", "--port", "0"]
        server = subprocess.Popen(command, cwd=folder, env=environ, stdout=said, stderr=said)
    try:
        until = time.monotonic() + _PATIENCE_SECONDS
        while (note := DataFolder(folder / "data").note()) is None:
            if server.poll() is not None or time.monotonic() > until:
                raise ReleaseRefused(f"The server did not start:\n{log.read_text('utf-8')}")
            time.sleep(0.05)
        yield note.url
    finally:
        server.terminate()
        code = _ended(server)
    if code:
        raise ReleaseRefused(f"The server ended with {code}:\n{log.read_text('utf-8')}")


def _ended(server: "subprocess.Popen[bytes]") -> int:
    try:
        return server.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        return server.wait()


def _run(
    command: list[str], cwd: Path, environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, cwd=cwd, env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        raise ReleaseRefused(f"This failed: {' '.join(command)}\n{said}")
    return done


def make(release: Release) -> list[Path]:
    """The finished files in dist/, and the two changed files in the working tree."""
    release.refuse_what_is_not_ready()
    with release.written(), tempfile.TemporaryDirectory(prefix="airboss-release-") as made:
        folder = Path(made)
        print("Building wheel and source archive")
        wheel, archive = _built(release.root, folder / "dist")
        print("Building the wheel again from the source archive")
        (folder / "source").mkdir()
        compare_archive(archive, wheel, folder / "source")
        print("Installing into an empty environment")
        install(wheel, release.root / "requirements" / "run.txt", folder / "venv")
        print("Trying it: version, doctor, server, a job")
        (folder / "home").mkdir()
        try_out(folder / "venv" / "bin" / "airboss", release.version, folder / "home")
        target = release.root / "dist"
        target.mkdir(exist_ok=True)
        return [Path(shutil.copy(file, target)) for file in (wheel, archive)]


def _built(root: Path, into: Path) -> tuple[Path, Path]:
    files = build(root, into, "wheel", "sdist")
    wheel, archive = (next(f for f in files if f.name.endswith(end)) for end in (".whl", ".gz"))
    return wheel, archive


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", nargs="?", default="", help="such as 1.2.3")
    version = str(parser.parse_args().version)
    try:
        files = make(Release(ROOT, version))
    except ReleaseRefused as refused:
        sys.stderr.write(f"{refused}\nThere is no release; nothing was changed.\n")
        return 1
    for file in files:
        print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(ROOT)}")
    print(
        f"\nRead the heading in CHANGELOG.md, then:\n"
        f'  git commit -am "Release {version}" && git tag v{version}\n'
        f"Nothing was uploaded."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
