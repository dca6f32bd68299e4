"""Brings the runtime's raw events from the SDK's connection to the sessions they belong to.

The SDK reads its pipe byte by byte and builds classes of every event, two of them a token: 0.25 ms
each. Here noise is dropped on the reader's thread, hooks that nobody has are answered there, and
raw events come in batches to whoever listens. What is too large is not parsed (`frames.py`), and
who says more than we hear has to wait. Where the SDK looks different (`sdk_internals.py`), its
public `on_event` is used instead.
"""

import asyncio
import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from airboss.background import Background, ignore_failure
from airboss.errors import RuntimeUnavailable
from airboss.runtime.frames import (
    TOO_LARGE,
    Oversized,
    PassedOver,
    Pipe,
    Shortened,
    read_message,
)
from airboss.runtime.handed_calls import HandedCalls, ServeCall
from airboss.runtime.sdk_internals import SdkConnection

if TYPE_CHECKING:
    from copilot import CopilotClient
    from copilot.session_events import SessionEvent

Listener: TypeAlias = Callable[[Mapping[str, Any]], None]
# Is given a hook's name, its question (none where it was too large) and whom to tell the answer.
AskHook: TypeAlias = Callable[
    [str, Mapping[str, Any] | None, Callable[[dict[str, Any]], None]], None
]

# 85 % of all bytes, and nothing that anybody here needs.
_NOISE = frozenset(
    {
        "assistant.streaming_delta",
        "assistant.tool_call_delta",
        "hook.end",
        "hook.start",  # with all that the hook is told anyway, a tool's whole result too
        "pending_messages.modified",
        "session.background_tasks_changed",
        "session.skills_loaded",
        "session.tools_updated",
        "system.message",
    }
)
# What the SDK acts on itself; permissions are ours, as the SDK never answers a kind it lacks.
_FOR_THE_SDK = frozenset(
    {
        "capabilities.changed",
        "command.execute",
        "elicitation.requested",
        "external_tool.completed",
        "external_tool.requested",
        "mcp.oauth_required",
    }
)
# The runtime asks for all hooks or none, and waits for each: six more in a session of one turn.
_OUR_HOOK = "preToolUse"
_MOST_OF_A_CAGE = 64_000_000
_ODD = "The cage was ended: the agent runtime in it said something that none would say."
_FOREIGN = "The cage was ended: the agent runtime in it spoke for a session that it does not have."
# So long the loop is held at a time: all other sessions wait meanwhile.
_SLICE_SECONDS = 0.002
# What was read and not heard yet: more than this stays in the pipe, and its writer waits.
_MOST_WAITING_BYTES = 1024 * 1024
# What a command prints may come in thousands of messages a second, and a wake-up for each would
# keep all other sessions waiting: it is heard so long after what was heard last, all at once.
_IN_FLOODS = frozenset({"tool.shell_output"})
_GATHER_SECONDS = 0.01
# So long the end of a connection is held back.
_LAST_SECONDS = 0.1
# A loop that makes no room for so long is not waited for: it may be about to end.
_ROOM_SECONDS = 10.0

_log = logging.getLogger(__name__)


class SdkWire:
    """Brings the raw events of one client to the sessions they belong to, on the event loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        serve_call: ServeCall | None = None,
        *,
        is_caged: bool = False,
    ) -> None:
        # The calls that it hands to us, where it has no network.
        self._calls = HandedCalls(serve_call, loop) if serve_call is not None else None
        self.routes: dict[str, Listener] = {}
        self.hooks: dict[str, AskHook] = {}
        # The hooks that a session has beside the one before each call of a tool, by name. Most
        # have none.
        self.wanted: dict[str, frozenset[str]] = {}
        # Nothing that comes from a cage is believed: `distrust` is told, in words, of what no
        # runtime would say, and ends it.
        self._is_caged = is_caged
        self.distrust: Callable[[str], None] = lambda _: None
        # All that were ever on it.
        self.known: set[str] = set()
        self.heard = 0
        self.attached = False
        self._loop = loop
        self._waiting: deque[tuple[dict[str, Any], int]] = deque()
        # Only the reader adds to the one, and only the loop to the other.
        self._bytes_read = 0
        self._bytes_heard = 0
        self._size = 0
        self._room = threading.Event()
        self._due = threading.Event()
        # Whether what is due may wait a moment for more of its kind.
        self._may_wait = False
        self._drained_at = 0.0
        self._connection: SdkConnection | None = None
        self._saying = Background("sdk wire")

    def attach(self, client: "CopilotClient") -> bool:
        """Listen on the client's connection; False where that cannot be done."""
        connection = self._connection = SdkConnection.of(client)
        if connection is None:
            if self._calls is not None:
                raise RuntimeUnavailable("This version of the Copilot SDK hands no calls over.")
            return False
        connection.take_over(lambda message: self._hear(connection, message), self._read)
        self.attached = True
        return True

    def _read(self, pipe: Pipe) -> Any:
        try:
            bound = _MOST_OF_A_CAGE if self._is_caged else None
            message, self._size = read_message(pipe, self._go_on, bound=bound)
        except (OSError, EOFError, ValueError) as error:
            if isinstance(error, Oversized):
                self._say_distrust(str(error))
            self._let_all_be_heard()
            raise
        if message is None:
            self._let_all_be_heard()
        return message

    def _let_all_be_heard(self) -> None:
        """The SDK fails whatever has no answer now, also what has one that the loop is yet to hear,
        and the loop complains of the second one."""
        heard = threading.Event()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._drain)
            self._loop.call_soon_threadsafe(heard.set)
            heard.wait(_LAST_SECONDS)

    def _go_on(self) -> None:
        """In the middle of a message: the watchdog takes no silence for a hang while it grows."""
        self.heard += 1

    def _hear(self, connection: SdkConnection, message: Any) -> None:
        """On the reader's thread: one message."""
        if self._is_caged and (why := self._why_not(message)) is not None:
            self._say_distrust(why)
            return
        self.heard += 1
        if isinstance(message, PassedOver):
            if (answer := self._pass_over(connection, message)) is not None:
                connection.hand_on(answer)
            return
        match message.get("method"):
            case "session.event":
                self._take(message["params"])
            case "session.lifecycle":
                pass  # nobody listens, and the SDK would take 0.3 ms to read its two dates
            case "hooks.invoke" if not self._is_wanted(message) and answer_unused_hook(
                connection, message
            ):
                pass
            case "hooks.invoke" if isinstance(message, Shortened) and _is_ours(message):
                self._say(connection, _refusal(message["id"]))  # what nobody can check is a no
            case "hooks.invoke" if self._has_hook(message):
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    self._loop.call_soon_threadsafe(self._ask_hook, connection, message)
            case _ if self._calls is not None and self._calls.hear(connection, message):
                pass
            case _:
                connection.hand_on(message)

    def _why_not(self, message: Any) -> str | None:
        """Why nobody believes a message that comes from a cage."""
        if isinstance(message, PassedOver):
            is_known = message.session is None or message.session in self.known
            return None if is_known else _FOREIGN
        try:
            method, params = message.get("method"), message.get("params")
            if method not in ("session.event", "hooks.invoke"):
                return self._whom_it_names(method, params)
            kind = params["event"]["type"] if method == "session.event" else params["hookType"]
            session = params["sessionId"]
        except (AttributeError, KeyError, TypeError):
            return _ODD
        if not isinstance(kind, str) or not isinstance(session, str):
            return _ODD
        return None if session in self.known else _FOREIGN

    def _whom_it_names(self, method: object, params: object) -> str | None:
        """Of requests, such as for permission. What is told of lives of sessions nobody hears."""
        if method == "session.lifecycle" or not isinstance(params, dict):
            return None
        named = cast("dict[str, object]", params).get("sessionId")
        return _FOREIGN if isinstance(named, str) and named not in self.known else None

    def _say_distrust(self, why: str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self.distrust, why)

    def _is_wanted(self, message: Mapping[str, Any]) -> bool:
        params = message["params"]
        wanted = self.wanted.get(params.get("sessionId"))
        return wanted is not None and params["hookType"] in wanted

    def _has_hook(self, message: Mapping[str, Any]) -> bool:
        is_asked = _is_ours(message) or self._is_wanted(message)
        return is_asked and message["params"].get("sessionId") in self.hooks

    def _ask_hook(self, connection: SdkConnection, message: dict[str, Any]) -> None:
        """Without the SDK, which builds two classes and a date of each question: 0.3 ms."""
        params, request = message["params"], message["id"]

        def reply(output: dict[str, Any]) -> None:
            answer = {"jsonrpc": "2.0", "id": request, "result": {"output": output}}
            if not connection.send_at_once(answer):
                self._send(connection, answer)

        if (ask := self.hooks.get(params["sessionId"])) is not None:
            given = None if isinstance(message, Shortened) else params.get("input", {})
            ask(params["hookType"], given, reply)
        else:  # the session was left meanwhile
            reply(_denied("The session has ended."))

    def _say(self, connection: SdkConnection, message: dict[str, Any]) -> None:
        """From the reader's thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._send, connection, message)

    def _send(self, connection: SdkConnection, message: dict[str, Any]) -> None:
        """What cannot be said any more is not missed: whoever would hear it is gone."""
        if not self._saying.is_closed:
            self._saying.call(connection.send(message)).add_done_callback(ignore_failure)

    async def close(self) -> None:
        if self._calls is not None:
            await self._calls.close()
        await self._saying.close(cancel=True, seconds=1)

    def _pass_over(self, connection: SdkConnection, said: PassedOver) -> dict[str, Any] | None:
        """Whoever waits for a word gets one; the turn that it belongs to cannot go on. An answer
        to something that we asked is for the SDK to hand on."""
        _log.warning("%s It was %s.", said.words, said.event or said.method or "an answer")
        if said.method == "hooks.invoke" and said.id is not None:
            self._say(connection, _refusal(said.id))
        elif said.method is not None and said.id is not None:
            error = {"code": -32600, "message": said.words}
            self._say(connection, {"jsonrpc": "2.0", "id": said.id, "error": error})
        elif said.id is not None:
            return {"id": said.id, "error": {"code": -32600, "message": said.words}}
        elif said.session is not None:
            error = {"errorType": "MessageTooLarge", "message": said.words}
            kind = said.event or ""
            if kind not in _NOISE and not kind.startswith("model."):
                event = {"type": "session.error", "data": error}
                self._take({"sessionId": said.session, "event": event})
        return None

    def on_event(self, session: str) -> "Callable[[SessionEvent], None] | None":
        """The slower way, for `create_session(on_event=…)`; none where the wire is tapped."""
        if self.attached:
            return None

        def hear(event: "SessionEvent") -> None:
            self.heard += 1
            known: Any = event
            self._deliver(session, known.to_dict())

        return hear

    def _take(self, params: dict[str, Any]) -> None:
        """On the reader's thread: keep what matters, and wake the loop once for many."""
        kind = params["event"]["type"]
        if kind in _NOISE or kind.startswith("model."):
            return
        self._bytes_read += self._size
        self._waiting.append((params, self._size))
        may_wait = kind in _IN_FLOODS
        if not self._due.is_set() or (self._may_wait and not may_wait):
            self._may_wait = may_wait
            self._due.set()
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens
                self._loop.call_soon_threadsafe(self._drain_soon if may_wait else self._drain)
        self._wait_for_room()

    def _wait_for_room(self) -> None:
        """The loop is behind: the pipe fills, and the runtime waits too."""
        end = time.monotonic() + _ROOM_SECONDS
        while self._bytes_read - self._bytes_heard > _MOST_WAITING_BYTES:
            self._room.clear()
            if self._bytes_read - self._bytes_heard <= _MOST_WAITING_BYTES:
                break
            if not self._room.wait(max(0.0, end - time.monotonic())):
                break

    def _drain_soon(self) -> None:
        self._loop.call_at(self._drained_at + _GATHER_SECONDS, self._drain)

    def _drain(self) -> None:
        self._due.clear()  # before the look, so that what comes now wakes us again
        end = time.monotonic() + _SLICE_SECONDS
        while self._waiting:
            params, size = self._waiting.popleft()
            event = params["event"]
            self._deliver(params["sessionId"], event)
            if event["type"] in _FOR_THE_SDK and self._connection is not None:
                self._connection.notify("session.event", params)
            self._bytes_heard += size
            if time.monotonic() > end:
                break
        self._room.set()
        self._drained_at = self._loop.time()
        if self._waiting and not self._due.is_set():
            self._may_wait = False
            self._due.set()
            self._loop.call_soon(self._drain)

    def _deliver(self, session: str, event: Mapping[str, Any]) -> None:
        listener = self.routes.get(session)
        if listener is None:
            return
        try:
            listener(event)
        except Exception:  # noqa: BLE001  # the border: one listener's fault is not the next one's
            _log.exception("An event of session %s could not be told", session)


def answer_unused_hook(connection: SdkConnection, message: Mapping[str, Any]) -> bool:
    """Answer a hook that nobody has. The SDK answers what is left, in its own time."""
    if _is_ours(message):
        return False
    return connection.send_at_once({"jsonrpc": "2.0", "id": message["id"], "result": {}})


def _is_ours(message: Mapping[str, Any]) -> bool:
    return message["params"]["hookType"] == _OUR_HOOK


def _refusal(request: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request, "result": {"output": _denied(TOO_LARGE)}}


def _denied(reason: str) -> dict[str, Any]:
    return {"permissionDecision": "deny", "permissionDecisionReason": reason}
