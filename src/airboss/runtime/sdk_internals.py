"""All that Airboss uses of the Copilot SDK without a promise: what the SDK keeps private.

The rest of the house uses the SDK's public calls alone; a test of the house says so. `RELIED_ON`
lists each thing with its reason, and `tests/runtime/test_sdk_internals.py` fails when a release of
the SDK changes one. Whatever is missing is done without, in the SDK's own, slower way; only the
process behind a client has to be found.
"""

import contextlib
import io
import json
import select
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

if TYPE_CHECKING:
    from copilot import CopilotClient

    from airboss.runtime.frames import Pipe

# What is used: why, and what goes wrong without it.
RELIED_ON: Final[Mapping[str, str]] = {
    "copilot.client.CopilotClient._client": (
        "The connection under a client. Without it events come by the public `on_event`: 0.3 ms "
        "of Python for each delta instead of 0.03."
    ),
    "copilot.client.CopilotClient._cli_process": (
        "The process behind a client: it is watched, waited for and killed. Without it no runtime "
        "is started."
    ),
    "copilot.client.CopilotClient._start_cli_server": (
        "The moment between the process's start and the first byte read from it, in which its pipe "
        "gets a buffer. Without it the SDK reads each header by one system call a byte."
    ),
    "copilot.client.CopilotClient._sessions": (
        "Every session that was ever open stays in it, with 5 kB. Without it the server grows."
    ),
    "copilot.client.CopilotClient._sessions_lock": "Guards it.",
    "copilot._jsonrpc.JsonRpcClient._handle_message": (
        "Called by the SDK's reader for each message: we are called in its place. As for `_client`."
    ),
    "copilot._jsonrpc.JsonRpcClient._read_message": (
        "Reads a message whole. In its place `frames.py` bounds how much of one is in memory."
    ),
    "copilot._jsonrpc.JsonRpcClient._send_message": (
        "Has a thread write each message. What is short is written at once in its place, which "
        "saves two changes of threads a message."
    ),
    "copilot._jsonrpc.JsonRpcClient._write_lock": (
        "Held by whoever writes: what we write is never in the middle of what the SDK writes."
    ),
    "copilot._jsonrpc.JsonRpcClient._stderr_output": (
        "All lines that the runtime ever complained of; only the last are kept."
    ),
    "copilot._jsonrpc.JsonRpcClient._read_thread": (
        "Waited for outside of the event loop when its process has ended; the SDK waits on it."
    ),
    "copilot._jsonrpc.JsonRpcClient._stderr_thread": "As `_read_thread`.",
    "copilot._jsonrpc.ProcessExitedError": (
        "Tells a process that was lost from one that said no. The SDK gives it no public name."
    ),
    "function 'get_trace_context' of copilot.client and copilot.session": (
        "Which trace the runtime joins with what it is asked for. The SDK would import "
        "OpenTelemetry to ask for it, also where nobody traces. Without it the SDK does that, and "
        "a runtime's spans are in traces of their own."
    ),
    "words 'Client not connected'": "The same, said by a client that has noticed it by itself.",
}

_PIPE_BYTES: Final = 1 << 16
_STDERR_LINES: Final = 200
_LONGEST_LINE: Final = 8192

Handle: TypeAlias = Callable[[Any], object]


class SdkConnection:
    """The JSON-RPC connection of one client, as the SDK made it."""

    def __init__(self, rpc: Any) -> None:
        self._rpc = rpc
        self._handle: Handle = rpc._handle_message
        self._send: Any = getattr(rpc, "_send_message", None)
        self._notify: Callable[[str, dict[str, Any]], None] = rpc.notification_handler

    @classmethod
    def of(cls, client: "CopilotClient") -> "SdkConnection | None":
        """None where the SDK looks different."""
        rpc: Any = getattr(client, "_client", None)
        handle = getattr(rpc, "_handle_message", None)
        if callable(handle) and callable(getattr(rpc, "notification_handler", None)):
            return cls(rpc)
        return None

    def take_over(self, hear: Handle, read: "Callable[[Pipe], Any]") -> None:
        """From now on `read` reads each message and `hear` gets it, on the SDK's own thread, and
        what is short is written at once, whoever says it."""
        rpc = self._rpc
        _buffer(rpc.process)
        rpc._handle_message = hear
        if hasattr(rpc, "_read_message"):
            rpc._read_message = lambda: read(rpc.process.stdout)
        if isinstance(lines := getattr(rpc, "_stderr_output", None), list):
            rpc._stderr_output = deque(cast("list[str]", lines), maxlen=_STDERR_LINES)
        if self._send is not None:
            rpc._send_message = self.send

    def hand_on(self, message: Any) -> None:
        """A message that the SDK is to handle by itself."""
        self._handle(message)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Something that the SDK is to hear of."""
        self._notify(method, params)

    async def send(self, message: dict[str, Any]) -> None:
        if not self.send_at_once(message):
            await self._send(message)

    def send_at_once(self, message: Mapping[str, Any]) -> bool:
        """Where that does not wait: the runtime may not read before its own words are read. A pipe
        that has room takes this much, whole; the SDK has a thread for what is left."""
        lock: threading.Lock | None = getattr(self._rpc, "_write_lock", None)
        if lock is None or not hasattr(select, "poll") or not lock.acquire(blocking=False):
            return False
        try:
            return _written(self._rpc.process.stdin, message)
        except (OSError, ValueError, TypeError, AttributeError):  # the SDK knows the words for it
            return False
        finally:
            lock.release()


def _written(pipe: io.RawIOBase, message: Mapping[str, Any]) -> bool:
    body = json.dumps(message, separators=(",", ":")).encode()
    framed = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    room = select.poll()
    room.register(pipe, select.POLLOUT)
    if len(framed) > select.PIPE_BUF or room.poll(0) != [(pipe.fileno(), select.POLLOUT)]:
        return False
    pipe.write(framed)
    pipe.flush()
    return True


def buffered(client_class: "type[CopilotClient]") -> "type[CopilotClient]":
    """The SDK's client, reading its pipe in large pieces."""
    if not hasattr(client_class, "_start_cli_server"):
        return client_class

    class Buffered(client_class):
        async def _start_cli_server(self) -> None:
            await super()._start_cli_server()
            process = process_of(self)
            if process is not None and process.stdin is None:
                _drain(process)
            elif process is not None:
                _buffer(process)
                bound_errors(process)

    return Buffered


class _ShortLines(io.BufferedReader):
    """Has the beginning of each line, as text that can be read: the SDK reads whole ones, however
    long they are, and none any more after one that is no text."""

    _is_inside = False

    def readline(self, _size: int | None = -1, /) -> bytes:
        while line := super().readline(_LONGEST_LINE):
            is_rest, self._is_inside = self._is_inside, not line.endswith(b"\n")
            if not is_rest:
                return line.rstrip(b"\n").decode("utf-8", "replace").encode() + b"\n"
        return b""


def bound_errors(process: Any) -> None:
    """Before anybody reads what it complains of."""
    if isinstance(process.stderr, io.RawIOBase):
        process.stderr = _ShortLines(process.stderr, _PIPE_BYTES)


def _buffer(process: Any) -> None:
    """Read in large pieces from now on. Whoever reads a line meanwhile goes on behind it."""
    if isinstance(process.stdout, io.RawIOBase):
        process.stdout = io.BufferedReader(process.stdout, _PIPE_BYTES)


def _drain(process: "subprocess.Popen[bytes]") -> None:
    """A process that is spoken to by a socket says nothing more that matters by its pipes; but one
    that nobody reads from would wait when they are full."""

    def read(pipe: Any) -> None:
        with contextlib.suppress(OSError, ValueError):
            while pipe.read(_PIPE_BYTES):
                pass

    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            threading.Thread(target=read, args=(pipe,), daemon=True).start()


def tell_traces(current: Callable[[], str | None]) -> None:
    """From now on the SDK tells the runtime this `traceparent` with what it asks of it."""
    from copilot import client, session

    def trace_context() -> dict[str, str]:
        said = current()
        return {"traceparent": said} if said else {}

    for module in (client, session):
        if hasattr(module, "get_trace_context"):
            vars(module)["get_trace_context"] = trace_context


def process_of(client: "CopilotClient") -> "subprocess.Popen[bytes] | None":
    """The process behind a client, which the SDK has no public word for."""
    process: subprocess.Popen[bytes] | None = getattr(client, "_cli_process", None)
    return process


def forget_session(client: "CopilotClient", session: str) -> None:
    """The SDK keeps each session that was ever open, until its process ends."""
    lock, known = getattr(client, "_sessions_lock", None), getattr(client, "_sessions", None)
    if lock is not None and isinstance(known, dict):
        with lock:
            cast("dict[str, object]", known).pop(session, None)


def is_lost(error: BaseException) -> bool:
    """Whether the SDK lost its process, rather than being told no by it."""
    from copilot._jsonrpc import ProcessExitedError

    is_left = isinstance(error, RuntimeError) and str(error) == "Client not connected"
    return is_left or isinstance(error, ProcessExitedError | OSError)


def join_readers(client: "CopilotClient", seconds: float) -> None:
    """Wait for the SDK's reading threads after its process ended; it would do so on the loop."""
    rpc: Any = getattr(client, "_client", None)
    for thread in (getattr(rpc, "_read_thread", None), getattr(rpc, "_stderr_thread", None)):
        if isinstance(thread, threading.Thread):
            thread.join(seconds)


def close_pipes(process: "subprocess.Popen[bytes]") -> None:
    """The SDK leaves them open; with each restart that would be three more."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError, ValueError):
                pipe.close()
