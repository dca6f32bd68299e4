"""Rehearsals of drafts: a job is played with scripted answers, on a server of its own that nobody
sees. Nothing of them is kept but how the last of them went."""

import asyncio
import os
import secrets
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from airboss.background import Background
from airboss.errors import AirbossError, Invalid, NotFound, TooLarge, TooMuch
from airboss.log.writer import now_ms
from airboss.model.ids import new_id
from airboss.model.words import Frozen, Words
from airboss.service.entry_files import EntryFiles
from airboss.service.entry_reader import in_thread
from airboss.service.rehearsal_play import NotPlayed, PlannedPlay, RehearsedTask, play
from airboss.service.run_request import NewRun, must_fit
from airboss.settings import Settings
from airboss.store.folder import DataFolder

if TYPE_CHECKING:
    from airboss.entry.document import Entry

AT_ONCE: Final = 2
MOST_SECONDS: Final = 600.0
KEPT: Final = 20
MOST_SCRIPT_BYTES: Final = 256 * 1024
MOST_INPUT: Final = 100_000
# Together with all else less than the time in which a server has ended.
_CLOSING_SECONDS: Final = 1.5

PlayState = Literal["running", "succeeded", "failed", "canceled"]


class RehearsedJob(Frozen):
    """A job that is played, or was. `digest` is the SHA-256 of the draft's text."""

    id: str
    job: Words
    state: PlayState
    started_at: int
    ended_at: int | None = None
    reason: Words | None = None
    tasks: tuple[RehearsedTask, ...] = ()
    digest: str


@dataclass(frozen=True)
class NewRehearsal:
    """What somebody wants to see played."""

    text: str
    form: Literal["yaml", "json"]
    job: str
    user_input: str = ""
    script: str | None = None


@dataclass
class _Played:
    """How it goes, and what plays it."""

    shown: RehearsedJob
    task: "asyncio.Task[None] | None" = None
    is_canceled: bool = False


@dataclass
class Rehearsals:
    """`owner` is this data folder's name: what a killed server left is found by it."""

    files: EntryFiles
    settings: Settings
    owner: str
    most_seconds: float = MOST_SECONDS
    _played: dict[str, _Played] = field(default_factory=dict[str, _Played])
    _background: Background = field(default_factory=lambda: Background("rehearsal"))

    async def start(self, asked: NewRehearsal) -> RehearsedJob:
        self._must_have_room()
        entry, script = await self._checked(asked)
        plan = await in_thread(lambda: self._planned(asked, entry, script))
        self._must_have_room()  # somebody else may have come meanwhile
        begun = RehearsedJob(
            id=new_id("reh"),
            job=asked.job,
            state="running",
            started_at=now_ms(),
            tasks=plan.tasks(),
            digest=sha256(asked.text.encode()).hexdigest(),
        )
        played = _Played(begun)
        self._played[begun.id] = played
        self._forget_old()
        played.task = self._background.start(self._play(played, plan), begun.id)
        return begun

    def show(self, name: str) -> RehearsedJob:
        return self._find(name).shown

    async def cancel(self, name: str) -> RehearsedJob:
        """When this answers, nothing of it runs. One that has ended stays as it is."""
        played = self._find(name)
        if played.task and not played.task.done():
            if not played.is_canceled:  # once: what it does to end is not to be cut off
                played.is_canceled = True
                played.task.cancel()
            await asyncio.wait({played.task})
        return played.shown

    async def close(self) -> None:
        """What takes longer ends by itself: each server ends with us, and removes its folder."""
        await self._background.close(cancel=True, seconds=_CLOSING_SECONDS)

    def sweep(self) -> None:
        """What is left of rehearsals whose server was killed together with the one before us."""
        self._background.start(in_thread(lambda: _sweep(self._prefix)), "sweep")

    @property
    def _prefix(self) -> str:
        return f"airboss-rehearsal-{sha256(self.owner.encode()).hexdigest()[:12]}-"

    def _find(self, name: str) -> _Played:
        if name not in self._played:
            raise NotFound("rehearsal", name)
        return self._played[name]

    def _must_have_room(self) -> None:
        running = sum(one.shown.state == "running" for one in self._played.values())
        if running >= AT_ONCE:
            raise TooMuch(f"{AT_ONCE} rehearsals run already. Wait until one of them has ended.")

    def _forget_old(self) -> None:
        ended = [name for name, one in self._played.items() if one.shown.state != "running"]
        for name in ended[: max(0, len(self._played) - KEPT)]:
            del self._played[name]

    async def _checked(self, asked: NewRehearsal) -> "tuple[Entry, str]":
        from airboss.entry.load import MAX_BYTES
        from airboss.entry.model_ids import model_ids
        from airboss.entry.violations import has_half

        if has_half(asked.text) or has_half(asked.user_input) or has_half(asked.script):
            raise Invalid("The request has half of a character.")
        content = asked.text.encode()
        if len(content) > MAX_BYTES:
            raise TooLarge(f"An entry has up to {MAX_BYTES >> 20} MiB.")
        if len((asked.script or "").encode()) > MOST_SCRIPT_BYTES:
            raise TooLarge(f"A rehearsal script has up to {MOST_SCRIPT_BYTES >> 10} KiB.")
        found = await self.files.reader.find(content, asked.form)
        if found.entry is None:
            many = "1 error" if found.mistakes == 1 else f"{found.mistakes} errors"
            raise Invalid(self.files.said(f"The entry has {many}. The first is {found.first}"))
        entry = found.entry
        if asked.job not in entry.jobs:
            raise NotFound("job", self.files.said(asked.job))
        takes_input = bool(entry.jobs[asked.job].require_user_input)
        must_fit(NewRun(asked.job, asked.user_input, None, ""), takes_input=takes_input)
        return entry, await in_thread(lambda: self._script(asked.script, model_ids(entry)))

    def _script(self, text: str | None, ids: Sequence[str]) -> str:
        from airboss.runtime.rehearsal.script import ScriptInvalid
        from airboss.runtime.rehearsal.stage import builtin_text, with_models

        try:
            return with_models(builtin_text() if text is None else text, "script", ids)
        except ScriptInvalid as error:
            raise Invalid(self.files.said(str(error))) from None

    def _planned(self, asked: NewRehearsal, entry: "Entry", script: str) -> PlannedPlay:
        from airboss.entry.work_places import names_of

        names = names_of(entry.jobs[asked.job].work)
        runtime = self.settings.copilot_cli
        keys = (provider.key_variable for provider in self.settings.providers)
        place = Path(os.path.realpath(tempfile.gettempdir()))
        return PlannedPlay(
            folder=place / f"{self._prefix}{secrets.token_hex(8)}",
            job=asked.job,
            user_input=asked.user_input,
            names={number: self.files.said(name) for number, name in names.items()},
            text=asked.text,
            suffix=f".{asked.form}",
            script=script,
            options=("--copilot-cli", str(runtime)) if runtime else (),
            secret_names=tuple(filter(None, keys)),
        )

    async def _play(self, played: _Played, plan: PlannedPlay) -> None:
        def progress(tasks: tuple[RehearsedTask, ...]) -> None:
            played.shown = played.shown.model_copy(update={"tasks": tasks})

        state: PlayState = "failed"
        reason: str | None = None
        try:
            async with asyncio.timeout(self.most_seconds):
                state, reason = await play(plan, progress)
        except TimeoutError:
            reason = f"It took longer than {self.most_seconds / 60:g} minutes."
        except asyncio.CancelledError:
            state, reason = "canceled", "Somebody canceled it."
            if not played.is_canceled:
                reason = "The server was stopped."
                raise
        except (AirbossError, NotPlayed, OSError) as error:
            reason = str(error)
        finally:
            said = self.files.said(reason) if reason else None
            end = {"state": state, "reason": said, "ended_at": now_ms()}
            played.shown = played.shown.model_copy(update=end)


def _sweep(prefix: str) -> None:
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        # A server that still ends removes it by itself.
        if not left.is_symlink() and not DataFolder(left / "data").is_locked():
            shutil.rmtree(left, ignore_errors=True)
