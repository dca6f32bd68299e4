"""A collector on loopback, on the OpenTelemetry protocol's own package, and a provider that notes
who asks."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

KEY = "key-of-the-house-0123456789"


@dataclass(frozen=True)
class SeenSpan:
    """A span as the collector has it."""

    service: str
    name: str
    trace: str
    span: str
    parent: str
    began: int
    ended: int
    status: int
    attributes: Mapping[str, object]


@dataclass
class Collector:
    """`answer` is its status; `waits` keeps all who ask waiting until it is set."""

    answer: int = 200
    # The kind of what it says beside that, and the words.
    kind: str = "application/x-protobuf"
    said: bytes = b""
    waits: threading.Event = field(default_factory=threading.Event)
    port: int = 0
    bodies: list[bytes] = field(default_factory=list[bytes])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def spans(self) -> list[SeenSpan]:
        return [span for body in list(self.bodies) for span in _spans(body)]

    def named(self, *names: str) -> list[SeenSpan]:
        return [span for span in self.spans if span.name in names]

    def until(self, is_there: "Callable[[Collector], object]", seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while not is_there(self):
            assert time.monotonic() < end, sorted({span.name for span in self.spans})
            time.sleep(0.05)


def _spans(body: bytes) -> list[SeenSpan]:
    return [
        SeenSpan(
            next(a.value.string_value for a in r.resource.attributes if a.key == "service.name"),
            span.name,
            span.trace_id.hex(),
            span.span_id.hex(),
            span.parent_span_id.hex(),
            span.start_time_unix_nano,
            span.end_time_unix_nano,
            span.status.code,
            {one.key: _value(one.value) for one in span.attributes},
        )
        for r in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in r.scope_spans
        for span in scope.spans
    ]


def _value(value: AnyValue) -> object:
    return getattr(value, value.WhichOneof("value") or "string_value")


@contextmanager
def collecting(answer: int = 200, *, hangs: bool = False) -> Generator[Collector]:
    collector = Collector(answer)
    if not hangs:
        collector.waits.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            collector.waits.wait(30)
            if self.path == "/v1/traces" and collector.answer == 200:
                collector.headers.append({k.lower(): v for k, v in self.headers.items()})
                collector.bodies.append(body)
            self.send_response(collector.answer)
            self.send_header("content-type", collector.kind)
            self.send_header("content-length", str(len(collector.said)))
            self.end_headers()
            self.wfile.write(collector.said)

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    with _listening(Handler) as collector.port:
        try:
            yield collector
        finally:
            collector.waits.set()


@dataclass
class NotingProvider:
    """Passes on to the rehearsal, and keeps what it was asked with."""

    base_url: str
    traces: list[str | None] = field(default_factory=list[str | None])


@contextmanager
def providing(script: str, folder: Path) -> Generator[NotingProvider]:
    file = folder / "provider.yaml"
    file.write_text(script, encoding="utf-8")
    words = ["-m", "airboss.runtime.rehearsal", "--script", str(file), "--key", KEY]
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        behind = json.loads(process.stdout.readline())["base_url"].removesuffix("/v1")
        noting = NotingProvider("")

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                noting.traces.append(self.headers["traceparent"])
                body = self.rfile.read(int(self.headers["content-length"]))
                kept = {name: self.headers[name] for name in ("content-type", "authorization")}
                answer = httpx2.post(behind + self.path, content=body, headers=kept, timeout=60)
                told, kind = answer.content, answer.headers["content-type"]
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)

            def log_message(self, format: str, *args: object) -> None:
                del format, args

        with _listening(Handler) as port:
            noting.base_url = f"http://127.0.0.1:{port}/v1"
            try:
                yield noting
            finally:
                process.terminate()


@contextmanager
def _listening(handler: type[BaseHTTPRequestHandler]) -> Generator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
