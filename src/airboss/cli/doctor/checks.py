"""The checks that need no server: this machine, this user, this data folder."""

import getpass
import os
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from airboss.cli.folder import data_folder
from airboss.errors import AirbossError
from airboss.runtime.install import version_of
from airboss.runtime.locate import CLI_VERSION, locate
from airboss.runtime.undumpable import remedy, why_open
from airboss.runtime_settings import RUNTIME_TOKEN
from airboss.store.folder import DataFolder

if TYPE_CHECKING:
    from airboss.settings import Settings

State: TypeAlias = Literal["ok", "warn", "fail"]

_MEBIBYTE = 1024 * 1024
_LOW_DISK = 1024 * _MEBIBYTE
_FULL_DISK = 100 * _MEBIBYTE
_PROGRAM_SECONDS = 4.0
# The order in which they count.
_SIGN_IN_VARIABLES = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")


@dataclass(frozen=True)
class CheckResult:
    """What a check found, and what to do about it."""

    state: State
    summary: str
    detail: str = ""
    remedy: str = ""


@dataclass(frozen=True)
class CheckedMachine:
    """What is examined."""

    folder: DataFolder
    environ: Mapping[str, str]

    @classmethod
    def of(cls, data: Path | None, environ: Mapping[str, str] = os.environ) -> "CheckedMachine":
        return cls(data_folder(data, environ), environ)


Check: TypeAlias = Callable[[CheckedMachine], CheckResult]


def check_python(subject: CheckedMachine) -> CheckResult:
    del subject
    version = ".".join(str(part) for part in sys.version_info[:3])
    return CheckResult("ok", f"Python {version}", sys.executable)


def check_data_folder(subject: CheckedMachine) -> CheckResult:
    path = subject.folder.path
    if not path.exists():
        parent = next(above for above in path.parents if above.exists())
        if not os.access(parent, os.W_OK):
            remedy = "Choose another folder with --data or AIRBOSS_DATA."
            return CheckResult(
                "fail", f"{path} does not exist and cannot be created.", remedy=remedy
            )
        return CheckResult("ok", f"{path} does not exist yet. The first start creates it.")
    if not path.is_dir():
        return CheckResult(
            "fail", f"{path} is not a folder.", remedy="Choose another folder with --data."
        )
    if not os.access(path, os.W_OK | os.X_OK):
        remedy = f"Fix its permissions (chmod u+rwx {path}), or choose another folder with --data."
        return CheckResult("fail", f"{path} is not writable.", remedy=remedy)
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        remedy = f"chmod 700 {path}"
        return CheckResult(
            "warn", f"Other users have access to {path} ({mode:04o}).", remedy=remedy
        )
    return CheckResult("ok", f"{path} is writable, and only its owner has access.")


def check_disk(subject: CheckedMachine) -> CheckResult:
    path = subject.folder.path
    there = next(place for place in (path, *path.parents) if place.exists())
    free = shutil.disk_usage(there).free
    summary = f"{free / 1024 / _MEBIBYTE:.1f} GiB free for {path}."
    if free < _FULL_DISK:
        return CheckResult(
            "fail", summary, remedy="Free up disk space: every event is written to disk."
        )
    if free < _LOW_DISK:
        return CheckResult("warn", summary, remedy="Free up disk space soon.")
    return CheckResult("ok", summary)


def check_settings(subject: CheckedMachine) -> CheckResult:
    # Its models cost a tenth of a second, which only this command has.
    from airboss.settings import load_settings

    file = subject.folder.settings
    try:
        load_settings(file, {"data": subject.folder.path})
    except AirbossError as error:
        return CheckResult("fail", str(error), remedy=f"Fix {file}.")
    said = f"{file} is valid." if file.exists() else f"No settings file ({file}); using defaults."
    return CheckResult("ok", said)


def check_provider_keys(subject: CheckedMachine) -> CheckResult:
    from airboss.settings import load_settings
    from airboss.store.kept_secrets import KeptSecrets

    try:
        providers = load_settings(subject.folder.settings, {"data": subject.folder.path}).providers
    except AirbossError:
        remedy = "Fix the settings file first."
        return CheckResult("warn", "Not checked: the settings file is not valid.", remedy=remedy)
    if not providers:
        return CheckResult("ok", "No providers of your own are configured.")
    kept = KeptSecrets(subject.folder.secrets, "")
    unkept = [
        f"{provider.key_kept} (for {provider.name})"
        for provider in providers
        if provider.key_kept and not kept.has(provider.key_kept)
    ]
    if unkept:
        remedy = "Enter it with `airboss secret set NAME`."
        return CheckResult("warn", f"Not kept here: {', '.join(unkept)}.", remedy=remedy)
    missing = [
        f"{provider.key_variable} (for {provider.name})"
        for provider in providers
        if provider.key_variable and not subject.environ.get(provider.key_variable)
    ]
    if missing:
        remedy = "Set it in the environment in which you start the server."
        return CheckResult("warn", f"Not set here: {', '.join(missing)}.", remedy=remedy)
    plain = ", ".join(p.name for p in providers if p.base_url.startswith("http:"))
    detail = f"Reached over http, which others on the way could read: {plain}." if plain else ""
    return CheckResult("ok", f"{len(providers)} configured, all keys set.", detail)


def check_sign_in(subject: CheckedMachine) -> CheckResult:
    """Names only: a value is never read further than whether it is there."""
    there = [name for name in _SIGN_IN_VARIABLES if subject.environ.get(name)]
    if not there:
        remedy = (
            "To use Copilot's models, run `airboss account add NAME`, set COPILOT_GITHUB_TOKEN in "
            "the server's environment, or sign in with the Copilot CLI. The rehearsal model needs "
            "none of these."
        )
        names = ", ".join(_SIGN_IN_VARIABLES)
        return CheckResult("warn", f"None of {names} is set here.", remedy=remedy)
    others = f" {', '.join(there[1:])} is ignored." if there[1:] else ""
    return CheckResult("ok", f"{there[0]} is set and used.{others}")


def check_runtime(subject: CheckedMachine) -> CheckResult:
    settings = _settings(subject)
    if settings is not None and settings.runtime_url is not None:
        return _check_outside(settings.runtime_url, subject.environ)
    try:
        found = locate(settings and settings.copilot_cli, subject.environ)
    except AirbossError as error:
        return CheckResult("fail", str(error), remedy="Run: airboss setup")
    kind = "native" if found.native else "single file"
    where = f"{found.path} ({kind}, from {found.source})"
    version = version_of(found.path)
    if version is None:
        remedy = "Reinstall it: delete its folder, then run: airboss setup"
        return CheckResult(
            "fail", "The agent runtime is installed but does not start.", where, remedy
        )
    if version != CLI_VERSION:
        remedy = f"Airboss needs version {CLI_VERSION}. Run: airboss setup"
        return CheckResult(
            "warn", f"The agent runtime has the wrong version: {version}.", where, remedy
        )
    return CheckResult("ok", f"Agent runtime {CLI_VERSION} works.", where)


def _settings(subject: CheckedMachine) -> "Settings | None":
    from airboss.settings import load_settings

    try:
        return load_settings(subject.folder.settings, {"data": subject.folder.path})
    except AirbossError:
        return None


def _check_outside(url: str, environ: Mapping[str, str]) -> CheckResult:
    """Whether anybody is there; what it is, a running server says."""
    host, _, port = url.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=2).close()
    except OSError as error:
        remedy = "Start it there with `copilot --headless --port PORT`, or change runtime_url."
        said = f"No agent runtime answers at {url} (runtime_url): {error.strerror or error}."
        return CheckResult("fail", said, remedy=remedy)
    if not environ.get(RUNTIME_TOKEN):
        remedy = f"If it was started with a token, set {RUNTIME_TOKEN} for `airboss serve`."
        return CheckResult("warn", f"A runtime is at {url}. No token is set here.", remedy=remedy)
    return CheckResult("ok", f"A runtime is at {url}; {RUNTIME_TOKEN} is set.")


def check_node(subject: CheckedMachine) -> CheckResult:
    del subject
    npm = shutil.which("npm")
    node = shutil.which("node")
    if npm is None or node is None:
        remedy = "Only airboss setup needs it. Install Node.js 20 or newer (https://nodejs.org)."
        return CheckResult("warn", "Node.js with npm was not found.", remedy=remedy)
    return CheckResult("ok", f"Node.js {_version_of([node, '--version']) or '?'} with npm", npm)


def check_git(subject: CheckedMachine) -> CheckResult:
    del subject
    git = shutil.which("git")
    if git is None:
        remedy = "Install git: agents use it for nearly everything."
        return CheckResult("warn", "git was not found.", remedy=remedy)
    return CheckResult("ok", _version_of([git, "--version"]) or "git", git)


def check_token_file(subject: CheckedMachine) -> CheckResult:
    file = subject.folder.token
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
    except FileNotFoundError:
        return CheckResult("ok", "No token yet. The first start of the server creates it.")
    except OSError as error:
        remedy = "Fix the permissions of the data folder, or choose another with --data."
        return CheckResult("fail", f"{file} cannot be read: {error.strerror}.", remedy=remedy)
    if os.name == "posix" and mode & 0o077:
        remedy = f"chmod 600 {file}. If others may have read it, delete it and restart the server."
        return CheckResult("fail", f"Other users can read {file} ({mode:04o}).", remedy=remedy)
    return CheckResult("ok", f"Only its owner can read {file}.")


def check_server(subject: CheckedMachine) -> CheckResult:
    note = subject.folder.note()
    if note is None:
        remedy = "Start one with: airboss serve"
        return CheckResult("ok", "No server is running on this data folder.", remedy=remedy)
    return CheckResult("ok", f"A server is running at {note.url} (process id {note.pid}).")


def check_agents_user(subject: CheckedMachine) -> CheckResult:
    del subject
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "the server's user"
    remedy = (
        "Run the server as a separate user who can read only what agents need:\n"
        "  sudo useradd --create-home airboss\n"
        "  sudo -u airboss -H airboss serve"
    )
    what = "everything on this machine" if user == "root" else "all your files, including the token"
    return CheckResult("warn", f"Agents run as {user}, so they can read {what}.", remedy=remedy)


def check_memory(subject: CheckedMachine) -> CheckResult:
    del subject
    why = why_open()
    if why:
        return CheckResult("warn", why, remedy=remedy(why))
    return CheckResult("ok", "Agents cannot read the memory of a server that you start.")


def _version_of(command: list[str]) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - programs that this machine offers under these names
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=_PROGRAM_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else ""


CHECKS: tuple[tuple[str, Check], ...] = (
    ("python", check_python),
    ("data-folder", check_data_folder),
    ("disk", check_disk),
    ("settings", check_settings),
    ("token-file", check_token_file),
    ("runtime", check_runtime),
    ("node", check_node),
    ("git", check_git),
    ("sign-in", check_sign_in),
    ("provider-keys", check_provider_keys),
    ("agents-user", check_agents_user),
    ("memory", check_memory),
    ("server", check_server),
)
