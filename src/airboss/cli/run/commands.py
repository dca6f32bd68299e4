"""The commands about runs, each thin: run, runs, show, report, compare, retry, again and more."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from airboss.cli.options import (
    AsJson,
    CageProfileOption,
    Data,
    Patience,
    Permissions,
    Yes,
    named,
    reach,
)

app = typer.Typer()

RunId = Annotated[str, typer.Argument(metavar="RUN", help="Run id (airboss runs).")]
JobName = Annotated[str, typer.Argument(metavar="JOB", help="Job name (airboss entry).")]
Input = Annotated[
    str | None,
    typer.Option("--input", metavar="TEXT", help="Input for the job; @FILE reads a file, - stdin."),
]
Folder = Annotated[Path | None, typer.Option(metavar="DIR", help="Working folder. [this folder]")]
Detach = Annotated[bool, typer.Option("--detach", help="Print the run id and return at once.")]


class RunStates(StrEnum):
    """The states of a run."""

    WAITING = "waiting"
    RUNNING = "running"
    FOR_PERSON = "waiting-for-person"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"


@app.command()
def run(
    job: JobName,
    text: Input = None,
    cwd: Folder = None,
    cage: CageProfileOption = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label", metavar="WORD", help="Label that the machine must have; repeatable."
        ),
    ] = None,
    detach: Detach = False,
    wait: Patience = 120,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Run a job and show its progress live. Exit code: 0 succeeded, 1 failed, 3 stopped."""
    from airboss.cli.run.start import RunRequest
    from airboss.cli.run.start import run as run_job

    labels = tuple(label or ())
    request = RunRequest(job, text, cwd, detach, as_json, wait, cage, labels)
    raise typer.Exit(run_job(reach(data), request))


@app.command()
def runs(
    state: Annotated[RunStates | None, typer.Option(help="Show only runs in this state.")] = None,
    job: Annotated[
        str | None, typer.Option(metavar="JOB", help="Show only runs of this job.")
    ] = None,
    tag: Annotated[
        str | None, typer.Option(metavar="TAG", help="Show only runs with this tag.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number to list.")] = 20,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """List runs, newest first."""
    from airboss.cli.run.listing import show_runs

    show_runs(
        reach(data)(), state.value if state else None, limit, is_json=as_json, job=job, tag=tag
    )


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="Id of a run, task run or session.")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Show a run: its tree with states, times, task runs and usage."""
    from airboss.cli.run.listing import show as show_any

    show_any(reach(data)(), named(data, name, "run", "tsk", "ses"), is_json=as_json)


@app.command()
def retry(
    name: RunId,
    detach: Detach = False,
    wait: Patience = 120,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Retry the failed part of a run, keeping what succeeded. Also retries a single task run."""
    from airboss.cli.run.start import RunAgainRequest
    from airboss.cli.run.start import retry as retry_run

    request = RunAgainRequest(named(data, name, "run", "tsk"), detach, as_json, wait)
    raise typer.Exit(retry_run(reach(data), request))


@app.command()
def again(
    name: RunId,
    detach: Detach = False,
    wait: Patience = 120,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Run the same job again, as a new run. Uses the same input and folder."""
    from airboss.cli.run.start import RunAgainRequest
    from airboss.cli.run.start import again as run_again

    request = RunAgainRequest(named(data, name, "run"), detach, as_json, wait)
    raise typer.Exit(run_again(reach(data), request))


@app.command()
def report(name: RunId, data: Data = None, as_json: AsJson = False) -> None:
    """Show the report of a run. The outcome, why, what changed, and what to do next."""
    from airboss.cli.run.report import show_report

    show_report(reach(data)(), named(data, name, "run"), is_json=as_json)


@app.command()
def compare(
    a: Annotated[str, typer.Argument(metavar="RUN")],
    b: Annotated[str, typer.Argument(metavar="RUN")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs. Shows where they diverged, and what differs after that."""
    from airboss.cli.run.report import compare as compare_runs

    first, second = named(data, a, "run"), named(data, b, "run")
    compare_runs(reach(data)(), first, second, is_json=as_json)


@app.command()
def rename(
    name: RunId,
    title: Annotated[str, typer.Argument(metavar="TITLE", help='New title; "" removes it.')],
    data: Data = None,
) -> None:
    """Rename a run."""
    from airboss.cli.run.report import rename as rename_run

    raise typer.Exit(rename_run(reach(data)(), named(data, name, "run"), title))


@app.command()
def tag(
    name: RunId,
    tags: Annotated[list[str], typer.Argument(metavar="TAG...")],
    remove: Annotated[bool, typer.Option("--remove", help="Remove these tags instead.")] = False,
    data: Data = None,
) -> None:
    """Add tags to a run, or remove them. Find tagged runs with `airboss runs --tag TAG`."""
    from airboss.cli.run.report import tag as tag_run

    raise typer.Exit(tag_run(reach(data)(), named(data, name, "run"), tags, removes=remove))


@app.command()
def delete(
    name: Annotated[
        str, typer.Argument(metavar="ID", help="Id of a run, single task run or session.")
    ],
    yes: Yes = False,
    data: Data = None,
) -> None:
    """Permanently delete a finished run, task run or session. Includes its sessions."""
    from airboss.cli.run.listing import delete as delete_for_good

    whole = named(data, name, "run", "tsk", "ses")
    raise typer.Exit(delete_for_good(reach(data)(), whole, is_sure=yes))


@app.command()
def rehearse(
    job: JobName,
    script: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Script for the model. [the built-in one]")
    ] = None,
    text: Input = None,
    cwd: Folder = None,
    entry: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Entry file to use. [the project's own]")
    ] = None,
    permissions: Annotated[
        Permissions, typer.Option(help="What agents may do without approval.")
    ] = Permissions.READ_ONLY,
    trust: Annotated[
        bool, typer.Option("--trust", help="Trust the entry this once: a Python file may run.")
    ] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Run a job for free on the rehearsal model. Starts a temporary server for it."""
    from airboss.cli.run.rehearse import RehearsalRequest
    from airboss.cli.run.rehearse import rehearse as rehearse_job

    request = RehearsalRequest(job, script, text, cwd, entry, permissions.value, trust, as_json)
    raise typer.Exit(rehearse_job(request, data))
