"""The commands about extensions, each thin: extensions; extension new, show, reload, enable,
disable, check, test."""

from pathlib import Path
from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, named, reach

app = typer.Typer(help="Create, check, test, enable or disable extensions.")
listing = typer.Typer()

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the extension's folder.")]
Own = Annotated[
    bool, typer.Option("--user", help="For all of your projects (~/.copilot/extensions).")
]
Place = Annotated[
    Path,
    typer.Argument(metavar="PATH", help="Its folder, its main file, or its name."),
]


@listing.command("extensions")
def extensions(data: Data = None, as_json: AsJson = False) -> None:
    """List the extensions of this folder's project, and your own."""
    from airboss.cli.extension.listing import list_extensions

    list_extensions(reach(data)(), is_json=as_json)


@app.command("new")
def extension_new(
    name: Name,
    user: Own = False,
    mjs: Annotated[bool, typer.Option("--mjs", help="In JavaScript. [Python]")] = False,
    as_json: AsJson = False,
) -> None:
    """Create a working extension for you to change. Needs no server."""
    from airboss.cli.extension.creating import create_extension

    create_extension(name, is_own=user, is_javascript=mjs, is_json=as_json)


@app.command("show")
def extension_show(
    name: Name, user: Own = False, data: Data = None, as_json: AsJson = False
) -> None:
    """Show an extension: its text, what changed since it was trusted, where it runs."""
    from airboss.cli.extension.listing import show_extension

    show_extension(reach(data)(), name, is_own=user, is_json=as_json)


@app.command("reload")
def extension_reload(
    session: Annotated[
        str | None,
        typer.Argument(metavar="[SESSION]", help="Session to reload. [all open sessions]"),
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Restart the extensions of a session as they are on disk now."""
    from airboss.cli.extension.reloading import reload_extensions

    one = named(data, session, "ses") if session else None
    raise typer.Exit(reload_extensions(reach(data)(), one, is_json=as_json))


@app.command("enable")
def extension_enable(
    name: Name, user: Own = False, data: Data = None, as_json: AsJson = False
) -> None:
    """Turn an extension on again."""
    from airboss.cli.extension.listing import switch_extension

    switch_extension(reach(data)(), name, is_own=user, enabled=True, is_json=as_json)


@app.command("disable")
def extension_disable(
    name: Name, user: Own = False, data: Data = None, as_json: AsJson = False
) -> None:
    """Turn off an extension without removing it."""
    from airboss.cli.extension.listing import switch_extension

    switch_extension(reach(data)(), name, is_own=user, enabled=False, is_json=as_json)


@app.command("check")
def extension_check(path: Place, as_json: AsJson = False) -> None:
    """Run an extension by itself, and show its tools and hooks, or what is wrong with it."""
    from airboss.cli.extension.checking import check_extension

    raise typer.Exit(check_extension(path, is_json=as_json))


@app.command("test")
def extension_test(
    path: Place,
    script: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rehearsal script. [calls every tool, fires every hook]"),
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Try an extension with a real agent, for free, in a temporary folder."""
    from airboss.cli.extension.testing import test_extension

    raise typer.Exit(test_extension(path, script, data, is_json=as_json))
