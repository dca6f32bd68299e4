"""An extension as a child process of the host: it joins, works, and ends with its streams."""

import asyncio
import contextlib
import contextvars
import itertools
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from airboss.extension.answers import Answer
from airboss.extension.forks import ForkGuard
from airboss.extension.frames import KitFrames
from airboss.extension.moments import moment_of
from airboss.extension.place import HostError, KitPlace, Subscription
from airboss.extension.registry import HOOKS
from airboss.extension.session import Event, event_of
from airboss.extension.work import (
    FunctionRunner,
    message_of,
    output_of,
    tell,
    text_output_of,
    wire_result,
)

_UNKNOWN_METHOD = -32601
_FAILED = -32000
_GRACE = 1.0
_EVENT_GRACE = 0.5
_LAST_GRACE = 2.0
_KINDS = {name: kind for kind, name in HOOKS.items()}


class KitProcess:
    """The way to the host, and what it asks for."""

    def __init__(self, place: KitPlace, frames: KitFrames, version: str) -> None:
        self._place = place
        self._frames = frames
        self._version = version
        self._worker = FunctionRunner(place)
        self._numbers = itertools.count(1)
        self._pending: dict[int, Future[dict[str, Any]]] = {}
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        # Of those, the ones that tell of events.
        self._telling: set[asyncio.Task[None]] = set()
        self._ended = asyncio.Event()
        self._forks = ForkGuard()

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """From any thread that has a loop of its own, too."""
        answer: Future[dict[str, Any]] = Future()
        number = next(self._numbers)
        self._pending[number] = answer
        try:
            self._put(number, method, params)
            return await asyncio.wrap_future(answer)
        finally:
            self._pending.pop(number, None)

    def listen(self, kind: str) -> None:
        self._tell("session.eventLog.registerInterest", {"eventType": kind})

    async def live(self) -> None:
        """Until the streams are closed or a signal comes; then the process ends, whatever still
        runs in it. Raises a group with a HostError when it may not join."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError, ValueError):  # not on every system
            loop.add_signal_handler(signal.SIGTERM, self._ended.set)
            self._forks.begin()
        async with asyncio.TaskGroup() as group:

            def begin(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
                task = group.create_task(work)
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                return task

            self._begin = begin
            context = contextvars.copy_context()  # with what the file has set
            threading.Thread(target=self._read, args=(loop, context), daemon=True).start()
            await self._join()
            await self._ended.wait()
            await self._leave()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)

    async def _join(self) -> None:
        place = self._place
        registry = place.registry
        registry.is_told = True
        place.link = self
        await self.request("connect", {})
        joined = await self.request(
            "session.resume",
            {
                "tools": [offer.declared() for offer in registry.tools.values()],
                "hooks": bool(registry.listeners),
                "hookKinds": {HOOKS[kind]: of for kind, of in registry.hook_kinds().items()},
                "events": place.kinds(),
                "kit": self._version,
            },
        )
        if workspace := joined.get("workspacePath"):
            place.workspace = Path(workspace)
        if cwd := joined.get("cwd"):
            place.cwd = Path(cwd)

    async def _leave(self) -> None:
        """Those who follow events hear the last ones; what is under way may clean up, for a
        second."""
        if self._telling:
            await asyncio.wait(self._telling, timeout=_EVENT_GRACE)
        for task in (running := list(self._tasks)):
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=_GRACE)

    def _read(self, loop: asyncio.AbstractEventLoop, context: contextvars.Context) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: it has ended otherwise
            try:
                while (message := self._frames.read()) is not None:
                    loop.call_soon_threadsafe(self._take, message, context=context)
            except (OSError, ValueError) as error:
                loop.call_soon_threadsafe(tell, error)
            loop.call_soon_threadsafe(self._closed)

    def _closed(self) -> None:
        self._ended.set()
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(ConnectionError("Airboss has closed the connection."))

    def _take(self, message: dict[str, Any]) -> None:
        params: dict[str, Any] = message.get("params") or {}
        match message.get("method"):
            case None:
                self._answered(message)
            case "session.event":
                self._event(params.get("event") or {})
            case "hooks.invoke":
                self._begin(self._hook(message["id"], params))
            case "ping":
                self._reply(message["id"], {"result": {}})
            case method if "id" in message:
                wrong = {"code": _UNKNOWN_METHOD, "message": f"Unhandled method {method}"}
                self._reply(message["id"], {"error": wrong})
            case _:
                pass

    def _answered(self, message: dict[str, Any]) -> None:
        answer = self._pending.get(message.get("id", 0))
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(HostError(str(message["error"].get("message", "It failed."))))
        else:
            answer.set_result(message.get("result") or {})

    def _event(self, event: dict[str, Any]) -> None:
        data: dict[str, Any] = event.get("data") or {}
        match event.get("type"):
            case "external_tool.requested" if data["requestId"] not in self._calls:
                self._calls[data["requestId"]] = self._begin(self._call(data))
            case "external_tool.completed":
                if call := self._calls.pop(data.get("requestId", ""), None):
                    call.cancel()
            case kind:
                for one in [one for one in self._place.subscriptions if kind in one.kinds]:
                    self._follow(one, event_of(event))

    def _follow(self, subscription: Subscription, event: Event) -> None:
        if subscription.is_direct:
            subscription.function(event)
            return
        subscription.waiting.append(event)
        if not subscription.is_busy:
            subscription.is_busy = True
            telling = self._begin(self._drain(subscription))
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)

    async def _drain(self, subscription: Subscription) -> None:
        try:
            while subscription.waiting:
                await self._worker.tell(subscription.function, subscription.waiting.popleft())
        finally:
            subscription.is_busy = False

    async def _call(self, data: dict[str, Any]) -> None:
        request = data["requestId"]
        try:
            result = await self._worker.call(
                str(data.get("toolName")), data.get("arguments"), str(data.get("toolCallId"))
            )
        finally:
            self._calls.pop(request, None)
        self._forks.end_copy()
        answer = {"requestId": request, "result": wire_result(result)}
        try:
            self._tell("session.tools.handlePendingToolCall", answer)
        except ValueError as error:  # one answer that cannot be sent is not the end of all
            tell(error)
            failure = {"requestId": request, "error": message_of(error)}
            self._tell("session.tools.handlePendingToolCall", failure)

    async def _hook(self, number: Any, params: dict[str, Any]) -> None:
        kind = _KINDS.get(params.get("hookType", ""))

        def answer(answers: Sequence[Answer]) -> None:
            self._forks.end_copy()
            output = output_of(answers) | text_output_of(kind or "", answers)
            self._reply(number, {"result": {"output": output or None}})

        try:
            if kind is None:
                answer(())
            else:
                await self._worker.ask(kind, moment_of(kind, params.get("input") or {}), answer)
        except Exception as error:  # noqa: BLE001 - the border to others' code
            tell(error)
            wrong = {"code": _FAILED, "message": message_of(error)}
            self._reply(number, {"error": wrong})

    def _tell(self, method: str, params: dict[str, Any]) -> None:
        """A request whose answer nobody needs."""
        self._put(next(self._numbers), method, params)

    def _put(self, number: int, method: str, params: dict[str, Any]) -> None:
        params = {"sessionId": self._place.session, **params}
        self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def _reply(self, number: Any, answer: dict[str, Any]) -> None:
        self._write({"jsonrpc": "2.0", "id": number, **answer})

    def _write(self, message: dict[str, Any]) -> None:
        if self._forks.is_copy:
            raise ConnectionError(
                "This is a forked process. Only the extension's own reaches Airboss."
            )
        try:
            self._frames.write(message)
        except BrokenPipeError:
            raise ConnectionError("Airboss has closed the connection.") from None


def end_with_the_host(incoming: int) -> None:
    """Whatever the extension does, its process is gone soon after the host is: also while its file
    is read, or when its loop is blocked."""
    if not hasattr(select, "poll"):  # Windows
        return
    watched = select.poll()
    watched.register(incoming, 0)

    def watch() -> None:
        watched.poll()
        time.sleep(_LAST_GRACE)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def moved_streams() -> tuple[int, int]:
    """The host's ends of the standard streams, out of reach: what prints or reads now, and every
    child of the extension, has the log and nothing to read."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return incoming, outgoing
