"""What a cage leaves behind, and how it is removed."""

import os
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.errors import CageUnavailable
from airboss.runtime.cage.attempt import attempt
from airboss.runtime.cage.folders import CageFolders, remove_cage
from airboss.runtime.cage.plan import CagePlan


def test_everything_of_a_cage_is_for_the_servers_user_only(tmp_path: Path) -> None:
    folders = CageFolders.of(tmp_path, "k")
    folders.make()
    folders.make()
    made = [folders.root, folders.home, folders.state, folders.scratch, folders.doors, folders.etc]
    assert {oct(folder.stat().st_mode)[-3:] for folder in made} == {"700"}
    assert os.listdir(tmp_path / "cages") == ["k"]


def test_a_link_in_it_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    folders = CageFolders.of(tmp_path, "k")
    folders.make()
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("kept", "utf-8")
    (folders.home / "link").symlink_to(kept)
    remove_cage(tmp_path, "k")
    assert (kept / "file").exists()
    assert os.listdir(tmp_path / "cages") == []
    remove_cage(tmp_path, "k")


async def test_what_the_disk_refuses_is_said_as_of_a_cage(tmp_path: Path, strong: None) -> None:
    del strong
    (tmp_path / "cages").write_text("no folder", "utf-8")
    (tmp_path / "work").mkdir()
    plan = CagePlan("strong", "default", CageProfile(), tmp_path / "work", "k")
    with pytest.raises(CageUnavailable, match=r"could not be built: .*/cages"):
        await attempt(plan, tmp_path, ("true",))
