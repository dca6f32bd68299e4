"""Extensions in tests of their own: loaded into the process of the test, without a server.

from airboss.extension.testing import load

def test_nobody_pushes():
    with load("extension.py") as extension:
        [answer] = extension.fire("pre_tool_use", tool="bash", arguments={"command": "git push"})
        assert isinstance(answer, Deny)
"""

import asyncio
import itertools
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from airboss.extension.answers import Answer, Result
from airboss.extension.faults import Fault, read_extension
from airboss.extension.modules import FolderModules
from airboss.extension.moments import (
    ErrorOccurred,
    Moment,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    ToolDone,
    ToolFailed,
    ToolUse,
)
from airboss.extension.place import HostError, KitPlace, enter
from airboss.extension.session import Event
from airboss.extension.work import FunctionRunner

__all__ = ["Fault", "Loaded", "SaidText", "SentPrompt", "load"]

_T = TypeVar("_T")
_NUMBERS = itertools.count(1)
_MOMENTS: Mapping[str, type[Moment]] = {
    "user_prompt_submitted": PromptSubmitted,
    "pre_tool_use": ToolUse,
    "post_tool_use": ToolDone,
    "post_tool_use_failure": ToolFailed,
    "session_start": SessionStarted,
    "session_end": SessionEnded,
    "error_occurred": ErrorOccurred,
}


@dataclass(frozen=True)
class SaidText:
    """What `session.log` was given."""

    text: str
    level: str = "info"
    ephemeral: bool = False


@dataclass(frozen=True)
class SentPrompt:
    """What `session.send` was given."""

    prompt: str
    steer: bool = False
    attachments: tuple[Mapping[str, Any], ...] = ()


class Loaded:
    """An extension, and what it said and sent. Everything is called without `await`.

    `answers` are what `session.ask` gets, one after the other, and `replies` what
    `session.send_and_wait` gets; where they are used up, nobody answers (None) or the agent says
    nothing. `past` is what `session.events` returns, and `module` the extension's module.
    """

    said: list[SaidText]
    sent: list[SentPrompt]
    asked: list[str]
    answers: list[str | None]
    replies: list[str]
    past: list[Event]
    is_detached: bool
    module: ModuleType

    def __init__(self, path: Path, cwd: Path, session: str) -> None:
        self.said, self.sent, self.asked = [], [], []
        self.answers, self.replies, self.past = [], [], []
        self.is_detached = False
        self._aborts = 0
        self._place = KitPlace(session=session, cwd=cwd, link=None)
        self._worker = FunctionRunner(self._place)
        self._thread = ThreadPoolExecutor(1, "extension")
        self._runner = asyncio.Runner()
        self._modules = FolderModules(path.parent)
        self._end = weakref.finalize(self, _end, self._thread, self._runner, self._modules)
        try:
            self._thread.submit(self._read, path).result()
        except BaseException:
            self.close()
            raise

    def _read(self, path: Path) -> None:
        enter(self._place)
        with self._modules:
            self.module = read_extension(path, f"extension_{next(_NUMBERS)}")
        self._place.registry.is_told = True
        self._place.link = _Stage(self._answer)

    @property
    def tools(self) -> dict[str, dict[str, Any]]:
        """As the agent is told of them: description, parameters as JSON Schema and the rest."""
        return {name: one.declared() for name, one in self._place.registry.tools.items()}

    @property
    def hooks(self) -> dict[str, list[str] | None]:
        """The moments at which it is asked, and about which tools (None: about all)."""
        return self._place.registry.hook_kinds()

    @property
    def aborts(self) -> int:
        """How often it has stopped the turn."""
        return self._aborts

    def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, id: str = "call-1"
    ) -> Result:
        """What the agent would read: arguments are checked, and raising is a failure."""
        if tool not in self._place.registry.tools:
            known = ", ".join(self._place.registry.tools) or "none"
            raise LookupError(f"There is no tool {tool}. Its tools: {known}.")
        return self._do(self._worker.call(tool, dict(arguments or {}), id))

    def fire(self, kind: str, **fields: Any) -> list[Answer]:
        """What its hooks answer at this moment, in order; none is an empty list. The fields are
        those of the object that the hook takes. What a hook raises is raised here."""
        if kind not in _MOMENTS:
            raise LookupError(f"There is no hook {kind}. There are: {', '.join(_MOMENTS)}.")
        place = self._place
        facts: dict[str, Any] = {"session": place.session, "cwd": place.cwd}
        facts["at"] = datetime.now(UTC)
        answers: list[Answer] = []
        self._do(self._worker.ask(kind, _MOMENTS[kind](**(facts | fields)), answers.extend))
        return answers

    def emit(self, kind: str, **data: Any) -> None:
        """An event, to those who follow its kind; returns when they are done with it."""
        event = Event(kind, data, id=f"event-{next(_NUMBERS)}")
        self._do(self._tell(event))

    async def _tell(self, event: Event) -> None:
        for one in [one for one in self._place.subscriptions if event.kind in one.kinds]:
            await self._worker.tell(one.function, event)

    def _do(self, work: Coroutine[Any, Any, _T]) -> _T:
        modules, runner = self._modules, self._runner

        def run() -> _T:
            with modules:
                return runner.run(work)

        return self._thread.submit(run).result()

    def _answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """In the host's place."""
        known: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "session.log": self._log,
            "session.send": self._send,
            "session.ui.elicitation": self._ask,
            "session.getMessages": self._events,
            "session.abort": self._abort,
            "session.detach": self._detach,
        }
        if method not in known:
            raise HostError(f"{method} cannot be had in Airboss")
        return known[method](params)

    def _log(self, params: Mapping[str, Any]) -> dict[str, Any]:
        self.said.append(SaidText(params["message"], params["level"], params["ephemeral"]))
        return {"eventId": f"event-{next(_NUMBERS)}"}

    def _send(self, params: Mapping[str, Any]) -> dict[str, Any]:
        attachments: Sequence[Mapping[str, Any]] = params.get("attachments", ())
        steer = params["mode"] == "immediate"
        self.sent.append(SentPrompt(params["prompt"], steer, tuple(attachments)))
        message = f"message-{next(_NUMBERS)}"
        waiting = [one for one in self._place.subscriptions if one.is_direct]
        if waiting:
            reply = self.replies.pop(0) if self.replies else ""
            for one in waiting:
                one.function(Event("user.message", {"messageId": message}))
                one.function(Event("assistant.message", {"content": reply}))
                one.function(Event("session.idle", {}))
        return {"messageId": message}

    def _ask(self, params: Mapping[str, Any]) -> dict[str, Any]:
        self.asked.append(params["message"])
        [name] = params["requestedSchema"]["properties"]
        answer = self.answers.pop(0) if self.answers else None
        if answer is None:
            return {"action": "decline"}
        return {"action": "accept", "content": {name: answer}}

    def _events(self, params: Mapping[str, Any]) -> dict[str, Any]:
        behind = [one for one in self.past if one.number > params["after"]]
        return {"events": [_wire_event(one) for one in behind]}

    def _abort(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self._aborts += 1
        return {}

    def _detach(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self.is_detached = True
        return {"success": True}

    def close(self) -> None:
        """Ends what it runs in. Happens by itself when nobody holds it any more."""
        self._end()
        self._thread.shutdown(wait=True)

    def __enter__(self) -> "Loaded":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def load(path: str | Path, *, cwd: str | Path | None = None, session: str = "ses_test") -> Loaded:
    """Reads the file of an extension, or the folder with its `extension.py`. A file that cannot be
    read raises a Fault that says `file:line: message`."""
    file = Path(path)
    if file.is_dir():
        file /= "extension.py"
    return Loaded(file.absolute(), Path(cwd) if cwd else Path.cwd(), session)


class _Stage:
    """The way to a host that is played by a `Loaded`."""

    def __init__(self, answer: Callable[[str, Mapping[str, Any]], dict[str, Any]]) -> None:
        self._answer = weakref.WeakMethod(answer)

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        answer = self._answer()
        if answer is None:
            raise ConnectionError("The test has closed the extension.")
        return answer(method, params)

    def listen(self, kind: str) -> None:
        """All events that a test emits are heard."""


def _wire_event(event: Event) -> dict[str, Any]:
    return {
        "type": event.kind,
        "data": dict(event.data),
        "id": event.id,
        "timestamp": event.at.isoformat(),
        "seq": event.number,
    }


def _end(thread: ThreadPoolExecutor, runner: asyncio.Runner, modules: FolderModules) -> None:
    thread.submit(runner.close)
    thread.shutdown(wait=False)  # it may be that very thread which drops the extension
    modules.forget()
