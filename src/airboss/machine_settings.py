"""The database that several machines share: where it is, and what is never told of that."""

import os
from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import Field
from pydantic_core import PydanticCustomError

Label: TypeAlias = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[\w.:/-]+$")]
MOST_LABELS: Final = 20
# Options can be read by every process of the machine: an address with a password comes so.
DATABASE: Final = "AIRBOSS_DATABASE"
_SCHEMES: Final = ("postgresql", "postgres")


def database_from(environ: Mapping[str, str] = os.environ) -> str | None:
    return environ.get(DATABASE, "").strip() or None


def database_address(text: str) -> str:
    """As PostgreSQL's own programs take it. What is wrong is said without it."""
    parts = _split(text.strip())
    if parts is None or parts.scheme not in _SCHEMES:
        reason = (
            f"It is no address of a PostgreSQL (option, file or {DATABASE}): write "
            "postgresql://USER@HOST/DATABASE."
        )
        raise PydanticCustomError("database", "{reason}", {"reason": reason})
    return text.strip()


def _split(address: str) -> SplitResult | None:
    try:
        return urlsplit(address)
    except ValueError:  # half of a bracket
        return None


def password_in(address: str | None) -> str | None:
    """What must never be seen, where the address has it."""
    return unquote(_password_as_given(address)) or None


def passwords_in(address: str | None) -> list[str]:
    """The same, and as it stands in the address, where it is seen with that."""
    given = _password_as_given(address)
    return list(dict.fromkeys(word for word in (unquote(given), given) if word))


def _password_as_given(address: str | None) -> str:
    if not address:
        return ""
    parts = _split(address)
    if parts is None:
        return address.rpartition("@")[0].rpartition(":")[2]
    asked = [
        value
        for name, _, value in (part.partition("=") for part in parts.query.split("&"))
        if name == "password"
    ]
    return parts.password or (asked[0] if asked else "")


def shown_database(address: str) -> str:
    """Only what kind it is."""
    return f"{urlsplit(address).scheme}://…"
