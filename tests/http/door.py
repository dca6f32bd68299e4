"""A small app behind the real perimeter, on a real uvicorn at a port of loopback."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import httpx2
import uvicorn
from blockbuster import blockbuster_ctx
from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from airboss import errors
from airboss.background import Background
from airboss.http import problems, signin, static
from airboss.http.bounds import RequestBounds
from airboss.http.crowd import Crowd
from airboss.http.perimeter import Perimeter
from airboss.http.protocol import uvicorn_options
from airboss.http.refusals import RefusalExit
from airboss.service.access import Access
from airboss.service.sign_ins import SignIns
from airboss.settings import Settings
from airboss.store.folder import DataFolder
from airboss.store.sign_ins import SignInStore
from airboss.store.sqlite_database import SqliteDatabase


class LoopbackServer(uvicorn.Server):
    """Leaves the signals to the test's own process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class Prompt(BaseModel):
    text: str
    count: int = 1


@dataclass
class Seen:
    """What came through to the app."""

    calls: list[str] = field(default_factory=list[str])
    stream_ended: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Door:
    """A server, how to reach it, and what got through."""

    port: int
    access: Access
    sign_ins: SignIns
    app: FastAPI
    seen: Seen
    folder: DataFolder

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.access.token}"}

    def client(self, **options: Any) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(base_url=self.url, timeout=10, **options)

    async def ask(self, path: str, method: str = "GET", **options: Any) -> httpx2.Response:
        async with self.client() as client:
            return await client.request(method, path, **options)

    async def raw(self, sent: bytes | str, *, closes: bool = True) -> bytes:
        """The bytes that come back for the bytes that were sent, bad ones included."""
        data = sent.encode("latin-1") if isinstance(sent, str) else sent
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(data.replace(b"PORT", str(self.port).encode()))
            async with asyncio.timeout(10):
                return await (reader.read() if closes else reader.readuntil(b"\r\n\r\n"))
        finally:
            writer.close()

    async def status(self, head: str) -> int:
        """The status for a request's head, written out as it goes over the wire."""
        lines = head.strip().splitlines()
        said = "\r\n".join([*(line.strip() for line in lines), "Connection: close", "", ""])
        answer = await self.raw(said)
        return int(answer.split(b" ", 2)[1])

    def token_line(self) -> str:
        return f"Authorization: Bearer {self.access.token}"


Open: TypeAlias = Callable[..., AbstractAsyncContextManager[Door]]


class Ticks(Response):
    """A stream that never ends by itself, of an app that is careless with its headers."""

    def __init__(self, seen: Seen) -> None:
        headers = {"Access-Control-Allow-Origin": "*", "Content-Security-Policy": "default-src *"}
        super().__init__(headers=headers, media_type="text/event-stream")
        del self.headers["content-length"]
        self._seen = seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        try:
            for number in range(1000):
                piece = f"id: {number}\ndata: {{}}\n\n".encode()
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                await asyncio.sleep(0.02)
        finally:
            self._seen.stream_ended.set()


def small_app(access: Access, sign_ins: SignIns, pages: Path, seen: Seen) -> FastAPI:
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url="/api/v1/openapi.json")
    app.state.services = SimpleNamespace(access=access, sign_ins=sign_ins)

    @app.get("/healthz")
    async def is_alive() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/metrics")
    @app.get("/readyz")
    async def measures() -> dict[str, str]:
        return {"status": "ready"}

    @app.api_route("/api/stop", methods=["GET", "POST"])
    async def stop() -> dict[str, str]:
        seen.calls.append("stop")
        return {}

    @app.api_route("/api/copilot/session/{session}/query", methods=["GET", "POST"])
    async def query(session: str, request: Request) -> dict[str, int]:
        return {"length": len(await request.body())}

    @app.get("/api/v1/who")
    async def who(request: Request) -> dict[str, str]:
        return {"who": request.scope["airboss.who"]}

    @app.post("/api/v1/prompts")
    async def prompt(asked: Prompt) -> dict[str, str]:
        return {"text": asked.text}

    @app.get("/api/v1/fail/{code}")
    @app.get("/api/fail/{code}")
    async def fail(code: str) -> None:
        if code == "not_found":
            raise errors.NotFound("session", "ses_1")
        kinds = {kind.code: kind for kind in _kinds(errors.AirbossError)}
        raise kinds.get(code, RuntimeError)("The words of the error.")

    _add_what_goes_on(app, seen)
    app.include_router(signin.router)
    problems.install(app)
    static.install(app, pages)
    return app


def _add_what_goes_on(app: FastAPI, seen: Seen) -> None:
    @app.get("/api/v1/sessions/{session}/stream")
    async def stream(session: str) -> Response:
        return Ticks(seen)

    @app.get("/api/v1/sessions/{session}/export")
    async def export(session: str) -> Response:
        return StreamingResponse(_lines(), media_type="text/plain")


async def _lines() -> AsyncGenerator[bytes]:
    for _ in range(1000):
        yield b"a line of it\n"
        await asyncio.sleep(0.02)


def _kinds(kind: type[errors.AirbossError]) -> list[type[errors.AirbossError]]:
    """Those of `errors`: what other tests loaded may want more than words, or share a code."""
    ours = [child for child in kind.__subclasses__() if child.__module__ == errors.__name__]
    return [kind, *(found for child in ours for found in _kinds(child))]


def build_pages(folder: Path) -> Path:
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Start</title>", encoding="utf-8")
    (folder / "test.html").write_text("<!doctype html><title>Test</title>", encoding="utf-8")
    (folder / "assets" / "index-0a1b2c3d.js").write_text("export {};", encoding="utf-8")
    return folder


@asynccontextmanager
async def opened(
    place: Path,
    *,
    given: str | None = None,
    bounds: RequestBounds | None = None,
    gate: RefusalExit | None = None,
    crowd: Crowd | None = None,
    **settings: Any,
) -> AsyncGenerator[Door]:
    folder = DataFolder(place / "data")
    folder.create()
    pages = place / "static"
    if not pages.exists():
        build_pages(pages)
    chosen = Settings(data=folder.path, port=0, **settings)
    access = Access(folder, given)
    database = SqliteDatabase(folder.database)
    await database.open()
    sign_ins = SignIns(SignInStore(database), access)
    await sign_ins.load()
    seen = Seen()
    app = small_app(access, sign_ins, pages, seen)
    with socket.create_server(("127.0.0.1", chosen.port)) as listening:
        port = listening.getsockname()[1]
        beside = Background("http")
        asgi = Perimeter(app, access, sign_ins, beside, chosen, port, bounds, gate)
        options = uvicorn_options(crowd or Crowd.within(1024))
        config = uvicorn.Config(asgi, log_config=None, lifespan="off", **options)
        config.timeout_graceful_shutdown = 1
        server = LoopbackServer(config)
        with blockbuster_ctx("airboss.http"):
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(server.serve(sockets=[listening]))
                while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
                    await asyncio.sleep(0.005)
                yield Door(port, access, sign_ins, app, seen, folder)
                server.should_exit = True
    await sign_ins.close()
    await database.close()
