"""The options that several commands share, and how each of them reaches the server."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from airboss.cli.client import Client


class Permissions(StrEnum):
    """What agents may do without approval."""

    ASK = "ask"
    CAGED = "caged"
    APPROVE_ALL = "approve-all"
    READ_ONLY = "read-only"
    DENY_ALL = "deny-all"


class CageUses(StrEnum):
    """Whether sessions work in a cage."""

    OFFER = "offer"
    ALWAYS = "always"
    OFF = "off"


DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="PostgreSQL to share with other machines (or set AIRBOSS_DATABASE).",
    ),
]
SharedRootOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--shared-root", metavar="DIR", help="Folder that all machines share; repeatable."
    ),
]
LabelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--label", metavar="WORD", help="Label for this machine, such as gpu; repeatable."
    ),
]
CageUseOption = Annotated[
    CageUses | None, typer.Option("--cage", help="Whether agents may or must be caged. [offer]")
]
CageProfileOption = Annotated[
    str | None,
    typer.Option("--cage", metavar="PROFILE", help="Cage profile to work in, such as default."),
]
AccountOption = Annotated[
    str | None,
    typer.Option(
        "--account", metavar="NAME", help="Copilot account to use (airboss accounts), or cli."
    ),
]
IdentityOption = Annotated[
    str | None, typer.Option("--identity", metavar="NAME", help="Identity whose runtime to use.")
]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Data folder (or set AIRBOSS_DATA)."),
]
# For what loses something.
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Patience = Annotated[
    float,
    typer.Option("--wait", metavar="SECONDS", min=0, help="How long to keep reconnecting."),
]


def reach(data: Path | None) -> "Callable[[], Client]":
    """A client of the server that runs now; asked again, of the one that runs then."""
    from airboss.cli.client import Client, find

    return lambda: Client(find(data))


def named(data: Path | None, given: str, *kinds: str) -> str:
    """The id that somebody means, of which a part is enough; `kinds` are what it may begin with."""
    from airboss.cli.short_ids import whole_id

    return whole_id(reach(data), given, *kinds)


def whole(path: Path | None) -> Path | None:
    return path.expanduser().absolute() if path else None


def without_password(address: str | None) -> str | None:
    """What is said on a command line, every process of the machine can read."""
    from airboss.cli.trouble import CommandRefused
    from airboss.machine_settings import DATABASE, password_in

    if password_in(address):
        raise CommandRefused(
            "A password on the command line can be read by every process of this machine. "
            f"Set {DATABASE}, or `database` in the settings file, or use PGPASSFILE."
        )
    return address
