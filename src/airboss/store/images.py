"""The images that people put into requests: files beside the database, named by their request."""

import asyncio
import contextlib
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, TypeAlias

from pydantic import ConfigDict

from airboss.errors import NotFound, StoreUnavailable
from airboss.model.ids import is_session_id

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

    def copy(self, session: str, other: str) -> None:
        """All of one session's for another one."""
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
        known = _NAME.fullmatch(name)
        if known is None or not is_session_id(session):
            raise NotFound("image", name)
        try:
            return Picture(_MIMES[known[1]], (self.folder / session / name).read_bytes())
        except OSError:
            raise NotFound("image", name) from None
