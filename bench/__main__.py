"""`python -m bench [rows]`: measures, tells how it goes, and writes the table. With `--soak` the
same work for an hour instead, which ends with an error where the server has grown."""

import argparse
import asyncio
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench import (
    caged_turns,
    cages,
    crowd,
    delays,
    entries,
    extensions,
    followed,
    gate,
    generator,
    inbox,
    jobs,
    losses,
    many_workers,
    output,
    postgres_costs,
    proxy,
    setups,
    soak,
    tail,
    tasks,
    turns,
    viewers,
    website,
    weight,
)
from bench.table import RESULTS, Line, Neighbours, Say, page, renewed

Measure = Callable[[Path, bool, Say], Awaitable[list[Line]]]

ROW_SECONDS = 480.0
EVERY_ROW = "abcdefghijklmnopqrst"
# The quiet ones first: a start is measured on a machine that did nothing before.
ROWS: tuple[tuple[str, str, Measure], ...] = (
    ("f", "start", weight.measure_start),
    ("h", "entries", entries.measure),
    ("e", "memory", weight.measure_memory),
    ("d", "the end of long streams", tail.measure),
    ("j", "the tool gate", gate.measure),
    ("k", "the inbox", inbox.measure),
    ("o", "the proxy in front of providers", proxy.measure),
    ("p", "sessions with a full setup", setups.measure_setup),
    ("q", "a pool of runtimes", setups.measure_pool),
    ("r", "cages", cages.measure),
    ("r", "turns and floods in cages", caged_turns.measure),
    ("s", "extensions", extensions.measure),
    ("t", "the log on PostgreSQL", followed.measure),
    ("t", "turns and tasks on PostgreSQL", postgres_costs.measure),
    ("t", "many workers", many_workers.measure),
    ("t", "losses", losses.measure),
    ("a", "turns", turns.measure),
    ("g", "tasks", tasks.measure),
    ("i", "jobs", jobs.measure),
    ("b", "delays through the runtime", delays.measure),
    ("b", "delays of the log alone", generator.measure),
    ("c", "viewers", viewers.measure),
    ("n", "many sessions", crowd.measure),
    ("l", "the pages", website.measure),
    ("m", "output without end", output.measure),
)


async def _measure(wanted: str, quick: bool) -> tuple[list[Line], bool]:
    """All lines, and whether every row came to its end."""
    lines: list[Line] = []
    whole = True
    for row, name, measure in ROWS:
        if row in wanted:
            say, began = _teller(row, name), time.monotonic()
            with tempfile.TemporaryDirectory(prefix="airboss-bench-") as folder:
                try:
                    async with asyncio.timeout(ROW_SECONDS):
                        lines += await measure(Path(folder), quick, say)
                except Exception:  # noqa: BLE001 - one row's trouble is not the next one's
                    traceback.print_exc()
                    whole = False
            say(f"took {time.monotonic() - began:.0f} s")
    return sorted(lines, key=lambda line: line.row), whole


def _teller(row: str, name: str) -> Say:
    return lambda words: print(f"({row}) {name}: {words}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="a to t; all when left out")
    parser.add_argument("--quick", action="store_true", help="fewer of everything, and no table")
    parser.add_argument(
        "--renew", action="store_true", help="write the rows that are named into the table"
    )
    parser.add_argument(
        "--soak",
        nargs="?",
        const=soak.DEFAULT,
        metavar="TIME",
        help="the same work for so long (90s, 10m, 1h), and no rows; an hour if nothing is said",
    )
    asked = parser.parse_args()
    if asked.soak is not None:
        try:
            seconds = soak.seconds_of(asked.soak)
        except ValueError as error:
            parser.error(str(error))
        return (
            0 if asyncio.run(soak.soak(seconds, _teller("soak", "the same work for long"))) else 1
        )
    wanted = "".join(asked.rows) or EVERY_ROW
    if not set(wanted) <= set(EVERY_ROW):
        parser.error(f"rows are {', '.join(EVERY_ROW)}")
    neighbours = Neighbours()
    lines, whole = asyncio.run(_measure(wanted, asked.quick))
    text = page(lines, neighbours)
    print(text)
    if asked.renew and asked.rows:
        text = renewed(RESULTS.read_text(encoding="utf-8"), lines, neighbours)
    if whole and not asked.quick and (asked.renew or not asked.rows):
        RESULTS.write_text(text, encoding="utf-8")
        print(f"Written to bench/{RESULTS.name}.")
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
