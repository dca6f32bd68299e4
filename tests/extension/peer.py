"""A host as small as can be: it starts an extension as a process, and speaks with it over pipes."""

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, cast

import pytest

from airboss.runtime.locate import locate

FIXTURES = Path(__file__).parents[1] / "fixtures" / "extensions"
EXAMPLES = Path(__file__).parents[2] / "examples" / "extensions"
SESSION = "ses_peer"
SECONDS = 30.0
Message = dict[str, Any]


def command_for(file: Path) -> tuple[list[str], dict[str, str]]:
    if file.suffix == ".py":
        return [sys.executable, "-P", "-m", "airboss.extension", str(file)], {}
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    package = locate().path.parents[2]
    return [node, str(package / "preloads" / "extension_bootstrap.mjs")], {
        "EXTENSION_PATH": str(file),
        "COPILOT_SDK_PATH": str(package / "copilot-sdk"),
        "COPILOT_EXTENSION_PARENT_PID": str(os.getpid()),
    }


class Peer:
    """`log`, `send` and the like are answered by `answers`; everything that comes is kept."""

    def __init__(self, file: Path, cwd: Path, answers: Mapping[str, Any] | None = None) -> None:
        command, environ = command_for(file)
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the exit
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env={"PATH": os.environ["PATH"], "SESSION_ID": SESSION, **environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        self.joined: Message = {}
        self.cwd = cwd
        self.requests: list[Message] = []
        self.noise = b""
        self._answers: dict[str, Any] = {
            "connect": {"ok": True, "protocolVersion": 3, "version": "test"},
            "session.resume": self._join,
            "session.tools.handlePendingToolCall": self._handled,
            "session.log": {"eventId": "e"},
            "session.send": {"messageId": "m1"},
            "session.eventLog.registerInterest": {"handle": "h"},
            "session.detach": {"success": True},
            "session.abort": {},
            **(answers or {}),
        }
        self._numbers = iter(range(1, 1_000_000))
        self._is_joined = threading.Event()
        self._waiting: dict[Any, queue.SimpleQueue[Message]] = {}
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout, self._errors):
            # What was written to a process that had ended is still there, and cannot be flushed.
            with contextlib.suppress(OSError):
                cast("IO[bytes]", stream).close()

    @property
    def stderr(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace")

    def join(self) -> "Peer":
        until = time.monotonic() + SECONDS
        while not self._is_joined.wait(0.02):
            if self.process.poll() is not None or time.monotonic() > until:
                said = self.stderr
                self.close()
                raise AssertionError(f"It did not join: {said}")
        return self

    def ended(self) -> int:
        return self.process.wait(SECONDS)

    def close_streams(self) -> int:
        cast("IO[bytes]", self.process.stdin).close()
        return self.ended()

    def put(self, message: Message) -> None:
        self.raw(frame(message))

    def raw(self, data: bytes) -> None:
        stream = cast("IO[bytes]", self.process.stdin)
        with self._lock:
            stream.write(data)
            stream.flush()

    def event(self, kind: str, **data: Any) -> None:
        event = {"type": kind, "id": "e", "timestamp": "2026-11-18T10:00:00.000Z", "data": data}
        self.notify("session.event", {"event": {**event, "parentId": None}})

    def notify(self, method: str, params: Message) -> None:
        params = {"sessionId": SESSION, **params}
        self.put({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Message) -> Message:
        """The whole answer, be it a result or an error."""
        number = f"h{next(self._numbers)}"
        waiting = self._waiting[number] = queue.SimpleQueue()
        params = {"sessionId": SESSION, **params}
        self.put({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return waiting.get(timeout=SECONDS)

    def hook(self, kind: str, **given: Any) -> Any:
        where = {"cwd": str(self.cwd), "workingDirectory": str(self.cwd)}
        given = {"sessionId": SESSION, "timestamp": 1_760_000_000_000, **where, **given}
        answer = self.ask("hooks.invoke", {"hookType": kind, "input": given})
        return answer["result"].get("output") if "result" in answer else answer["error"]

    def begin(self, tool: str, arguments: Any = None, call: str = "call-1") -> str:
        request = f"r{next(self._numbers)}"
        self._waiting[request] = queue.SimpleQueue()
        self.event(
            "external_tool.requested",
            requestId=request,
            sessionId=SESSION,
            toolCallId=call,
            toolName=tool,
            arguments=arguments or {},
        )
        return request

    def outcome(self, request: str) -> tuple[str, str]:
        """The text and the type of a result."""
        given = self._waiting[request].get(timeout=SECONDS)
        if "error" in given:
            return given["error"], "failure"
        result = given["result"]
        if isinstance(result, str):
            return result, "success"
        return result["textResultForLlm"], result["resultType"]

    def call(self, tool: str, arguments: Any = None, call: str = "call-1") -> tuple[str, str]:
        return self.outcome(self.begin(tool, arguments, call))

    def withdraw(self, request: str) -> None:
        self.event("external_tool.completed", requestId=request)

    def is_answered(self, request: str) -> bool:
        return not self._waiting[request].empty()

    def asked(self, method: str) -> list[Message]:
        return [one["params"] for one in self.requests if one["method"] == method]

    def until(self, holds: Callable[[], Any]) -> None:
        end = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < end, (self.requests[-3:], self.stderr)
            time.sleep(0.01)

    def _join(self, params: Message) -> Message:
        self.joined = params
        self._is_joined.set()
        return {
            "sessionId": SESSION,
            "workspacePath": str(self.cwd / "workspace"),
            "cwd": str(self.cwd),
            "capabilities": {"ui": {"elicitation": True}},
            "openCanvases": [],
        }

    def _handled(self, params: Message) -> Message:
        self._waiting[params["requestId"]].put(params)
        return {"success": True}

    def _read(self) -> None:
        stream = cast("IO[bytes]", self.process.stdout)
        while line := stream.readline():
            if not line.startswith(b"Content-Length: "):
                self.noise += line
                continue
            stream.readline()
            self._take(json.loads(stream.read(int(line.split()[1]))))

    def _take(self, message: Message) -> None:
        if "method" not in message:
            self._waiting[message["id"]].put(message)
            return
        self.requests.append(message)
        answer = self._answers.get(message["method"])
        if callable(answer):
            answer = cast("Message", answer(message["params"]))
        if answer is None:
            said = f"{message['method']} cannot be had in Airboss"
            reply = {"error": {"code": -32601, "message": said}}
        else:
            reply = answer if "error" in answer else {"result": answer}
        try:
            self.put({"jsonrpc": "2.0", "id": message["id"], **reply})
        except (BrokenPipeError, ValueError):
            return


def frame(message: Message) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body
