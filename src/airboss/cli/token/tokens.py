"""Tokens with a name, for other people and programs. They are kept in the data folder, or in the
database that its server shares with others."""

import re
import time
import tomllib
from datetime import UTC, datetime, timedelta
from typing import Final

from airboss.cli.screen import aside, moment, out, print_json, print_table
from airboss.cli.trouble import CommandRefused
from airboss.machine_settings import database_from
from airboss.model.roles import Role
from airboss.store.folder import DataFolder
from airboss.store.tokens import NamedToken, NamedTokens, TokenBook

_DAYS: Final = re.compile(r"([0-9]{1,5}) *(?:d|days?)?")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NEVER: Final = "never"


def _book(folder: DataFolder) -> TokenBook:
    url = database_from() or _database_in(folder)
    if url is None:
        return NamedTokens(folder)
    from airboss.store.postgres_tokens import SharedTokens

    return SharedTokens(folder, url)


def _database_in(folder: DataFolder) -> str | None:
    """As the settings file says. Whether all else in there is right, a server says."""
    try:
        said = tomllib.loads(folder.settings.read_text(encoding="utf-8")).get("database")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise CommandRefused(f"{folder.settings} cannot be read: {error}") from None
    return said.strip() or None if isinstance(said, str) else None


def add_token(folder: DataFolder, name: str, role: Role, until: int | None) -> None:
    """The token alone on the output; nobody sees it again."""
    token = _book(folder).add(name, role, until)
    out().line(token)
    pen = aside()
    if pen.is_terminal:
        words = f"Role: {role}. Save the token now: it is not shown again."
        pen.line(pen.styled(words, "dim"))


def change_token(folder: DataFolder, name: str, role: Role | None, until: str | None) -> None:
    changes: dict[str, Role | int | None] = {}
    if role is not None:
        changes["role"] = role
    if until is not None:
        changes["until"] = None if until == _NEVER else read_end(until)
    token = _book(folder).change(name, **changes)
    aside().line(f"The token {name} has the role {token.role} and {_end_in_words(token)}.")


def read_end(text: str) -> int:
    """A day (to its end, where one is), a moment, or so many days from now; in milliseconds."""
    try:
        if found := _DAYS.fullmatch(text.strip()):
            end = datetime.now(UTC) + timedelta(days=int(found[1]))
        else:
            end = datetime.fromisoformat(text.strip()).astimezone()
            if _DAY.fullmatch(text.strip()):
                end += timedelta(days=1)
        return int(end.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise CommandRefused(
            f"{text!r} is not a valid expiry. Pass a date such as 2030-12-31, a time such as "
            "2030-12-31T18:00, or a number of days such as 30d."
        ) from None


def list_tokens(folder: DataFolder, *, is_json: bool) -> None:
    tokens = sorted(_book(folder).read().items())
    if is_json:
        keys = ("role", "created_at", "until")
        items = [{"name": name, **{k: getattr(t, k) for k in keys}} for name, t in tokens]
        print_json({"items": items})
        return
    if not tokens:
        aside().line("No named tokens. Create one with: airboss token add NAME")
        return
    rows = [
        (name, token.role, moment(token.created_at), _end_in_words(token)) for name, token in tokens
    ]
    print_table(("Name", "Role", "Created", "Expiry"), rows, out())


def _end_in_words(token: NamedToken) -> str:
    if token.until is None:
        return "never expires"
    has_ended = token.until <= time.time() * 1000
    return f"{'expired' if has_ended else 'expires'} {moment(token.until)}"


def remove_token(folder: DataFolder, name: str) -> None:
    _book(folder).remove(name)
    aside().line(f"Revoked the token {name}.")
