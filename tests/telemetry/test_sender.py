"""A collector that is away, slow or refuses: nobody waits for it, and it is told once."""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from airboss.model.traces import trace_of
from airboss.telemetry.sender import SpanSender
from airboss.telemetry.spans import SpanMaker
from airboss.telemetry.story import EndedSpan
from airboss.telemetry_settings import Telemetry
from tests.telemetry.collector import collecting

pytestmark = pytest.mark.anyio
MAKER = SpanMaker("1")


def span(number: int = 1) -> EndedSpan:
    return EndedSpan("turn", trace_of(f"t{number}", None), None, 1000, 2000, {"airboss.n": number})


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 - nobody tells of it: that is the point
            await asyncio.sleep(0.01)


async def counts(sender: SpanSender, sent: int = 0, lost: int = 0) -> None:
    await until(lambda: (sender.sent, sender.lost) == (sent, lost))


async def test_a_collector_that_comes_back_gets_what_waited(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "airboss.telemetry")
    with collecting(503) as collector:
        sender = SpanSender(Telemetry(endpoint=collector.endpoint), first_pause=0.01)
        sender.start()
        for number in range(3):
            sender.put(MAKER.encoded([span(number)]))
        await until(lambda: sender.trouble is not None)
        assert (sender.trouble, sender.waiting) == ("it answered 503", 3)
        collector.answer = 200
        await counts(sender, sent=3)
        await sender.close(1)
        assert len({one.span for one in collector.spans}) == 3
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2, "told once, and once when it works again"
    assert told[0].endswith("it answered 503. The work goes on without them.")


async def test_what_is_refused_for_good_is_lost_and_the_rest_goes_on() -> None:
    with collecting(400) as collector:
        sender = SpanSender(Telemetry(endpoint=collector.endpoint), first_pause=0.01)
        sender.start()
        sender.put(MAKER.encoded([span(1), span(2)]))
        await counts(sender, lost=2)
        collector.answer = 200
        sender.put(MAKER.encoded([span(3)]))
        await counts(sender, sent=1, lost=2)
        await sender.close(1)


async def test_a_web_page_is_no_collector_though_it_says_that_all_is_well() -> None:
    with collecting() as page:
        page.kind, page.said = "text/html; charset=utf-8", b"<html>Welcome</html>"
        sender = SpanSender(Telemetry(endpoint=page.endpoint), first_pause=0.01)
        sender.start()
        sender.put(MAKER.encoded([span()]))
        await until(lambda: sender.trouble is not None)
        assert sender.trouble == "it answered with a web page, so it is no collector"
        assert (sender.sent, sender.waiting) == (0, 1)
        page.kind, page.said = "application/x-protobuf", b"\xff no protobuf"
        await counts(sender, sent=1)
        await sender.close(1)


@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
async def test_spans_that_a_collector_throws_away_count_as_lost(protocol: Any) -> None:
    some = ExportTraceServiceResponse()
    some.partial_success.rejected_spans = 2
    is_json = protocol == "http/json"
    with collecting() as collector:
        collector.said = MessageToJson(some).encode() if is_json else some.SerializeToString()
        endpoint = Telemetry(endpoint=collector.endpoint, protocol=protocol)
        sender = SpanSender(endpoint, first_pause=0.01)
        sender.start()
        sender.put(MAKER.encoded([span(number) for number in range(3)]))
        await counts(sender, sent=1, lost=2)
        sender.put(MAKER.encoded([span()]))
        await counts(sender, sent=1, lost=3)
        await sender.close(1)


async def test_nothing_waits_for_one_that_hangs_and_its_queue_is_bounded() -> None:
    with collecting(hangs=True) as collector:
        parcel = MAKER.encoded([span()])
        most = 10 * parcel.ByteSize()
        sender = SpanSender(Telemetry(endpoint=collector.endpoint), most_bytes=most)
        sender.start()
        began = time.monotonic()
        for _ in range(1000):
            sender.put(parcel)
        assert time.monotonic() - began < 1
        assert (sender.waiting, sender.lost) == (10, 990)
        began = time.monotonic()
        await sender.close(0.1)
        assert time.monotonic() - began < 2


async def test_one_that_is_away_or_private_is_told_in_words() -> None:
    for endpoint, why in (
        ("http://127.0.0.1:9", "failed"),
        ("https://10.0.0.1", "set private = true"),
        ("https://169.254.169.254", "a cloud keeps"),
    ):
        sender = SpanSender(Telemetry(endpoint=endpoint))
        sender.start()
        sender.put(MAKER.encoded([span()]))
        await until(lambda sender=sender: sender.trouble is not None)
        assert why in (sender.trouble or "")
        await sender.close(1)


async def test_json_has_ids_as_digits_and_times_as_text() -> None:
    with collecting() as collector:
        telemetry = Telemetry(endpoint=collector.endpoint, protocol="http/json")
        sender = SpanSender(telemetry, {"x-key": "abc"})
        sender.start()
        sender.put(MAKER.encoded([span()]))
        await counts(sender, sent=1)
        await sender.close(1)
        assert collector.headers[0]["content-type"] == "application/json"
        assert collector.headers[0]["x-key"] == "abc"
        said = json.loads(collector.bodies[0])["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
        assert said["traceId"] == trace_of("t1", None).trace
        assert said["spanId"] == trace_of("t1", None).span
        assert said["startTimeUnixNano"] == "1000000000"
        assert said["attributes"] == [{"key": "airboss.n", "value": {"intValue": "1"}}]
