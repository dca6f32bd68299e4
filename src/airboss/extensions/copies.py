"""Private copies of what people trusted: these run, whatever happens to the folders they are of."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Final

from airboss.errors import StoreUnavailable
from airboss.extensions.content import BYTECODE, Content, Survey, Unusable, read, survey

_PRIVATE_FOLDER: Final = 0o700
_ONLY_READ: Final = 0o400
_PART: Final = ".part-"


@dataclass
class Copies:
    """In `DATA/extensions`, each in a folder named by its digest. All calls are blocking."""

    root: Path
    # What was found whole, by digest, and how it looked then.
    _whole: dict[str, Survey] = field(default_factory=dict[str, Survey])

    def find(self, digest: str) -> Path | None:
        """The copy, if it is there and still has exactly these bytes."""
        place = self.root / digest
        try:
            looks = _without_bytecode(place)
            if self._whole.get(digest) != looks:
                if read(place, is_copy=True).digest != digest:
                    return None
                self._whole[digest] = looks
        except Unusable:
            return None
        return place

    def keep(self, content: Content) -> Path:
        """Written whole or not at all."""
        if (there := self.find(content.digest)) is not None:
            return there
        place = self.root / content.digest
        try:
            self.root.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
            part = Path(tempfile.mkdtemp(prefix=_PART, dir=self.root))
            try:
                for path, said in content.files:
                    _write(part, path, said)
                if os.path.lexists(place):  # not what it should be
                    _remove(place)
                part.rename(place)
            finally:
                _remove(part)
        except OSError as error:
            raise StoreUnavailable(
                f"The extension could not be copied to {self.root}: {error.strerror or error}. "
                "Free some space, or fix the folder's permissions."
            ) from error
        return place

    def sweep(self, wanted: Collection[str]) -> list[str]:
        """Removes the copies that nobody needs any more, and what was left of a crash."""
        gone: list[str] = []
        with contextlib.suppress(OSError), os.scandir(self.root) as found:
            gone = [entry.name for entry in found if entry.name not in wanted]
        for name in gone:
            self._whole.pop(name, None)
            _remove(self.root / name)
        return gone


def _without_bytecode(place: Path) -> Survey:
    """How the copy looks. Bytecode, which is left by a Python that the extension has started, or by
    somebody who means harm, would run in place of what was trusted."""
    looks = survey(place, is_copy=True)
    above = {folder for path in looks.files for folder in PurePath(path).parents}
    bytecode = [folder for folder in above if folder.name == BYTECODE]
    for folder in bytecode:
        _remove(place / folder)
    return survey(place, is_copy=True) if bytecode else looks


def _write(part: Path, path: str, content: bytes) -> None:
    file = part / path
    file.parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _ONLY_READ)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(content)


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            place.unlink(missing_ok=True)
