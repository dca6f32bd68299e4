"""The commands about access, each thin: tokens with a name, and browsers that are signed in."""

from enum import StrEnum
from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, reach
from airboss.cli.trouble import CommandRefused


class Roles(StrEnum):
    """What a token may do: each what the ones before it may, and more."""

    view = "view"
    operate = "operate"
    decide = "decide"
    own = "own"


TokenName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the token.")]
RoleOption = Annotated[
    Roles,
    typer.Option(
        "--role",
        help="What the token may do. view: read. operate: also start, stop and prompt. "
        "decide: also approve and answer. own: everything.",
    ),
]

app = typer.Typer(help="Manage access tokens and signed-in browsers.")


@app.command("add")
def token_add(
    name: TokenName,
    role: RoleOption = Roles.operate,
    until: Annotated[
        str | None, typer.Option(metavar="DATE|DAYS", help="Expiry, such as 2030-12-31 or 30d.")
    ] = None,
    data: Data = None,
) -> None:
    """Create a token and print it. It is shown only once."""
    from airboss.cli.folder import data_folder
    from airboss.cli.token.tokens import add_token, read_end

    add_token(data_folder(data), name, role.value, read_end(until) if until else None)


@app.command("change")
def token_change(
    name: TokenName,
    role: RoleOption | None = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="DATE|DAYS", help="Expiry, such as 2030-12-31, 30d or never."),
    ] = None,
    data: Data = None,
) -> None:
    """Change the role or expiry of a token. Takes effect immediately; the token stays the same."""
    from airboss.cli.folder import data_folder
    from airboss.cli.token.tokens import change_token

    if role is None and until is None:
        raise CommandRefused("Nothing to change: pass --role, --until, or both.")
    change_token(data_folder(data), name, role.value if role else None, until)


@app.command("list")
def token_list(data: Data = None, as_json: AsJson = False) -> None:
    """List tokens with their roles and expiry dates."""
    from airboss.cli.folder import data_folder
    from airboss.cli.token.tokens import list_tokens

    list_tokens(data_folder(data), is_json=as_json)


@app.command("remove")
def token_remove(name: TokenName, data: Data = None) -> None:
    """Revoke a token immediately, and sign out the browsers that use it."""
    from airboss.cli.folder import data_folder
    from airboss.cli.token.tokens import remove_token

    remove_token(data_folder(data), name)


@app.command("signins")
def sign_ins(data: Data = None, as_json: AsJson = False) -> None:
    """List signed-in browsers."""
    from airboss.cli.token.sign_ins import show_sign_ins

    show_sign_ins(reach(data)(), is_json=as_json)


@app.command("signout")
def sign_out(
    sign_in: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Sign-in id (airboss token signins).")
    ] = None,
    everybody: Annotated[bool, typer.Option("--all", help="Sign out every browser.")] = False,
    data: Data = None,
) -> None:
    """Sign out a browser immediately, or all of them with --all."""
    from airboss.cli.token.sign_ins import end_all_sign_ins, end_sign_in

    if (sign_in is None) is not everybody:
        raise CommandRefused("Pass the id of a sign-in (see: airboss token signins), or --all.")
    client = reach(data)()
    if sign_in is None:
        end_all_sign_ins(client)
    else:
        end_sign_in(client, sign_in)
