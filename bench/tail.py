"""(d) Reading the end of a stream: as fast when it is long."""

import time
from pathlib import Path
from statistics import median

from airboss.log import rows
from airboss.log.writer import now_ms
from airboss.model.events import Event, Recorded, SessionOpened, TurnRetrying
from airboss.model.ids import TurnId
from airboss.model.views import SessionView, fold
from airboss.store.database import Database
from airboss.store.dialect import Append, Growth
from airboss.store.folder import DataFolder
from airboss.store.sqlite_database import SqliteDatabase
from airboss.store.view_rows import view_row
from bench.figures import percentile
from bench.table import Line, Say
from bench.wire import Caller, Failed, calling
from bench.workshop import airboss, prepare

PAGE = 100
READS = 300
WARM_UP = 20
AT_ONCE = 20_000


async def _fill(database: Database, stream: str, length: int, work: Path) -> None:
    """A stream as it lies on the disk after a long life."""
    at = now_ms()
    opened: Event = SessionOpened(model="bench", cwd=str(work), policy="deny-all", who="bench")
    view = fold(None, stream, 1, at, opened)
    middle: Event = TurnRetrying(turn=TurnId("turn"), reason="The service was busy, once more.")
    body = Recorded.of(1, at, middle).body
    for first in range(1, length + 1, AT_ONCE):
        batch = [
            rows.row_of(stream, Recorded(seq, at, body), middle.kind, None, None)
            for seq in range(first, min(length, first + AT_ONCE - 1) + 1)
        ]
        if first == 1:
            start = Recorded.of(1, at, opened)
            batch[0] = rows.row_of(stream, start, opened.kind, None, None)
        growth = Growth(stream, batch[0][1], batch[-1][1], 0)
        said = Append("here", [growth], batch)
        await database.write(lambda c, said=said: database.dialect.append(c, said))
    if view is None:
        raise Failed("A session that was opened has no view.")
    last = SessionView.model_validate({**view.model_dump(), "seq": length, "state": "closed"})
    seen = Append("here", [], [], views=[view_row(last)])
    await database.write(lambda c: database.dialect.append(c, seen))


async def _read(caller: Caller, stream: str, length: int) -> float:
    """A page, asked for as a client does that was told how long the stream is."""
    began = time.perf_counter()
    page = await caller.get(f"/api/v1/sessions/{stream}/events?after={length - PAGE}&limit={PAGE}")
    taken = 1000 * (time.perf_counter() - began)
    if len(page["items"]) != PAGE or page["seq"] != length:
        raise Failed(f"{len(page['items'])} events at the end of a stream of {length}.")
    return taken


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    lengths = (PAGE, 10_000, 100_000 if quick else 1_000_000)
    data, work = prepare(folder)
    database = SqliteDatabase(DataFolder(data).database)
    await database.open()
    for length in lengths:
        await _fill(database, f"ses_{length}", length, work)
        say(f"filled a stream of {length:,} events")
    await database.close()
    found: dict[int, list[float]] = {length: [] for length in lengths}
    async with airboss(folder) as server, calling(server.address) as caller:
        for number in range(WARM_UP + READS):
            for length in lengths:  # by turns, so that a busy moment hits all of them
                taken = await _read(caller, f"ses_{length}", length)
                if number >= WARM_UP:
                    found[length].append(taken)
    return [_line(found, say)]


def _line(found: dict[int, list[float]], say: Say) -> Line:
    middles = {length: median(taken) for length, taken in found.items()}
    words = ", ".join(
        f"{length:,}: {middles[length]:.1f} ms (p99 {percentile(taken, 0.99):.1f})"
        for length, taken in found.items()
    )
    ratio = max(middles.values()) / min(middles.values())
    say(f"the last {PAGE} events: {words}")
    what = f"the last {PAGE} events of a stream, over HTTP"
    return Line("d", what, f"{words}; {ratio:.2f} times", "flat: ≤ 1.5 times", ratio <= 1.5)
