"""How the last requests to providers of one's own went: fine, or failing since when and why."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from airboss.log.writer import now_ms

# What says something about the provider and not about the request.
_STATUSES: Final = {
    401: "401: the key was refused.",
    402: "402: it wants to be paid first.",
    403: "403: the key may not do this.",
    429: "429: too many requests.",
}


@dataclass(frozen=True)
class Health:
    """`cause` is None where the last request was answered."""

    since: int
    cause: str | None = None
    # Until the first word of the last test.
    first_word_ms: int | None = None


@dataclass
class ProviderHealth:
    """By the name of the provider. `announce` is called when one changes between the two."""

    announce: Callable[[], None] = lambda: None
    _known: dict[str, Health] = field(default_factory=dict[str, Health])

    def of(self, provider: str) -> Health | None:
        return self._known.get(provider)

    def answered(self, provider: str, status: int) -> None:
        cause = _STATUSES.get(status) or (f"{status}: it has an error." if status >= 500 else None)
        if cause is not None:
            self.failing(provider, cause)
        elif status < 400:
            self.fine(provider)

    def fine(self, provider: str, first_word_ms: int | None = None) -> None:
        before = self._known.get(provider)
        if before is not None and before.cause is None and first_word_ms is None:
            return
        first = first_word_ms or (before and before.first_word_ms)
        self._known[provider] = Health(now_ms(), None, first)
        self.announce()

    def failing(self, provider: str, cause: str) -> None:
        before = self._known.get(provider)
        if before is not None and before.cause == cause:
            return
        if before is not None and before.cause is not None:
            self._known[provider] = replace(before, cause=cause)
        else:
            self._known[provider] = Health(now_ms(), cause, before and before.first_word_ms)
        self.announce()

    def forget(self, provider: str) -> None:
        self._known.pop(provider, None)
