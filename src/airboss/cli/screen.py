"""What reaches the terminal: safe text, colour where somebody looks, tables, a sign of waiting."""

import json
import math
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TextIO, TypeVar

from airboss.model import hidden

Told = TypeVar("Told")

# What is done sooner needs no sign of waiting.
_PATIENT_SECONDS: Final = 0.2
_ID: Final = re.compile(r"\b[a-z]{3}_[0-9a-z]{26}\b")
_LEAST_CELL: Final = 4
_SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_SPINNER: Final = "|/-\\"
_STYLES: Final = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
    "reverse": "7",
}


def visible(text: str) -> str:
    """Text of a model or a stranger, with everything that could drive a terminal made visible.

    For prose: emoji and spaces of all widths stay. A text that arrives in pieces is as safe as a
    whole one.
    """
    return hidden.visible_prose(text)


def visible_line(text: str, length: int | None = None) -> str:
    """A title, a name: on one line, not longer than `length`, and all that is hidden marked."""
    line = hidden.visible_line(text)
    return line if length is None or len(line) <= length else line[: length - 1] + "…"


@dataclass(frozen=True)
class Pen:
    """Writes to one stream, and knows whether somebody looks at it."""

    stream: TextIO
    is_terminal: bool
    has_colour: bool

    @classmethod
    def on(cls, stream: TextIO) -> "Pen":
        is_terminal = stream.isatty()
        wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return cls(stream, is_terminal, is_terminal and wanted)

    def write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()

    def line(self, text: str = "") -> None:
        self.write(text + "\n")

    def styled(self, text: str, *styles: str) -> str:
        if not self.has_colour or not styles or not text:
            return text
        return f"\x1b[{';'.join(_STYLES[style] for style in styles)}m{text}\x1b[0m"


def out() -> Pen:
    return Pen.on(sys.stdout)


def aside() -> Pen:
    """For people: what a script that reads the output does not want in it."""
    return Pen.on(sys.stderr)


def say_wrong(text: str) -> None:
    pen = aside()
    pen.line(f"{pen.styled('error:', 'red', 'bold')} {visible(text)}")


def print_json(value: Any) -> None:
    """One line of pure ASCII: safe for every terminal and every pipe."""
    out().line(json.dumps(value, separators=(",", ":")))


def print_table(heads: Sequence[str], rows: Iterable[Sequence[str]], pen: Pen) -> None:
    """A table where somebody looks; else one line a row, its cells parted by tabs."""
    cells = [[visible_line(cell) for cell in row] for row in rows]
    if not pen.is_terminal:
        for row in cells:
            pen.line("\t".join(row))
        return
    # Known only here: a script never pays for it.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    widths = [
        max((_id_width(row[place]) for row in cells), default=0) for place in range(len(heads))
    ]
    for head, width in zip(heads, widths, strict=True):
        table.add_column(head, overflow="fold", min_width=width or None)
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    # Where there is no room for ids, lines are longer than the terminal rather than ids in pieces.
    least = sum(width or _LEAST_CELL for width in widths) + len(widths) - 1
    console = Console(file=pen.stream, no_color=not pen.has_colour, highlight=False)
    console.width = max(console.width, least)
    console.print(table)


def _id_width(cell: str) -> int:
    """Of the longest word with an id in it: whoever copies one needs it in one piece."""
    return max((len(word) for word in cell.split() if _ID.search(word)), default=0)


class Spinner:
    """A turning sign on the terminal's last line, drawn by whoever waits; nothing in a pipe."""

    def __init__(self, pen: Pen, clock: Callable[[], float] = time.monotonic) -> None:
        self._pen = pen
        self._clock = clock
        self._since = clock()
        self._shown = False
        plain = (pen.stream.encoding or "").lower().replace("-", "") not in ("utf8", "utf16")
        self._signs = _PLAIN_SPINNER if plain else _SPINNER

    def restart(self) -> None:
        self._since = self._clock()

    def show(self, what: str) -> None:
        if not self._pen.is_terminal or os.environ.get("TERM") == "dumb":
            return
        passed = self._clock() - self._since
        sign = self._signs[int(passed * 10) % len(self._signs)]
        width = max(_width() - len(sign) - 10, 8)
        text = f"{sign} {visible_line(what, width)} {duration(passed)}"
        self._pen.write(f"\r\x1b[K{self._pen.styled(text, 'dim')}")
        self._shown = True

    def hide(self) -> None:
        if self._shown:
            self._pen.write("\r\x1b[K")
            self._shown = False


def waited(what: str, work: Callable[[], Told], limit: float = math.inf) -> Told:
    """Do the work while a sign on the terminal turns; a `TimeoutError` when it takes too long."""
    done: list[Told] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            done.append(work())
        except Exception as error:  # noqa: BLE001 - handed over to the thread that waits
            failed.append(error)

    waiting = Spinner(aside())
    until = time.monotonic() + limit
    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    worker.join(min(_PATIENT_SECONDS, limit))
    try:
        while worker.is_alive() and time.monotonic() < until:
            waiting.show(what)
            worker.join(0.1)
    finally:
        waiting.hide()
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError
    return done[0]


def width_of(pen: Pen) -> int:
    """Of the terminal that it writes to; 0 where it is none."""
    if not pen.is_terminal:
        return 0
    try:
        return os.get_terminal_size(pen.stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def duration(seconds: float) -> str:
    """`m:ss`, or `h:mm:ss`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def moment(at: int) -> str:
    """A time of the log on the reader's clock."""
    return datetime.fromtimestamp(at / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
