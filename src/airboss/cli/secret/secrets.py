"""Secrets from the terminal: by the server where one runs, which learns them at once; else by the
data folder. A secret is never an argument: everybody on the machine can read those."""

import getpass
import os
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, Protocol, cast
from urllib.parse import quote

from airboss.cli.client import Client, Json, find
from airboss.cli.folder import data_folder
from airboss.cli.screen import aside, moment, out, print_json, print_table, visible_line
from airboss.cli.trouble import CommandRefused
from airboss.store.folder import DataFolder
from airboss.store.kept_secrets import KeptSecret, KeptSecrets, check_name, checked_value

_PATH: Final = "/api/v1/secrets"
# More is no key and no token.
_MOST: Final = 10_000
_PLACES: Final = {"keyring": "the system's keyring", "file": "a private file of the data folder"}


class SecretDesk(Protocol):
    """What is done with them, whoever has them."""

    def keep(self, name: str, value: str) -> None: ...
    def items(self) -> list[Json]: ...
    def remove(self, name: str) -> None: ...


@contextmanager
def secrets_of(data: Path | None) -> Generator[SecretDesk]:
    folder = data_folder(data)
    if os.environ.get("AIRBOSS_URL", "").strip() or folder.is_locked():
        with closing(Client(find(data))) as client:
            yield _ServersSecrets(client)
    else:
        yield _FoldersSecrets(folder)


class _ServersSecrets:
    def __init__(self, client: Client) -> None:
        self._client = client

    def keep(self, name: str, value: str) -> None:
        check_name(name)
        kept = self._client.put(f"{_PATH}/{quote(name, safe='')}", {"value": value})
        _tell_kept(name, str(kept["place"]))

    def items(self) -> list[Json]:
        return cast("list[Json]", self._client.get(_PATH)["items"])

    def remove(self, name: str) -> None:
        self._client.delete(f"{_PATH}/{quote(name, safe='')}")
        _tell_removed(name)


class _FoldersSecrets:
    def __init__(self, folder: DataFolder) -> None:
        folder.create()
        self._kept = KeptSecrets(folder.secrets, folder.owner_id())
        self._kept.load()

    def keep(self, name: str, value: str) -> None:
        _tell_kept(name, self._kept.keep(name, value).place)

    def items(self) -> list[Json]:
        return [_said(kept) for kept in self._kept.all()]

    def remove(self, name: str) -> None:
        self._kept.remove(name)
        _tell_removed(name)


def read_secret(question: str) -> str:
    """Typed unseen in a terminal, else the whole input."""
    return checked_value(_typed(question))


def read_optional_secret(question: str) -> str | None:
    """The same; None where nothing is said."""
    value = _typed(question)
    return checked_value(value) if value.strip() else None


def _typed(question: str) -> str:
    if sys.stdin.isatty():
        return getpass.getpass(question)
    value = sys.stdin.read(_MOST + 1)
    if len(value) > _MOST:
        raise CommandRefused(f"The input has more than {_MOST} characters: that is no secret.")
    return value


def list_secrets(secrets: SecretDesk, *, is_json: bool) -> None:
    items = secrets.items()
    if is_json:
        print_json({"items": items})
        return
    if not items:
        aside().line("No secrets are stored. Store one with: airboss secret set NAME")
        return
    rows = [
        (str(item["name"]), _PLACES.get(str(item["place"]), "elsewhere"), moment(item["at"]))
        for item in items
    ]
    print_table(("Name", "Kept in", "Since"), rows, out())


def _said(kept: KeptSecret) -> Json:
    return {"name": kept.name, "place": kept.place, "at": kept.at}


def _tell_kept(name: str, place: str) -> None:
    aside().line(visible_line(f"Kept {name} in {_PLACES.get(place, 'a safe place')}."))


def _tell_removed(name: str) -> None:
    aside().line(visible_line(f"Removed {name}."))
