"""Sends spans to the collector. Nobody waits for it: what does not fit into its queue is lost."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import httpx2

from airboss.background import Background
from airboss.errors import AirbossError
from airboss.net.address_guard import AddressBlocked, Egress
from airboss.net.egress import guarded_client
from airboss.telemetry.wire import as_json, count_spans, rejected_in
from airboss.telemetry_settings import Telemetry

if TYPE_CHECKING:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

# What waits while the collector is away: minutes of a busy server.
MOST_BYTES: Final = 4 * 1024 * 1024
_SECONDS: Final = 10.0
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 60.0
# A later try may go better; whatever else a collector answers, it will answer again.
_PASSING: Final = frozenset({429, 502, 503, 504})
_MOST_OF_AN_ANSWER: Final = 64 * 1024

_log = logging.getLogger("airboss.telemetry")


class _NotTaken(Exception):
    """The collector did not take it; where it is `final`, it never will."""

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


@dataclass(frozen=True)
class _Parcel:
    body: bytes = field(repr=False)
    spans: int


@dataclass
class SpanSender:
    """One way to one collector."""

    telemetry: Telemetry
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    most_bytes: int = MOST_BYTES
    first_pause: float = _FIRST_PAUSE
    # How many arrived and were lost, and why the last attempt failed, where it did.
    sent: int = 0
    lost: int = 0
    trouble: str | None = None
    _waiting: deque[_Parcel] = field(default_factory=deque[_Parcel])
    _bytes: int = 0
    _some: asyncio.Event = field(default_factory=asyncio.Event)
    _empty: asyncio.Event = field(default_factory=asyncio.Event)
    _background: Background = field(default_factory=lambda: Background("telemetry"))

    def start(self) -> None:
        self._empty.set()
        self._background.start(self._work(), "sender")

    def put(self, message: "ExportTraceServiceRequest") -> None:
        """Returns at once, whatever the collector does."""
        spans = count_spans(message)
        if not spans:
            return
        is_json = self.telemetry.protocol == "http/json"
        body = as_json(message) if is_json else message.SerializeToString()
        if self._bytes + len(body) > self.most_bytes:
            self.lost += spans
            return
        self._waiting.append(_Parcel(body, spans))
        self._bytes += len(body)
        self._empty.clear()
        self._some.set()

    @property
    def waiting(self) -> int:
        return sum(parcel.spans for parcel in self._waiting)

    async def close(self, seconds: float) -> None:
        """What waits is sent within so many seconds, or not at all."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds if self.trouble is None else 0):
                await self._empty.wait()
        await self._background.close(cancel=True)

    async def _work(self) -> None:
        egress = Egress(self.telemetry.allows_private)
        async with guarded_client(egress, _SECONDS) as client:
            pause = self.first_pause
            while True:
                while not self._waiting:
                    self._empty.set()
                    self._some.clear()
                    await self._some.wait()
                try:
                    async with asyncio.timeout(_SECONDS):
                        rejected = await self._send(client, self._waiting[0])
                except (_NotTaken, TimeoutError) as error:
                    self._tell(str(error) or f"it did not answer within {_SECONDS:g} s")
                    if isinstance(error, _NotTaken) and error.final:
                        self.lost += self._drop()
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE)
                else:
                    self._tell(None)
                    spans = self._drop()
                    lost = min(rejected, spans)
                    self.sent, self.lost = self.sent + spans - lost, self.lost + lost
                    pause = self.first_pause

    def _drop(self) -> int:
        parcel = self._waiting.popleft()
        self._bytes -= len(parcel.body)
        return parcel.spans

    async def _send(self, client: httpx2.AsyncClient, parcel: _Parcel) -> int:
        """How many of its spans the collector threw away."""
        is_json = self.telemetry.protocol == "http/json"
        kind = "application/json" if is_json else "application/x-protobuf"
        headers = {**self.headers, "content-type": kind}
        try:
            async with client.stream(
                "POST", self.telemetry.traces_url, content=parcel.body, headers=headers
            ) as answer:
                status, body = answer.status_code, b""
                what = answer.headers.get("content-type", "")
                async for piece in answer.aiter_raw():
                    body += piece
                    if len(body) > _MOST_OF_AN_ANSWER:
                        break
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _NotTaken(str(error) or type(error).__name__) from error
        except AddressBlocked as error:
            allow = " If it is meant, set private = true." if error.is_private else ""
            raise _NotTaken(f"{error}.{allow}") from error
        except AirbossError as error:
            raise _NotTaken(str(error)) from error
        if not 200 <= status < 300:
            raise _NotTaken(f"it answered {status}", final=status not in _PASSING)
        if what.startswith("text/html"):
            raise _NotTaken("it answered with a web page, so it is no collector")
        return rejected_in(body, is_json=is_json)

    def _tell(self, trouble: str | None) -> None:
        """In the log once, however often it fails, and once when it works again."""
        if trouble and self.trouble is None:
            _log.warning(
                "Traces cannot be sent to %s: %s. The work goes on without them.",
                self.telemetry.host,
                trouble,
            )
        elif trouble is None and self.trouble is not None:
            _log.warning(
                "Traces are sent to %s again; %d spans were lost.", self.telemetry.host, self.lost
            )
        self.trouble = trouble
