"""Which agent runtime a server uses where that is not simply its own, and what is refused there."""

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from pydantic_core import PydanticCustomError

from airboss.errors import SettingsInvalid
from airboss.provider_settings import is_loopback
from airboss.session_keys import CLI_ACCOUNT, DEFAULT_IDENTITY

if TYPE_CHECKING:
    from airboss.settings import Settings

# What lets one in at a runtime that somebody else started.
RUNTIME_TOKEN: Final = "AIRBOSS_RUNTIME_TOKEN"  # noqa: S105 - a variable's name

_ADDRESS: Final = re.compile(r"(?:http://)?(?P<place>[^/@\s]+:\d{1,5})/?", re.IGNORECASE)
_MOST_PORT: Final = 65535


def runtime_address(text: str) -> str:
    """As HOST:PORT. On this machine only: what goes there is not encrypted, and agents work in the
    folders of this machine."""
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        raise _refused('It is not an address: write HOST:PORT, such as "127.0.0.1:4321".')
    place = found["place"].lower()
    parts = urlsplit(f"//{place}")
    port = int(place.rpartition(":")[2])
    if not 0 < port <= _MOST_PORT:
        raise _refused(f"There is no port {port}: it is a number from 1 to {_MOST_PORT}.")
    if not parts.hostname or not is_loopback(parts.hostname):
        raise _refused(
            f"{parts.hostname or place} is not this machine. The connection is not encrypted, and "
            "agents work in this machine's folders: use a runtime on 127.0.0.1, localhost or [::1]."
        )
    return place


def _refused(reason: str) -> PydanticCustomError:
    return PydanticCustomError("runtime", "{reason}", {"reason": reason})


def must_go_together(settings: "Settings") -> None:
    """A runtime of somebody else has a home, a sign-in and a program of its own."""
    if settings.runtime_url is None:
        return
    session = settings.session
    beside = {
        "shared_runtime": settings.shared_runtime,
        "copilot_cli": settings.copilot_cli is not None,
        "accounts": bool(settings.accounts),
        "session.account": session.account not in (None, CLI_ACCOUNT),
        "session.identity": session.identity not in (None, DEFAULT_IDENTITY),
    }
    if wrong := [name for name, is_set in beside.items() if is_set]:
        raise SettingsInvalid(
            f"{wrong[0]} cannot be used together with runtime_url: the runtime at "
            f"{settings.runtime_url} has its own program, home and sign-in. Remove one of the two."
        )
