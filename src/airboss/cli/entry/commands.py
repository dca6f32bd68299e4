"""The commands about entries, each thin: init, check, chart, entry, tasks, trust."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, Permissions, reach
from airboss.cli.trouble import CommandRefused

app = typer.Typer()

_OWN = "Entry file: .yaml, .json or .py. [the project's own]"


class Drawings(StrEnum):
    """How a chart is printed."""

    TERMINAL = "terminal"
    MERMAID = "mermaid"
    SVG = "svg"


Trusted = Annotated[
    bool,
    typer.Option("--trust", help="Trust the file this once: Python may run, its policy applies."),
]


def _schema(wanted: bool) -> None:
    if wanted:
        from airboss.entry.schema import shipped_schema

        print(shipped_schema(), end="")
        raise typer.Exit


@app.command()
def init(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Folder in the repository. [this folder]")
    ] = None,
    force: Annotated[bool, typer.Option("--force", hidden=True)] = False,
    as_json: AsJson = False,
) -> None:
    """Create a first airboss.yaml for this repository. Its job fixes failing tests."""
    from airboss.cli.entry.first_entry import init as write_entry

    if force:
        raise CommandRefused(
            "init has no --force and never overwrites a file. Move the existing file first."
        )
    here = (folder or Path.cwd()).expanduser().absolute()
    if not here.is_dir():
        raise CommandRefused(f"The folder {here} does not exist.")
    write_entry(here, is_json=as_json)


@app.command()
def check(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help=_OWN)] = None,
    trust: Trusted = False,
    permissions: Annotated[
        Permissions | None,
        typer.Option(help="Permission policy of the server. [as in the settings]"),
    ] = None,
    schema: Annotated[
        bool,
        typer.Option("--schema", callback=_schema, is_eager=True, help="Print the JSON Schema."),
    ] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Check an entry and list all errors."""
    from airboss.cli.entry.entries import check as check_entry
    from airboss.cli.entry.entries import is_remembered, own_entry
    from airboss.cli.folder import data_folder
    from airboss.settings import load_settings

    del schema
    options = {"permissions": permissions.value if permissions else None}
    settings = load_settings(data_folder(data).settings, options)
    chosen = file or own_entry()
    remembered = not trust and is_remembered(chosen, data)
    trusted = trust or remembered
    raise typer.Exit(
        check_entry(chosen, settings, trusted=trusted, remembered=remembered, is_json=as_json)
    )


@app.command()
def chart(
    words: Annotated[
        list[str],
        typer.Argument(metavar="[FILE] JOB", help="Entry file [the project's own] and job name."),
    ],
    form: Annotated[Drawings, typer.Option("--format", help="Output format.")] = Drawings.TERMINAL,
    trust: Trusted = False,
    data: Data = None,
) -> None:
    """Draw the flow chart of a job."""
    from airboss.cli.entry.entries import chart as print_chart
    from airboss.cli.entry.entries import is_remembered, own_entry

    if len(words) > 2:
        raise CommandRefused(
            "Pass one job name, with the entry file before it: airboss chart FILE JOB"
        )
    file = Path(words[0]) if len(words) == 2 else own_entry()
    trusted = trust or is_remembered(file, data)
    raise typer.Exit(print_chart(file, words[-1], form.value, trusted=trusted))


@app.command()
def entry(data: Data = None, as_json: AsJson = False) -> None:
    """Show the entry that the server uses."""
    from airboss.cli.entry.listing import show_entry

    show_entry(reach(data)(), is_json=as_json)


@app.command()
def tasks(data: Data = None, as_json: AsJson = False) -> None:
    """List the tasks of the entry that the server uses."""
    from airboss.cli.entry.listing import show_tasks

    show_tasks(reach(data)(), is_json=as_json)


@app.command()
def trust(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="PATH", help="Entry file, an extension's folder, or a project."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List trusted files.")] = False,
    remove: Annotated[
        Path | None, typer.Option("--remove", metavar="PATH", help="Stop trusting this file.")
    ] = None,
    digest: Annotated[
        str | None,
        typer.Option("--digest", metavar="SHA256", help="Trust only content with this digest."),
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Trust an entry or extension as it is now. Its code may run, and its policy applies."""
    from airboss.cli.entry.listing import add_trust, remove_trust, show_trust

    if [path is not None, listed, remove is not None].count(True) != 1:
        raise CommandRefused("Pass a path to trust, --list, or --remove PATH.")
    if digest is not None and path is None:
        raise CommandRefused("--digest needs a path to trust.")
    client = reach(data)()
    if path is not None:
        add_trust(client, path, digest, is_json=as_json)
    elif remove is not None:
        remove_trust(client, remove, is_json=as_json)
    else:
        show_trust(client, is_json=as_json)
