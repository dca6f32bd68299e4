"""What a row of the table is, and the page it stands on."""

import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

RESULTS = Path(__file__).with_name("RESULTS.md")
_SYNCS = 40
_AGAIN = "Measured again by themselves: "

# How a row goes, while it goes.
Say = Callable[[str], None]


@dataclass(frozen=True)
class Line:
    """One thing that was measured. `met` is None where there is no goal."""

    row: str
    what: str
    found: str
    goal: str = ""
    met: bool | None = None

    def cells(self) -> tuple[str, ...]:
        verdict = {True: "met", False: "**missed**", None: ""}[self.met]
        return (self.row, self.what, self.found, self.goal, verdict)


class Neighbours:
    """How much of the cores others took meanwhile: a figure of a busy machine is worth less."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._before = self._others()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def words(self) -> str:
        cores = max(0.0, self._others() - self._before) / self.seconds
        return f"Took {self.seconds:.0f} s, in which other programs used {cores:.1f} cores."

    def _others(self) -> float:
        """CPU seconds of all, less ours and those of all that we started and that has ended."""
        everybody, ours = psutil.cpu_times(), os.times()
        busy = sum(everybody) - everybody.idle - getattr(everybody, "iowait", 0.0)
        return busy - sum(ours[:4])


def page(lines: Sequence[Line], neighbours: Neighbours) -> str:
    head = ("", "measured", "found", "goal", "")
    rows = [_row(head), _row(("---",) * len(head)), *(_row(line.cells()) for line in lines)]
    table = "\n".join(rows)
    return (
        "# What it costs\n\n"
        "Written by `make bench`; [how to read it](../docs/benchmark.md).\n\n"
        f"{machine()} {neighbours.words()}\n\n"
        f"{table}\n"
    )


def renewed(old: str, lines: Sequence[Line], neighbours: Neighbours) -> str:
    """The page with these rows in the place of its own, and a word on which they are."""
    letters = sorted({line.row for line in lines})
    kept = [row for row in old.splitlines() if not _is_of(row, letters)]
    first = next(number for number, row in enumerate(kept) if row.startswith("| --- ")) + 1
    last = next((n for n, row in enumerate(kept) if n > first and not row.startswith("|")), None)
    rows = sorted([*kept[first:last], *(_row(line.cells()) for line in lines)], key=_letter)
    said = [row for row in kept[last:] if row] if last is not None else []
    if earlier := next((row for row in said if row.startswith(_AGAIN)), None):
        letters = sorted({*letters, *earlier.removeprefix(_AGAIN).partition(".")[0].split(", ")})
    note = f"{_AGAIN}{', '.join(letters)}. {machine()} {neighbours.words()}"
    return "\n".join([*kept[:first], *rows, "", note, ""])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _letter(row: str) -> str:
    return row[2:3]


def _is_of(row: str, letters: Sequence[str]) -> bool:
    return row.startswith("| ") and row[3:5] == " |" and _letter(row) in letters


def machine() -> str:
    memory = psutil.virtual_memory().total / 2**30
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GB, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}; writing 4 KB to disk for good takes {_sync():.1f} ms."
    )


def _sync() -> float:
    """The price of each promise: how long the disk takes to have something."""
    taken: list[float] = []
    with tempfile.TemporaryFile() as file:
        for _ in range(_SYNCS):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            taken.append(1000 * (time.perf_counter() - began))
    return median(taken)
