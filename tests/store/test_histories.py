"""The history of a session is taken into a cage, or out of one, and no link is followed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from airboss.errors import StoreUnavailable
from airboss.store import histories
from airboss.store.histories import move_history


def _history(home: Path) -> Path:
    folder = home / "session-state" / "one"
    (folder / "files").mkdir(parents=True)
    (folder / "events.jsonl").write_text("{}", encoding="utf-8")
    (folder / "files" / "plan.md").write_text("plan", encoding="utf-8")
    return folder


def test_all_files_are_moved(tmp_path: Path) -> None:
    folder = _history(tmp_path / "a")
    move_history(tmp_path / "a", tmp_path / "b", "one")
    moved = tmp_path / "b" / "session-state" / "one"
    assert (moved / "events.jsonl").read_text("utf-8") == "{}"
    assert (moved / "files" / "plan.md").read_text("utf-8") == "plan"
    assert not folder.exists()


def test_nothing_is_moved_within_one_home(tmp_path: Path) -> None:
    folder = _history(tmp_path)
    move_history(tmp_path, tmp_path, "one")
    assert folder.is_dir()


def test_links_and_pipes_stay_behind(tmp_path: Path) -> None:
    folder, secret = _history(tmp_path / "a"), tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("key", encoding="utf-8")
    (folder / "key").symlink_to(secret / "key")
    (folder / "more").symlink_to(secret)
    os.mkfifo(folder / "pipe")
    move_history(tmp_path / "a", tmp_path / "b", "one")
    moved = tmp_path / "b" / "session-state" / "one"
    assert sorted(path.name for path in moved.iterdir()) == ["events.jsonl", "files"]
    assert (secret / "key").exists()


def test_a_history_that_is_there_already_is_kept(tmp_path: Path) -> None:
    """A runtime in a cage may call its session as another one is called."""
    _history(tmp_path / "a")
    other = tmp_path / "b/session-state/one"
    other.mkdir(parents=True)
    (other / "events.jsonl").write_text("hers", encoding="utf-8")
    with pytest.raises(StoreUnavailable, match="File exists"):
        move_history(tmp_path / "a", tmp_path / "b", "one")
    assert (other / "events.jsonl").read_text("utf-8") == "hers"
    assert (tmp_path / "a/session-state/one/files/plan.md").exists()


@pytest.mark.parametrize("session", ["two", "", "../one", "..", "one\0", "on e", "o" * 300])
def test_a_session_that_is_not_there_is_refused(tmp_path: Path, session: str) -> None:
    _history(tmp_path / "a")
    with pytest.raises(StoreUnavailable):
        move_history(tmp_path / "a", tmp_path / "b", session)
    assert not list((tmp_path / "b").glob("session-state/*"))


def _stretch(folder: Path) -> None:
    os.truncate(folder / "events.jsonl", 1 << 31)


def _crowd(folder: Path) -> None:
    for number in range(20):
        (folder / str(number)).touch()


@pytest.mark.parametrize(
    ("make", "why"), [(_stretch, "more than 1 GiB"), (_crowd, "more than 10 files")]
)
def test_what_is_too_large_is_refused_and_takes_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object], why: str
) -> None:
    monkeypatch.setattr(histories, "_MOST_FILES", 10)
    folder = _history(tmp_path / "a")
    make(folder)
    with pytest.raises(StoreUnavailable, match=why):
        move_history(tmp_path / "a", tmp_path / "b", "one")
    assert folder.is_dir()
    assert not (tmp_path / "b" / "session-state" / "one").exists()
