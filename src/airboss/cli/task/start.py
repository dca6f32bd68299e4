"""Starts task runs, and does failed ones again: see what one decides, stop it, read its answer."""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from airboss.cli.client import Client, Json
from airboss.cli.screen import aside, out, print_json, visible, visible_line, waited
from airboss.cli.task.answer import answer_of
from airboss.cli.task.listing import RUNS
from airboss.cli.task.watch import stop_request, watch_with
from airboss.cli.trouble import CommandRefused, Exit, Trouble
from airboss.cli.watcher import Interrupts


@dataclass(frozen=True)
class TaskRunRequest:
    """What somebody asked of `airboss task run`."""

    task: str
    input: str | None
    session: str | None
    model: str | None
    cwd: Path | None
    skips_availability: bool
    is_detached: bool
    is_json: bool
    patience: float


@dataclass(frozen=True)
class TaskRetryRequest:
    """What somebody asked of `airboss task retry`."""

    run: str
    is_detached: bool
    is_json: bool
    patience: float


def run(reach: Callable[[], Client], request: TaskRunRequest) -> Exit:
    """Start it, show what is decided until it has ended, then what the agent said."""
    client = reach()
    asked = _asked(client, request)
    return _carry_out(reach, request, lambda: _started(client, asked))


def retry(reach: Callable[[], Client], request: TaskRetryRequest) -> Exit:
    """The same for one that failed or was stopped: it is done again, as a task run of its own."""
    client = reach()
    return _carry_out(reach, request, lambda: client.post(f"{RUNS}/{request.run}/retry"))


def _carry_out(
    reach: Callable[[], Client],
    request: TaskRunRequest | TaskRetryRequest,
    start: Callable[[], Json],
) -> Exit:
    with Interrupts.of_starter() as interrupts:
        view = waited("Starting the task", start)
        if request.is_detached:
            _tell_started(view, request)
            return Exit.DONE
        pen = aside()
        run_id = str(view["id"])
        started = f"{run_id} · {view['task']} · {view['model']} · {view['cwd']}"
        said = f"Task run {started} · permissions {view['policy']}"
        pen.line(pen.styled(visible_line(said), "dim"))
        interrupts.stop = stop_request(reach, run_id)
        try:
            outcome = watch_with(
                interrupts, reach, run_id, request.patience, is_json=request.is_json
            )
            if not request.is_json:
                _tell_answer(reach, run_id)
        except BrokenPipeError:
            # Nobody reads on: what nobody waits for is not left at work.
            with suppress(Trouble):
                reach().post(interrupts.stop.path)
            raise
        return outcome


def _tell_answer(reach: Callable[[], Client], run_id: str) -> None:
    """What a task is run for is often what the agent says, as with a question."""
    try:
        client = reach()
        answer = answer_of(client, client.get(f"{RUNS}/{run_id}"))
    except Trouble:
        aside().line(f"To read the agent's answer: airboss task show {run_id}")
        return
    if answer:
        out().line(visible(answer))


def _started(client: Client, asked: Json) -> Json:
    try:
        return client.post(RUNS, asked)
    except CommandRefused as refused:
        if refused.status != 404 or asked.get("session"):
            raise
        names = [str(task["name"]) for task in client.get("/api/v1/tasks")["items"]]
        near = get_close_matches(str(asked["task"]), names, 1)
        hint = f'Did you mean "{near[0]}"?' if near else "See: airboss tasks"
        raise CommandRefused(f"{refused} {hint}", 404) from None


def _tell_started(view: Json, request: TaskRunRequest | TaskRetryRequest) -> None:
    if request.is_json:
        print_json(view)
    else:
        out().line(str(view["id"]))


def _asked(client: Client, request: TaskRunRequest) -> Json:
    asked: Json = {"task": request.task, "skip_availability": request.skips_availability}
    if request.input is not None:
        asked["input"] = text_of(request.input)
    if request.session:
        return {**asked, "session": request.session}
    if request.model:
        asked["model"] = request.model
    if request.cwd:
        asked["cwd"] = str(request.cwd.expanduser().absolute())
    elif client.address.is_local:
        asked["cwd"] = str(Path.cwd())
    return asked


def text_of(given: str) -> str:
    """The text itself, `@FILE`, or `-` for the standard input."""
    if given == "-":
        return sys.stdin.read()
    if not given.startswith("@"):
        return given
    file = Path(given[1:]).expanduser()
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CommandRefused(f"Could not read the input {file}: it is not valid UTF-8.") from None
    except OSError as error:
        raise CommandRefused(f"Could not read the input {file}: {error.strerror}.") from None
