"""Puts the agent runtime into our cache: from the npm registry, no script of it run."""

import errno
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from airboss.errors import RuntimeMissing
from airboss.runtime.locate import (
    CLI_VERSION,
    NATIVE_NAME,
    SINGLE_NAME,
    Located,
    cache_folder,
    native_in,
    platform_name,
)

_STAGING = ".new-"
_FETCH_SECONDS = 900
_SAY_SECONDS = 15
_RUN_SECONDS = 120
_NO_NETWORK = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")


def install(say: Callable[[str], None]) -> Located:
    """Install this version unless it is there. Safe to run twice, and twice at once."""
    folder = cache_folder()
    if found := _installed(folder):
        return found
    with _words_for_the_disk(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _alone(folder.parent / ".install.lock", say):
            return _installed(folder) or _install(folder, say)


@contextmanager
def _alone(path: Path, say: Callable[[str], None]) -> Generator[None]:
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say("Another installation is running; waiting for it")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _installed(folder: Path) -> Located | None:
    for path in (native_in(folder), folder / SINGLE_NAME):
        if path.is_file():
            return Located(path, "our cache", path.name == NATIVE_NAME)
    return None


def _install(folder: Path, say: Callable[[str], None]) -> Located:
    for left_over in (*folder.parent.glob(f"{_STAGING}*"), folder):
        shutil.rmtree(left_over, ignore_errors=True)
    staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=folder.parent))
    try:
        package = f"@github/copilot-{platform_name()}@{CLI_VERSION}"
        say(f"Installing GitHub's agent runtime {CLI_VERSION} into {folder}, under GitHub's terms")
        say(f"Fetching {package} with npm (some 130 MB)")
        single = _unpack(_fetch(package, staging, say), staging)
        say("Unpacking the agent runtime")
        _let_it_unpack(single, staging)
        if not _native_works(staging):
            say("The native runtime does not run on this machine; using the single-file one")
            shutil.rmtree(staging / "pkg", ignore_errors=True)
        staging.replace(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    found = _installed(folder)
    if found is None:
        raise RuntimeMissing(
            f"The agent runtime was unpacked into {folder}, but cannot be found there."
        )
    say(f"Agent runtime {CLI_VERSION} is ready in {folder}")
    return found


def _fetch(package: str, staging: Path, say: Callable[[str], None]) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeMissing(
            "npm was not found. It installs the agent runtime. Install Node.js 20 or newer "
            "(https://nodejs.org), which includes npm, and run `airboss setup` again."
        )
    command = [npm, "pack", package, "--ignore-scripts", "--prefer-offline", "--loglevel=error"]
    fetching = subprocess.Popen(  # noqa: S603 - npm, with words of ours
        [*command, "--pack-destination", str(staging)],
        cwd=staging,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = _hear(fetching, package, say)
    except BaseException:
        fetching.kill()
        fetching.communicate()
        raise
    if fetching.returncode:
        raise RuntimeMissing(_why_npm_failed(said, package))
    return next(staging.glob("*.tgz"))


def _hear(fetching: "subprocess.Popen[str]", package: str, say: Callable[[str], None]) -> str:
    """What npm says of errors. It tells nothing of its progress, so we say that it goes on."""
    begun = time.monotonic()
    while True:
        try:
            return fetching.communicate(timeout=_SAY_SECONDS)[1]
        except subprocess.TimeoutExpired:
            passed = time.monotonic() - begun
        if passed > _FETCH_SECONDS:
            raise RuntimeMissing(f"npm did not fetch {package} within 15 minutes.")
        say(f"Still fetching, {passed:.0f} seconds so far")


def _why_npm_failed(said: str, package: str) -> str:
    if "ENOSPC" in said:
        return "The disk is full; the agent runtime needs some 700 MB while it is installed."
    if any(code in said for code in _NO_NETWORK):
        return (
            "Could not connect to the npm registry. Check the network and npm's proxy settings, "
            "and run `airboss setup` again. For a machine without a network, copy the folder "
            f"{cache_folder()} from one of the same kind that has it."
        )
    if "E404" in said or "ETARGET" in said:
        return f"The npm registry does not offer {package}."
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return f"npm could not fetch {package}: {' '.join(lines[-3:]) or 'it gave no reason'}"


def _unpack(archive: Path, staging: Path) -> Path:
    """Take the single-file CLI and the licence out of the package, and drop the package."""
    with tarfile.open(archive) as package:
        for name in (f"package/{SINGLE_NAME}", "package/LICENSE.md"):
            package.extract(name, staging, filter="data")
    archive.unlink()
    for path in (staging / "package").iterdir():
        path.replace(staging / path.name)
    (staging / "package").rmdir()
    return staging / SINGLE_NAME


def _let_it_unpack(single: Path, staging: Path) -> None:
    """The single file carries the native runtime and unpacks it at its first start."""
    home = staging / "home"
    home.mkdir()
    places = ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
    environ = {**os.environ, **{name: str(home) for name in (*places, "XDG_STATE_HOME")}}
    environ["COPILOT_HOME"] = str(home / ".copilot")
    said = _run([str(single), "--version"], environ).stdout
    if CLI_VERSION not in said:
        raise RuntimeMissing(
            f"The downloaded runtime is not version {CLI_VERSION}; it reports {said.strip()!r}."
        )
    native = next(home.glob(f"**/prebuilds/{platform_name()}/{NATIVE_NAME}"), None)
    if native is not None:
        native.parents[2].replace(staging / "pkg")
    shutil.rmtree(home, ignore_errors=True)


def _native_works(staging: Path) -> bool:
    native = native_in(staging)
    return native.is_file() and version_of(native) == CLI_VERSION


def version_of(runtime: Path) -> str | None:
    """What the runtime says of itself when it is really started; nothing when it does not run."""
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "status.get", "params": {}})
    options = ["--headless", "--no-auto-update", "--no-auto-login", "--log-level", "none"]
    try:
        done = _run(
            [str(runtime), *options, "--stdio"],
            dict(os.environ),
            f"Content-Length: {len(asked)}\r\n\r\n{asked}",
        )
        return str(json.loads(done.stdout[done.stdout.index("{") :])["result"]["version"])
    except (RuntimeMissing, ValueError, KeyError, TypeError):
        return None


def _run(
    command: list[str], environ: dict[str, str], said: str = ""
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603 - the runtime that was just installed
            command,
            env=environ,
            input=said,
            capture_output=True,
            text=True,
            check=True,
            timeout=_RUN_SECONDS,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise RuntimeMissing(f"The agent runtime does not run on this machine: {error}") from error


@contextmanager
def _words_for_the_disk(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        why = "the disk is full (700 MB are needed)" if full else error.strerror or str(error)
        raise RuntimeMissing(
            f"Could not install the agent runtime into {folder.parent}: {why}. "
            "To use another folder, set AIRBOSS_CACHE."
        ) from error
