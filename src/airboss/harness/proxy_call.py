"""One request of the runtime on its way to a provider, and the answer on its way back.

Both are passed on as they come. No redirect is followed: it would take the key elsewhere. What
fails before the answer begins is told in words; later the connection is cut, so that half an answer
is not taken for a whole one.
"""

import asyncio
import contextlib
import json
import logging
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import httpx2

from airboss.harness.lent_address import LentAddress
from airboss.harness.providers import answer_headers, request_headers
from airboss.net.egress import AddressBlocked, NameNotFound
from airboss.net.loopback import Peer, Receive, Scope, Send

_MEGABYTE: Final = 1024 * 1024
_ALLOW: Final = "If it is meant to be reached, set private = true for it in settings.toml."
_ENDED: Final = re.compile("disconnected|closed|incomplete", re.IGNORECASE)
# A provider that is faster than the runtime waits for it.
_MOST_WAITING: Final = _MEGABYTE
# What a later try may change, and what it will not: for that the runtime tries no more.
_PASSING: Final = 502
_LASTING: Final = 400
# So long a connection that was cut may take to end.
_CUT_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ProxyLimits:
    """What one call may take."""

    request_bytes: int = 32 * _MEGABYTE
    # A stream spends some hundred bytes on each token, and a long answer has a hundred thousand.
    answer_bytes: int = 64 * _MEGABYTE
    connect_seconds: float = 15.0
    # A model may think for long before it says anything.
    answer_seconds: float = 600.0

    @property
    def timeout(self) -> httpx2.Timeout:
        return httpx2.Timeout(60.0, connect=self.connect_seconds, read=self.answer_seconds)


class ProxyRefused(Exception):
    """An answer of our own, in the provider's place."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


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
    _is_read: asyncio.Event = field(default_factory=asyncio.Event)

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
        _log.warning("%s", trouble)

    async def _pass_on(self) -> None:
        request = self._request()
        try:
            answer = await self.client.send(request, stream=True)
        except (AddressBlocked, NameNotFound, httpx2.HTTPError) as error:
            is_lasting = isinstance(error, AddressBlocked | httpx2.LocalProtocolError)
            status = _LASTING if is_lasting else _PASSING
            raise ProxyRefused(status, self._in_words(error)) from error
        try:
            await self._pass_back(answer)
        finally:
            await answer.aclose()

    def _request(self) -> httpx2.Request:
        upstream, raw = self.lent.upstream, self.scope["headers"]
        path = self.scope["raw_path"].decode("latin-1").removeprefix(f"/{self.lent.nonce}")
        url = upstream.address(path, self.scope["query_string"].decode("latin-1"))
        if url is None:
            raise ProxyRefused(404, f"The provider {upstream.name} has no such address.")
        given = dict(raw)
        if int(given.get(b"content-length", b"0")) > self.limits.request_bytes:
            raise self._too_large()
        has_body = b"content-length" in given or b"transfer-encoding" in given
        if not has_body:
            self._is_read.set()
        return self.client.build_request(
            self.scope["method"],
            url,
            headers=request_headers(raw, upstream),
            content=self._body() if has_body else None,
        )

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
        if not 200 <= status < 600:
            raise ProxyRefused(_PASSING, f"{self._whole_who} answered with the status {status}.")
        if int(answer.headers.get("content-length", 0)) > self.limits.answer_bytes:
            raise ProxyRefused(_PASSING, self._answered_too_much())
        if status < 300 and answer.headers.get("content-type", "").startswith("text/html"):
            raise ProxyRefused(_LASTING, self._answered_with_a_page())
        headers = answer_headers(answer.headers.raw)
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        pieces = _Pieces()
        sending = self.lent.calls.call(self._send_on(pieces), "answer")
        try:
            cut = await self._take_in(answer, pieces)
            pieces.end()
            await sending
        finally:
            sending.cancel()
        if cut:
            raise CutShort(cut)
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _take_in(self, answer: httpx2.Response, pieces: "_Pieces") -> str | None:
        """Why the answer is not whole, where it is not."""
        size = 0
        try:
            async for piece in answer.aiter_raw():
                size += len(piece)
                if size > self.limits.answer_bytes:
                    return self._answered_too_much()
                await pieces.put(piece)
        except httpx2.HTTPError as error:
            return f"{self._whole_who} broke off in the middle of its answer: {_reason(error)}."
        return None

    async def _send_on(self, pieces: "_Pieces") -> None:
        while body := await pieces.take():
            await self.send({"type": "http.response.body", "body": body, "more_body": True})

    @property
    def _who(self) -> str:
        return f"the provider {self.lent.upstream.name}"

    @property
    def _whole_who(self) -> str:
        return f"The provider {self.lent.upstream.name}"

    def _answered_too_much(self) -> str:
        most = self.limits.answer_bytes // _MEGABYTE
        return f"{self._whole_who} answered with more than {most} MB."

    def _answered_with_a_page(self) -> str:
        return f"{self._whole_who} answered with a web page. Check its base_url."

    def _redirected(self, answer: httpx2.Response) -> str:
        """Where it leads is told by its host: a path may hold a secret."""
        try:
            host = urlsplit(answer.headers.get("location", "")).hostname
        except ValueError:
            host = None
        where = f" to {host[:100]}" if host else ""
        return (
            f"{self._whole_who} redirects{where} ({answer.status_code}), which is not followed. "
            "Set its base_url to where it really is."
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

    def end(self) -> None:
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


async def refuse(send: Send, refused: ProxyRefused) -> None:
    """As OpenAI and Anthropic both write it."""
    error = {"type": "api_error", "code": "airboss_proxy", "message": str(refused)}
    body = json.dumps({"type": "error", "error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _reason(error: Exception) -> str:
    said = (str(error) or type(error).__name__).rstrip(".")
    if isinstance(error, httpx2.RemoteProtocolError) and not _ENDED.search(said):
        return "what it says is not HTTP"  # and nothing of it is repeated
    return said
