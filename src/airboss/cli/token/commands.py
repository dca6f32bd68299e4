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


RoleOption = Annotated[
    Roles,
    typer.Option(
        "--role",
        help="What it may do: view reads; operate starts, stops and prompts; decide approves and "
        "answers; own does everything.",
    ),
]

app = typer.Typer(help="Say who gets in. Tokens with a name, and browsers that are signed in.")


@app.command("add")
def token_add(
    name: str,
    role: RoleOption = Roles.operate,
    until: Annotated[
        str | None, typer.Option(metavar="DATE|DAYS", help="Its end, such as 2030-12-31 or 30d.")
    ] = None,
    data: Data = None,
) -> None:
    """Make a token and print it; it is not shown again."""
    from airboss.cli.folder import data_folder
    from airboss.cli.token.tokens import add_token, read_end

    add_token(data_folder(data), name, role.value, read_end(until) if until else None)


@app.command("change")
def token_change(
    name: str,
    role: RoleOption | None = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="DATE|DAYS", help="Its end, such as 2030-12-31 or 30d; or never."),
    ] = None,
    data: Data = None,
) -> None:
    """Give a token another role or end. At once; the token stays the same."""
    from airboss.cli.folder import data_folder
    from airboss.cli.token.tokens import change_token

    if role is None and until is None:
        raise CommandRefused("Say what changes: --role ROLE, --until DATE, or both.")
    change_token(data_folder(data), name, role.value if role else None, until)


@app.command("list")
def token_list(data: Data = None, as_json: AsJson = False) -> None:
    """List the tokens by name. With what each may do, and until when."""
    from airboss.cli.folder import data_folder
    from airboss.cli.token.tokens import list_tokens

    list_tokens(data_folder(data), is_json=as_json)


@app.command("remove")
def token_remove(name: str, data: Data = None) -> None:
    """Revoke a token at once, with the browsers that signed in with it."""
    from airboss.cli.folder import data_folder
    from airboss.cli.token.tokens import remove_token

    remove_token(data_folder(data), name)


@app.command("signins")
def sign_ins(data: Data = None, as_json: AsJson = False) -> None:
    """List the browsers that are signed in."""
    from airboss.cli.token.sign_ins import show_sign_ins

    show_sign_ins(reach(data)(), is_json=as_json)


@app.command("signout")
def sign_out(
    sign_in: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="See: airboss token signins")
    ] = None,
    everybody: Annotated[bool, typer.Option("--all", help="Every browser.")] = False,
    data: Data = None,
) -> None:
    """Sign a browser out at once, or with --all every one."""
    from airboss.cli.token.sign_ins import end_all_sign_ins, end_sign_in

    if (sign_in is None) is not everybody:
        raise CommandRefused("Name one sign-in (airboss token signins lists them), or give --all.")
    client = reach(data)()
    if sign_in is None:
        end_all_sign_ins(client)
    else:
        end_sign_in(client, sign_in)
