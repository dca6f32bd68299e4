"""An MCP server that is a program on this machine, for a session in a cage: the program speaks on
its pipes, and the runtime inside calls it by HTTP, at an address that is lent to it alone.

The program runs with the rights of the server's user. Whoever marks it so in the settings wants
that, and each call of its tools is asked for.
"""

import asyncio
import contextlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from airboss.background import Background
from airboss.harness.proxy_terms import ProxyRefused, refuse
from airboss.harness.server_permits import message_in, read_body
from airboss.net.loopback import Receive, Scope, Send
from airboss.programs import APART, end_group, hear
from airboss.runtime.environment import SERVER
from airboss.runtime.host_place import HostPlace, host_place, refusal_outside
from airboss.runtime.sweep import HOOK, sweep_hooks

_LARGEST: Final = 32 * 1024 * 1024
_MOST_WORDS: Final = 2000
_MOST_UNHEARD: Final = 100
_END_SECONDS: Final = 5.0
_ENDED: Final = "The program has ended"
_JSON: Final = (b"content-type", b"application/json")
_STREAM: Final = (b"content-type", b"text/event-stream")

Message = dict[str, Any]


@dataclass
class _ServerRun:
    """One life of the program."""

    process: asyncio.subprocess.Process
    mark: str
    place: HostPlace
    errors: bytearray = field(default_factory=bytearray)
    waiting: dict[str, "asyncio.Future[Message]"] = field(
        default_factory=dict[str, "asyncio.Future[Message]"]
    )

    def why_ended(self) -> str:
        code = self.process.returncode
        said = self.errors.decode("utf-8", "replace").strip()
        how = "" if code is None else f" with exit code {code}"
        return f"{_ENDED}{how}{f': {said}' if said else '.'}"


@dataclass
class ServerBridge:
    """`serve` answers the calls of one session's runtime. The program is started by the first of
    them, and again where the runtime begins anew."""

    name: str
    command: tuple[str, ...]
    environ: Mapping[str, str] = field(repr=False)
    # Of the session; the program is told, and does not start there.
    cwd: Path
    # Where an agent in the cage writes.
    written: tuple[Path, ...] = ()
    _run: _ServerRun | None = None
    _is_over: bool = False
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    # What the program says by itself, for whoever listens.
    _unheard: "asyncio.Queue[Message]" = field(
        default_factory=lambda: asyncio.Queue[Message](_MOST_UNHEARD)
    )
    _background: Background = field(default_factory=lambda: Background("MCP server on the host"))

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            match scope["method"]:
                case "POST":
                    await self._take(message_in(await read_body(receive)), send)
                case "GET":
                    await self._tell(receive, send)
                case _:
                    await _said(send, 200)
        except ProxyRefused as refused:
            await refuse(send, refused)

    async def _take(self, message: Message, send: Send) -> None:
        """A question is answered with what the program says to it; all else is only put to it."""
        run = await self._running(anew=message.get("method") == "initialize")
        if "method" not in message or "id" not in message:
            await self._put(run, message)
            await _said(send, 202)
            return
        number = json.dumps(message["id"])
        run.waiting[number] = answer = asyncio.get_running_loop().create_future()
        try:
            await self._put(run, message)
            said = await answer
        finally:
            run.waiting.pop(number, None)
        await _said(send, 200, json.dumps(said).encode())

    async def _tell(self, receive: Receive, send: Send) -> None:
        """What the program says by itself, until nobody listens."""
        await send({"type": "http.response.start", "status": 200, "headers": [_STREAM]})
        await send({"type": "http.response.body", "body": b": \n\n", "more_body": True})
        telling = self._background.call(self._tell_all(send), "tell")
        gone = self._background.call(_until_gone(receive), "listener")
        try:
            await asyncio.wait({telling, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            telling.cancel()
            gone.cancel()

    async def _tell_all(self, send: Send) -> None:
        while True:
            body = b"event: message\ndata: %b\n\n" % json.dumps(await self._unheard.get()).encode()
            await send({"type": "http.response.body", "body": body, "more_body": True})

    async def _put(self, run: _ServerRun, message: Message) -> None:
        pipe = run.process.stdin
        try:
            if pipe is not None:
                pipe.write(json.dumps(message).encode() + b"\n")
                await pipe.drain()
        except ConnectionError:
            raise ProxyRefused(502, run.why_ended()) from None

    async def _running(self, *, anew: bool) -> _ServerRun:
        async with self._starting:
            if self._is_over:
                raise ProxyRefused(410, "The session has ended.")
            if self._run is not None and (anew or self._run.process.returncode is not None):
                await self._end(self._run)
                self._run = None
            if self._run is None:
                self._run = await self._start()
            return self._run

    async def _start(self) -> _ServerRun:
        if why := await asyncio.to_thread(refusal_outside, self.command, self.written):
            raise ProxyRefused(502, why)
        mark, place = secrets.token_hex(8), await host_place(self.cwd)
        try:
            process = await asyncio.create_subprocess_exec(
                *self.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**self.environ, **place.environ, SERVER: self.name, HOOK: mark},
                cwd=place.folder,
                limit=_LARGEST,
                **APART,
            )
        except (OSError, ValueError) as error:
            await place.remove()
            raise ProxyRefused(502, f"The program could not be started: {error}") from error
        run = _ServerRun(process, mark, place)
        self._background.start(hear(process.stderr, run.errors, _MOST_WORDS), "errors")
        self._background.start(self._hear(run), "words")
        return run

    async def _hear(self, run: _ServerRun) -> None:
        pipe = run.process.stdout
        with contextlib.suppress(ValueError):  # a line that is too long is the end of it
            while pipe is not None and (line := await pipe.readline()):
                self._sort(run, line)
        await self._end(run)
        why = {"code": -32000, "message": run.why_ended()}
        for number, answer in run.waiting.items():
            if not answer.done():
                answer.set_result({"jsonrpc": "2.0", "id": json.loads(number), "error": why})

    def _sort(self, run: _ServerRun, line: bytes) -> None:
        """An answer goes to who asked. What is no message is no concern of the runtime."""
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(said, dict):
            return
        message = cast("Message", said)
        if "method" not in message and (key := json.dumps(message.get("id"))) in run.waiting:
            if not run.waiting[key].done():
                run.waiting[key].set_result(message)
        elif "method" in message:
            with contextlib.suppress(asyncio.QueueFull):
                self._unheard.put_nowait(message)

    async def _end(self, run: _ServerRun) -> None:
        end_group(run.process)
        await asyncio.shield(sweep_hooks(run.mark))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await run.process.wait()
        await asyncio.shield(run.place.remove())

    def end(self) -> None:
        """With the session: the program now, and what it started when its pipe is closed."""
        self._is_over = True
        if self._run is not None:
            end_group(self._run.process)

    async def ended(self) -> None:
        """Until nothing of it runs any more."""
        await self._background.wait(_END_SECONDS)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _said(send: Send, status: int, body: bytes = b"") -> None:
    headers = [*((_JSON,) if body else ()), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
