"""A few lines at the end of the terminal that are drawn again in place."""

import os
from collections.abc import Sequence
from typing import Final, TypeAlias
from unicodedata import combining, east_asian_width

from airboss.cli.screen import Pen

Line: TypeAlias = Sequence[tuple[str, tuple[str, ...]]]
"""Parts of a line, each with its styles. Their text is safe already."""

# A line is never longer than the terminal is wide: one that is broken would be two.
_NO_WRAP: Final = "\x1b[?7l"
_WRAP: Final = "\x1b[?7h"


class Frame:
    """Lines that change. Whoever writes something else in between hides them first."""

    def __init__(self, pen: Pen) -> None:
        self._pen = pen
        self._drawn = 0

    @property
    def size(self) -> tuple[int, int]:
        """How wide a line may be, and how many there may be."""
        try:
            columns, rows = os.get_terminal_size(self._pen.stream.fileno())
        except (OSError, ValueError):
            columns, rows = 0, 0
        return columns or 80, max((rows or 24) - 1, 1)

    def draw(self, lines: Sequence[Line]) -> None:
        width = self.size[0]
        text = "".join(f"{self._line(line, width)}\x1b[K\n" for line in lines)
        self._pen.write(f"{self._back}{_NO_WRAP}{text}{_WRAP}\x1b[J")
        self._drawn = len(lines)

    def hide(self) -> None:
        if self._drawn:
            self._pen.write(f"{self._back}\x1b[J")
            self._drawn = 0

    def keep(self, lines: Sequence[Line]) -> None:
        """For good: what comes next stands below. Here lines may be as long as they are."""
        self.hide()
        for line in lines:
            self._pen.line(styled(line, self._pen))

    @property
    def _back(self) -> str:
        return f"\r\x1b[{self._drawn}A" if self._drawn else "\r"

    def _line(self, line: Line, width: int) -> str:
        return styled(cut(line, width), self._pen)


def styled(line: Line, pen: Pen) -> str:
    return "".join(pen.styled(text, *styles) for text, styles in line)


def cut(line: Line, width: int) -> Line:
    """The part of a line that is not wider than `width` cells of a terminal."""
    if sum(_cells(text) for text, _ in line) <= width:
        return line
    left, parts = width - 1, list[tuple[str, tuple[str, ...]]]()
    for text, styles in line:
        for place, letter in enumerate(text):
            left -= _cells(letter)
            if left < 0:
                return [*parts, (f"{text[:place]}…", styles)]
        parts.append((text, styles))
    return parts


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text
    )
