"""The session as an extension has it: say something, send prompts, ask people, follow events."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from airboss.extension.place import HostError, Subscription, here

Level: TypeAlias = Literal["info", "warning", "error"]
Attachment: TypeAlias = str | Path | Mapping[str, Any]
EventKind: TypeAlias = Literal[
    "assistant.message",
    "permission.requested",
    "session.error",
    "session.idle",
    "session.shutdown",
    "tool.execution_complete",
    "tool.execution_start",
    "user.message",
]
_WAITED = ("user.message", "assistant.message", "session.idle", "session.error")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in the session. `number` counts them, for `events(after=…)`."""

    kind: str
    data: Mapping[str, Any]
    id: str = ""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    number: int = 0


class Session:
    """The session that this extension belongs to."""

    @property
    def id(self) -> str:
        """As Airboss names it: `ses_…`."""
        return here().session

    @property
    def cwd(self) -> Path:
        """The folder in which the agent works."""
        return here().cwd

    @property
    def workspace_path(self) -> Path | None:
        """The session's own folder, if it has one: plans, checkpoints, files."""
        return here().workspace

    async def log(self, text: str, level: Level = "info", ephemeral: bool = False) -> None:
        """Says something to the people who watch. If ephemeral, it is not kept."""
        if level not in get_args(Level):
            raise ValueError(f"log: the level should be one of {', '.join(get_args(Level))}")
        await _ask("session.log", message=text, level=level, ephemeral=ephemeral)

    async def send(
        self, prompt: str, steer: bool = False, attachments: Sequence[Attachment] = ()
    ) -> str:
        """Sends a prompt as a person would, and returns its id. It waits until the agent is done
        with the turn before, or with `steer` is read in the middle of it. Attachments are paths of
        files."""
        params: dict[str, Any] = {"prompt": prompt, "mode": "immediate" if steer else "enqueue"}
        if attachments:
            params["attachments"] = [_attached(one) for one in attachments]
        return str((await _ask("session.send", **params))["messageId"])

    async def send_and_wait(self, prompt: str, seconds: float = 600) -> str:
        """Sends a prompt, and returns what the agent said last when it is done with it. Raises
        TimeoutError, and HostError if the turn failed or was stopped."""
        waiting = _Waiting()
        stop = here().follow(Subscription(_WAITED, waiting.take, is_direct=True))
        try:
            async with asyncio.timeout(seconds):
                await waiting.begin(await self.send(prompt))
                return await waiting.over()
        finally:
            stop()

    async def ask(self, question: str, choices: Sequence[str] = ()) -> str | None:
        """Asks a person, in the inbox, and waits for the answer. None if it is declined."""
        name = "selection" if choices else "value"
        field: dict[str, Any] = {"type": "string"}
        if choices:
            field["enum"] = list(choices)
        schema = {"type": "object", "properties": {name: field}, "required": [name]}
        answer = await _ask("session.ui.elicitation", message=question, requestedSchema=schema)
        content: dict[str, Any] = answer.get("content") or {}
        return str(content[name]) if answer.get("action") == "accept" and name in content else None

    async def events(self, after: int = 0) -> list[Event]:
        """What happened so far, behind the event of this number."""
        answer = await _ask("session.getMessages", after=after)
        return [event_of(one) for one in answer.get("events", ())]

    def on(self, kind: EventKind, function: Callable[[Event], Any]) -> Callable[[], None]:
        """Calls the function at each event of this kind, one after the other, until what this
        returns is called. Only kinds that somebody asked for are sent."""
        if kind not in get_args(EventKind):
            known = ", ".join(get_args(EventKind))
            raise ValueError(f"on: there are no events {kind!r}; there are {known}")
        return here().follow(Subscription((kind,), function))

    async def abort(self) -> None:
        """Stops the turn that the agent is in."""
        await _ask("session.abort")

    async def detach(self) -> None:
        """Takes this extension out of the session: its tools and hooks go, and its process ends."""
        await _ask("session.detach")


session = Session()


def event_of(given: Mapping[str, Any]) -> Event:
    try:
        at = datetime.fromisoformat(str(given.get("timestamp")))
    except ValueError:
        at = datetime.now(UTC)
    return Event(
        kind=str(given.get("type", "")),
        data=given.get("data") or {},
        id=str(given.get("id", "")),
        at=at,
        number=int(given.get("seq") or 0),
    )


class _Waiting:
    """What became of one prompt, from the events."""

    def __init__(self) -> None:
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._prompt = ""

    def take(self, event: Event) -> None:
        self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    async def begin(self, prompt: str) -> None:
        """Its message is there: what comes behind it belongs to it. What came before it does not,
        except a failure of it."""
        while True:
            event = await self._events.get()
            if event.kind == "user.message" and event.data.get("messageId") == prompt:
                self._prompt = prompt
                return
            if event.kind == "session.error" and _origin(event) == prompt:
                raise HostError(str(event.data.get("message", "The turn failed.")))

    async def over(self) -> str:
        last = ""
        while True:
            event = await self._events.get()
            is_own = _origin(event) in (None, self._prompt)
            if event.kind == "session.idle":
                if event.data.get("aborted"):
                    raise HostError("The turn was stopped before it was done.")
                return last
            if event.kind == "session.error" and is_own:
                raise HostError(str(event.data.get("message", "The turn failed.")))
            if event.kind == "assistant.message" and is_own:
                last = str(event.data.get("content", ""))


def _origin(event: Event) -> Any:
    return event.data.get("originatingMessageId")


async def _ask(method: str, **params: Any) -> dict[str, Any]:
    return await here().linked().request(method, params)


def _attached(given: Attachment) -> dict[str, Any]:
    return dict(given) if isinstance(given, Mapping) else {"type": "file", "path": str(given)}
