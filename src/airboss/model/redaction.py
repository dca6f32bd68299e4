"""Secrets leave a text before it is stored or sent: known values, and shapes only secrets have."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import cast

MASK = "[secret removed]"

# Shapes that are published by those who issue them; a bare random string is not one of them.
_SHAPES = (
    r"gh[pousr]_[A-Za-z0-9]{20,255}",
    r"github_pat_[A-Za-z0-9_]{20,255}",
    r"sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,255}",
    r"xox[abprs]-[A-Za-z0-9-]{10,255}",
    r"AKIA[0-9A-Z]{16}",
    r"AIza[0-9A-Za-z_-]{35}",
    r"glpat-[A-Za-z0-9_-]{20,255}",
    r"airboss_[a-z0-9]{20,255}",
)
# How each of these shapes begins.
_STARTS = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "sk-", "AKIA", "AIza", "glpat-"),
    *("xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "airboss_"),
)
_LETTERS = r"[A-Za-z0-9_-]{0,255}"
# Longer than any shape: further back no shape can have begun that is not over.
_LONGEST_SHAPE = 300
# From here on looking for words first is worth it.
_LONG = 1024
# Shorter values would be found inside ordinary words.
_SHORTEST_VALUE = 8


def _beginnings(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The beginnings of these words by their last letter, longest first."""
    parts = {word[:length] for word in words for length in range(1, len(word))}
    by_letter: dict[str, list[str]] = {}
    for part in sorted(parts, key=len, reverse=True):
        by_letter.setdefault(part[-1], []).append(part)
    return {letter: tuple(found) for letter, found in by_letter.items()}


def cleaned(value: object, clean: Callable[[str], str]) -> object:
    """A value as JSON knows them, each text and each name in it cleaned."""
    match value:
        case str():
            return clean(value)
        case dict():
            items = cast("dict[str, object]", value).items()
            return {clean(name): cleaned(part, clean) for name, part in items}
        case list():
            return [cleaned(part, clean) for part in cast("list[object]", value)]
        case _:
            return value


@dataclass(frozen=True)
class Redactor:
    """Knows the secrets of this server. Made once; values that come later make a new one."""

    values: tuple[str, ...] = field(default=(), repr=False)
    _whole: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _running: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _begun: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)
    _words: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # A value read from a file may end with a line break that no text repeats.
        known = {value.strip() for value in self.values}
        values = sorted((v for v in known if len(v) >= _SHORTEST_VALUE), key=len, reverse=True)
        exact = [re.escape(value) for value in values]
        shapes = [rf"(?<![A-Za-z0-9_]){shape}" for shape in _SHAPES]
        starts = "|".join(re.escape(start) for start in _STARTS)
        object.__setattr__(self, "_whole", re.compile("|".join([*exact, *shapes])))
        object.__setattr__(self, "_running", re.compile(rf"(?:{starts}){_LETTERS}\Z"))
        object.__setattr__(self, "_words", (*values, *_STARTS))
        object.__setattr__(self, "_begun", _beginnings(self._words))

    def text(self, text: str) -> str:
        return self._whole.sub(MASK, text) if self._may_hold(text) else text

    def count(self, text: str) -> int:
        """How many secrets `text` would take out."""
        return sum(1 for _ in self._whole.finditer(text)) if self._may_hold(text) else 0

    def _may_hold(self, text: str) -> bool:
        """Looks for words where the expression looks at every letter: a tenth of the time, which
        counts where a text has megabytes."""
        return any(word in text for word in self._words)

    def stream(self) -> "RedactingStream":
        return RedactingStream(self)

    def settle(self, text: str, begin: int, *, is_end: bool) -> tuple[str, int]:
        """`text` from `begin` without its secrets, and where that stops: what follows may yet
        become part of one. What stands before `begin` was told and is only looked at."""
        settled = len(text) if is_end else self._open_end(text, begin)
        told: list[str] = []
        clean = len(text) > _LONG and not self._may_hold(text)
        for found in () if clean else self._whole.finditer(text, begin):
            if found.end() > settled:
                # What is held back may belong to a secret that is already whole: it stays whole.
                settled = min(settled, found.start())
                break
            told += (text[begin : found.start()], MASK)
            begin = found.end()
        told.append(text[begin:settled])
        return "".join(told), settled

    def _open_end(self, text: str, begin: int) -> int:
        """Where the last part begins that might be the beginning of a secret."""
        end = len(text)
        if end == begin:
            return end
        begun = self._begun.get(text[-1], ())
        if text.endswith(begun):
            end -= next(len(part) for part in begun if text.endswith(part))
        running = self._running.search(text, max(begin, len(text) - _LONGEST_SHAPE))
        return max(begin, min(end, running.start()) if running else end)


@dataclass
class RedactingStream:
    """One text that arrives in pieces, told as the whole text would be: what might be the
    beginning of a secret waits for the rest."""

    redactor: Redactor
    # The last letter that was told, then what is held back: a shape does not begin inside a word.
    _text: str = ""
    _told: int = 0

    def feed(self, text: str) -> str:
        return self._settle(text, is_end=False)

    def finish(self) -> str:
        return self._settle("", is_end=True)

    def _settle(self, text: str, *, is_end: bool) -> str:
        whole = self._text + text
        told, settled = self.redactor.settle(whole, self._told, is_end=is_end)
        kept = max(0, settled - 1)
        self._text, self._told = whole[kept:], settled - kept
        return told
