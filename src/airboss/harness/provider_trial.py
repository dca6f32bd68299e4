"""One try of a provider: which models it offers, and one small call to one of them.

By the guarded way out, and bounded in size and time, whatever is there at the address.
"""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import urlencode, urlsplit

import httpx2

from airboss.harness.offered_models import OfferedByProvider, models_in
from airboss.harness.providers import Upstream
from airboss.harness.trial_result import MEGABYTE, TrialCause, TrialLimits, TrialResult
from airboss.harness.wire_events import has_word, is_end, usage_in
from airboss.model.redaction import Redactor
from airboss.model.words import without_halves
from airboss.net.address_guard import AddressBlocked, Egress, NameNotFound
from airboss.net.egress import guarded_client, redirect_host
from airboss.provider_settings import Provider

_ASKED: Final = "Reply with the single word: ready"
_LONGEST_REASON: Final = 300
_ANTHROPIC_VERSION: Final = {"anthropic-version": "2023-06-01"}


class _TrialFailed(Exception):
    def __init__(self, cause: TrialCause, words: str) -> None:
        super().__init__(words)
        self.cause: TrialCause = cause


@dataclass
class ProviderTrial:
    """`model` is the one to call; without it the first that can talk."""

    provider: Provider
    upstream: Upstream
    model: str | None = None
    redactor: Redactor = field(default_factory=Redactor)
    limits: TrialLimits = field(default_factory=TrialLimits)
    _models: tuple[OfferedByProvider, ...] | None = None
    _called: str | None = None

    async def run(self) -> TrialResult:
        limits = self.limits
        timeout = httpx2.Timeout(limits.seconds, connect=limits.connect_seconds)
        try:
            async with (
                asyncio.timeout(limits.seconds),
                guarded_client(Egress(self.upstream.allows_private), timeout) as client,
            ):
                return await self._run(client)
        except _TrialFailed as failed:
            return self._failed(failed.cause, str(failed))
        except (TimeoutError, httpx2.TimeoutException) as error:
            if isinstance(error, httpx2.ConnectTimeout):
                words = f"no connection within {limits.connect_seconds:g} s"
                return self._failed("time", f"{self._host} cannot be reached: {words}.")
            return self._failed("time", f"{self._host} did not answer within {limits.seconds:g} s.")
        except httpx2.InvalidURL:
            return self._failed("address", f"{self._host} is no address. Check how it is written.")
        except (AddressBlocked, NameNotFound, httpx2.HTTPError) as error:
            return self._failed(*self._in_words(error))

    async def _run(self, client: httpx2.AsyncClient) -> TrialResult:
        self._models = await self._list(client)
        self._called = self.model or _first_to_talk(self._models)
        if self._called is None:
            words = "The provider answers, but says no models. Name a model to test it with."
            raise _TrialFailed("model", words)
        began = time.monotonic()
        first, tokens = await self._call(client, self._called)
        return TrialResult(
            ok=True,
            model=self._called,
            first_word_ms=max(1, round((first - began) * 1000)),
            tokens=tokens,
            models=self._models,
        )

    async def _list(self, client: httpx2.AsyncClient) -> tuple[OfferedByProvider, ...] | None:
        """None where there is no list: not every service has one, and a call says more."""
        path = self._list_path
        if path is None:
            return None
        async with client.stream("GET", self._url(path), headers=self._headers) as answer:
            body = await self._whole(answer, self.limits.list_bytes)
            if answer.status_code in (404, 405, 501):
                return None
            self._must_be_good(answer, body)
        try:
            return models_in(json.loads(body))
        except (ValueError, RecursionError):
            raise self._garbage(answer) from None

    async def _call(self, client: httpx2.AsyncClient, model: str) -> tuple[float, int | None]:
        """When the first word came, and how many tokens it all took."""
        path, body = self._question(model)
        first: float | None = None
        used: dict[str, int] = {}
        async with client.stream(
            "POST", self._url(path), headers=self._headers, json=body
        ) as answer:
            if answer.status_code != 200:
                self._must_be_good(answer, await self._whole(answer, self.limits.answer_bytes))
                raise self._garbage(answer)
            is_over = False
            async for said in self._events(answer):
                if said.get("type") == "error" or said.get("error"):
                    raise _TrialFailed("refused", f"The provider says: {self._reason(said)}")
                if first is None and has_word(said):
                    first = time.monotonic()
                used |= usage_in(said)
                is_over = is_over or is_end(said)
        if first is None:
            raise self._garbage(answer)
        if not is_over:
            words = f"{self._host} broke off in the middle of its answer."
            raise _TrialFailed("cut", f"{words} Try again; if it stays so, check the service.")
        return first, sum(used.values()) or None

    async def _events(self, answer: httpx2.Response) -> AsyncIterator[dict[str, Any]]:
        """Of a stream of server-sent events; a whole answer counts as one of them."""
        left, size, seen = b"", 0, False
        async for piece in answer.aiter_raw():
            size += len(piece)
            if size > self.limits.answer_bytes:
                raise self._too_large(self.limits.answer_bytes)
            *lines, left = (left + piece).split(b"\n")
            for line in lines:
                if line.startswith(b"data:"):
                    seen = True
                    yield self._event(line[5:].strip(), answer)
        if not seen:
            yield self._event(left.strip(), answer) | {"type": "whole"}

    def _event(self, text: bytes, answer: httpx2.Response) -> dict[str, Any]:
        if text == b"[DONE]":
            return {"type": "[DONE]"}
        try:
            found: object = json.loads(text)
        except (ValueError, RecursionError):
            raise self._garbage(answer) from None
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}

    async def _whole(self, answer: httpx2.Response, most: int) -> bytes:
        parts: list[bytes] = []
        size = int(answer.headers.get("content-length", 0))
        if size > most:
            raise self._too_large(most)
        size = 0
        async for piece in answer.aiter_raw():
            size += len(piece)
            if size > most:
                raise self._too_large(most)
            parts.append(piece)
        return b"".join(parts)

    def _must_be_good(self, answer: httpx2.Response, body: bytes) -> None:
        status = answer.status_code
        if 300 <= status < 400:
            raise _TrialFailed("redirect", self._redirected(answer))
        if status in (401, 403):
            hint = "Check the key." if self.upstream.headers else "It needs one."
            words = f"{self._host} refused the key ({status}). {hint}"
            raise _TrialFailed("key", f"{words}{self._told(body)}")
        if status == 404:
            what = f" or the model {self._called}" if self._called else ""
            words = f"{self._host} does not know this address{what} (404)."
            raise _TrialFailed("address", f"{words} Check both.{self._told(body)}")
        if status == 429:
            words = f"{self._host} has had too many requests (429). Try again later."
            raise _TrialFailed("busy", f"{words}{self._told(body)}")
        if status != 200:
            raise _TrialFailed("refused", f"{self._host} answered with {status}.{self._told(body)}")
        if answer.headers.get("content-type", "").startswith("text/html"):
            words = f"{self._host} answered with a web page. Check the address: many end in /v1."
            raise _TrialFailed("garbage", words)

    def _told(self, body: bytes) -> str:
        try:
            said: object = json.loads(body)
        except (ValueError, RecursionError):
            return ""
        reason = self._reason(said)
        return f" It says: {reason}" if reason else ""

    def _reason(self, said: object) -> str:
        """What the provider says itself, without secrets and not too long."""
        found = said
        for name in ("error", "message"):
            if isinstance(found, dict):
                place = cast("dict[str, object]", found)
                found = place.get(name, place)
        text = found if isinstance(found, str) else ""
        return self.redactor.text(" ".join(text.split()))[:_LONGEST_REASON]

    def _garbage(self, answer: httpx2.Response) -> _TrialFailed:
        kind = answer.headers.get("content-type", "")[:60] or "no type"
        words = f"{self._host} answers, but not as this kind of provider does ({kind})."
        return _TrialFailed("garbage", f"{words} Check the kind, the API and the address.")

    def _too_large(self, most: int) -> _TrialFailed:
        size = f"{most // MEGABYTE} MB" if most >= MEGABYTE else f"{most} bytes"
        words = f"{self._host} answered with more than {size}, which no provider does."
        return _TrialFailed("too-large", f"{words} Check the address.")

    def _redirected(self, answer: httpx2.Response) -> str:
        host = redirect_host(answer)
        where = f" to {host}" if host else ""
        return (
            f"{self._host} redirects{where} ({answer.status_code}), which is not followed: it "
            "would take the key elsewhere. Enter the address where the provider really is."
        )

    def _in_words(
        self, error: AddressBlocked | NameNotFound | httpx2.HTTPError
    ) -> tuple[TrialCause, str]:
        cannot = f"{self._host} cannot be reached"
        match error:
            case AddressBlocked(is_private=True):
                allow = "If it is meant, tick that it is on your own network (private)."
                return "private", f"{cannot}: it is not a public address. {allow}"
            case AddressBlocked():
                return "private", f"{cannot}: {error}. Nobody is sent there."
            case NameNotFound():
                return "dns", f"{cannot}: there is no such name. Check the address."
            case httpx2.LocalProtocolError():
                return "key", "The key cannot be sent: it has characters that no key has."
            case httpx2.ConnectError() if _is_tls(error):
                trust = "If it is your own authority's, start the server with SSL_CERT_FILE."
                return (
                    "tls",
                    f"{cannot}: its certificate cannot be trusted, or it has none. {trust}",
                )
            case httpx2.ConnectError():
                return "unreachable", f"{cannot}: nothing answers at this address. Is it running?"
            case httpx2.RemoteProtocolError() if self._called is not None:
                return "cut", f"{self._host} broke off in the middle of its answer. Try again."
            case httpx2.RemoteProtocolError():
                return "garbage", f"What {self._host} says is not HTTP. Check address and port."
            case _:
                return "unreachable", f"{cannot}: the connection broke. Try again."

    def _failed(self, cause: TrialCause, words: str) -> TrialResult:
        said = without_halves(self.redactor.text(words))
        return TrialResult(
            ok=False, problem=said, cause=cause, model=self._called, models=self._models
        )

    @property
    def _host(self) -> str:
        return urlsplit(self.upstream.base_url).netloc or "The address"

    @property
    def _headers(self) -> dict[str, str]:
        extra = _ANTHROPIC_VERSION if self.provider.type == "anthropic" else {}
        return {**extra, **self.upstream.headers, "accept-encoding": "identity"}

    @property
    def _list_path(self) -> str | None:
        match self.provider.type:
            case "openai":
                return "/models"
            case "anthropic":
                return "/v1/models"
            case _:
                return None if self.provider.api_version else "/openai/v1/models"

    def _question(self, model: str) -> tuple[str, dict[str, Any]]:
        name = next((m.wire_model for m in self.provider.models if m.id == model), None) or model
        messages = [{"role": "user", "content": _ASKED}]
        if self.provider.type == "anthropic":
            body = {"model": name, "max_tokens": 32, "stream": True, "messages": messages}
            return "/v1/messages", body
        if self.provider.wire == "responses":
            return self._azure_path(name, "/responses"), {
                "model": name,
                "input": messages,
                "stream": True,
                "max_output_tokens": 256,
            }
        return self._azure_path(name, "/chat/completions"), {
            "model": name,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def _azure_path(self, model: str, path: str) -> str:
        if self.provider.type != "azure":
            return path
        version = self.provider.api_version
        if version is None:
            return f"/openai/v1{path}"
        query = urlencode({"api-version": version})
        return f"/openai/deployments/{model}{path}?{query}"

    def _url(self, path: str) -> str:
        path, _, query = path.partition("?")
        url = self.upstream.address(self.upstream.path + path, query)
        if url is None:
            raise _TrialFailed("address", "The address leads upwards. Write it without dots.")
        return url


def _first_to_talk(models: tuple[OfferedByProvider, ...] | None) -> str | None:
    return next((model.id for model in models or () if model.chat), None)


def _is_tls(error: BaseException) -> bool:
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, ssl.SSLError):
            return True
        found = found.__cause__ or found.__context__
    return "SSL" in str(error) or "certificate" in str(error).lower()
