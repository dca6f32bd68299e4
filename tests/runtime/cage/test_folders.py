"""What a cage leaves behind, and how it is removed."""

from pathlib import Path

from airboss.runtime.cage.folders import CageFolders, left_cages, remove_cage


def test_everything_of_a_cage_is_for_the_servers_user_only(tmp_path: Path) -> None:
    folders = CageFolders.of(tmp_path, "k")
    folders.make()
    folders.make()
    made = [folders.root, folders.home, folders.state, folders.scratch, folders.doors, folders.etc]
    assert {oct(folder.stat().st_mode)[-3:] for folder in made} == {"700"}
    assert left_cages(tmp_path) == {"k"}


def test_a_link_in_it_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    folders = CageFolders.of(tmp_path, "k")
    folders.make()
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("kept", "utf-8")
    (folders.home / "link").symlink_to(kept)
    remove_cage(tmp_path, "k")
    assert (kept / "file").exists()
    assert left_cages(tmp_path) == frozenset()
    remove_cage(tmp_path, "k")


def test_where_no_cage_ever_was_none_is_left(tmp_path: Path) -> None:
    assert left_cages(tmp_path / "nowhere") == frozenset()
