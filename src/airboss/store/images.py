"""The images that people put into requests, named by their request: files beside the database, or
rows of one that several servers share."""

import asyncio
import contextlib
import os
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, TypeAlias

from pydantic import ConfigDict
from sqlalchemy import ColumnElement, Connection, delete, literal, select

from airboss.errors import NotFound, StoreUnavailable
from airboss.model.ids import is_session_id
from airboss.store.database import Database
from airboss.store.machine_tables import images
from airboss.store.places import remove

# By how a file of the kind begins: what somebody says about it is not enough.
_MAGIC: Final = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
_ENDINGS: Final = {mime: mime.partition("/")[2] for mime in _MAGIC}
_MIMES: Final = {ending: mime for mime, ending in _ENDINGS.items()}
# What `save` calls them. Whatever else somebody asks for never reaches the disk.
_NAME: Final = re.compile(rf"[a-z0-9_]{{1,64}}\.[0-9]{{1,3}}\.({'|'.join(_MIMES)})")


@dataclass(frozen=True)
class Picture:
    # As JSON can tell it, where another process is to have it.
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        ser_json_bytes="base64", val_json_bytes="base64"
    )

    mime: str
    data: bytes

    @property
    def is_what_it_says(self) -> bool:
        begins = self.data.startswith(_MAGIC.get(self.mime, ()))
        return begins and (self.mime != "image/webp" or self.data[8:12] == b"WEBP")


Pictures: TypeAlias = Sequence[Picture]


@dataclass(frozen=True)
class Images:
    """A request's images can be found by its id alone, whatever became of the server meanwhile."""

    folder: Path

    async def save(self, session: str, prompt: str, pictures: Pictures) -> list[str]:
        """On disk when this answers; their names."""
        return await asyncio.to_thread(self._save, session, prompt, pictures)

    def _save(self, session: str, prompt: str, pictures: Pictures) -> list[str]:
        names: list[str] = []
        try:
            for number, picture in enumerate(pictures, start=1):
                place = self.folder / session
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
                name = f"{prompt}.{number}.{_ENDINGS[picture.mime]}"
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                with os.fdopen(os.open(place / name, flags, 0o600), "wb") as opened:
                    opened.write(picture.data)
                    opened.flush()
                    os.fsync(opened.fileno())
                names.append(name)
        except OSError as error:
            raise StoreUnavailable(
                f"Could not store the images: {error.strerror or error}. Free some space, or fix "
                "the permissions of the data folder, then try again."
            ) from error
        return names

    async def copy(self, session: str, other: str) -> None:
        """All of one session's for another one."""
        await asyncio.to_thread(self._copy, session, other)

    def _copy(self, session: str, other: str) -> None:
        source, target = self.folder / session, self.folder / other
        if not source.is_dir():
            return
        try:
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
            for file in source.iterdir():
                shutil.copy2(file, target / file.name)
        except OSError as error:
            raise StoreUnavailable(
                f"Could not copy the images: {error.strerror or error}. Free some space, or fix "
                "the permissions of the data folder, then try again."
            ) from error

    async def of(self, session: str, prompt: str) -> list[Picture]:
        return await asyncio.to_thread(self._of, session, prompt)

    def _of(self, session: str, prompt: str) -> list[Picture]:
        found: list[Picture] = []
        for file in sorted((self.folder / session).glob(f"{prompt}.*")):
            with contextlib.suppress(OSError):
                found.append(Picture(_MIMES[file.suffix[1:]], file.read_bytes()))
        return found

    async def read(self, session: str, name: str) -> Picture:
        return await asyncio.to_thread(self._read, session, name)

    def _read(self, session: str, name: str) -> Picture:
        mime = kind_of(session, name)
        try:
            return Picture(mime, (self.folder / session / name).read_bytes())
        except OSError:
            raise NotFound("image", name) from None

    async def forget(self, session: str) -> None:
        """Of a session that did not come to be; those of others go with them."""
        await asyncio.to_thread(remove, self.folder / session)


def kind_of(session: str, name: str) -> str:
    """Of an image that there may be."""
    known = _NAME.fullmatch(name)
    if known is None or not is_session_id(session):
        raise NotFound("image", name)
    return _MIMES[known[1]]


@dataclass(frozen=True)
class SharedImages(Images):
    """Every server shows them, also when the one is lost that took them. PostgreSQL only."""

    database: Database

    async def save(self, session: str, prompt: str, pictures: Pictures) -> list[str]:
        now = time.time_ns() // 1_000_000
        kept = [
            {
                "stream": session,
                "name": f"{prompt}.{number}.{_ENDINGS[picture.mime]}",
                "media_type": picture.mime,
                "content": picture.data,
                "at": now,
            }
            for number, picture in enumerate(pictures, start=1)
        ]

        def work(connection: Connection) -> None:
            for row in kept:  # each may be large
                connection.execute(self.database.dialect.add(images, row))

        await self.database.write(work)
        return [str(row["name"]) for row in kept]

    async def copy(self, session: str, other: str) -> None:
        copied = select(
            literal(other), images.c.name, images.c.media_type, images.c.content, images.c.at
        ).where(images.c.stream == session)
        into = images.insert().from_select([column.name for column in images.c], copied)
        await self.database.write(lambda c: c.execute(into) and None)

    async def of(self, session: str, prompt: str) -> list[Picture]:
        return await self._found(session, images.c.name.startswith(f"{prompt}.", autoescape=True))

    async def read(self, session: str, name: str) -> Picture:
        kind_of(session, name)
        found = await self._found(session, images.c.name == name)
        if not found:
            raise NotFound("image", name)
        return found[0]

    async def _found(self, session: str, which: ColumnElement[bool]) -> list[Picture]:
        wanted = select(images.c.media_type, images.c.content).order_by(images.c.name)
        wanted = wanted.where(images.c.stream == session, which)

        def work(connection: Connection) -> list[Picture]:
            rows = connection.execute(wanted)
            return [Picture(row.media_type, bytes(row.content)) for row in rows]

        return await self.database.read(work)

    async def forget(self, session: str) -> None:
        gone = delete(images).where(images.c.stream == session)
        await self.database.write(lambda c: c.execute(gone) and None)
