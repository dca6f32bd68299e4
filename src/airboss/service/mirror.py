"""Writes what was said in each session into a file of its own, for whoever keeps such files: a
follower of the log, beside all work. What it cannot write stops nothing, and is told."""

import asyncio
import contextlib
import json
import logging
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, cast

from airboss.background import Background
from airboss.errors import AirbossError
from airboss.log.changes import ChangedStreams
from airboss.log.log import EventLog
from airboss.log.writer import now_ms
from airboss.model.events import (
    MessageEnded,
    PromptAccepted,
    PromptChanged,
    PromptSteered,
    Recorded,
    ToolEnded,
    ToolStarted,
    TurnStarted,
)
from airboss.model.ids import is_session_id
from airboss.model.lineage_events import SessionRestarted
from airboss.model.views import SessionView
from airboss.service.pages import page_of_views
from airboss.store.views import ViewIndex, Wanted

_KINDS: Final = (
    *("prompt.accepted", "prompt.changed", "prompt.steered", "turn.started", "message.ended"),
    *("tool.started", "tool.ended", "session.restarted"),
)
_PAGE: Final = 500
_VIEWS: Final = 100
# Of so many sessions it is known what is in their files; of others that is read again.
_MOST_KNOWN: Final = 100
_AGAIN_SECONDS: Final = 30.0
_LAST_SECONDS: Final = 5.0
# A word on a session may be on disk so much later than its time says.
_MARGIN_MS: Final = 60_000

Line = dict[str, Any]
_log = logging.getLogger(__name__)


@dataclass
class _Mirrored:
    """One session, as far as its events were read."""

    seq: int = 0
    keys: set[str] | None = None
    prompts: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    # The calls that have begun, in their order; written together when the last of them has ended.
    calls: dict[str, Line] = field(default_factory=dict[str, Line])
    running: set[str] = field(default_factory=set[str])

    def tell(self, session: str, recorded: Recorded) -> Line | None:
        """What is to be written down, if that makes something whole."""
        event = recorded.event
        match event:
            case PromptAccepted():
                self.prompts[event.prompt] = (event.who, event.text)
            case PromptChanged():
                who, _ = self.prompts.get(event.prompt, ("", ""))
                self.prompts[event.prompt] = (who, event.text)
            case TurnStarted() | PromptSteered() if event.prompt in self.prompts:
                who, text = self.prompts.pop(event.prompt)
                return _line(session, recorded, "user", who=who, text=text, prompt=event.prompt)
            case MessageEnded() if event.text.strip():
                return _line(session, recorded, "assistant", text=event.text)
            case SessionRestarted():
                return _line(session, recorded, "restart", text=event.why, number=event.number)
            case ToolStarted() | ToolEnded():
                return self._tell_call(session, recorded, event)
            case _:
                pass
        return None

    def _tell_call(
        self, session: str, recorded: Recorded, event: ToolStarted | ToolEnded
    ) -> Line | None:
        if isinstance(event, ToolStarted):
            self.calls[event.block] = {"name": event.name, "arguments": event.arguments}
            self.running.add(event.block)
            return None
        call = self.calls.setdefault(event.block, {})
        call |= {"text": event.text, "error": event.error.message if event.error else None}
        self.running.discard(event.block)
        if self.running:
            return None
        calls, self.calls = list(self.calls.values()), {}
        return _line(session, recorded, "tools", calls=calls)


def _line(session: str, recorded: Recorded, role: str, **more: Any) -> Line:
    return {"key": f"{session}:{recorded.seq}", "at": recorded.at, "role": role, **more}


class Mirror:
    """The files of all sessions of this machine. What an earlier server left out is written first;
    what cannot be written now, a little later."""

    def __init__(
        self, log: EventLog, folder: Path, index: ViewIndex, machine: str | None = None
    ) -> None:
        self._log = log
        self._folder = folder
        self._index = index
        self._machine = machine
        self._known: dict[str, _Mirrored] = {}
        self._background = Background("mirror")
        self._writing = asyncio.Lock()
        self._changed: ChangedStreams | None = None
        self._is_checked = False
        # The sessions whose files lack something, and why.
        self.incomplete: dict[str, str] = {}

    @property
    def folder(self) -> Path:
        return self._folder

    @property
    def audit(self) -> Literal["complete", "incomplete"]:
        return "incomplete" if self.incomplete else "complete"

    def start(self) -> None:
        self._background.start(self._follow(), "follow")
        self._background.start(self._check(), "check")
        self._background.start(self._look_again(), "look again")

    async def close(self) -> None:
        """What was said by now is written, if that does not take long."""
        self._background.cancel("look again")
        if self._changed is not None:
            self._changed.end()
        await self._background.close(seconds=_LAST_SECONDS)
        await self._note_complete(now_ms())

    async def _follow(self) -> None:
        with self._log.changes(only_here=True) as changed:
            self._changed = changed
            while names := await changed.next():
                for name in filter(is_session_id, names):
                    await self.write(name)

    async def _check(self) -> None:
        """What was said since all was complete: a server that was killed, or could not write."""
        wanted = Wanted(told_since=await asyncio.to_thread(self._complete_until))
        before: str | None = None
        while True:
            page = await page_of_views(self._index, SessionView, (), before, _VIEWS, wanted)
            for view in page.items:
                if self._machine is None or view.machine == self._machine:
                    await self.write(view.id)
            if page.next_cursor is None:
                break
            before = page.next_cursor
        self._is_checked = True

    async def _look_again(self) -> None:
        while True:
            began = now_ms()
            await asyncio.sleep(_AGAIN_SECONDS)
            for session in list(self.incomplete):
                await self.write(session)
            await self._note_complete(began)

    async def _note_complete(self, until: int) -> None:
        if self._is_checked and not self.incomplete:
            with contextlib.suppress(OSError):  # more is looked at by the next server
                await asyncio.to_thread(self._write_complete, until - _MARGIN_MS)

    def _write_complete(self, until: int) -> None:
        if self._folder.is_dir():
            self._note.write_text(str(until), "utf-8")

    def _complete_until(self) -> int:
        try:
            return int(self._note.read_text("utf-8"))
        except (OSError, ValueError):
            return 0

    @property
    def _note(self) -> Path:
        return self._folder / f".complete{f'-{self._machine}' if self._machine else ''}"

    async def write(self, session: str) -> None:
        """All that came since. What failed is written again later."""
        async with self._writing:
            known = self._known.pop(session, None) or _Mirrored()
            try:
                await self._write(session, known)
            except (OSError, ValueError, AirbossError) as error:
                # It is read anew: nothing of it may be left out.
                if session not in self.incomplete:
                    _log.warning("The transcript of session %s is not complete: %s", session, error)
                self.incomplete[session] = str(error)
                return
            self.incomplete.pop(session, None)
            self._known[session] = known
            while len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]

    async def _write(self, session: str, known: _Mirrored) -> None:
        if known.keys is None:
            known.keys = await asyncio.to_thread(_keys_in, self._file(session))
        while found := await self._log.transcript(session, known.seq, _PAGE, _KINDS):
            lines = [line for one in found if (line := known.tell(session, one))]
            fresh = [line for line in lines if line["key"] not in known.keys]
            if fresh:
                await asyncio.to_thread(_append, self._file(session), fresh)
            known.keys.update(line["key"] for line in fresh)
            known.seq = found[-1].seq

    def _file(self, session: str) -> Path:
        return self._folder / f"{session}.jsonl"


def mirror_of(
    log: EventLog, folder: Path | None, index: ViewIndex, machine: str | None
) -> Mirror | None:
    return None if folder is None else Mirror(log, folder, index, machine)


def _keys_in(file: Path) -> set[str]:
    """What was cut off in the middle of a line is written anew."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return set()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) != len(data):
        os.truncate(file, len(whole))
    return {key for line in whole.split(b"\n") if (key := _key_of(line))}


def _key_of(line: bytes) -> str | None:
    """None where it is no line of ours: whoever keeps such files may have written it."""
    try:
        said: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    key = cast("Line", said).get("key") if isinstance(said, dict) else None
    return key if isinstance(key, str) else None


def _append(file: Path, lines: list[Line]) -> None:
    """In one piece, or nothing of it."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        try:
            written = os.write(descriptor, text)
            if written != len(text):
                raise OSError(f"only {written} of {len(text)} bytes fit")  # noqa: TRY301
            os.fsync(descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
