"""The commands that sign accounts in and out, each thin. `airboss accounts` lists them."""

from typing import Annotated

import typer

from airboss.cli.options import Data, Yes, reach

app = typer.Typer(help="Sign Copilot accounts in or out.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the account.")]


@app.command("add")
def account_add(
    name: Name,
    no_test: Annotated[
        bool, typer.Option("--no-test", help="Do not test the token first.")
    ] = False,
    data: Data = None,
) -> None:
    """Sign in a Copilot account with a token.

    You are asked for the token; in a script, pass it on standard input.
    """
    from airboss.cli.account.signing import add_account

    add_account(reach(data)(), name, is_tested=not no_test)


@app.command("remove")
def account_remove(name: Name, yes: Yes = False, data: Data = None) -> None:
    """Sign out an account that was added while the server ran, and delete its token."""
    from airboss.cli.account.signing import remove_account
    from airboss.cli.confirming import confirmed

    losing = f"The token of {name} is deleted from this machine."
    if confirmed("Sign it out?", losing=losing, is_sure=yes):
        remove_account(reach(data)(), name)
