"""The commands about runs, each thin: run, runs, show, report, compare, retry, again and more."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, Patience, Permissions, Yes, named, reach

app = typer.Typer()

RunId = Annotated[str, typer.Argument(metavar="RUN", help="See: airboss runs")]
JobName = Annotated[str, typer.Argument(metavar="JOB", help="See: airboss entry")]
Input = Annotated[
    str | None,
    typer.Option("--input", metavar="TEXT", help="What it is to do; @FILE, or - for stdin."),
]
Folder = Annotated[Path | None, typer.Option(metavar="DIR", help="Where to work. [this folder]")]
Detach = Annotated[bool, typer.Option("--detach", help="Print the run's id and leave it at work.")]


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
    detach: Detach = False,
    wait: Patience = 120,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Run a job and draw its tree live. Exit code: 0 succeeded, 1 failed, 3 stopped."""
    from airboss.cli.run.start import RunRequest
    from airboss.cli.run.start import run as run_job

    raise typer.Exit(run_job(reach(data), RunRequest(job, text, cwd, detach, as_json, wait)))


@app.command()
def runs(
    state: Annotated[RunStates | None, typer.Option(help="Only those in this state.")] = None,
    job: Annotated[str | None, typer.Option(metavar="JOB", help="Only those of this job.")] = None,
    tag: Annotated[
        str | None, typer.Option(metavar="TAG", help="Only those with this tag.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 20,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """List runs, the newest first."""
    from airboss.cli.run.listing import show_runs

    show_runs(
        reach(data)(), state.value if state else None, limit, is_json=as_json, job=job, tag=tag
    )


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="A run; or a task run, or a session.")],
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
    """Do the failed part of a run again; what had succeeded stays. Also a task by itself."""
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
    """Run the same job once more, as a new run. With the same input in the same folder."""
    from airboss.cli.run.start import RunAgainRequest
    from airboss.cli.run.start import again as run_again

    request = RunAgainRequest(named(data, name, "run"), detach, as_json, wait)
    raise typer.Exit(run_again(reach(data), request))


@app.command()
def report(name: RunId, data: Data = None, as_json: AsJson = False) -> None:
    """Read a run as a report. What came of it, why, what changed, what to do next."""
    from airboss.cli.run.report import show_report

    show_report(reach(data)(), named(data, name, "run"), is_json=as_json)


@app.command()
def compare(
    a: Annotated[str, typer.Argument(metavar="RUN")],
    b: Annotated[str, typer.Argument(metavar="RUN")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs. Where they parted, and what differs from there on."""
    from airboss.cli.run.report import compare as compare_runs

    first, second = named(data, a, "run"), named(data, b, "run")
    compare_runs(reach(data)(), first, second, is_json=as_json)


@app.command()
def rename(
    name: RunId,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Empty: only by its job.")],
    data: Data = None,
) -> None:
    """Give a run another title."""
    from airboss.cli.run.report import rename as rename_run

    raise typer.Exit(rename_run(reach(data)(), named(data, name, "run"), title))


@app.command()
def tag(
    name: RunId,
    tags: Annotated[list[str], typer.Argument(metavar="TAG...")],
    remove: Annotated[bool, typer.Option("--remove", help="Take them away.")] = False,
    data: Data = None,
) -> None:
    """Tag a run, to find it by that; or take tags away."""
    from airboss.cli.run.report import tag as tag_run

    raise typer.Exit(tag_run(reach(data)(), named(data, name, "run"), tags, removes=remove))


@app.command()
def delete(
    name: Annotated[
        str, typer.Argument(metavar="ID", help="A run; or a task run by itself, or a session.")
    ],
    yes: Yes = False,
    data: Data = None,
) -> None:
    """Delete what has ended, for good. A run or a task with its sessions, or a session."""
    from airboss.cli.run.listing import delete as delete_for_good

    whole = named(data, name, "run", "tsk", "ses")
    raise typer.Exit(delete_for_good(reach(data)(), whole, is_sure=yes))


@app.command()
def rehearse(
    job: JobName,
    script: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What the model plays. [the built-in one]")
    ] = None,
    text: Input = None,
    cwd: Folder = None,
    entry: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The entry. [the project's own]")
    ] = None,
    permissions: Annotated[
        Permissions, typer.Option(help="What the agents may do.")
    ] = Permissions.READ_ONLY,
    trust: Annotated[
        bool, typer.Option("--trust", help="You have read the entry: a Python file may run.")
    ] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Run a job for nothing, on the rehearsal model. It has a server of its own."""
    from airboss.cli.run.rehearse import RehearsalRequest
    from airboss.cli.run.rehearse import rehearse as rehearse_job

    request = RehearsalRequest(job, script, text, cwd, entry, permissions.value, trust, as_json)
    raise typer.Exit(rehearse_job(request, data))
