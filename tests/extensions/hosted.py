"""A house whose sessions have extensions, on the real runtime and a model that does what it is
told."""

import asyncio
import contextlib
import shutil
import textwrap
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psutil

from airboss.extension_settings import ExtensionSettings
from airboss.extensions.extension import HostedExtension
from airboss.extensions.host import ExtensionHost
from airboss.extensions.seen import SeenExtension
from airboss.model.events import Event
from airboss.model.ids import SessionId
from airboss.model.inbox import InboxView
from airboss.model.inbox_events import InboxItem
from tests.service.house import ME, House
from tests.service.test_session_setup import MODEL, Watched, watched_in

One = TypeVar("One", bound=Event)
FIXTURES = Path(__file__).parents[1] / "fixtures" / "extensions"

KIT = """
import asyncio, os, sys, time
from pathlib import Path
from typing import Annotated
from airboss.extension import *
HERE = Path(os.environ["NOTES"])
def note(name, text=""):
    with (HERE / name).open("a") as file:
        file.write(f"{text}\\n")
"""
GOOD = """
@tool
def good(word: str) -> str:
    "Says it back."
    return f"good {word}"
"""


@dataclass
class Hosted:
    """`watched` has the model's requests; `notes` is a folder that extensions write to."""

    watched: Watched
    notes: Path
    work: Path

    @property
    def house(self) -> House:
        return self.watched.house

    @property
    def root(self) -> Path:
        return self.work / ".github" / "extensions"

    def apart(self, name: str) -> "Hosted":
        """The same house, for a test that has a project of its own."""
        work = self.work / name
        (work / ".git").mkdir(parents=True)
        return Hosted(self.watched, self.notes, work)

    def write(self, name: str, text: str, file: str = "extension.py") -> Path:
        """An extension of the project, which nobody trusts yet."""
        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        kit = KIT if file.endswith(".py") else ""
        (folder / file).write_text(kit + textwrap.dedent(text), "utf-8")
        return folder

    async def trust(self, folder: Path) -> None:
        trust = self.house.services.entries.files.trust
        seen = await trust.look(str(folder))
        await trust.add(str(folder), seen.digest, ME)

    async def add(self, name: str, text: str, file: str = "extension.py") -> Path:
        folder = self.write(name, text, file)
        await self.trust(folder)
        return folder

    async def bring(self, *paths: str) -> None:
        """Extensions out of the fixtures, trusted."""
        for path in paths:
            name = path.rpartition("/")[2]
            shutil.copytree(FIXTURES / path, self.root / name)
            await self.trust(self.root / name)

    async def open(self, **more: Any) -> str:
        view = await self.house.sessions.start(MODEL, str(self.work), ME, **more)
        return view.id

    async def ask(self, session: str, text: str = "say hello") -> dict[str, Any]:
        return await self.watched.asked(session, text)

    def host(self, session: str) -> ExtensionHost:
        talk = self.house.sessions._open[SessionId(session)]  # pyright: ignore[reportPrivateUsage]
        assert isinstance(talk.extensions.host, ExtensionHost)
        return talk.extensions.host

    def extension(self, session: str, name: str) -> HostedExtension:
        return next(one for one in self.host(session).extensions if one.name == name)

    async def shown(self, session: str) -> dict[str, SeenExtension]:
        await self.host(session).ready()
        return {one.file.name: one for one in await self.house.sessions.shown_extensions(session)}

    async def said(self, session: str, kind: type[One]) -> list[One]:
        await self.house.services.log.last_view(session)  # all is written then
        return [event for event in await self.house.story(session) if isinstance(event, kind)]

    async def asked_in_inbox(self, session: str) -> InboxItem:
        def found() -> list[InboxItem]:
            view = self.house.services.inbox.writer.view
            items = view.items if isinstance(view, InboxView) else ()
            return [item for item in items if item.session == session]

        await until(found)
        return found()[0]

    def noted(self, name: str) -> list[str]:
        file = self.notes / name
        return file.read_text("utf-8").splitlines() if file.exists() else []


@contextlib.asynccontextmanager
async def hosted_in(folder: Path, **settings: Any) -> AsyncGenerator[Hosted]:
    notes = folder / "notes"
    notes.mkdir()
    extensions = settings.pop("extensions", ExtensionSettings())
    settings.setdefault("permissions", "approve-all")
    async with watched_in(folder, extensions=extensions, **settings) as watched:
        room = watched.house.sessions.extensions
        assert room is not None
        room.environ = {**room.environ, "NOTES": str(notes)}
        room.shelf.user_folder = folder / "user-extensions"
        yield Hosted(watched, notes, watched.house.work)


async def until(what: Callable[[], object], seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while not what():  # noqa: ASYNC110 - there is no event for this
            await asyncio.sleep(0.02)


def is_alive(pid: int) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def tools_in(request: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in request.get("tools", ())]


def results_in(request: dict[str, Any]) -> list[str]:
    """What tools said, as the model reads it."""
    return [str(said["content"]) for said in request["messages"] if said["role"] == "tool"]
