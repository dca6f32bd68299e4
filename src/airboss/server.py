"""The server's life: take the folder, bind, serve, and end everything before it stops."""

import asyncio
import contextlib
import errno
import functools
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Generator
from typing import Any

import uvicorn

from airboss.app import opened_services
from airboss.app_access import has_shared_tokens
from airboss.background import Background
from airboss.errors import SettingsInvalid, StoreAway
from airboss.http.api import build_api
from airboss.http.crowd import STRANGER_SECONDS, Crowd
from airboss.http.protocol import uvicorn_options
from airboss.http.services import Services
from airboss.http.signin import one_time_address
from airboss.log.writer import now_ms
from airboss.model.redaction import Redactor
from airboss.patience import wait_for_nothing_after
from airboss.runtime.descriptors import raise_descriptor_limit
from airboss.runtime.sdk import load_sdk
from airboss.runtime.sweep import become_subreaper
from airboss.runtime.undumpable import remedy, why_open
from airboss.service.access import Access
from airboss.service.exposure import check_exposure
from airboss.setting_sources import SettingSources
from airboss.settings import Settings
from airboss.store.folder import DataFolder, HeldFolder, ServerNote
from airboss.store.tokens import OWNER, take_token_from_environment, token_is_chosen
from airboss.tuning import (
    PARTS,
    VARIABLE,
    keep_for_good,
    keep_large_apart,
    share_one_heap,
    unknown_parts,
)

# Together less than the five seconds in which a stopped server has ended.
_SESSIONS_SECONDS = 2.5
_ANSWERS_SECONDS = 1
_WAITING_CONNECTIONS = 2048
# So many are taken in at a time; then all else has its turn.
_ACCEPTED_AT_ONCE = 64

_log = logging.getLogger(__name__)

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
# What a machine without IPv6 says.
_NO_SUCH_FAMILY = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)


class PortalServer(uvicorn.Server):
    """uvicorn waits for streams that never end; the signals are ours, so that those end first."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Uvicorn's takes in 2,048 connections in one go, and gives a TLS handshake a minute."""
        loop, config = asyncio.get_running_loop(), self.config
        await self.lifespan.startup()
        self.servers = []
        for listening in sockets or []:
            server = await loop.create_server(
                self._new_connection,
                sock=listening,
                ssl=config.ssl,
                ssl_handshake_timeout=STRANGER_SECONDS if config.ssl else None,
                ssl_shutdown_timeout=STRANGER_SECONDS if config.ssl else None,
                backlog=_ACCEPTED_AT_ONCE,
            )
            self.servers.append(server)
            listening.listen(_WAITING_CONNECTIONS)  # the loop has listened with its own number
        self.started = True
        self.ready.set()

    def _new_connection(self) -> asyncio.Protocol:
        config: Any = self.config
        return config.http_protocol_class(
            config=config, server_state=self.server_state, app_state=self.lifespan.state
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class RedactingFormatter(logging.Formatter):
    """No log line holds a secret."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.text(super().format(record))


def serve(settings: Settings, sources: SettingSources) -> int:
    """Serve until somebody stops it. The exit code is 0 for every end that was asked for."""
    share_one_heap()
    keep_large_apart()
    descriptors = raise_descriptor_limit()
    folder = DataFolder(settings.data)
    token = take_token_from_environment(os.environ)
    check_exposure(
        settings, token_is_set=token_is_chosen(folder, token) or has_shared_tokens(settings)
    )
    held = folder.hold()
    try:
        access = Access(folder, token)
        _write_logs(Redactor((access.token,)))
        with _bound(settings) as sockets:
            become_subreaper()
            crowd = Crowd.within(descriptors)
            running = functools.partial(_run, settings, sources, held, access, sockets, crowd)
            asyncio.run(_until_stopped(running))
    finally:
        held.release()
    return 0


def work(settings: Settings, sources: SettingSources) -> int:
    """Work until somebody stops it, without pages and without a port: runs are started and watched
    through the servers of the same database."""
    share_one_heap()
    keep_large_apart()
    raise_descriptor_limit()
    held = DataFolder(settings.data).hold()
    try:
        access = Access(held.folder, take_token_from_environment(os.environ))
        _write_logs(Redactor((access.token,)))
        become_subreaper()
        asyncio.run(_until_stopped(functools.partial(_work, settings, sources, held, access)))
    finally:
        held.release()
    return 0


async def _until_stopped(work: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """Whoever is told to stop does so, also while the database is away."""
    stopping = asyncio.Event()
    _hear_signals(stopping)
    wait_for_nothing_after(stopping)
    try:
        await work(stopping)
    except StoreAway:
        if not stopping.is_set():
            raise


async def _work(
    settings: Settings,
    sources: SettingSources,
    held: HeldFolder,
    access: Access,
    stopping: asyncio.Event,
) -> None:
    opened = opened_services(settings, held.folder, access, "", stopping.set, sources)
    async with opened as services, Background("worker") as background:
        _write_logs(services.sessions.redactor)
        _warn_of_open_processes()
        print("This worker is ready.", flush=True)  # noqa: T201 - what it says when it is
        loading = background.start(asyncio.to_thread(_load_the_rest), "loading")
        await stopping.wait()
        await services.audit.stopped()
        await _end_work(services)
        await asyncio.wait({loading})


def _warn_of_open_processes() -> None:
    why = why_open() if sys.platform == "linux" else None
    if why:
        _log.warning("%s %s", why, remedy(why))


def _warn_of_unknown_tuning() -> None:
    if unknown := unknown_parts():
        known = ", ".join(PARTS)
        words = ", ".join(unknown)
        _log.warning("%s has unknown names: %s. Use all, or some of %s.", VARIABLE, words, known)


def _write_logs(redactor: Redactor) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter(redactor))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("airboss").setLevel(logging.INFO)


@contextlib.contextmanager
def _bound(settings: Settings) -> Generator[list[socket.socket]]:
    host = settings.host.removeprefix("[").removesuffix("]")
    try:
        sockets = _listen(host, settings.port)
    except OSError as error:
        raise SettingsInvalid(
            f"Cannot listen on port {settings.port} of {error.filename}: {error.strerror}. "
            "Choose another port with --port; 0 picks a free one."
        ) from error
    with contextlib.ExitStack() as stack:
        for listening in sockets:
            stack.enter_context(listening)
        yield sockets


def _listen(host: str, port: int, tries: int = 4) -> list[socket.socket]:
    """On loopback in both families: browsers look `localhost` up in both, and whoever else
    answered in the other one would be shown the code or the token."""
    if host not in _LOOPBACK:
        return [_listen_on(host, port)]
    first = _listen_on("127.0.0.1", port)
    try:
        return [first, _listen_on("::1", first.getsockname()[1])]
    except OSError as error:
        if error.errno in _NO_SUCH_FAMILY:
            return [first]
        first.close()
        if port or tries == 1:
            raise
    return _listen(host, port, tries - 1)


def _listen_on(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol by name, or asyncio leaves small writes to wait for one another, 40 ms long.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        # Taken for good: a port that is only bound, two servers could have for a moment.
        listening.listen(_WAITING_CONNECTIONS)
    except OSError as error:
        listening.close()
        error.filename = host
        raise
    return listening


async def _run(
    settings: Settings,
    sources: SettingSources,
    held: HeldFolder,
    access: Access,
    sockets: list[socket.socket],
    crowd: Crowd,
    stopping: asyncio.Event,
) -> None:
    port = sockets[0].getsockname()[1]
    scheme = "https" if settings.tls_certificate else "http"
    url = f"{scheme}://localhost:{port}"
    async with (
        opened_services(settings, held.folder, access, url, stopping.set, sources) as services,
        Background("server") as background,
    ):
        _write_logs(services.sessions.redactor)
        server = _server(services, services.settings.at_start, port, crowd)
        serving = background.call(server.serve(sockets=sockets), "http")
        if await _first(server.ready, serving):
            _warn_of_open_processes()
            _warn_of_unknown_tuning()
            held.announce(ServerNote(os.getpid(), url, now_ms()))
            await _greet(url, access, settings)
            loading = background.start(asyncio.to_thread(_load_the_rest), "loading")
            await _first(stopping, serving)
            await services.audit.stopped()
            await _end(services, server)
            await asyncio.wait({loading})
        await serving


def _load_the_rest() -> None:
    """What is loaded by then stays for good."""
    load_sdk()
    keep_for_good()


def _hear_signals(stopping: asyncio.Event) -> None:
    """Once heard, none of them cuts off the end, which goes on when the loop is closed.

    A terminal that is closed stops the server in order, too; under nohup it does not.
    """
    loop = asyncio.get_running_loop()

    def hear(*_: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: we are as good as gone
            loop.call_soon_threadsafe(stopping.set)

    heard = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        heard.append(signal.SIGHUP)
    for number in heard:
        signal.signal(number, hear)


async def _first(event: asyncio.Event, serving: "asyncio.Task[None]") -> bool:
    """Whether `event` came before the serving was over."""
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(event.wait())
        await asyncio.wait({waiting, serving}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
    return event.is_set()


def _server(services: Services, settings: Settings, port: int, crowd: Crowd) -> PortalServer:
    config = uvicorn.Config(
        build_api(services, settings, port),
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=_ANSWERS_SECONDS,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        **uvicorn_options(crowd),
    )
    try:
        config.load()
    except OSError as error:  # a file that is not there, and one that is no certificate
        raise SettingsInvalid(
            f"Cannot use {settings.tls_certificate} and {settings.tls_key} for TLS: {error}."
        ) from error
    return PortalServer(config)


async def _greet(url: str, access: Access, settings: Settings) -> None:
    """First the address to open, then seed 001's two."""
    opening = f"Open this in a browser: {url}/"
    if not settings.no_token:
        code = await access.make_code(OWNER)
        opening = f"Open this once to sign in: {one_time_address(url, code)}"
    lines = (opening, url, f"{url}/api/stop")
    print("\n".join(lines), flush=True)  # noqa: T201 - what a server says when it is ready


async def _end(services: Services, server: PortalServer) -> None:
    """Sessions say that they end while people still watch; then streams end, then answers."""
    await _end_work(services)
    services.log.end_followers()
    server.should_exit = True


async def _end_work(services: Services) -> None:
    await services.runs.drain()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SESSIONS_SECONDS):
            await services.runs.close()
            await services.sessions.stop()
