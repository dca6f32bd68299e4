"""Where each delta of a block ended, packed small: a reader inside a block gets just the rest."""

import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise


def _steps(numbers: Iterable[int]) -> bytes:
    return array("Q", (b - a for a, b in pairwise((0, *numbers)))).tobytes()


def _sums(packed: bytes) -> "array[int]":
    steps = array("Q")
    steps.frombytes(packed)
    return array("Q", accumulate(steps))


@dataclass(slots=True)
class Marks:
    """The seqs of a block's deltas and, for each, how much of the text was said by then.

    `base` is what was said before the first of them.
    """

    base: int = 0
    seqs: "array[int]" = field(default_factory=lambda: array("Q"))
    ends: "array[int]" = field(default_factory=lambda: array("Q"))

    def add(self, seq: int, end: int) -> None:
        self.seqs.append(seq)
        self.ends.append(end)

    @property
    def said(self) -> int:
        return self.ends[-1] if self.ends else self.base

    def said_by(self, seq: int) -> int:
        """How many characters a reader has who has read up to and including `seq`."""
        place = bisect_right(self.seqs, seq)
        return self.ends[place - 1] if place else self.base

    def runs(self) -> "Iterator[Marks]":
        """The deltas between which nothing else was said, together.

        Only these can be told as one: whoever stands at an event between two deltas has the first
        and lacks the second, whether it watched them come or reads them later.
        """
        begin, base = 0, self.base
        for place in range(1, len(self.seqs) + 1):
            if place == len(self.seqs) or self.seqs[place] != self.seqs[place - 1] + 1:
                yield Marks(base, self.seqs[begin:place], self.ends[begin:place])
                begin, base = place, self.ends[place - 1]

    def pack(self) -> bytes:
        # Steps are small and alike, so that they shrink to a few bits each.
        return zlib.compress(_steps(self.seqs) + _steps((self.base, *self.ends)), 1)

    @classmethod
    def unpack(cls, packed: bytes) -> "Marks":
        both = zlib.decompress(packed)
        width = array("Q").itemsize
        middle = len(both) // width // 2 * width  # the base makes the ends one longer than the seqs
        seqs, ends = _sums(both[:middle]), _sums(both[middle:])
        return cls(ends[0], seqs, ends[1:])
