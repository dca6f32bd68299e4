"""The entry that this server uses: found, followed while its file changes, and installed."""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from airboss.background import Background
from airboss.entry.places import own_entries
from airboss.errors import (
    AirbossError,
    Conflict,
    Invalid,
    NotFound,
    SettingsInvalid,
    StoreUnavailable,
)
from airboss.log.writer import now_ms
from airboss.service.entry_files import EntryFiles, FilePrints, FileReading, prints_of
from airboss.service.entry_reader import in_thread
from airboss.service.folder_files import is_secret
from airboss.service.folders import Folders
from airboss.service.installed import Installed, Source, digest_of_entry
from airboss.service.trust import Look, name_of, whole_path
from airboss.settings import Settings
from airboss.store.entries import EntryStore, LastGood, TrustRow

if TYPE_CHECKING:
    from airboss.entry.document import Entry

_log = logging.getLogger("airboss.entries")
_LOOK_SECONDS = 0.5
# A program may take its time; whoever asks meanwhile gets the entry from before.
_PATIENCE_SECONDS = 2.0
_WATCH_SECONDS = 2.0
_LATER = "The entry file has changed. The new version is used once nothing is running."
_INSTALLED_LATER = "Another entry was installed. It is used once nothing is running."
_RUNS = "The current entry is in use"
_NOT_YET = "The project's entry is still being read. Until then, the built-in one is used."
_USES_LAST = "The last valid version is in use."
_USES_BUILTIN = "The built-in jobs are in use."


def _never() -> bool:
    return False


def _no_models() -> Sequence[str]:
    return ()


def _nobody_to_tell() -> None:
    pass


async def _nobody_to_ask() -> None:
    """Nobody offers models."""


@dataclass
class Entries:
    """`is_busy`: something of the present entry runs. `is_busy_for_install`: somebody works.

    The built-in entry takes the models that there are: those that `known_models` has learnt, which
    `ask_for_models` makes complete. That may start the agent runtime, so only who runs asks.
    """

    settings: Settings
    folders: Folders
    store: EntryStore
    files: EntryFiles
    is_busy: Callable[[], bool] = _never
    is_busy_for_install: Callable[[], bool] = _never
    # Told whenever the entry in use, or what is wrong with it, is another than before.
    announce: Callable[[], None] = _nobody_to_tell
    # Somebody looks at a page that shows it: then its file is looked at unasked.
    is_watched: Callable[[], bool] = _never
    known_models: Callable[[], Sequence[str]] = _no_models
    ask_for_models: Callable[[], Awaitable[object]] = _nobody_to_ask
    # Whether the built-in entry's tasks that write get a cage. Asked in a thread: it may try one.
    is_caged: Callable[[], bool] = _never
    on_install: Callable[[Installed], Awaitable[None]] | None = None
    look_seconds: float = _LOOK_SECONDS
    patience_seconds: float = _PATIENCE_SECONDS
    watch_seconds: float = _WATCH_SECONDS
    _installed: Installed | None = None
    # The same with a note that comes and goes.
    _shown: Installed | None = None
    _note: str | None = None
    # Installed by a call: files are not followed any more.
    _pinned: bool = False
    _seen: FilePrints | None = None  # none: to be read anew
    _prints: FilePrints | None = None
    _looked_at: float = float("-inf")
    _looking: "asyncio.Task[None] | None" = None
    _background: Background = field(default_factory=lambda: Background("entry"))
    _kept: set[str] = field(default_factory=set[str])

    async def start(self) -> None:
        """Refuses a chosen file that cannot be used. The built-in entry waits to be asked for."""
        if self.settings.test:
            return
        self._background.start(self._watch())
        if self.settings.entry:
            await self._follow(is_start=True)
        elif await asyncio.to_thread(self.candidates):
            await self.current()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self.watch_seconds)
            if self._installed is not None and self.is_watched():
                with contextlib.suppress(AirbossError):  # whoever asks for it is told
                    await self.current()

    async def close(self) -> None:
        await self._background.close(cancel=True)

    async def current(self) -> Installed | None:
        """The entry in use; none in test mode, before one was installed."""
        if self._pinned or self.settings.test:
            return self._installed
        is_time = time.monotonic() - self._looked_at >= self.look_seconds
        if self._looking is None and (is_time or self._installed is None):
            self._looking = self._background.start(self._look())
        if (looking := self._looking) is not None:
            await asyncio.wait({looking}, timeout=self.patience_seconds)
            if looking.done() and not looking.cancelled():
                looking.result()
        if self._installed is None:
            meanwhile = await self._builtin(_NOT_YET)
            if self._installed is None:  # else it came after all
                self._put(meanwhile)
        return self._shown

    async def to_run(self) -> Installed | None:
        """The entry in use, for who is about to run something of it: on models that are offered."""
        used = await self.current()
        if used is None or used.source != "built-in":
            return used
        await self.ask_for_models()
        await self._take_models()
        return self._shown

    async def by_digest(self, digest: str) -> "Entry":
        """Any entry that was ever used here."""
        if self._installed and self._installed.digest == digest:
            return self._installed.entry
        body = await self.store.load(digest)
        if body is None:
            raise NotFound("entry", digest)
        return await self.files.reader.stored(body)

    async def keep(self, installed: Installed) -> None:
        """On disk when this is over, so that what runs on it can go on after a restart."""
        if installed.digest not in self._kept:
            body = await in_thread(lambda: installed.body)
            await self.store.save(installed.digest, body, installed.loaded_at)
            self._kept.add(installed.digest)

    async def look(self, path: str) -> Look:
        """At what somebody may trust. Our own folder holds no entry, and much that is nobody's."""
        await asyncio.to_thread(self._not_ours, whole_path(path))
        return await self.files.look(path)

    async def trust(self, path: str, digest: str, who: str) -> list[TrustRow]:
        await asyncio.to_thread(self._not_ours, whole_path(path))
        rows = await self.files.add_trust(path, digest, who)
        await self._weigh_anew()
        return rows

    async def distrust(self, path: str, who: str) -> list[str]:
        gone = await self.files.trust.remove(path, who)
        # What a program once gave counts no longer either.
        await self.store.forget([name for name in gone if name.endswith(".py")])
        await self._weigh_anew()
        return gone

    async def install(self, reading: FileReading, source: Literal["test", "api"]) -> Installed:
        """From now on, until this server ends, or another one is installed."""
        if reading.entry is None:
            raise ValueError("Only what could be read is installed.")
        path = reading.path if reading.file_digest else None
        made = await self._made(reading.entry, source, path, reading.file_digest)
        await self._keep_if_possible(made)
        busy = self.is_busy_for_install if source == "test" else self.is_busy
        if busy():  # asked last, without a wait until it is done
            what = "A session is open, or a task or job is running" if source == "test" else _RUNS
            raise Conflict(f"{what}. You can install another entry when that has ended.")
        if self.on_install and source == "api":
            await self.on_install(made)
        self._pinned = True
        self._put(made)
        return made

    async def take(self, digest: str) -> None:
        """What a call to another server has installed, once nothing runs here. Nobody trusts it."""
        if self._pinned and self._installed and self._installed.digest == digest:
            return
        made = await self._made(await self.by_digest(digest), "api", None, "")
        if self.is_busy():
            self._tell(_INSTALLED_LATER)
            return
        self._pinned = True
        self._put(made)

    async def may_quote(self, path: Path) -> bool:
        """Whether its lines may be shown: only those of the project's own entry, or of the chosen
        one. A link must not show what lies elsewhere, and who checks a file not any file."""
        return await asyncio.to_thread(self.may_quote_here, path)

    def may_quote_here(self, path: Path) -> bool:
        """The same, for a thread."""
        if path == self.settings.entry:
            return True
        real, root = (Path(os.path.realpath(one)) for one in (path, self.folders.repo_root))
        is_inside = real.is_relative_to(root) and not is_secret(real.relative_to(root))
        return is_inside and path in self.candidates()

    def look_again(self) -> None:
        """At the file, when somebody asks next: it has just been written."""
        self._looked_at = float("-inf")

    def _not_ours(self, path: Path) -> None:
        if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.settings.data)):
            raise Invalid(f"{path} is in the server's data folder, which cannot have entries.")

    # Following the file.

    def candidates(self) -> list[Path]:
        chosen = self.settings.entry
        return [chosen] if chosen else own_entries(self.folders.repo_root)

    async def _look(self) -> None:
        try:
            await self._follow()
            await self._take_models()
        except StoreUnavailable as error:
            if self._installed is None:
                self._put(await self._builtin(str(error)))
            else:
                self._tell(str(error))
        finally:
            self._looked_at = time.monotonic()
            self._looking = None

    async def _follow(self, *, is_start: bool = False) -> None:
        files = await asyncio.to_thread(self.candidates)
        seen = await asyncio.to_thread(prints_of, files)
        if seen == self._seen and self._installed:
            self._tell(None)
            return
        if self._installed and self.is_busy():
            self._tell(_LATER if self._note or seen != self._prints else None)
            return
        chosen = await self._choose(files, is_start=is_start)
        await self._keep_if_possible(chosen)
        if self._pinned:
            return
        if self._installed and self.is_busy():  # it was started meanwhile
            self._tell(_LATER)
            return
        self._seen = self._prints = seen
        self._put(chosen)

    async def _choose(self, files: list[Path], *, is_start: bool) -> Installed:
        """The first that can be used. One that cannot is not passed over quietly."""
        notes: list[str] = []
        for number, file in enumerate(files):
            reading = await self.files.read(file, quotes=await self.may_quote(file))
            if reading.entry:
                good = await self._good(file, reading)
                return good.with_notes(notes + self._others(files[number + 1 :]))
            notes.append(reading.trouble)
            last = await self._last_good(file, reading)
            if last:
                return last.with_notes([*notes, _USES_LAST]).with_mistakes(reading)
            if not reading.needs_trust:
                if is_start and self.settings.entry:
                    raise SettingsInvalid(reading.trouble)
                return (await self._builtin(*notes, _USES_BUILTIN)).with_mistakes(reading)
        if (present := self._installed) and present.is_left_without_file(files):
            gone = self.files.said(f"The entry {present.path} no longer exists.")
            return present.with_notes([*notes, gone, _USES_LAST])
        return await self._builtin(*notes, *([_USES_BUILTIN] if notes else []))

    def _others(self, files: list[Path]) -> list[str]:
        if not files:
            return []
        names = ", ".join(str(file) for file in files)
        return [
            self.files.said(f"There are several entries. The first one is used; ignored: {names}.")
        ]

    async def _good(self, file: Path, reading: FileReading) -> Installed:
        if reading.entry is None:
            raise ValueError("There is no entry in it.")
        made = await self._made(reading.entry, "file", file, reading.file_digest)
        good = LastGood(made.digest, made.file_digest, made.loaded_at)
        with contextlib.suppress(StoreUnavailable):  # then a restart may not find it
            await self.keep(made)
            await self.store.remember(await asyncio.to_thread(name_of, file), good)
        return made

    async def _last_good(self, file: Path, reading: FileReading) -> Installed | None:
        good = await self.store.last_good(await asyncio.to_thread(name_of, file))
        present = self._installed
        if present and present.path == file and (good or not reading.needs_trust):
            return present
        if good is None:
            return None
        try:
            entry = await self.by_digest(good.digest)
        except (NotFound, Invalid):  # gone, or more than this machine can read
            return None
        return await self._made(entry, "file", file, good.file_digest)

    async def _builtin(self, *notes: str) -> Installed:
        models = tuple(self.known_models())

        def load() -> "Entry":
            from airboss.entry.builtin import builtin_entry

            return builtin_entry(models, is_caged=self.is_caged())

        made = await self._made(await in_thread(load), "built-in", None, "")
        return replace(made.with_notes(list(notes)), on_models=models)

    async def _take_models(self) -> None:
        """The built-in entry on the models that are known by now. What runs keeps its own."""
        now = self._installed
        if now is None or now.source != "built-in" or now.on_models == tuple(self.known_models()):
            return
        made = await self._builtin()
        await self._keep_if_possible(made)
        if self._installed is now:
            same = replace(
                made,
                problem=now.problem,
                mistaken_path=now.mistaken_path,
                mistakes=now.mistakes,
                violations=now.violations,
            )
            self._put(same, self._note)

    async def _made(
        self, entry: "Entry", source: Source, path: Path | None, file_digest: str
    ) -> Installed:
        trusted = False
        if path and file_digest:
            with contextlib.suppress(StoreUnavailable):  # not known is not trusted
                trusted = await self.files.is_trusted(path, file_digest, entry)
        return Installed(
            entry=entry,
            digest=await in_thread(lambda: digest_of_entry(entry)),
            source=source,
            server=self.settings,
            loaded_at=now_ms(),
            path=path,
            file_digest=file_digest,
            trusted=trusted,
        )

    async def _keep_if_possible(self, installed: Installed) -> None:
        with contextlib.suppress(StoreUnavailable):  # who starts something keeps it first
            await self.keep(installed)

    async def _weigh_anew(self) -> None:
        """Somebody trusts more, or less: it counts from now on."""
        self._seen = None
        self._looked_at = float("-inf")
        if (now := self._installed) and now.path:
            trusted = await self.files.is_trusted(now.path, now.file_digest, now.entry)
            if self._installed is now and trusted != now.trusted:
                self._put(replace(now, trusted=trusted), self._note)

    def _put(self, installed: Installed, note: str | None = None) -> None:
        known = self._installed and self._installed.problem
        if installed.problem and installed.problem != known:
            _log.warning("%s", installed.problem)
        before = self._shown
        self._installed = installed
        self._note = None
        self._shown = installed
        self._tell(note)
        if before is not None and before.is_shown_otherwise(self._shown):
            self.announce()

    def _tell(self, note: str | None) -> None:
        if note == self._note or self._installed is None:
            return
        self._note = note
        notes = [text for text in (self._installed.problem, note) if text]
        self._shown = replace(self._installed, problem=" ".join(notes) or None)
        self.announce()
