"""What cages left is deleted with whom they were for, and no link in it is followed."""

import os
from pathlib import Path

import pytest

from airboss.errors import StoreUnavailable
from airboss.store.cage_places import CagePlaces, note_owner
from airboss.store.histories import move_history


def cage(data: Path, key: str, owner: str) -> Path:
    root = data / "cages" / key
    (root / "state/session-state").mkdir(parents=True)
    (root / "home").mkdir()
    note_owner(root, owner)
    return root


def test_the_cages_of_an_owner_go_and_others_stay(tmp_path: Path) -> None:
    ours, other = cage(tmp_path, "a", "ses_1"), cage(tmp_path, "b", "tsk_1")
    for name in ("ses_2", "ses_3"):
        (other / "state/session-state" / name).mkdir()
    CagePlaces(tmp_path).forget(["ses_1", "ses_2"], ["ses_1", "ses_2"])
    assert not ours.exists()
    assert [one.name for one in (other / "state/session-state").iterdir()] == ["ses_3"]
    assert CagePlaces(tmp_path).owners() == {"b": "tsk_1"}
    CagePlaces(tmp_path).forget(["tsk_1"], ["ses_3"])
    assert not list((tmp_path / "cages").iterdir())


def test_a_link_goes_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    root, kept = cage(tmp_path / "data", "a", "ses_1"), tmp_path / "kept"
    (kept / "ses_2").mkdir(parents=True)
    (root / "home/link").symlink_to(kept)
    (root / "state/session-state").rmdir()
    (root / "state/session-state").symlink_to(kept)
    places = CagePlaces(tmp_path / "data")
    places.forget(["ses_2"], ["ses_2"])
    assert (kept / "ses_2").is_dir()
    places.forget(["ses_1"], ["ses_1"])
    assert not root.exists()
    assert (kept / "ses_2").is_dir()
    (tmp_path / "data/cages/b").symlink_to(kept)
    places.remove("b")
    assert (kept / "ses_2").is_dir()


def test_folders_that_nobody_may_read_and_deep_trees_go_too(tmp_path: Path) -> None:
    root = cage(tmp_path, "a", "ses_1")
    closed = root / "home/closed/inner"
    closed.mkdir(parents=True)
    (closed / "file").touch()
    closed.chmod(0o500)
    closed.parent.chmod(0o000)
    before = os.open(root / "home", os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=before)
        inner = os.open("d", os.O_RDONLY, dir_fd=before)
        os.close(before)
        before = inner
    os.close(before)
    CagePlaces(tmp_path).remove("a")
    assert not list((tmp_path / "cages").iterdir())
    CagePlaces(tmp_path).remove("a")


def test_what_was_not_deleted_to_its_end_is_left_over(tmp_path: Path) -> None:
    for key in ("abc", "abc.12.3", "try-999999999", f"try-{os.getpid()}"):
        (tmp_path / "cages" / key).mkdir(parents=True)
    assert set(CagePlaces(tmp_path).left_over()) == {"abc.12.3", "try-999999999"}
    assert CagePlaces(tmp_path / "nowhere").left_over() == ()
    assert CagePlaces(tmp_path / "nowhere").owners() == {}


def test_a_history_is_not_taken_from_behind_a_link(tmp_path: Path) -> None:
    root, kept = cage(tmp_path / "data", "a", "ses_1"), tmp_path / "kept"
    (kept / "ses_2").mkdir(parents=True)
    (kept / "ses_2/secret").write_text("canary", "utf-8")
    (root / "state/session-state").rmdir()
    (root / "state/session-state").symlink_to(kept)
    with pytest.raises(StoreUnavailable, match="could not be copied"):
        move_history(root / "state", tmp_path / "home", "ses_2")
    assert not (tmp_path / "home/session-state").exists()
    assert (kept / "ses_2/secret").exists()
