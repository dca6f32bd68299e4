"""Which call waits because another one wants the same file, and for whose approval.

The agent runtime lets one call of `edit` or `create` at a time at a file. What was found by trying
it with two sessions of one server (tests/service/test_file_waits.py keeps the parts that we build
on):

- A call has the file before it asks for permission, and keeps it until it has ended: while a person
  is asked, the next call says `tool.started` and nothing more, for as long as that takes.
- It holds for all sessions of the runtime's process, and for two calls of one session.
- The file is known by its path, with `.` and `..` worked out. A symbolic or hard link to the same
  file is another one. Reading it (`view`) and commands (`bash`) wait for nobody.
- The next one goes on as soon as the first is allowed, denied, stopped or closed, and then asks
  itself; one that waits can be stopped at once.

The runtime says nothing of it, so it is concluded from what it does say.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias, cast

from airboss.log.writer import Writer
from airboss.model.events import ToolStarted
from airboss.model.gate_events import ToolGoing, ToolWaiting
from airboss.model.ids import ItemId, SessionId
from airboss.model.inbox_events import ApprovalAsked, Asked
from airboss.model.views import SessionView

_TOOLS: Final = ("create", "edit")
_KIND: Final = "write"
# Told in words what a call waits for, by its block, and with None that it goes on.
Told: TypeAlias = Callable[[str, str | None], None]


def _to_nobody(_block: str, _reason: str | None) -> None:
    pass


@dataclass(slots=True)
class _EditCall:
    """One that was begun and has not ended. `behind` is what it waits for."""

    writer: Writer
    block: str
    path: str
    tell: Told
    behind: ItemId | None = None


@dataclass(frozen=True, slots=True)
class _EditApproval:
    writer: Writer
    asked: ApprovalAsked
    path: str

    def is_about(self, call: _EditCall) -> bool:
        return call.block == self.asked.call and call.writer.stream is self.writer.stream


@dataclass
class FileWaits:
    """Of all sessions of one runtime: what they edit, and what waits for a person there."""

    _calls: list[_EditCall] = field(default_factory=list[_EditCall])
    _approvals: dict[ItemId, _EditApproval] = field(default_factory=dict[ItemId, _EditApproval])

    def begin(self, writer: Writer, said: ToolStarted, tell: Told = _to_nobody) -> None:
        """Behind the event that tells of the call. `tell` hears what it waits for."""
        path = _edited(writer, said)
        if path is not None:
            call = _EditCall(writer, said.block, path, tell)
            self._calls.append(call)
            self._look(call)

    def end(self, writer: Writer, block: str | None = None) -> None:
        """Of one call, or of all that the session made."""
        ended = [
            call
            for call in self._calls
            if call.writer.stream is writer.stream and block in (None, call.block)
        ]
        for call in ended:
            self._calls.remove(call)
            if call.behind is not None:
                call.tell(call.block, None)

    def asked(self, writer: Writer, asked: Asked) -> None:
        """A person is waited for."""
        if not isinstance(asked, ApprovalAsked) or asked.wish != _KIND or not asked.subject.path:
            return
        path = _full(writer, asked.subject.path)
        self._approvals[asked.item] = _EditApproval(writer, asked, path)
        self._look_at(path)

    def settled(self, asked: Asked) -> None:
        if approval := self._approvals.pop(asked.item, None):
            self._look_at(approval.path)

    def _look_at(self, path: str) -> None:
        for call in self._calls:
            if call.path == path:
                self._look(call)

    def _look(self, call: _EditCall) -> None:
        """Says it where it is another than before. One that asks a person itself has the file."""
        found = [one for one in self._approvals.values() if one.path == call.path]
        is_asking = any(one.is_about(call) for one in found)
        first = None if is_asking or not found else found[0]
        before, call.behind = call.behind, first.asked.item if first else None
        if before == call.behind:
            return
        if first is None:
            call.writer.say(ToolGoing(block=call.block))
            call.tell(call.block, None)
            return
        view = first.writer.view
        waiting = ToolWaiting(
            block=call.block,
            item=first.asked.item,
            title=first.asked.title,
            session=SessionId(first.writer.stream.name),
            session_title=view.title if isinstance(view, SessionView) else "",
        )
        call.writer.say(waiting)
        where = waiting.session_title or waiting.session
        call.tell(call.block, f"the approval “{waiting.title}” in the session “{where}”")


def _edited(writer: Writer, said: ToolStarted) -> str | None:
    if said.name not in _TOOLS:
        return None
    try:
        given: object = json.loads(said.arguments)
    except ValueError:
        return None
    path = cast("dict[str, object]", given).get("path") if isinstance(given, dict) else None
    return _full(writer, path) if isinstance(path, str) and path else None


def _full(writer: Writer, path: str) -> str:
    view = writer.view
    folder = view.cwd if isinstance(view, SessionView) else "/"
    # Links are not followed: the runtime does not, either.
    return os.path.normpath(os.path.join(folder, path))
