"""What every request passes first: bounds, the name it calls us by, its origin, who asks."""

import asyncio
import contextlib
import logging
import re
import secrets
import time
from concurrent.futures import ThreadPoolExecutor

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from airboss.background import Background
from airboss.http import navigation, problems
from airboss.http.actors import known, stranger
from airboss.http.bounds import (
    CallerGone,
    Headers,
    RequestBounds,
    check_head,
    gather,
    has_body,
    linger,
    read_body,
    replay,
)
from airboss.http.credentials import Doorkeeper, peer
from airboss.http.crowd import recognise
from airboss.http.headers import DressedAnswer
from airboss.http.names import served_names
from airboss.http.refusals import RefusalExit, RefusedAnswer
from airboss.http.stays import Patrol, Stay
from airboss.model.traces import TraceContext, current_trace, read_trace
from airboss.patience import PERSON_SECONDS, be_patient_for
from airboss.service.access import Access
from airboss.service.audit import acting
from airboss.service.sign_ins import SignIns
from airboss.settings import Settings
from airboss.store.tokens import LOCAL

# Open without a token: what is built into the package and the same for everybody. All else is
# closed, so that a new route is closed until it is named here.
_PAGE = re.compile(
    r"/(?:[\w-]+\.(?:html|ico|svg|png|txt|webmanifest)|assets/.*|docs(?:/.*)?)?", re.ASCII
)
_HEALTH = "/healthz"
_SIGN_IN = "/api/v1/signin"
# Requests that may come with images.
_MAY_SHOW = re.compile(r"/api/v1/sessions/[^/]+/prompts")
# Requests that bring the text of an entry.
_MAY_BRING_ENTRY = re.compile(r"/api/v1/(?:entry/(?:file|draft)|rehearsals)")

# What is sent further hears so soon that its token is gone.
_LOOK_SECONDS = 0.25

_log = logging.getLogger("airboss.http")


class Perimeter:
    """ASGI middleware around the whole app. `port` is the one that was bound."""

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        sign_ins: SignIns,
        background: Background,
        settings: Settings,
        port: int,
        bounds: RequestBounds | None = None,
        gate: RefusalExit | None = None,
    ) -> None:
        self._app = app
        self._access = access
        self._sign_ins = sign_ins
        self._door = Doorkeeper(access, sign_ins)
        self._is_proxied = settings.trusted_proxy
        self._patrol = Patrol(self._look, background)
        self._needs_token = not settings.no_token
        self._is_traced = settings.telemetry.is_on
        self._names = served_names(settings, port)
        self._bounds = bounds or RequestBounds(body_bytes=settings.max_body_bytes)
        self._gate = gate or RefusalExit()
        # Its own thread: whoever has the right token does not wait for the database's.
        self._disk = ThreadPoolExecutor(1, "airboss-access")
        self._looked = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._visit(scope, receive, send)
        elif scope["type"] == "websocket":
            self._gate.note(scope, 403, "no_websockets")
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._app(scope, receive, send)

    async def _visit(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = f"req_{secrets.token_hex(8)}"
        problems.request_id.set(request_id)
        be_patient_for(PERSON_SECONDS)
        headers = gather(scope)
        if self._is_traced:
            current_trace.set(_trace(headers))
        acting.set(stranger(scope, headers, is_proxied=self._is_proxied))
        answer = DressedAnswer(send, request_id)
        try:
            receive = await self._admit(scope, headers, receive)
        except RefusedAnswer as refused:
            refused = await self._gate.refuse(scope, refused)
            await self._say_no(_in_words(scope, headers, refused), headers, receive, answer)
            return
        except CallerGone:
            return
        with contextlib.ExitStack() as watching:
            self._watch(scope, answer, watching)
            await self._serve(scope, receive, answer)

    async def _serve(self, scope: Scope, receive: Receive, answer: DressedAnswer) -> None:
        try:
            await self._app(scope, receive, answer.send)
        except asyncio.CancelledError:
            if scope.get("airboss.shown_out"):  # by the patrol, and not because the server stops
                await self._end_early(scope, answer)
                return
            if answer.started:
                raise
            await _send_whole(problems.stopping(scope["path"]), answer)
        except Exception:  # noqa: BLE001 - the border: beyond it only the server's own words are left
            await self._after_failure(scope, answer)

    async def _admit(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """Lets the request pass, with its body read and `who` and `origin` in its scope."""
        path, method = scope["path"], scope["method"]
        is_open = _is_open(path, method)
        is_sign_in = path == _SIGN_IN and method in ("GET", "HEAD", "POST")
        is_for_strangers = is_open or is_sign_in
        most = self._bounds.stranger_body_bytes if is_for_strangers else self._bounds.body_bytes
        if not is_for_strangers and _MAY_SHOW.fullmatch(path):
            most += self._bounds.image_bytes
        if not is_for_strangers and _MAY_BRING_ENTRY.fullmatch(path):
            most += self._bounds.entry_bytes
        check_head(scope, headers, self._bounds, most)
        origin = self._origin(headers)
        scope["airboss.origin"] = origin
        scope["airboss.hosts"] = self._names.hosts
        scope["airboss.gate"] = self._gate
        if not is_open:
            await self._identify(scope, headers, origin, is_sign_in=is_sign_in)
        if "airboss.who" in scope:
            acting.set(known(scope))
            recognise(scope)
        if not has_body(headers):
            return receive
        bounds = self._bounds
        seconds = bounds.stranger_body_seconds if is_for_strangers else bounds.body_seconds
        body = await read_body(receive, most, seconds)
        caller = scope.get("airboss.caller")
        if caller is not None and not caller.is_in():  # a body may take its time
            raise RefusedAnswer(401, "signed_out", "This token or sign-in is no longer valid.")
        return replay(body, receive)

    def _origin(self, headers: Headers) -> str:
        hosts = headers.get(b"host", ())
        origin = self._names.origin_of(hosts[0]) if len(hosts) == 1 else None
        if origin is None:
            raise RefusedAnswer(
                421,
                "unknown_host",
                "This server does not accept requests for this host name. Add the name to `hosts` "
                "in the settings, with the port if the address has one.",
            )
        return origin

    async def _identify(
        self, scope: Scope, headers: Headers, origin: str, *, is_sign_in: bool
    ) -> None:
        """Who asks, and whether it is them who ask and not a page of somebody else's."""
        shown = self._door.shown(headers)
        if navigation.is_api(scope["path"]):
            navigation.check_is_no_navigation(scope["path"], headers, shown)
        _check_same_origin(headers, origin)
        scope["airboss.peer"] = peer(scope, headers, is_proxied=self._is_proxied)
        if not self._needs_token:
            scope["airboss.who"] = LOCAL
            return
        await self._look()
        caller = self._door.find(shown)
        if caller is not None:
            scope["airboss.caller"] = caller
            scope["airboss.who"] = caller.name
        elif is_sign_in:
            scope["airboss.refusal"] = self._door.refusal(shown)  # for whoever asks about it
        else:
            raise self._door.refusal(shown)

    async def _look(self) -> None:
        """Asks the disk for tokens that came or went, so that a removed one is out at once."""
        self._looked = time.monotonic()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._disk, self._access.refresh)
        await self._sign_ins.settle()

    def _watch(self, scope: Scope, answer: DressedAnswer, watching: contextlib.ExitStack) -> None:
        """What goes on outlives its request's check, so its caller is looked at again and again."""
        caller = scope.get("airboss.caller")
        if caller is None:
            return
        stay = scope["airboss.stay"] = Stay(self._patrol, caller.is_in)
        serving = asyncio.current_task()

        def show_out() -> None:
            scope["airboss.shown_out"] = True
            if serving is not None:
                serving.cancel()

        async def may_go_on() -> bool:
            if time.monotonic() - self._looked >= _LOOK_SECONDS:
                await self._look()
            return caller.is_in()

        answer.on_stream = lambda: watching.enter_context(stay.watched(show_out))
        answer.may_go_on = may_go_on

    async def _end_early(self, scope: Scope, answer: DressedAnswer) -> None:
        """The cancel was ours, and is done with."""
        if (serving := asyncio.current_task()) is not None:
            serving.uncancel()
        await answer.cut()
        self._gate.note(scope, 401, "token_removed")

    async def _after_failure(self, scope: Scope, answer: DressedAnswer) -> None:
        """The app has answered where it could; what is cut short, the server below closes."""
        if answer.was_cut:
            self._gate.note(scope, 401, "token_removed")
            return
        _log.exception("%s failed", problems.request_id.get())
        if not answer.started:
            await _send_whole(problems.internal_error(scope["path"]), answer)

    async def _say_no(
        self, response: Response, headers: Headers, receive: Receive, answer: DressedAnswer
    ) -> None:
        if not has_body(headers):
            await _send_whole(response, answer)
            return
        await _send_whole(response, answer, more=True)
        await linger(receive, self._bounds.linger_seconds)
        await answer.send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_whole(response: Response, answer: DressedAnswer, more: bool = False) -> None:
    status, headers = response.status_code, response.raw_headers
    await answer.send({"type": "http.response.start", "status": status, "headers": headers})
    await answer.send({"type": "http.response.body", "body": response.body, "more_body": more})


def _in_words(scope: Scope, headers: Headers, refused: RefusedAnswer) -> Response:
    said = {"Connection": "close"} if has_body(headers) else {}
    if refused.code == navigation.NOT_A_PAGE:
        return navigation.in_words(scope["path"], headers, refused, said)
    if refused.status == 401:
        said["WWW-Authenticate"] = "Bearer"
    return problems.answer(scope["path"], refused.status, refused.code, refused.detail, said)


def _is_open(path: str, method: str) -> bool:
    return method in ("GET", "HEAD") and (path == _HEALTH or bool(_PAGE.fullmatch(path)))


def _check_same_origin(headers: Headers, origin: str) -> None:
    """A browser says where a request comes from; one of another page is not its reader's."""
    sites = headers.get(b"sec-fetch-site", ())
    origins = headers.get(b"origin", ())
    ours = origin.encode()
    if any(site not in (b"same-origin", b"none") for site in sites) or any(
        named != ours for named in origins
    ):
        raise RefusedAnswer(
            403, "foreign_origin", "Requests from pages of other origins are not allowed."
        )


def _trace(headers: Headers) -> TraceContext | None:
    """What the caller says it is part of."""
    said = headers.get(b"traceparent", ())
    return read_trace(said[0].decode("latin-1")) if len(said) == 1 else None
