"""A project, a user's folder and a shelf over both, on a real database."""

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from airboss.extension_settings import ExtensionSettings
from airboss.extensions.copies import Copies
from airboss.extensions.shelf import ExtensionFile, Shelf
from airboss.service.trust import Trust
from airboss.store.entries import TrustStore
from airboss.store.extensions import DisabledExtensions
from airboss.store.sqlite_database import SqliteDatabase

TEXT = "print('an extension')\n"


@dataclass
class Shelved:
    """`project` is a git folder; `user` that of a person's own extensions."""

    folder: Path
    shelf: Shelf
    trust: Trust

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def write(
        self, name: str, text: str = TEXT, *, own: bool = False, file: str = "extension.py"
    ) -> Path:
        """The folder of the extension."""
        root = self.shelf.user_folder if own else self.project / ".github/extensions"
        (root / name / file).parent.mkdir(parents=True, exist_ok=True)
        (root / name / file).write_text(text, encoding="utf-8")
        return root / name

    async def trusts(self, path: Path) -> None:
        seen = await self.trust.look(str(path))
        await self.trust.add(str(path), seen.digest, "me")

    async def listed(self, cwd: Path | None = None) -> list[ExtensionFile]:
        return list(await self.shelf.found(cwd or self.project))

    async def states(self, cwd: Path | None = None) -> dict[str, str]:
        return {f"{one.scope}/{one.name}": one.state for one in await self.listed(cwd)}

    async def one(self, name: str, scope: str = "project") -> ExtensionFile:
        [found] = [one for one in await self.listed() if (one.name, one.scope) == (name, scope)]
        return found


@contextlib.asynccontextmanager
async def shelved_in(
    folder: Path, settings: ExtensionSettings | None = None
) -> AsyncGenerator[Shelved]:
    (folder / "project/.git").mkdir(parents=True, exist_ok=True)
    database = SqliteDatabase(folder / "airboss.sqlite")
    await database.open()
    store = TrustStore(database)
    shelf = Shelf(
        Copies(folder / "data/extensions"),
        store,
        DisabledExtensions(database),
        folder / "copilot/extensions",
        settings or ExtensionSettings(),
        in_use=lambda: (),
    )
    try:
        yield Shelved(folder, shelf, Trust(store, shelf=shelf))
    finally:
        await database.close()
