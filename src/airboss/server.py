"""The server's life: take the folder, bind, serve, and end everything before it stops."""

import asyncio
import contextlib
import importlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator

import uvicorn

from airboss.app import opened_services
from airboss.errors import SettingsInvalid
from airboss.http.api import build_api
from airboss.http.protocol import uvicorn_options
from airboss.http.services import Services
from airboss.log.log import now_ms
from airboss.model.redaction import Redactor
from airboss.runtime.sweep import become_subreaper
from airboss.service.access import Access
from airboss.service.exposure import check_exposure
from airboss.service.tokens import OWNER, take_token_from_environment
from airboss.settings import Settings
from airboss.store.folder import DataFolder, HeldFolder, ServerNote

_log = logging.getLogger(__name__)

# Together less than the five seconds in which a stopped server has ended.
_SESSIONS_SECONDS = 2.5
_ANSWERS_SECONDS = 1


class PortalServer(uvicorn.Server):
    """uvicorn waits for streams that never end by themselves; the signals are ours, so we end them."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class RedactingFormatter(logging.Formatter):
    """No log line holds a secret."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.text(super().format(record))


def serve(settings: Settings) -> int:
    """Serve until somebody stops it. The exit code is 0 for every end that was asked for."""
    folder = DataFolder(settings.data)
    token = take_token_from_environment(os.environ)
    check_exposure(settings, token_is_set=token is not None)
    held = folder.hold()
    try:
        access = Access(folder, token)
        _write_logs_without(access)
        with _bound(settings) as listening:
            become_subreaper()
            asyncio.run(_run(settings, held, access, listening))
    finally:
        held.release()
    return 0


def _write_logs_without(access: Access) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter(Redactor((access.token or "",))))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("airboss").setLevel(logging.INFO)


@contextlib.contextmanager
def _bound(settings: Settings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((settings.host.strip("[]"), settings.port))
        except OSError as error:
            raise SettingsInvalid(
                f"Port {settings.port} on {settings.host} cannot be used: {error.strerror}. "
                "Choose another with --port; 0 takes any that is free."
            ) from error
        yield listening


async def _run(
    settings: Settings, held: HeldFolder, access: Access, listening: socket.socket
) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows has no such handlers
            loop.add_signal_handler(number, stopping.set)
    port = listening.getsockname()[1]
    scheme = "https" if settings.tls_certificate else "http"
    url = f"{scheme}://localhost:{port}"
    async with opened_services(settings, held.folder, access, url, stopping.set) as services:
        server = _server(services, settings, port)
        serving = asyncio.create_task(server.serve(sockets=[listening]), name="http")
        while not server.started and not serving.done():
            await asyncio.sleep(0.005)
        held.announce(ServerNote(os.getpid(), url, now_ms()))
        _greet(url, access)
        loading = asyncio.create_task(asyncio.to_thread(importlib.import_module, "copilot"))
        waiting = asyncio.create_task(stopping.wait())
        await asyncio.wait({waiting, serving}, return_when=asyncio.FIRST_COMPLETED)
        await _end(services, server, serving)
        await asyncio.wait({loading})
        waiting.cancel()


def _server(services: Services, settings: Settings, port: int) -> PortalServer:
    config = uvicorn.Config(
        build_api(services, settings, port),
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=_ANSWERS_SECONDS,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        **uvicorn_options(),
    )
    return PortalServer(config)


def _greet(url: str, access: Access) -> None:
    print(url)  # noqa: T201 - seed 001 wants these two addresses
    print(f"{url}/api/stop")  # noqa: T201
    if access.token:
        print(f"Open this once to sign in: {url}/#code={access.new_code(OWNER)}")  # noqa: T201
    sys.stdout.flush()


async def _end(services: Services, server: PortalServer, serving: "asyncio.Task[None]") -> None:
    """Sessions say that they end while people still watch; then the streams end, then the answers."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SESSIONS_SECONDS):
            await services.sessions.stop()
    services.log.end_followers()
    server.should_exit = True
    await serving
