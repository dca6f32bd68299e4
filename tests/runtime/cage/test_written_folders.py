"""Which repositories a cage may have written."""

import os
from pathlib import Path

from airboss.runtime.cage.written_folders import WrittenFolders

HERE = Path("/home/ann/project")


def test_what_lies_in_a_folder_that_was_written_is_not_believed(tmp_path: Path) -> None:
    known = WrittenFolders(tmp_path / "data")
    known.note(HERE)
    assert WrittenFolders(tmp_path / "data").reach(HERE)
    assert known.reach(HERE / "below/deep")
    assert not known.reach(HERE.parent)
    assert not known.reach(HERE.with_name("project-2"))


def test_where_it_was_closed_only_folders_below_could_be_written(tmp_path: Path) -> None:
    known = WrittenFolders(tmp_path)
    known.note(HERE, is_closed=True)
    assert not known.reach(HERE)
    assert known.reach(HERE / "below")
    known.note(HERE)
    assert known.reach(HERE)


def test_a_part_that_was_closed_with_its_repository_was_not_written(tmp_path: Path) -> None:
    known, part = WrittenFolders(tmp_path), ".git/worktrees/x"
    known.note(HERE, is_closed=True)
    assert not known.reach(HERE, part)
    assert known.reach(HERE / "below", part)
    known.note(HERE / ".git")
    assert known.reach(HERE, part)


def test_a_folder_is_noted_once_and_under_any_name(tmp_path: Path) -> None:
    known, odd = WrittenFolders(tmp_path), Path(os.fsdecode(b"/a\nb\xff"))
    for _ in range(3):
        known.note(odd)
    assert known.reach(odd / "below")
    assert (tmp_path / "cage-folders").read_bytes() == b"o/a\nb\xff\0"
    assert (tmp_path / "cage-folders").stat().st_mode & 0o777 == 0o600
