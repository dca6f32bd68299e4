"""The commands about cages, each thin: cage, cage try. They need no server."""

from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data
from airboss.cli.trouble import CommandRefused

app = typer.Typer(help="Show which cage this machine supports, or try one.")


@app.callback(invoke_without_command=True)
def cage(context: typer.Context, data: Data = None, as_json: AsJson = False) -> None:
    """Show which cage this machine supports, why, what to do about it, and the profiles."""
    if context.invoked_subcommand is not None:
        if data or as_json:
            raise CommandRefused(f"Put the options after {context.invoked_subcommand}.")
        return
    from airboss.cli.cage.listing import show_cage

    show_cage(data, is_json=as_json)


# What comes behind the command is its own, also without `--`.
@app.command("try", context_settings={"allow_interspersed_args": False})
def cage_try(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND", help="Command to run in the cage.")
    ],
    profile: Annotated[
        str, typer.Option(metavar="NAME", help="Profile of the cage (airboss cage).")
    ] = "default",
    data: Data = None,
) -> None:
    """Run a command in a cage of the current folder, and exit with its exit code."""
    from airboss.cli.cage.trying import try_command

    raise typer.Exit(try_command(data, profile, tuple(command)))
