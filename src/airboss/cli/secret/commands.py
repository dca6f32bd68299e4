"""The commands about secrets, each thin: secret set, secret list, secret remove."""

from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, Yes

app = typer.Typer(help="Store keys of providers and tokens of accounts.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the secret.")]


@app.command("set")
def secret_set(name: Name, data: Data = None) -> None:
    """Store a secret on this machine.

    You are asked for it; in a script, pass it on standard input. It is never an argument.
    """
    from airboss.cli.secret.secrets import read_secret, secrets_of

    with secrets_of(data) as secrets:
        secrets.keep(name, read_secret(f"Secret {name}: "))


@app.command("list")
def secret_list(data: Data = None, as_json: AsJson = False) -> None:
    """List the names of the secrets, and where each is stored."""
    from airboss.cli.secret.secrets import list_secrets, secrets_of

    with secrets_of(data) as secrets:
        list_secrets(secrets, is_json=as_json)


@app.command("remove")
def secret_remove(name: Name, yes: Yes = False, data: Data = None) -> None:
    """Remove a secret from this machine."""
    from airboss.cli.confirming import confirmed
    from airboss.cli.secret.secrets import secrets_of

    losing = f"The secret {name} is deleted for good."
    if confirmed("Remove it?", losing=losing, is_sure=yes):
        with secrets_of(data) as secrets:
            secrets.remove(name)
