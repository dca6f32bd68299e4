"""`python -m bench [rows]`: measures, tells how it goes, and writes the table."""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench import delays, generator, tail, turns, viewers, weight
from bench.table import RESULTS, Line, Say, page

Measure = Callable[[Path, bool, Say], Awaitable[list[Line]]]

ROW_SECONDS = 300.0
# The quiet ones first: a start is measured on a machine that did nothing before.
ROWS: tuple[tuple[str, str, Measure], ...] = (
    ("f", "start", weight.measure_start),
    ("e", "memory", weight.measure_memory),
    ("d", "the end of long streams", tail.measure),
    ("a", "turns", turns.measure),
    ("b", "delays through the runtime", delays.measure),
    ("b", "delays of the log alone", generator.measure),
    ("c", "viewers", viewers.measure),
)


async def _measure(wanted: str, quick: bool) -> list[Line]:
    lines: list[Line] = []
    for row, name, measure in ROWS:
        if row in wanted:
            began = time.monotonic()
            say = _teller(row, name)
            with tempfile.TemporaryDirectory(prefix="airboss-bench-") as folder:
                async with asyncio.timeout(ROW_SECONDS):
                    lines += await measure(Path(folder), quick, say)
            say(f"took {time.monotonic() - began:.0f} s")
    return sorted(lines, key=lambda line: line.row)


def _teller(row: str, name: str) -> Say:
    return lambda words: print(f"({row}) {name}: {words}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[*"abcdef", []], help="all when left out")
    parser.add_argument("--quick", action="store_true", help="fewer of everything, no table")
    asked = parser.parse_args()
    wanted = "".join(asked.rows) or "abcdef"
    began = time.monotonic()
    lines = asyncio.run(_measure(wanted, asked.quick))
    text = page(lines, time.monotonic() - began, asked.quick)
    print(text)
    if not asked.rows and not asked.quick:
        RESULTS.write_text(text, encoding="utf-8")
        print(f"Written to {RESULTS.name}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
