"""One request of the runtime on its way to a provider, and the answer on its way back.

Both are passed on as they come. No redirect is followed: it would take the key elsewhere. What
fails before the answer begins is told in words; later the connection is cut, so that half an answer
is not taken for a whole one.
"""

import asyncio
import contextlib
import logging
import math
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Final

import httpx2

from airboss.errors import AirbossError
from airboss.harness.answer_body import AnswerBody, BrokenAnswer, NothingSaid, NotPacked, TooLong
from airboss.harness.answer_mask import AnswerMask
from airboss.harness.lent_address import CallPass, LentAddress
from airboss.harness.provider_health import ProviderHealth
from airboss.harness.providers import answer_headers, request_headers
from airboss.harness.proxy_terms import ProxyLimits, ProxyRefused, refuse
from airboss.net.address_guard import AddressBlocked, NameNotFound
from airboss.net.egress import redirect_host
from airboss.net.loopback import Peer, Receive, Scope, Send

_MEGABYTE: Final = 1024 * 1024
_ALLOW: Final = "If it is meant to be reached, set private = true for it in settings.toml."
_ENDED: Final = re.compile("disconnected|closed|incomplete", re.IGNORECASE)
# A provider that is faster than the runtime waits for it.
_MOST_WAITING: Final = _MEGABYTE
# What a later try may change, and what it will not: for that the runtime tries no more.
_PASSING: Final = 502
# For who has not said who it is, or is not let in. With the first the runtime would sign in itself,
# at our address, which is nobody's.
_UNKNOWN: Final = (401, 403)
_STRANGER: Final = 401
_FORBIDDEN: Final = 403
_LASTING: Final = 400
_LONGEST_MESSAGE: Final = 2000
# So long a connection that was cut may take to end.
_CUT_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


class CutShort(Exception):
    """The answer was begun, and cannot be finished."""


class CallerLeft(Exception):
    """The runtime does not listen any more."""


@dataclass
class ProxyCall:
    """`cut` ends the connection to a peer, whatever it is doing."""

    lent: LentAddress
    client: httpx2.AsyncClient
    limits: ProxyLimits
    scope: Scope
    receive: Receive
    send: Send
    cut: Callable[[Peer], None]
    health: ProviderHealth = field(default_factory=ProviderHealth)
    _is_read: asyncio.Event = field(default_factory=asyncio.Event)
    # What the answer may not repeat.
    _hidden: tuple[str, ...] = field(default=(), repr=False)

    async def answer(self) -> None:
        """Until it is answered, or nobody listens, or its address was given back."""
        work = self.lent.calls.call(self._work(), "call")
        gone = self.lent.calls.call(self._until_gone(), "caller")
        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        is_left = gone.done() and not gone.cancelled() and not work.done()
        for task in (work, gone):
            task.cancel()
        await asyncio.wait((work, gone))
        if not is_left and (work.cancelled() or not work.result()):
            self._is_read.set()
            self.cut(self.scope["client"])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CUT_SECONDS):
                    await self._until_gone()

    async def _until_gone(self) -> None:
        await self._is_read.wait()
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def _work(self) -> bool:
        """Whether there was an answer from its beginning to its end."""
        try:
            await self._pass_on()
        except ProxyRefused as refused:
            self._note(str(refused))
            await refuse(self.send, refused)
        except CutShort as cut:
            self._note(str(cut))
            return False
        except CallerLeft:
            return False
        else:
            self.lent.trouble = None
        return True

    def _note(self, trouble: str) -> None:
        self.lent.trouble = trouble
        if self.lent.ended is None:
            self.health.failing(self.lent.upstream.name, trouble)
        _log.warning("%s", trouble)

    async def _pass_on(self) -> None:
        if self.lent.ended is not None:
            raise ProxyRefused(_LASTING, self.lent.ended)
        entry = self.lent.entry
        answer = await (self._sent() if entry is None else self._sent_as_person(entry))
        try:
            await self._pass_back(answer)
        finally:
            await answer.aclose()

    async def _sent_as_person(self, entry: CallPass) -> httpx2.Response:
        """With the token of whoever signed in. One that is not good any more is renewed once."""
        token, body = await entry.token(), await self._whole_body()
        answer = await self._sent(token, body)
        if answer.status_code == _STRANGER and token is not None:
            try:
                renewed = await entry.renewed(token)
            except AirbossError as error:
                await answer.aclose()
                why = f"{self._whole_who} does not take its token, which cannot be renewed now"
                raise ProxyRefused(_PASSING, f"{why}: {error}") from error
            if renewed is not None:
                await answer.aclose()
                answer = await self._sent(renewed, body)
        return answer

    async def _whole_body(self) -> bytes:
        return b"".join([piece async for piece in self._body()]) if self._has_body else b""

    async def _sent(self, token: str | None = None, body: bytes | None = None) -> httpx2.Response:
        try:
            request = self._request(token, body)
            return await self.client.send(request, stream=True)
        except httpx2.InvalidURL as error:
            raise ProxyRefused(_LASTING, self._is_no_address()) from error
        except (AddressBlocked, NameNotFound, httpx2.HTTPError) as error:
            is_lasting = isinstance(error, AddressBlocked | httpx2.LocalProtocolError)
            status = _LASTING if is_lasting else _PASSING
            raise ProxyRefused(status, self._in_words(error)) from error

    @property
    def _has_body(self) -> bool:
        given = dict(self.scope["headers"])
        return b"content-length" in given or b"transfer-encoding" in given

    def _request(self, token: str | None, body: bytes | None) -> httpx2.Request:
        upstream, raw = self.lent.upstream, self.scope["headers"]
        path = self.scope["raw_path"].decode("latin-1").removeprefix(f"/{self.lent.nonce}")
        url = upstream.address(
            self.lent.asked_path(path), self.scope["query_string"].decode("latin-1")
        )
        if url is None:
            raise ProxyRefused(404, f"{self._whole_who} has no such address.")
        given = dict(raw)
        if int(given.get(b"content-length", b"0")) > self.limits.request_bytes:
            raise self._too_large()
        if not self._has_body:
            self._is_read.set()
        self._hidden = (*upstream.hidden, *((token,) if token else ()))
        # Without the headers that a client of its own would add.
        return httpx2.Request(
            self.scope["method"],
            url,
            headers=[*request_headers(raw, upstream, token), *self._traced()],
            content=(self._body() if body is None else body) if self._has_body else None,
            extensions={"timeout": self.client.timeout.as_dict()},
        )

    def _traced(self) -> list[tuple[bytes, bytes]]:
        """So that a provider's own traces go on with ours."""
        trace, names = self.lent.trace(), {name.lower() for name, _ in self.scope["headers"]}
        is_told = trace is None or b"traceparent" in names
        return [] if is_told else [(b"traceparent", str(trace).encode())]

    async def _body(self) -> AsyncGenerator[bytes]:
        size, more = 0, True
        while more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise CallerLeft
            piece, more = message.get("body", b""), message.get("more_body", False)
            size += len(piece)
            if size > self.limits.request_bytes:
                raise self._too_large()
            if piece:
                yield piece
        self._is_read.set()

    def _too_large(self) -> ProxyRefused:
        most = self.limits.request_bytes // _MEGABYTE
        return ProxyRefused(413, f"The request to {self._who} has more than {most} MB.")

    async def _pass_back(self, answer: httpx2.Response) -> None:
        status = answer.status_code
        if 300 <= status < 400:
            raise ProxyRefused(_LASTING, self._redirected(answer))
        if status in _UNKNOWN and self.lent.upstream.what == "MCP server":
            self.lent.wants_sign_in = True
            raise ProxyRefused(_FORBIDDEN, self._wants_sign_in(status))
        if not 200 <= status < 600:
            raise ProxyRefused(_PASSING, f"{self._whole_who} answered with the status {status}.")
        if int(answer.headers.get("content-length", 0)) > self.limits.answer_bytes:
            raise ProxyRefused(_PASSING, self._answered_too_much())
        # An MCP server may have nothing to say for as long as its session is open.
        is_server = self.lent.upstream.what == "MCP server"
        quiet = math.inf if is_server else self.limits.answer_seconds
        body = AnswerBody(answer, self.limits.answer_bytes, quiet)
        if not body.can_be_read:
            raise ProxyRefused(_LASTING, self._answered_packed())
        if status < 300 and answer.headers.get("content-type", "").startswith("text/html"):
            raise ProxyRefused(_LASTING, self._answered_with_a_page())
        if status < 400:
            self.lent.wants_sign_in = False
        mask = AnswerMask(self._hidden, is_error=status >= 400)
        if status == 200 and self.lent.upstream.what == "provider":
            await self._must_be_no_error(body)
        told = answer_headers(answer.headers.raw, is_packed=bool(body.packing))
        headers = [(name, mask.covered(value)) for name, value in told]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        pieces = _Pieces()
        sending = self.lent.calls.call(self._send_on(pieces), "answer")
        try:
            cut = await self._take_in(body, pieces, mask)
            pieces.end(mask.finish())
            await sending
        finally:
            sending.cancel()
        if cut:
            raise CutShort(cut)
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})
        self.health.answered(self.lent.upstream.name, status)

    async def _must_be_no_error(self, body: AnswerBody) -> None:
        """The runtime would say that there was no answer, and not why."""
        try:
            error = await body.error()
        except (BrokenAnswer, httpx2.HTTPError) as trouble:
            raise ProxyRefused(_PASSING, self._broken_off(trouble)) from trouble
        if error is not None:
            hidden = AnswerMask(self._hidden).covered(error.message.encode(errors="replace"))
            message = hidden.decode(errors="replace")[:_LONGEST_MESSAGE]
            said = f"{self._whole_who} answered with an error: {message}"
            raise ProxyRefused(error.status or _LASTING, said)

    async def _take_in(self, body: AnswerBody, pieces: "_Pieces", mask: AnswerMask) -> str | None:
        """Why the answer is not whole, where it is not."""
        try:
            async for piece in body.pieces():
                await pieces.put(mask.feed(piece))
        except (BrokenAnswer, httpx2.HTTPError) as error:
            return self._broken_off(error)
        return None

    async def _send_on(self, pieces: "_Pieces") -> None:
        while body := await pieces.take():
            await self.send({"type": "http.response.body", "body": body, "more_body": True})

    @property
    def _who(self) -> str:
        return f"the {self.lent.upstream.what} {self.lent.upstream.name}"

    @property
    def _whole_who(self) -> str:
        return f"The {self.lent.upstream.what} {self.lent.upstream.name}"

    @property
    def _setting(self) -> str:
        return self.lent.upstream.setting

    def _broken_off(self, error: BrokenAnswer | httpx2.HTTPError) -> str:
        match error:
            case TooLong():
                return self._answered_too_much()
            case NothingSaid():
                seconds = self.limits.answer_seconds
                return f"{self._whole_who} only kept its answer open for {seconds:g} s."
            case NotPacked():
                return f"{self._whole_who} answered in an encoding that cannot be read."
            case _:
                why = _reason(error)
                return f"{self._whole_who} broke off in the middle of its answer: {why}."

    def _answered_packed(self) -> str:
        return f"{self._whole_who} answered in an encoding that it was not asked for."

    def _answered_too_much(self) -> str:
        most = self.limits.answer_bytes // _MEGABYTE
        return f"{self._whole_who} answered with more than {most} MB."

    def _wants_sign_in(self, status: int) -> str:
        if self.lent.entry is not None:
            return f"{self._whole_who} wants a person to sign in ({status})."
        return (
            f"{self._whole_who} did not let us in ({status}). Put its token into an environment "
            "variable of the server, and name that as token_variable in settings.toml."
        )

    def _answered_with_a_page(self) -> str:
        return f"{self._whole_who} answered with a web page. Check its {self._setting}."

    def _is_no_address(self) -> str:
        return f"{self._whole_who} cannot be reached: its {self._setting} is no address. Check it."

    def _redirected(self, answer: httpx2.Response) -> str:
        host = redirect_host(answer)
        where = f" to {host}" if host else ""
        return (
            f"{self._whole_who} redirects{where} ({answer.status_code}), which is not followed. "
            f"Set its {self._setting} to where it really is."
        )

    def _in_words(self, error: AddressBlocked | NameNotFound | httpx2.HTTPError) -> str:
        cannot = f"{self._whole_who} cannot be reached"
        match error:
            case AddressBlocked(is_private=True):
                return f"{cannot}: {error}. {_ALLOW}"
            case httpx2.LocalProtocolError():  # it repeats what was to be sent
                return f"{cannot}: its key cannot be sent. Check the variable that holds it."
            case httpx2.ReadTimeout():
                seconds = self.limits.answer_seconds
                return f"{self._whole_who} did not answer within {seconds:g} s."
            case httpx2.ConnectTimeout():
                return f"{cannot}: no connection within {self.limits.connect_seconds:g} s."
            case httpx2.ConnectError() | AddressBlocked() | NameNotFound():
                return f"{cannot}: {_reason(error)}."
            case _:
                return f"{self._whole_who} gave no answer: {_reason(error)}."


class _Pieces:
    """Pieces that are there together go on together: each write costs more than all of the rest."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._is_over = False
        self._more, self._room = asyncio.Event(), asyncio.Event()

    async def put(self, piece: bytes) -> None:
        self._waiting += piece
        self._more.set()
        if len(self._waiting) > _MOST_WAITING:
            self._room.clear()
            await self._room.wait()

    def end(self, rest: bytes) -> None:
        self._waiting += rest
        self._is_over = True
        self._more.set()

    async def take(self) -> bytes:
        """What came since; empty when it was all."""
        while not self._waiting and not self._is_over:
            self._more.clear()
            await self._more.wait()
        taken, self._waiting = bytes(self._waiting), bytearray()
        self._room.set()
        return taken


def _reason(error: Exception) -> str:
    said = (str(error) or type(error).__name__).rstrip(".")
    if isinstance(error, httpx2.RemoteProtocolError) and not _ENDED.search(said):
        return "what it says is not HTTP"  # and nothing of it is repeated
    return said
