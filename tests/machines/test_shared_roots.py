"""Folders that machines have in common: the same where both find the same mark."""

from pathlib import Path

import pytest

from airboss.errors import SettingsInvalid
from airboss.machines.shared_roots import MARK, SharedRoots


def test_who_comes_first_marks_a_folder_and_all_others_find_the_same(tmp_path: Path) -> None:
    first = SharedRoots.marked([tmp_path])
    assert first == SharedRoots.marked([tmp_path])
    root = first.root_of(str(tmp_path / "project"))
    assert root is not None
    assert root == f"{(tmp_path / MARK).read_text('ascii').strip()}:{tmp_path}"
    assert first.names == (root,)


def test_a_folder_of_the_same_name_with_another_mark_is_another_folder(tmp_path: Path) -> None:
    here, there = SharedRoots.marked([tmp_path]), SharedRoots({tmp_path: "root_other"})
    assert there.root_of(str(tmp_path)) not in here.names


def test_what_lies_outside_is_not_shared_whatever_its_name_begins_with(tmp_path: Path) -> None:
    inside, beside = tmp_path / "work", tmp_path / "work-2"
    for folder in (inside, beside):
        folder.mkdir()
    roots = SharedRoots.marked([inside])
    assert roots.root_of(str(beside)) is None
    (inside / "link").symlink_to(beside)
    assert roots.root_of(str(inside / "link")) is None


def test_the_innermost_of_two_counts(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    roots = SharedRoots.marked([tmp_path, inner])
    mark = (inner / MARK).read_text("ascii").strip()
    assert roots.root_of(str(inner / "x")) == f"{mark}:{inner}"


def test_a_mark_that_is_none_and_a_folder_that_is_not_there_are_told(tmp_path: Path) -> None:
    (tmp_path / MARK).write_text("half", "ascii")
    with pytest.raises(SettingsInvalid, match="not a mark of Airboss"):
        SharedRoots.marked([tmp_path])
    with pytest.raises(SettingsInvalid, match="cannot be marked"):
        SharedRoots.marked([tmp_path / "missing"])
