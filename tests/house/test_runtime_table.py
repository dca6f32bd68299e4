"""Whatever the pinned SDK offers for a session is used, or left out with a reason."""

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from copilot import CopilotClient
from copilot.session import SessionHooks
from copilot.session_events import SessionEventType

from airboss.entry.schema import entry_schema
from scripts.runtime_capabilities import (
    CAPABILITIES,
    LEFT_OUT_EVENTS,
    LEFT_OUT_HOOKS,
    LEFT_OUT_OPTIONS,
    USED_EVENTS,
    USED_HOOKS,
    USED_OPTIONS,
    Capability,
)

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = "\n".join(
    file.read_text(encoding="utf-8") for file in (ROOT / "src/airboss/runtime").glob("*.py")
)
EVENTS = {kind.value for kind in SessionEventType}


def options() -> set[str]:
    calls = (CopilotClient.create_session, CopilotClient.resume_session)
    return {name for call in calls for name in inspect.signature(call).parameters} - {"self"}


def test_every_option_of_a_session_is_used_or_left_out_with_a_reason() -> None:
    assert options() == USED_OPTIONS | set(LEFT_OUT_OPTIONS)
    assert not USED_OPTIONS & set(LEFT_OUT_OPTIONS)
    assert not [
        name for name in USED_OPTIONS if f'"{name}"' not in RUNTIME and f"{name}=" not in RUNTIME
    ]


def test_every_hook_is_used_or_left_out_with_a_reason() -> None:
    assert set(SessionHooks.__annotations__) == USED_HOOKS | set(LEFT_OUT_HOOKS)
    assert not USED_HOOKS & set(LEFT_OUT_HOOKS)
    assert "_sdk_name(name)" in RUNTIME, "the names of hooks are made from ours"


def test_every_event_is_used_or_left_out_with_a_reason() -> None:
    assert USED_EVENTS | set(LEFT_OUT_EVENTS) == EVENTS
    assert not USED_EVENTS & set(LEFT_OUT_EVENTS)
    assert not [kind for kind in USED_EVENTS if f'"{kind}"' not in RUNTIME]


@pytest.mark.parametrize("one", CAPABILITIES, ids=lambda one: one.name)
def test_what_a_row_names_is_there(one: Capability) -> None:
    if one.left_out:
        assert not (one.test)
        assert not (one.key)
        assert not (one.field)
        assert not (one.command)
        return
    file, _, name = one.test.partition("::")
    assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")
    known = set(_names(entry_schema()))
    assert not [key for key in _words(one.key) if not set(key.split(".")) <= known]
    api = json.loads((ROOT / "docs/api.json").read_text(encoding="utf-8"))
    calls = {f"{verb.upper()} {path}" for path, verbs in api["paths"].items() for verb in verbs}
    fields = set(_names(api["components"]))
    for field in _words(one.field):
        call = field.replace(" /", " /api/v1/").replace("{s}", "{session}")
        assert call in calls if " " in field else field in fields, field
    pages = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
    assert not [said for said in _words(one.command) if " ".join(said.split()[:2]) not in pages]


def _words(said: str) -> list[str]:
    return [word.strip() for word in said.split(",") if word.strip()]


def _names(schema: Any) -> Iterator[str]:
    """Every name of a property, anywhere."""
    if isinstance(schema, dict):
        told = cast("dict[str, Any]", schema)
        properties = told.get("properties")
        if isinstance(properties, dict):
            yield from cast("dict[str, Any]", properties)
        for part in told.values():
            yield from _names(part)
    elif isinstance(schema, list):
        for part in cast("list[Any]", schema):
            yield from _names(part)
