"""(a) What a turn costs through Airboss, over the bare SDK doing the same turns."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from pathlib import Path
from statistics import median

from bench.bare import Session, bare_client, bare_session
from bench.figures import Pairs, spread
from bench.portal import portal_session
from bench.table import Line, Say
from bench.workshop import airboss, rehearsal

EMPTY = "say yes"
SECOND = "talk for a second"
# A session's history makes its next turn dearer, so that both sides begin anew after so many.
TURNS_A_SESSION = 25
AT_ONCE = 10
WARM_UP = 3

Open = Callable[[], AbstractAsyncContextManager[Session]]


async def _timed(session: Session, text: str) -> float:
    began = time.perf_counter()
    await session.turn(text)
    return 1000 * (time.perf_counter() - began)


async def _at_once(sessions: list[Session], text: str) -> list[float]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_timed(session, text)) for session in sessions]
    return [task.result() for task in tasks]


async def _open(stack: AsyncExitStack, opening: Open, count: int) -> list[Session]:
    sessions = [await stack.enter_async_context(opening()) for _ in range(count)]
    for _ in range(WARM_UP):
        await _at_once(sessions, EMPTY)
    return sessions


async def _pairs(bare: Open, portal: Open, text: str, count: int, width: int, say: Say) -> Pairs:
    """Turn by turn on one side and on the other; who goes first changes each time."""
    found, rounds = Pairs(), -(-count // width)
    done = 0
    while done < rounds:
        async with AsyncExitStack() as stack:
            sides = {
                "bare": await _open(stack, bare, width),
                "portal": await _open(stack, portal, width),
            }
            for number in range(done, min(rounds, done + TURNS_A_SESSION)):
                for side in ("bare", "portal") if number % 2 else ("portal", "bare"):
                    getattr(found, side).extend(await _at_once(sides[side], text))
                done += 1
        say(
            f"{done * width} pairs: {median(found.bare):.1f} ms bare, "
            f"{median(found.portal):.1f} ms through Airboss"
        )
    return found


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    count = 40 if quick else 400
    async with (
        rehearsal(folder) as source,
        airboss(folder, source) as server,
        bare_client(folder) as client,
    ):
        sides = (
            partial(bare_session, client, source, server.work),
            partial(portal_session, server, source),
        )
        empty = await _pairs(*sides, EMPTY, count, 1, say)
        second = await _pairs(*sides, SECOND, count, AT_ONCE, say)
    return [*_empty(empty), *_second(second)]


def _empty(pairs: Pairs) -> list[Line]:
    added = spread(pairs.differences)
    found = (
        f"{added.words(' ms')} added; {spread(pairs.bare).words(' ms')} bare, "
        f"{spread(pairs.portal).words(' ms')} through Airboss; {len(pairs.bare)} pairs"
    )
    return [Line("a", "an empty turn", found, "≤ 10 ms added", added.middle <= 10)]


def _second(pairs: Pairs) -> list[Line]:
    ratio = spread(pairs.ratios)
    found = (
        f"{ratio.words(' times', 3)}; {spread(pairs.bare).words(' ms', 0)} bare, "
        f"{spread(pairs.portal).words(' ms', 0)} through Airboss; "
        f"{len(pairs.bare)} pairs, {AT_ONCE} sessions at once"
    )
    return [
        Line("a", "a turn that streams for a second", found, "≤ 1.05 times", ratio.middle <= 1.05)
    ]
