"""The body of an answer: unpacked where a service packed it, though it was asked not to, so that
its size is known and what it may not repeat is found.
"""

import json
import math
import re
import time
import zlib
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, cast

import httpx2

# zlib finds out itself which of the two it is.
_PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})
_ANY_FORM: Final = 32 + zlib.MAX_WBITS
_PIECE: Final = 64 * 1024
# What tells of an error is short.
_LONGEST_ERROR: Final = 64 * 1024
_LONGEST_SIGN: Final = 500
_PINGS: Final = frozenset((b"event: ping", b'data: {"type": "ping"}', b'data: {"type":"ping"}'))
_STATUSES: Final = range(400, 600)
_JSON: Final = re.compile(r"application/(?:[\w.-]+\+)?json\b", re.IGNORECASE)


class BrokenAnswer(Exception):
    """It cannot be passed on to its end."""


class TooLong(BrokenAnswer):
    """It has more than an answer may have."""


class NothingSaid(BrokenAnswer):
    """It goes on for too long without a word of the model."""


class NotPacked(BrokenAnswer):
    """It is not packed as it says, or not to its end."""


@dataclass(frozen=True)
class ToldError:
    """`status` is the one that it should have had, where it says so."""

    message: str
    status: int | None = None


@dataclass
class AnswerBody:
    """`most` is what it may have when it is unpacked, and `quiet` the time that it may go on with
    nothing but signs of life."""

    answer: httpx2.Response
    most: int
    quiet: float = math.inf
    _begun: list[bytes] = field(default_factory=list[bytes])

    def __post_init__(self) -> None:
        self._coming = self._pieces()

    @property
    def packing(self) -> str:
        """How it is packed; empty where it is not."""
        word = self.answer.headers.get("content-encoding", "").strip().lower()
        return "" if word == "identity" else word

    @property
    def can_be_read(self) -> bool:
        return not self.packing or self.packing in _PACKED

    async def error(self) -> "ToldError | None":
        """The error that an answer is which counts as good: some services tell each so."""
        if not _JSON.match(self.answer.headers.get("content-type", "")):
            return None
        size = 0
        async for piece in self._coming:
            self._begun.append(piece)
            size += len(piece)
            if size > _LONGEST_ERROR:
                return None
        return _error_in(b"".join(self._begun))

    async def pieces(self) -> AsyncGenerator[bytes]:
        for piece in self._begun:
            yield piece
        async for piece in self._coming:
            yield piece

    async def _pieces(self) -> AsyncGenerator[bytes]:
        packed = _Packed() if self.packing else None
        size, spoke = 0, time.monotonic()
        async for piece in self.answer.aiter_raw():
            for part in packed.taken_out(piece) if packed else (piece,):
                size += len(part)
                if size > self.most:
                    raise TooLong
                now = time.monotonic()
                if not _is_sign_of_life(part):
                    spoke = now
                elif now - spoke > self.quiet:
                    raise NothingSaid
                yield part
        if packed is not None:
            packed.must_be_whole()


def _is_sign_of_life(part: bytes) -> bool:
    """Comments and pings of a stream, which keep its connection open."""
    if len(part) > _LONGEST_SIGN:
        return False
    lines = (line.rstrip(b"\r") for line in part.split(b"\n"))
    return all(line[:1] in (b"", b":") or line in _PINGS for line in lines)


class _Packed:
    def __init__(self) -> None:
        self._open: Any = None

    def taken_out(self, piece: bytes) -> Iterator[bytes]:
        """In pieces that are not large: a thousand letters may stand for a million."""
        while piece:
            self._open = self._open or zlib.decompressobj(_ANY_FORM)
            yield from self._out_of(piece)
            piece = self._open.unused_data
            if self._open.eof:  # another one may follow
                self._open = None

    def _out_of(self, piece: bytes) -> Iterator[bytes]:
        is_full = True
        while is_full and not self._open.eof:
            try:
                part = cast("bytes", self._open.decompress(piece, _PIECE))
            except zlib.error as error:
                raise NotPacked from error
            piece, is_full = self._open.unconsumed_tail, len(part) == _PIECE
            if part:
                yield part

    def must_be_whole(self) -> None:
        if self._open is not None:
            raise NotPacked


def _error_in(body: bytes) -> ToldError | None:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    error = cast("dict[str, Any]", said).get("error") if isinstance(said, dict) else None
    if isinstance(error, str) and error:
        return ToldError(error)
    if not isinstance(error, dict) or not error:
        return None
    told = cast("dict[str, Any]", error)
    message, code = told.get("message") or json.dumps(told), told.get("code")
    is_status = isinstance(code, int) and code in _STATUSES
    return ToldError(str(message), code if is_status else None)
