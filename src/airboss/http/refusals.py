"""Requests that are not let in: why, how slowly they hear of it, and what the log says."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.types import Scope

from airboss.model.redaction import Redactor

WRONG_TOKEN_SECONDS = 0.3

_log = logging.getLogger("airboss.perimeter")


class RefusedAnswer(Exception):
    """An answer instead of what was asked for. `guessed`: a secret was shown, and it was wrong."""

    def __init__(self, status: int, code: str, detail: str, *, guessed: bool = False) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.guessed = guessed


TOO_MANY_GUESSES = RefusedAnswer(
    429,
    "too_many_guesses",
    "Too many wrong tokens or codes. Wait a moment; a valid token still works.",
)


class Guesses:
    """Makes wrong guesses wait, so many at a time; nobody else waits with them."""

    def __init__(self, at_once: int = 64, seconds: float = WRONG_TOKEN_SECONDS) -> None:
        self._at_once = at_once
        self._seconds = seconds
        self._waiting = 0

    async def hold(self) -> bool:
        """Waits, and says True; or says False at once, when too many are waiting already."""
        if self._waiting >= self._at_once:
            return False
        self._waiting += 1
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self._waiting -= 1
        return True


@dataclass
class RefusalLog:
    """One line for each, while they come slower than a flood; what a flood hides is counted."""

    burst: float = 200.0
    per_second: float = 20.0
    _credit: float = 200.0
    _since: float = 0.0
    _hidden: int = 0
    _timer: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self._credit = self.burst
        self._since = time.monotonic()

    def note(self, scope: Scope, status: int, reason: str) -> None:
        if not self._may_tell():
            return
        method = _printable(scope.get("method", scope["type"]), 20)
        path = _printable(scope["path"], 200)
        client = scope.get("client")
        _log.warning("Refused %s %s from %s: %d %s", method, path, _peer(client), status, reason)

    def note_malformed(self, client: tuple[str, int] | None) -> None:
        """Of what is no HTTP, there is nothing that could be named."""
        if self._may_tell():
            _log.warning("Refused a request from %s: 400 not valid HTTP", _peer(client))

    def _may_tell(self) -> bool:
        now = time.monotonic()
        self._credit = min(self.burst, self._credit + (now - self._since) * self.per_second)
        self._since = now
        if self._credit < 1:
            self._hide()
            return False
        self._credit -= 1
        return True

    def _hide(self) -> None:
        self._hidden += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(1.0, self._tell_hidden)

    def _tell_hidden(self) -> None:
        _log.warning("Refused %d more requests, too many to name each", self._hidden)
        self._hidden = 0
        self._timer = None


@dataclass
class RefusalExit:
    """How every refusal leaves: late, when something was guessed, and never without its line."""

    guesses: Guesses = field(default_factory=Guesses)
    log: RefusalLog = field(default_factory=RefusalLog)
    # Who else hears of it: the scope, the status and the code.
    witness: Callable[[Scope, int, str], None] | None = None

    async def refuse(self, scope: Scope, refused: RefusedAnswer) -> RefusedAnswer:
        """What to answer, when it is time to."""
        if refused.guessed and not await self.guesses.hold():
            refused = TOO_MANY_GUESSES
        self.note(scope, refused.status, refused.code)
        return refused

    def note(self, scope: Scope, status: int, code: str) -> None:
        self.log.note(scope, status, code)
        if self.witness:
            self.witness(scope, status, code)


_REDACTOR = Redactor()


def _printable(text: str, longest: int) -> str:
    """Nobody forges a line of the log, or leaves a secret in it, by what they ask for."""
    # Redacted before it is cut: half a token would not be recognised.
    shown = _REDACTOR.text(text).encode("unicode_escape").decode("ascii")
    return shown if len(shown) <= longest else f"{shown[:longest]}…"


def _peer(client: tuple[str, int] | None) -> str:
    return f"{client[0]}:{client[1]}" if client else "somebody"
