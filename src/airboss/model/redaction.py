"""Secrets leave a text before it is stored or sent: known values, and shapes only secrets have."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol, cast

from airboss.model.secret_shapes import (
    KEY,
    KEY_IS_OPEN,
    KEY_LINE,
    KEY_START,
    LONGEST_KEY,
    LONGEST_SHAPE,
    NAMED,
    OTHER_STARTS,
    RUNNING,
    SHAPE_STARTS,
    SHAPES,
    is_file_name,
)

MASK = "[secret removed]"


def _parts_of(words: Iterable[str]) -> list[str]:
    """The beginnings of these words, longest first."""
    parts = {word[:length] for word in words for length in range(1, len(word))}
    return sorted(parts, key=len, reverse=True)


# From here on looking for words first is worth it.
_LONG = 1024
# Shorter values would be found inside ordinary words.
_SHORTEST_VALUE = 8
# Of what is renewed every hour or so: texts may still have the last ones.
_MOST_OF_ONE = 16
_SHAPE = "|".join(SHAPES)
_RUNNING = re.compile(RUNNING)
_LONGEST_START = max(map(len, SHAPE_STARTS))
_SHAPE_BEGINS = re.compile(
    rf"(?<![A-Za-z0-9_])(?:{'|'.join(re.escape(one) for one in _parts_of(SHAPE_STARTS))})\Z"
)
_KEY_IS_OPEN = re.compile(KEY_IS_OPEN)


def _beginnings(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The beginnings of these words by their last letter, longest first."""
    by_letter: dict[str, list[str]] = {}
    for part in _parts_of(words):
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


class Learn(Protocol):
    """As a redactor does it."""

    def __call__(self, *values: str, of: str = "") -> None: ...


@dataclass(frozen=True)
class Redactor:
    """Knows the secrets of this server. Made once; values that come later it learns, so that all
    who have it take them out from then on."""

    values: tuple[str, ...] = field(default=(), repr=False)
    # What stays although it looks like a secret; where this is none, nothing does.
    spared: frozenset[str] | None = field(default=None, repr=False)
    _renewed: dict[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]], init=False, repr=False, compare=False
    )
    _whole: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _begun: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)
    _words: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # A value read from a file may end with a line break that no text repeats.
        known = {value.strip() for value in self.values}
        values = sorted((v for v in known if len(v) >= _SHORTEST_VALUE), key=len, reverse=True)
        exact = [re.escape(value) for value in values]
        shapes = rf"(?<![A-Za-z0-9_])(?P<shape>{_SHAPE})"
        object.__setattr__(self, "_whole", re.compile("|".join([*exact, shapes, *NAMED, KEY])))
        object.__setattr__(self, "_words", (*values, *OTHER_STARTS, *SHAPE_STARTS))
        object.__setattr__(self, "_begun", _beginnings((*values, *OTHER_STARTS)))

    def learn(self, *values: str, of: str = "") -> None:
        """From now on these are secrets, too. What is known already costs nothing. `of` says whose
        they are where others come in their place again and again: the newest of one count."""
        past = self._past(values, of) if of else frozenset[str]()
        kept = tuple(value for value in self.values if value not in past)
        new = [value for value in values if value not in kept]
        if new or past:
            object.__setattr__(self, "values", (*kept, *new))
            self.__post_init__()

    def _past(self, values: Iterable[str], of: str) -> frozenset[str]:
        """Those of one that are too old by now. What others said, too, is not its own."""
        own = self._renewed.get(of, ())
        fresh = [value for value in values if value in own or value not in self.values]
        every = (*(value for value in own if value not in fresh), *fresh)
        self._renewed[of] = every[-_MOST_OF_ONE:]
        return frozenset(every[:-_MOST_OF_ONE])

    def sparing(self, names: Iterable[str]) -> "Redactor":
        """For what a person decides about: the name of a file stays readable, whatever it looks
        like. Known values leave it as ever."""
        looks = (found for name in names for found in self._whole.finditer(name))
        return replace(self, spared=frozenset(found[0] for found in looks if found["shape"]))

    def text(self, text: str) -> str:
        return self._whole.sub(self._masked, text) if self._may_hold(text) else text

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Where in it `text` would put a mask: for whoever shows parts of it."""
        for found in self._whole.finditer(text) if self._may_hold(text) else ():
            kept = len(self._masked(found).removesuffix(MASK))
            yield found.start() + kept, found.end()

    def _masked(self, found: re.Match[str]) -> str:
        """What stands in its place. What says that a secret follows stays."""
        if self.spared is not None and found["shape"]:
            stays = found[0] in self.spared or is_file_name(found)
            return found[0] if stays else MASK
        if self.spared is not None and found["key"]:
            return KEY_LINE.sub(MASK, found[0])
        return f"{found['name'] or found['address'] or ''}{MASK}"

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
        if settled == begin:
            return "", begin
        said: list[str] = []
        clean = len(text) > _LONG and not self._may_hold(text)
        for found in () if clean else self._whole.finditer(text, begin):
            if found.end() > settled:
                # What is held back may belong to a secret that is already whole: it stays whole.
                settled = min(settled, found.start())
                break
            said += (text[begin : found.start()], self._masked(found))
            begin = found.end()
        said.append(text[begin:settled])
        return "".join(said), settled

    def _open_end(self, text: str, begin: int) -> int:
        """Where the last part begins that might be the beginning of a secret."""
        end = len(text)
        if end == begin:
            return end
        for part in self._begun.get(text[-1], ()):
            if text.endswith(part):
                end -= len(part)
                break
        if shape := _SHAPE_BEGINS.search(text, max(begin, len(text) - _LONGEST_START)):
            end = min(end, shape.start())
        if running := _RUNNING.search(text, max(begin, len(text) - LONGEST_SHAPE)):
            end = min(end, running.start())
        key = text.rfind(KEY_START, max(begin, len(text) - LONGEST_KEY))
        if key >= 0 and _KEY_IS_OPEN.match(text, key):
            end = min(end, key)
        return max(begin, end)


@dataclass
class RedactingStream:
    """One text that arrives in pieces, told as the whole text would be: what might be the
    beginning of a secret waits for the rest."""

    redactor: Redactor
    # The last letter that was told, then what is held back: a shape does not begin inside a word.
    _text: str = ""
    _given: int = 0

    def feed(self, text: str) -> str:
        return self._settle(text, is_end=False)

    def finish(self) -> str:
        return self._settle("", is_end=True)

    def _settle(self, text: str, *, is_end: bool) -> str:
        whole = self._text + text
        said, settled = self.redactor.settle(whole, self._given, is_end=is_end)
        kept = max(0, settled - 1)
        self._text, self._given = whole[kept:], settled - kept
        return said
