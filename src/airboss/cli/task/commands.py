"""The commands about task runs, each thin: task run, list, show, stop, retry."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, Patience, named, reach
from airboss.cli.trouble import CommandRefused

app = typer.Typer(help="Run, list, show, stop or retry tasks of the entry.")

RunId = Annotated[str, typer.Argument(metavar="ID", help="Task run id (airboss task list).")]
Detach = Annotated[bool, typer.Option("--detach", help="Print the id and return at once.")]


class TaskStates(StrEnum):
    """The states of a task run."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    CRASHED = "crashed"


@app.command("run")
def task_run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Task name (airboss tasks).")],
    text: Annotated[
        str | None,
        typer.Option(
            "--input", metavar="TEXT", help="Input for the task; @FILE reads a file, - stdin."
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Run in this open session.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="ID", help="Model to use (airboss models).")
    ] = None,
    cwd: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Working folder. [this folder]")
    ] = None,
    skip_availability: Annotated[
        bool, typer.Option("--skip-availability", help="Start without checking `availability`.")
    ] = False,
    detach: Detach = False,
    wait: Patience = 120,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Run a task: shows its decisions, then the agent's answer. Ctrl-C stops it."""
    from airboss.cli.task.start import TaskRunRequest, run

    if session and (model or cwd):
        raise CommandRefused(
            "--session cannot be combined with --model or --cwd: a session keeps its own."
        )
    session = named(data, session, "ses") if session else None
    request = TaskRunRequest(
        name, text, session, model, cwd, skip_availability, detach, as_json, wait
    )
    raise typer.Exit(run(reach(data), request))


@app.command("list")
def task_list(
    state: Annotated[
        TaskStates | None, typer.Option(help="Show only task runs in this state.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number to list.")] = 20,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """List task runs, newest first."""
    from airboss.cli.task.listing import show_runs

    show_runs(reach(data)(), state.value if state else None, limit, is_json=as_json)


@app.command("show")
def task_show(run: RunId, data: Data = None, as_json: AsJson = False) -> None:
    """Show a task run with its decisions and attempts."""
    from airboss.cli.task.listing import show_run

    show_run(reach(data)(), named(data, run, "tsk"), is_json=as_json)


@app.command("stop")
def task_stop(run: RunId, data: Data = None) -> None:
    """Stop a task run and the agents that it started."""
    from airboss.cli.task.listing import stop_run

    raise typer.Exit(stop_run(reach(data)(), named(data, run, "tsk")))


@app.command("retry")
def task_retry(
    run: RunId,
    detach: Detach = False,
    wait: Patience = 120,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Retry a task that failed or was stopped, with the same input and folder."""
    from airboss.cli.task.start import TaskRetryRequest, retry

    request = TaskRetryRequest(named(data, run, "tsk"), detach, as_json, wait)
    raise typer.Exit(retry(reach(data), request))
