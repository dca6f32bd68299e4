"""The commands about several machines on one database, thin."""

from pathlib import Path
from typing import Annotated

import typer

from airboss.cli.options import (
    AsJson,
    Data,
    DatabaseOption,
    LabelOption,
    Permissions,
    SharedRootOption,
    named,
    reach,
    whole,
    without_password,
)
from airboss.cli.trouble import CommandRefused

app = typer.Typer()


@app.command()
def worker(
    database: DatabaseOption = None,
    data: Data = None,
    root: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Folder in which agents may work; repeatable."),
    ] = None,
    shared_root: SharedRootOption = None,
    label: LabelOption = None,
    permissions: Annotated[
        Permissions | None, typer.Option(help="What agents may do without approval. [ask]")
    ] = None,
    max_tasks: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum number of job agents running at the same time. [16]"),
    ] = None,
    rehearsal: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Script for the rehearsal model.")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings file. [DATA/settings.toml]")
    ] = None,
) -> None:
    """Run the jobs of a shared database, without a website.

    A worker takes runs that are waiting, and continues those of machines that are lost or stopped.
    """
    from airboss.cli.folder import data_folder
    from airboss.setting_sources import SettingSources
    from airboss.settings import load_settings

    if settings is not None and not settings.is_file():
        raise CommandRefused(f"The settings file {settings} does not exist.")
    options = {
        "database": without_password(database),
        "data": whole(data),
        "roots": tuple(whole(path) for path in root) if root else None,
        "shared_roots": tuple(whole(path) for path in shared_root) if shared_root else None,
        "permissions": permissions.value if permissions else None,
        "labels": tuple(label) if label else None,
        "work": True,
        "max_tasks": max_tasks,
        "rehearsal": whole(rehearsal),
    }
    file = settings or data_folder(data).settings
    chosen, sources = load_settings(file, options), SettingSources.read(file, options)
    if chosen.database is None:
        raise CommandRefused(
            "A worker needs a database that it shares with a server: --database postgresql://… "
            "or AIRBOSS_DATABASE."
        )
    from airboss.tuning import leave_out_unused

    leave_out_unused()
    from airboss.server import work

    raise typer.Exit(work(chosen, sources))


@app.command()
def workers(as_json: AsJson = False) -> None:
    """List the workers of a shared database.

    AIRBOSS_DATABASE names it. Needs no server.
    """
    from airboss.cli.machine.listing import show_workers

    show_workers(is_json=as_json)


@app.command()
def move(
    name: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run.")],
    to: Annotated[str, typer.Option(metavar="NAME", help="Name or id of a running machine.")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Move a run to another machine. A task that is interrupted starts again there."""
    from airboss.cli.machine.moving import move_run

    move_run(reach(data)(), named(data, name, "run"), to, is_json=as_json)


@app.command()
def drain(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name or id of a machine.")],
    undo: Annotated[bool, typer.Option("--undo", help="Let it take work again.")] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Give a machine no new work. It finishes its tasks; others continue its runs."""
    from airboss.cli.machine.moving import drain_worker

    drain_worker(reach(data)(), name, undo=undo, is_json=as_json)


@app.command()
def lost(
    worker: Annotated[str, typer.Argument(metavar="WORKER", help="Worker id (airboss workers).")],
) -> None:
    """Report a worker as lost. Others continue its runs immediately.

    AIRBOSS_DATABASE names the database. A worker that crashes is reported
    automatically; do it yourself for a machine that you know is gone.
    """
    from airboss.cli.machine.listing import mark_lost

    mark_lost(worker)
