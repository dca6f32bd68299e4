"""Runs a job on the rehearsal model: a server of its own, whose every model is the script."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any, Final

import yaml

from airboss.cli.client import Client, find
from airboss.cli.entry.entries import is_remembered
from airboss.cli.folder import data_folder
from airboss.cli.run import start as runs
from airboss.cli.screen import aside, visible_line, waited
from airboss.cli.trouble import CommandRefused, Exit, Trouble
from airboss.entry.document import Entry, Model
from airboss.entry.load import load_entry, read_content
from airboss.entry.places import find_repo_root, own_entries
from airboss.entry.violations import EntryInvalid
from airboss.entry.works import refs
from airboss.runtime.rehearsal.script import Loader, Script, builtin_script, load_script
from airboss.settings import load_settings
from airboss.store.folder import DataFolder

_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 15.0
# What would lead to another server, or to a model that costs something.
_LEFT_OUT: Final = (
    "AIRBOSS_DATA",
    "AIRBOSS_URL",
    "AIRBOSS_TOKEN",
    "COPILOT_GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_TOKEN",
)


@dataclass(frozen=True)
class RehearsalRequest:
    """What somebody asked of `airboss rehearse`."""

    job: str
    script: Path | None
    input: str | None
    cwd: Path | None
    entry: Path | None
    permissions: str
    is_trusted: bool
    is_json: bool


def rehearse(request: RehearsalRequest, data: Path | None) -> Exit:
    """Nothing of it is left afterwards but what the agents wrote in the folder."""
    cwd = (request.cwd or Path.cwd()).expanduser().absolute()
    if not cwd.is_dir():
        raise CommandRefused(f"The folder {cwd} does not exist.")
    file = request.entry.expanduser().absolute() if request.entry else _own(cwd)
    is_trusted = file is not None and (request.is_trusted or is_remembered(file, data))
    digest = sha256(read_content(file)).hexdigest() if file and is_trusted else None
    models = _models(_loaded(file, is_trusted=is_trusted)) if file else []
    prefix = "airboss-rehearsal-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as made:
        folder = Path(made)
        script = folder / "script.yaml"
        script.write_text(_with_models(request.script, models), encoding="utf-8")
        options = ["--rehearsal", str(script), "--permissions", request.permissions]
        roots = [cwd, file.parent] if file else [cwd]
        options += [word for root in roots for word in ("--root", str(root))]
        if runtime := load_settings(data_folder(data).settings, {}).copilot_cli:
            options += ["--copilot-cli", str(runtime)]
        asked = runs.RunRequest(request.job, request.input, cwd, False, request.is_json, 0)
        with _server(folder, cwd, options):
            return _play(folder, file, asked, digest)


def _play(folder: Path, file: Path | None, asked: runs.RunRequest, trusted: str | None) -> Exit:
    """`trusted` is the digest of a file that a person trusts."""

    def reach() -> Client:
        return Client(find(folder / "data", {}))

    client = reach()
    if file and trusted:
        client.post("/api/v1/trust", {"path": str(file), "digest": trusted})
    if file:
        client.post("/api/v1/entry/install", {"path": str(file)})
    said = f"Rehearsing {asked.job} from {file or 'the built-in entry'}. This is free."
    pen = aside()
    pen.line(pen.styled(visible_line(said), "dim"))
    try:
        return runs.run(reach, asked)
    except Trouble as trouble:
        if trouble.code != Exit.STOPPED:
            raise
        # The run ends with its server: nobody can watch on.
        raise Trouble("Exited before the run had stopped.", Exit.STOPPED) from None


def _own(cwd: Path) -> Path | None:
    """The project's own entry; without one the server takes the built-in one."""
    return next(iter(own_entries(find_repo_root(cwd))), None)


def _loaded(file: Path, *, is_trusted: bool) -> Entry:
    try:
        return load_entry(file, trusted=is_trusted)
    except EntryInvalid as error:
        raise CommandRefused(f"{error} To see all errors, run: airboss check {file}") from error


def _models(entry: Entry) -> list[str]:
    """Every model that the entry can ask for, by its id."""

    def named(models: "Iterable[Model | None]") -> list[str]:
        return [model.id for model in models if model and model.id]

    works = [ref.model_override for job in entry.jobs.values() for ref in refs(job.work)]
    driving = [retry.model_id for retry in entry.driving_session_retries or ()]
    tasks = named(task.model for task in entry.tasks.values())
    return list(dict.fromkeys([*entry.models.values(), *driving, *tasks, *named(works)]))


def _with_models(chosen: Path | None, ids: list[str]) -> str:
    """The script, as one that offers these models too: each of them is played."""
    script, text = _script(chosen)
    raw: dict[str, Any] = yaml.load(text, Loader)  # noqa: S506 - a safe loader of ours
    known = [model.model_dump() for model in script.models]
    missing = [{"id": name} for name in ids if name not in {model["id"] for model in known}]
    return yaml.safe_dump({**raw, "models": [*known, *missing]}, allow_unicode=True)


def _script(chosen: Path | None) -> tuple[Script, str]:
    if chosen is None:
        from airboss.runtime.rehearsal import script as module

        file = Path(module.__file__).with_name("builtin.yaml")
        return builtin_script(), file.read_text(encoding="utf-8")
    file = chosen.expanduser().absolute()
    return load_script(file), file.read_text(encoding="utf-8")


@contextmanager
def _server(folder: Path, cwd: Path, options: list[str]) -> Generator[None]:
    """A server on a free port of loopback, until whoever wanted it is done."""
    data = DataFolder(folder / "data")
    log = folder / "serve.log"
    words = [sys.executable, "-P", "-m", "airboss", "serve", "--port", "0"]
    with _leaving_in_order(), log.open("wb") as said:
        # In a group of its own: Ctrl-C is for us, and the server is stopped when we are done.
        process = subprocess.Popen(  # noqa: S603 - this very program
            [*words, "--data", str(data.path), "--with-parent", str(folder), *options],
            cwd=cwd,
            env={name: text for name, text in os.environ.items() if name not in _LEFT_OUT},
            stdin=subprocess.PIPE,  # closed with us, whatever ends us: then the server ends
            stdout=said,
            stderr=said,
            process_group=0 if os.name == "posix" else None,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        try:
            waited("Starting the rehearsal", lambda: _wait(process, data, log))
            yield
        finally:
            _end(process)


def _wait(process: "subprocess.Popen[bytes]", data: DataFolder, log: Path) -> None:
    until = time.monotonic() + _START_SECONDS
    while data.note() is None:
        if process.poll() is not None or time.monotonic() > until:
            lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            said = (lines or ["no output."])[-1].removeprefix("error: ")
            raise Trouble(f"The temporary server did not start: {said}")
        time.sleep(0.05)


def _end(process: "subprocess.Popen[bytes]") -> None:
    _ring(0)
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
        process.wait()


def _ring(seconds: int) -> None:
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


@contextmanager
def _leaving_in_order() -> Generator[None]:
    """Whoever ends us, by a closed terminal too, ends the server with us."""

    def give_up(number: int, frame: FrameType | None) -> None:
        del number, frame
        # What is raised in a destructor is lost: so it is raised again until the server ends.
        _ring(1)
        raise KeyboardInterrupt

    names = ("SIGTERM", "SIGHUP", "SIGALRM")
    heard = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = [(number, signal.signal(number, give_up)) for number in heard]
    try:
        yield
    finally:
        for number, handler in before:
            with suppress(TypeError):  # one that was not set from Python
                signal.signal(number, handler)
