"""The runtime's events about how full the context is and how it is made shorter, in our words."""

from collections.abc import Mapping
from typing import Any

from airboss.model.context_events import CompactionEnded, CompactionStarted, ContextMeasured
from airboss.model.excerpt import MOST_OF_A_REASON, Redacting, excerpt, name_of
from airboss.runtime.amounts import count_of, known_count_of
from airboss.runtime.blocks import Said
from airboss.runtime.signals import Compacted, UsageSeen


class ContextGauge:
    """Of one session's own agent: sub-agents have contexts of their own."""

    def __init__(self, redactor: Redacting) -> None:
        self._redactor = redactor
        # How full it was when that was last told, in hundredths.
        self._fill: int | None = None

    def hear(self, kind: str, data: Mapping[str, Any], said: Said) -> None:
        match kind:
            case "session.usage_info":
                self._measure(data, said)
            case "session.compaction_start":
                before = known_count_of(data.get("currentTokens"))
                said.append(CompactionStarted(trigger=_trigger(data), before=before))
            case _:
                self._end_compaction(data, said)

    def _measure(self, data: Mapping[str, Any], said: Said) -> None:
        """Told at every call of a model; worth an event only where a gauge would move."""
        tokens, limit = known_count_of(data["currentTokens"]), known_count_of(data["tokenLimit"])
        if tokens is None or limit is None:
            return
        fill = _hundredths(tokens, limit)
        if fill != self._fill:
            self._fill = fill
            said.append(ContextMeasured(tokens=tokens, limit=limit))

    def _end_compaction(self, data: Mapping[str, Any], said: Said) -> None:
        if data.get("success", True):
            said.append(Compacted())
        _count(data.get("compactionTokensUsed"), said)
        after = known_count_of(data.get("postCompactionTokens"))
        limit = known_count_of(data.get("tokenLimit"))
        if after is not None and limit is not None:
            self._fill = _hundredths(after, limit)
        ended = CompactionEnded(
            trigger=_trigger(data),
            before=known_count_of(data.get("preCompactionTokens")),
            after=after,
            removed=count_of(data.get("messagesRemoved")),
            error=self._why_not(data),
        )
        said.append(ended)

    def _why_not(self, data: Mapping[str, Any]) -> str | None:
        if data.get("success", True) or data.get("outcomeReason") == "nothing_to_compact":
            return None
        why = str(data.get("error") or "It was stopped.")
        return excerpt(self._redactor, why, MOST_OF_A_REASON)


def _count(used: Mapping[str, Any] | None, said: Said) -> None:
    """It is a call of the model like any other, and no other event tells what it took."""
    if used:
        tokens = (count_of(used.get("inputTokens")), count_of(used.get("outputTokens")))
        cached = count_of(used.get("cacheReadTokens"))
        model = name_of(str(used.get("model")))
        said.append(UsageSeen(model, *tokens, 0.0, sub_agent=False, cached_tokens=cached))


def _hundredths(tokens: int, limit: int) -> int:
    return 100 * tokens // max(1, limit)


def _trigger(data: Mapping[str, Any]) -> str:
    return name_of(str(data.get("trigger") or "unknown"))
