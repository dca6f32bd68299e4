"""Reading costs as much for each task, however many there are."""

import gc
import json
from pathlib import Path

import pytest

from airboss.entry.load import load_entry
from airboss.tuning import VARIABLE


def searches_while_reading(path: Path) -> int:
    """How often somebody looked for garbage meanwhile."""
    found: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            found.append(info["generation"])

    gc.callbacks.append(note)
    try:
        load_entry(path)
    finally:
        gc.callbacks.remove(note)
    assert gc.isenabled()
    return len(found)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    task = {"prompt": ["Say yes."], "requireUserInput": False}
    names = [f"task-{number}" for number in range(1_000)]
    entry: dict[str, object] = {
        "models": {"driving": "m"},
        "promptVariables": {},
        "tasks": dict.fromkeys(names, task),
        "jobs": {},
        "grid": [],
    }
    path = tmp_path / "airboss.json"
    path.write_text(json.dumps(entry), encoding="utf-8")
    return path


@pytest.mark.parametrize(("left_off", "is_searched"), [("", False), ("freeze", True)])
def test_nobody_looks_for_garbage_in_what_is_being_read(
    large: Path, monkeypatch: pytest.MonkeyPatch, left_off: str, is_searched: bool
) -> None:
    monkeypatch.setenv(VARIABLE, left_off)
    # One may come behind it, when nothing is being read any more.
    assert (searches_while_reading(large) > 1) is is_searched


def test_the_search_goes_on_behind_an_entry_that_cannot_be_read(tmp_path: Path) -> None:
    bad = tmp_path / "airboss.json"
    bad.write_text("{", encoding="utf-8")
    with pytest.raises(Exception, match="JSON"):
        load_entry(bad)
    assert gc.isenabled()
