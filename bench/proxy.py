"""(o) What the proxy in front of providers costs: the same model reached directly, through it by an
address, and through it by calls that the runtime hands over, as one in a cage does.

The proxy runs in the event loop that also reads what the runtime says, as in a server. Sessions are
fresh, and the ways alternate.
"""

import asyncio
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, Final, Literal, TypeAlias

from airboss.harness.providers import Upstream
from airboss.harness.proxy import ProviderProxy
from airboss.harness.tools import JOB_TOOL_OFFERS
from airboss.model.events import Event, MessageDelta
from airboss.model.ids import new_session_id
from airboss.model.redaction import Redactor
from airboss.runtime.agent_runtime import Runtime, RuntimePlan
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from airboss.runtime.session import RuntimeSession, open_session
from airboss.runtime.session_request import SessionRequest
from airboss.runtime.signals import Signal, TurnIdle
from bench.bare import TURN_SECONDS
from bench.figures import Pairs, spread
from bench.model import order
from bench.table import Line, Say
from bench.wire import Failed
from bench.workshop import Source, environment, flood

PIECES = 4000
# So many pieces, at so many a second.
CALM = (10, 100)
WARM_UP = 2

Way: TypeAlias = Literal["directly", "by an address", "handed over"]
WAYS: Final[tuple[Way, ...]] = ("directly", "by an address", "handed over")


@dataclass
class _Ways:
    """Where a session asks its model: at the source itself, or at an address of the proxy. One
    runtime makes its calls itself, and the other hands them over."""

    runtime: Runtime
    handing: Runtime
    proxy: ProviderProxy
    source: Source
    work: Path

    async def flooded(self, pieces: int, way: Way) -> "_Heard":
        """Turns in a session of its own: to warm up, calm, and as fast as can be."""
        lent, is_handed = None, way == "handed over"
        provider = self.source.provider()
        if way != "directly":
            key = {"authorization": f"Bearer {self.source.key}"}
            upstream = Upstream("flood", self.source.base_url, key, True)
            lent = await self.proxy.lend(upstream, handed=is_handed)
            provider |= {"base_url": lent.url}
        heard = _Heard()
        session = await self._open(self.handing if is_handed else self.runtime, provider, heard)
        try:
            await heard.turn(session, order(1, 0))
            await heard.turn(session, order(*CALM))
            heard.to_the_first = 1000 * (heard.first - heard.began)
            await heard.turn(session, order(pieces, 0))
        finally:
            await session.close()
            if lent is not None:
                lent.give_back()
        return heard

    async def _open(
        self, runtime: Runtime, provider: dict[str, Any], heard: "_Heard"
    ) -> RuntimeSession:
        request = SessionRequest(
            id=new_session_id(),
            cwd=self.work,
            model=self.source.model,
            hear=heard.hear,
            decide=_no,
            redactor=Redactor(),
            provider=provider,
            tools=JOB_TOOL_OFFERS,
        )
        return await open_session(runtime, request)


@dataclass
class _Heard:
    """When a turn began, and when its deltas came."""

    began: float = 0.0
    first: float = 0.0
    last: float = 0.0
    count: int = 0
    # What our process computed in the turn, in milliseconds of each piece.
    computed: float = 0.0
    # In milliseconds, of a turn without a flood: there the first delta waits behind the others.
    to_the_first: float = 0.0
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, said: Event | Signal) -> None:
        if isinstance(said, MessageDelta):
            self.last = time.perf_counter()
            self.first = self.first or self.last
            self.count += said.text.count("@")
        elif isinstance(said, TurnIdle):
            self.idle.set()

    async def turn(self, session: RuntimeSession, text: str) -> None:
        self.idle.clear()
        self.first, self.count, self.began = 0.0, 0, time.perf_counter()
        computed = time.process_time()
        await session.send(text)
        await asyncio.wait_for(self.idle.wait(), TURN_SECONDS)
        self.computed = 1000 * (time.process_time() - computed) / max(1, self.count)

    @property
    def rate(self) -> float:
        return self.count / (self.last - self.first)


async def _no(_: PermissionRequest) -> PermissionAnswer:
    return PermissionAnswer(allowed=False, reason="Nothing here needs it.")


@dataclass
class _Figures:
    """The time to the first delta in milliseconds, deltas a second, and CPU time of each."""

    firsts: Pairs = field(default_factory=Pairs)
    rates: Pairs = field(default_factory=Pairs)
    computed: Pairs = field(default_factory=Pairs)

    def add(self, direct: "_Heard", proxied: "_Heard") -> None:
        for heard, side in ((direct, "bare"), (proxied, "portal")):
            getattr(self.firsts, side).append(heard.to_the_first)
            getattr(self.rates, side).append(heard.rate)
            getattr(self.computed, side).append(heard.computed)


async def _rounds(ways: _Ways, count: int, pieces: int) -> dict[Way, _Figures]:
    """Of each way but the first, beside the first."""
    figures: dict[Way, _Figures] = {way: _Figures() for way in WAYS[1:]}
    for number in range(-WARM_UP, count):
        turn = number % len(WAYS)
        order = (*WAYS[turn:], *WAYS[:turn])
        heard = {way: await ways.flooded(pieces, way) for way in order}
        if any(one.count != pieces for one in heard.values()):
            raise Failed(f"{[one.count for one in heard.values()]} of {pieces} pieces came.")
        if number >= 0:
            for way, known in figures.items():
                known.add(heard[WAYS[0]], heard[way])
    return figures


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    work = folder / "work"
    work.mkdir()
    plan = RuntimePlan(folder / "home", f"bench-{os.getpid()}", environ=environment(()))
    proxy = ProviderProxy()
    handing = replace(plan, home=folder / "other", request_handler=proxy.answer_handed)
    runtimes = Runtime(plan), Runtime(handing)
    try:
        async with flood() as source:
            ways = _Ways(*runtimes, proxy, source, work)
            figures = await _rounds(ways, 10 if quick else 40, PIECES)
    finally:
        for runtime in runtimes:
            await runtime.stop()
        await proxy.close()
    return [line for way, known in figures.items() for line in _lines(way, known, say)]


def _lines(way: Way, figures: _Figures, say: Say) -> list[Line]:
    firsts, rates = figures.firsts, figures.rates
    share, added = spread(rates.ratios), spread(firsts.differences)
    computed = spread(figures.computed.differences)
    say(f"{way}: {100 * share.middle:.0f} % of the rate, {added.middle:.1f} ms to the first delta")
    return [
        Line(
            "o",
            f"the rate of {PIECES} deltas through the proxy, {way}",
            f"{share.words(' times', 3)}; {median(rates.bare):.0f} deltas/s directly, "
            f"{median(rates.portal):.0f}/s through the proxy; "
            f"{computed.words(' ms', 3)} more CPU time a delta; {len(rates.bare)} pairs",
            "≥ 90 %",
            share.middle >= 0.9,
        ),
        Line(
            "o",
            f"to the first delta through the proxy, {way}",
            f"{added.words(' ms', 2)} added; {spread(firsts.bare).words(' ms')} directly, "
            f"{spread(firsts.portal).words(' ms')} through the proxy",
            "≤ 5 ms added",
            added.middle <= 5,
        ),
    ]
