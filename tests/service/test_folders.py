"""Where agents may work."""

from pathlib import Path

import pytest

from airboss.entry.places import find_repo_root
from airboss.errors import (
    WorkingDirectoryMissing,
    WorkingDirectoryNotAbsolute,
    WorkingDirectoryNotAllowed,
)
from airboss.service.folders import Folders


def test_the_repository_is_found_above_and_a_file_named_git_counts(tmp_path: Path) -> None:
    deep = tmp_path / "repo" / "a" / "b"
    deep.mkdir(parents=True)
    assert find_repo_root(deep) in (deep, Path("/"))
    (tmp_path / "repo" / ".git").write_text("gitdir: elsewhere", encoding="utf-8")
    assert find_repo_root(deep) == tmp_path / "repo"
    assert find_repo_root(tmp_path / "repo") == tmp_path / "repo"


def test_by_default_home_the_repository_and_its_neighbours_are_allowed(tmp_path: Path) -> None:
    repo, beside, home, other = (tmp_path / name for name in ("src/repo", "src/b", "home", "x"))
    for folder in (repo, beside, home, other):
        folder.mkdir(parents=True)
    folders = Folders.around(repo, (), home)
    for folder in (repo, beside, home):
        assert folders.check(str(folder)) == folder
    for folder in (other, tmp_path, Path("/")):
        with pytest.raises(WorkingDirectoryNotAllowed, match="--root"):
            folders.check(str(folder))


def test_roots_of_ones_own_take_the_place_of_the_default(tmp_path: Path) -> None:
    repo, root = tmp_path / "repo", tmp_path / "root"
    repo.mkdir()
    root.mkdir()
    folders = Folders.around(repo, (root,), tmp_path)
    assert folders.check(str(root)) == root
    for text in (None, "", " ", str(repo)):
        with pytest.raises(WorkingDirectoryNotAllowed):
            folders.check(text)


def test_a_root_may_itself_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real" / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    folders = Folders.around(tmp_path, (tmp_path / "link",), tmp_path)
    assert folders.check(str(tmp_path / "link" / "below")) == tmp_path / "real" / "below"


def test_a_path_is_checked_for_being_absolute_then_there_then_allowed(tmp_path: Path) -> None:
    folders = Folders.around(tmp_path, (tmp_path / "root",), tmp_path)
    for text in (".", "root", "~/x", "C:\\x"):
        with pytest.raises(WorkingDirectoryNotAbsolute, match="must be an absolute path"):
            folders.check(text)
    for text in ("/not/there", "/nul\0byte", "/" + "x" * 5000, "/\ud800"):
        with pytest.raises(WorkingDirectoryMissing):
            folders.check(text)


def test_who_mistyped_a_path_is_told_how_far_it_was_right(tmp_path: Path) -> None:
    folders = Folders.around(tmp_path, (tmp_path,), tmp_path)
    with pytest.raises(WorkingDirectoryMissing) as told:
        folders.check(str(tmp_path / "wrong" / "still"))
    wrong = tmp_path / "wrong" / "still"
    assert str(told.value) == f"The folder {wrong} does not exist. {tmp_path} exists."


def test_who_mistyped_a_name_is_told_the_one_that_is_there(tmp_path: Path) -> None:
    for name in ("work/harbor/src", "work/tern", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "work" / "habor.txt").write_text("no folder", encoding="utf-8")
    folders = Folders.around(tmp_path, (tmp_path / "work",), tmp_path / "home")

    def meant(path: str) -> str | None:
        with pytest.raises(WorkingDirectoryMissing) as told:
            folders.check(str(tmp_path / path))
        suggestion = told.value.suggestion
        assert (f"Did you mean {suggestion}?" in str(told.value)) == (suggestion is not None)
        return suggestion and str(Path(suggestion).relative_to(tmp_path))

    assert meant("work/habor") == "work/harbor"
    assert meant("work/TERN") == "work/tern"
    assert meant("work/habor/scr") == "work/harbor/src"
    assert meant("wrok/harbor") == "work/harbor"
    assert meant("work/something-else") is None
    assert meant("work/harbor/no/such/way") is None
    assert meant("elsewere") is None, "agents may not work there"
