"""What a provider says of its models. Each service says more than the list of the API has, in its
own words; what nobody says is not known."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic import BaseModel, ConfigDict

# So many are shown: somebody chooses from them.
_MOST: Final = 1_000
_LONGEST_ID: Final = 200
# Where services say how much fits into a conversation, the narrowest first.
_CONTEXT: Final = (
    *("max_model_len", "context_length", "context_window", "max_context_length"),
    *("max_input_tokens", "context_size", "n_ctx"),
)
_NO_CHAT: Final = re.compile(
    r"embed|(^|[/-])(bge|e5|gte)[-_]|rerank|whisper|transcri|(^|-)tts|dall-e|moderation|-image|"
    r"stable-diffusion|flux|realtime|davinci|babbage",
    re.IGNORECASE,
)
_NO_CHAT_TYPES: Final = frozenset({"embedding", "embeddings", "reranker", "image", "audio", "tts"})


class OfferedByProvider(BaseModel):
    """One model of a provider's list."""

    model_config = ConfigDict(frozen=True)

    id: str
    # None where the provider does not say.
    context_tokens: int | None = None
    vision: bool | None = None
    efforts: bool | None = None
    # Whether one can talk with it, as far as its name and kind say.
    chat: bool = True


def models_in(listed: object) -> tuple[OfferedByProvider, ...] | None:
    """Those of an answer to `/models`, in its order. None where it is no list of models."""
    rows = cast("Mapping[str, Any]", listed).get("data") if isinstance(listed, dict) else listed
    if not isinstance(rows, list):
        return None
    found: dict[str, OfferedByProvider] = {}
    for row in cast("list[object]", rows)[:_MOST]:
        if isinstance(row, dict) and (model := _model(cast("Mapping[str, Any]", row))):
            found.setdefault(model.id, model)
    return tuple(found.values())


def _model(row: Mapping[str, Any]) -> OfferedByProvider | None:
    name = row.get("id")
    if not isinstance(name, str) or not re.fullmatch(rf"\S{{1,{_LONGEST_ID}}}", name):
        return None
    if not name.isprintable():  # nobody could type it, and half a letter goes over no wire
        return None
    return OfferedByProvider(
        id=name,
        context_tokens=_context(row),
        vision=_vision(row),
        efforts=_efforts(row),
        chat=_talks(name, row),
    )


def _context(row: Mapping[str, Any]) -> int | None:
    places = (row, _part(row, "meta"), _part(row, "top_provider"), _part(row, "limits"))
    names = (*_CONTEXT, "n_ctx_train", "max_context_window_tokens")
    said = (place.get(name) for place in places for name in names)
    return next((n for n in said if type(n) is int and 1_000 <= n <= 100_000_000), None)


def _vision(row: Mapping[str, Any]) -> bool | None:
    capable = _part(row, "capabilities")
    if isinstance(capable.get("vision"), bool):
        return capable["vision"]
    if row.get("type") == "vlm":
        return True
    seen = _part(row, "architecture").get("input_modalities") or row.get("input_modalities")
    return "image" in cast("list[object]", seen) if isinstance(seen, list) else None


def _efforts(row: Mapping[str, Any]) -> bool | None:
    capable = _part(row, "capabilities")
    if isinstance(capable.get("reasoning"), bool):
        return capable["reasoning"]
    taken = row.get("supported_parameters")
    if not isinstance(taken, list):
        return None
    return any(name in ("reasoning", "reasoning_effort") for name in cast("list[object]", taken))


def _talks(name: str, row: Mapping[str, Any]) -> bool:
    capable = _part(row, "capabilities")
    for key in ("completion_chat", "chat_completion"):
        if isinstance(capable.get(key), bool):
            return capable[key]
    if str(row.get("type", "")).lower() in _NO_CHAT_TYPES:
        return False
    return _NO_CHAT.search(name) is None


def _part(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = row.get(name)
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}
