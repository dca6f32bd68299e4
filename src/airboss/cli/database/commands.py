"""The commands about the database that several machines share, thin."""

from pathlib import Path
from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, DatabaseOption, SharedRootOption, whole

app = typer.Typer(help="Check, migrate or fill a shared database.")

SettingsFile = Annotated[
    Path | None,
    typer.Option("--settings", metavar="FILE", help="Settings file. [DATA/settings.toml]"),
]


@app.command("check")
def database_check(
    database: DatabaseOption = None,
    data: Data = None,
    settings: SettingsFile = None,
    as_json: AsJson = False,
) -> None:
    """Check whether machines can share a database.

    Needs no server, and changes nothing. Exits with 1 if something has to be fixed.
    """
    from airboss.cli.database.address import shared_address
    from airboss.cli.database.checking import check

    raise typer.Exit(check(shared_address(database, data, settings), is_json=as_json))


@app.command("migrate")
def database_migrate(
    database: DatabaseOption = None,
    data: Data = None,
    settings: SettingsFile = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be done.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the tables of a shared database up to date.

    A server does the same when it starts. You can repeat it, even while servers run.
    """
    from airboss.cli.database.address import shared_address
    from airboss.cli.database.migrating import migrate_and_tell

    url = shared_address(database, data, settings)
    raise typer.Exit(migrate_and_tell(url, is_dry=dry_run, is_json=as_json))


@app.command("import")
def database_import(
    data: Data = None,
    database: DatabaseOption = None,
    shared_root: SharedRootOption = None,
    settings: SettingsFile = None,
    as_json: AsJson = False,
) -> None:
    """Import a data folder into an empty shared database.

    Stop its server first. The folder is not changed. If the import is interrupted, repeat it.
    """
    from airboss.cli.database.address import shared_settings
    from airboss.cli.database.importing import import_and_tell
    from airboss.cli.folder import data_folder

    roots = tuple(whole(path) for path in shared_root) if shared_root else None
    chosen, url = shared_settings(database, data, settings, shared_roots=roots)
    raise typer.Exit(import_and_tell(data_folder(data), url, chosen, is_json=as_json))
