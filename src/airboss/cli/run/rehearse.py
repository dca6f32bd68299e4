"""Runs a job on the rehearsal model: a server of its own, whose every model is the script."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Final

from airboss.cli.client import Client, find
from airboss.cli.entry.entries import is_remembered
from airboss.cli.folder import data_folder
from airboss.cli.run import start as runs
from airboss.cli.screen import aside, visible_line, waited
from airboss.cli.trouble import CommandRefused, Exit, Trouble
from airboss.entry.document import Entry
from airboss.entry.load import load_entry, read_content
from airboss.entry.model_ids import model_ids
from airboss.entry.places import find_repo_root, own_entries
from airboss.entry.violations import EntryInvalid
from airboss.runtime.rehearsal.script import load_script
from airboss.runtime.rehearsal.stage import (
    PREFIX,
    START_SECONDS,
    Stage,
    builtin_text,
    stage_environment,
    with_models,
)
from airboss.settings import load_settings

_STOP_SECONDS: Final = 15.0
_NO_VARIABLES: Final[Mapping[str, str]] = {}


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
    models = model_ids(_loaded(file, is_trusted=is_trusted)) if file else []
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as made:
        stage = Stage(Path(made))
        stage.script.write_text(_script(request.script, models), encoding="utf-8")
        roots = [cwd, file.parent] if file else [cwd]
        words = stage.words(request.permissions, roots)
        if runtime := load_settings(data_folder(data).settings, {}).copilot_cli:
            words += ["--copilot-cli", str(runtime)]
        asked = runs.RunRequest(request.job, request.input, cwd, False, request.is_json, 0)
        with served_on(stage, cwd, words):
            return _play(stage.folder, file, asked, digest)


def _play(folder: Path, file: Path | None, asked: runs.RunRequest, trusted: str | None) -> Exit:
    """`trusted` is the digest of a file that a person trusts."""

    def reach() -> Client:
        return Client(find(folder / "data", {}))

    client = reach()
    if file and trusted:
        seen = client.get("/api/v1/trust/look", path=str(file))
        if trusted not in [one["digest"] for one in seen["files"]]:
            raise CommandRefused(f"{file} has changed meanwhile. Run the command again.")
        client.post("/api/v1/trust", {"path": str(file), "digest": seen["digest"]})
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


def _script(chosen: Path | None, ids: list[str]) -> str:
    if chosen is None:
        return with_models(builtin_text(), "script", ids)
    file = chosen.expanduser().absolute()
    load_script(file)  # says why it cannot be read
    return with_models(file.read_text(encoding="utf-8"), str(file), ids)


@contextmanager
def served_on(
    stage: Stage, cwd: Path, words: list[str], environ: Mapping[str, str] = _NO_VARIABLES
) -> Generator[None]:
    """A server on a free port of loopback, until whoever wanted it is done."""
    with _leaving_in_order(), stage.log.open("wb") as said:
        # In a group of its own: Ctrl-C is for us, and the server is stopped when we are done.
        process = subprocess.Popen(  # noqa: S603 - this very program
            words,
            cwd=cwd,
            env={**stage_environment(os.environ), **environ},
            stdin=subprocess.PIPE,  # closed with us, whatever ends us: then the server ends
            stdout=said,
            stderr=said,
            process_group=0 if os.name == "posix" else None,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        try:
            waited("Starting the rehearsal", lambda: _wait(process, stage))
            yield
        finally:
            _end(process)


def _wait(process: "subprocess.Popen[bytes]", stage: Stage) -> None:
    until = time.monotonic() + START_SECONDS
    while stage.data.note() is None:
        if process.poll() is not None or time.monotonic() > until:
            raise Trouble(stage.why_not_started())
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
