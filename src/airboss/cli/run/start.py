"""Starts runs of jobs, and goes on with them."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airboss.cli.client import Client, Json
from airboss.cli.run.watch import RUNS, WatchOptions, watch
from airboss.cli.screen import aside, out, print_json, visible, visible_line, waited
from airboss.cli.task.start import text_of
from airboss.cli.trouble import Busy, CommandRefused, Exit, Trouble, Unreachable

_PAUSE_SECONDS: Final = 0.5
_NOT_FOUND: Final = 404


@dataclass(frozen=True)
class RunRequest:
    """What somebody asked of `airboss run`."""

    job: str
    input: str | None
    cwd: Path | None
    is_detached: bool
    is_json: bool
    patience: float
    cage: str | None = None
    labels: tuple[str, ...] = ()


def run(reach: Callable[[], Client], request: RunRequest) -> Exit:
    """Start it, and show its tree until it has ended. Ctrl-C stops it."""
    client = reach()
    asked = _asked(client, request)
    # Only a server that was there is waited for.
    patience = request.patience if client.healthy() else 0
    key = secrets.token_urlsafe(18)
    try:
        view = waited("Starting the run", lambda: _start(reach, asked, key, patience))
    except KeyboardInterrupt:
        text = "Exited before the server answered. To see whether the run started: airboss runs"
        raise Trouble(text, Exit.STOPPED) from None
    except CommandRefused as refused:
        raise (_no_such_job(client, refused) if refused.status == _NOT_FOUND else refused) from None
    return _go_on(reach, view, request)


def _no_such_job(client: Client, refused: CommandRefused) -> CommandRefused:
    """With what there is instead, or why the project's own jobs are not there."""
    try:
        entry = client.get("/api/v1/entry")
    except Trouble:
        return refused
    jobs = ", ".join(entry["document"]["jobs"]) or "none"
    return CommandRefused(
        " ".join([str(refused), f"Jobs: {jobs}.", entry["problem"] or ""]).strip()
    )


def _asked(client: Client, request: RunRequest) -> Json:
    asked: Json = {"job": request.job}
    if request.input is not None:
        asked["input"] = text_of(request.input)
    if request.cwd:
        asked["cwd"] = str(request.cwd.expanduser().absolute())
    elif client.address.is_local:
        asked["cwd"] = str(Path.cwd())
    if request.cage:
        asked["cage"] = request.cage
    if request.labels:
        asked["labels"] = list(request.labels)
    return asked


def _start(reach: Callable[[], Client], asked: Json, key: str, patience: float) -> Json:
    """Again and again while the connection breaks: by its key it is one and the same run."""
    until = time.monotonic() + patience
    is_said = False
    while True:
        try:
            return reach().post(RUNS, asked, key=key)
        except (Unreachable, Busy) as trouble:
            if time.monotonic() >= until:
                raise
            if not is_said:
                is_said = True
                pen = aside()
                pen.line(pen.styled(visible(f"{trouble} Retrying …"), "yellow"))
        time.sleep(_PAUSE_SECONDS)


@dataclass(frozen=True)
class RunAgainRequest:
    """What is done with a run that there is already, and how it is shown."""

    run: str
    is_detached: bool
    is_json: bool
    patience: float


def retry(reach: Callable[[], Client], request: RunAgainRequest) -> Exit:
    """Do the failed part of a run again, or a task by itself."""
    if request.run.startswith("tsk_"):
        from airboss.cli.task.start import TaskRetryRequest
        from airboss.cli.task.start import retry as retry_task

        again = TaskRetryRequest(
            request.run, request.is_detached, request.is_json, request.patience
        )
        return retry_task(reach, again)
    client = reach()
    before = int(client.get(f"{RUNS}/{request.run}")["seq"])
    view = client.post(f"{RUNS}/{request.run}/retry")
    return _go_on(reach, view, request, before)


def again(reach: Callable[[], Client], request: RunAgainRequest) -> Exit:
    """The same job with the same input in the same folder, as a new run."""
    view = waited("Starting the run", lambda: reach().post(f"{RUNS}/{request.run}/again"))
    return _go_on(reach, view, request)


def _go_on(
    reach: Callable[[], Client], view: Json, request: RunRequest | RunAgainRequest, after: int = 0
) -> Exit:
    run_id = str(view["id"])
    if request.is_detached:
        if request.is_json:
            print_json(view)
        else:
            out().line(run_id)
        return Exit.DONE
    pen = aside()
    if pen.is_terminal:
        said = f"Run {run_id} in {view['cwd']}. Press Ctrl-C to stop it."
        pen.line(pen.styled(visible_line(said), "dim"))
    return watch(reach, run_id, WatchOptions(request.is_json, request.patience, after))
