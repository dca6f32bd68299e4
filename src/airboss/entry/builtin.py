"""The entry that Airboss brings along, on the models that its caller says there are."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from airboss.entry.document import DRIVING, Entry, Task
from airboss.entry.load import load_entry

FILE: Final = Path(__file__).with_name("builtin.yaml")

REVIEWERS: Final = ("first-reviewer", "second-reviewer", "third-reviewer")

# The file has the first of each. The patterns outlive the ids, which are retired within a year.
PREFERRED: Final[Mapping[str, Sequence[str]]] = {
    DRIVING: ("gpt-5-mini", "gpt-4.1", "gpt-*-mini", "claude-haiku-*", "gemini-*-flash*"),
    "planning": ("claude-sonnet-4.5", "claude-sonnet-*", "gpt-5.2", "gpt-[5-9].?", "gemini-*-pro*"),
    "coding": ("gpt-5.2", "gpt-[5-9].?-codex", "gpt-[5-9].?", "claude-sonnet-*", "gemini-*-pro*"),
    "first-reviewer": ("claude-sonnet-4.5", "claude-sonnet-*", "claude-*"),
    "second-reviewer": ("gpt-5.2", "gpt-[5-9].?-codex", "gpt-[5-9].?", "gpt-*"),
    "third-reviewer": ("gemini-3-pro-preview", "gemini-*-pro*", "gemini-*"),
}

# Copilot's own choice, a new one each time: nobody could say which model did the work.
_ANY: Final = "auto"


def builtin_entry(offered: Sequence[str] = (), *, is_caged: bool = False) -> Entry:
    """The built-in entry on models that are offered; without any, on those that it wishes for.
    Tasks that do more than read work in a cage where `is_caged` says that one holds."""
    return _on(tuple(offered), is_caged)


@cache
def _shipped() -> Entry:
    return load_entry(FILE, prefix="built-in ")


@lru_cache(maxsize=32)  # the models on offer change now and then
def _on(offered: tuple[str, ...], is_caged: bool) -> Entry:
    entry = _shipped()
    models = {"models": _choose(offered)} if offered else {}
    tasks = {"tasks": _caged(entry)} if is_caged else {}
    return entry.model_copy(update={**models, **tasks}) if offered or is_caged else entry


def _caged(entry: Entry) -> dict[str, Task]:
    """Those that only read say so themselves."""
    return {
        name: task if task.permissions else task.model_copy(update={"permissions": "caged"})
        for name, task in entry.tasks.items()
    }


def _choose(offered: tuple[str, ...]) -> dict[str, str]:
    """A model for each category. Reviewers are different ones while there are others."""
    named = tuple(model for model in offered if model != _ANY) or offered
    chosen: dict[str, str] = {}
    for category, requests in PREFERRED.items():
        taken = {chosen[other] for other in REVIEWERS if other in chosen}
        others = tuple(model for model in named if model not in taken)
        is_reviewer = category in REVIEWERS
        chosen[category] = _first(requests, others if is_reviewer and others else named)
    return chosen


def _first(requests: Sequence[str], offered: tuple[str, ...]) -> str:
    hits = (model for request in requests for model in offered if _is(request, model))
    return next(hits, offered[0])


def _is(request: str, model: str) -> bool:
    """Whether it is the wished one, from Copilot or as `provider/model` from one's own provider."""
    return fnmatchcase(model, request) or fnmatchcase(model.partition("/")[2], request)
