"""The way to what is mounted, through folders that an agent has written."""

import os
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.attempt import Attempted, attempt
from airboss.runtime.cage.mount_points import clear_way
from airboss.runtime.cage.plan import CagePlan

pytestmark = pytest.mark.anyio


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """What an agent wrote, beside what it would like to write."""
    (tmp_path / "own").mkdir()
    (tmp_path / "victim").mkdir()
    (tmp_path / "source").mkdir()
    return tmp_path / "own"


def test_no_link_is_followed(own: Path, tmp_path: Path) -> None:
    (own / "a").symlink_to(tmp_path / "victim")
    clear_way(own, Path("a/deep/er"), tmp_path / "source")
    assert os.listdir(tmp_path / "victim") == []
    assert (own / "a/deep/er").is_dir()
    assert not (own / "a").is_symlink()


def test_what_is_no_folder_is_removed_and_what_is_there_stays(own: Path, tmp_path: Path) -> None:
    (own / "a").mkdir()
    (own / "a/kept").write_text("kept", "utf-8")
    (own / "a/b").write_text("no folder", "utf-8")
    clear_way(own, Path("a/b/c"), tmp_path / "source")
    assert (own / "a/b/c").is_dir()
    assert (own / "a/kept").read_text("utf-8") == "kept"


def test_a_folder_that_nobody_may_enter_is_opened(own: Path, tmp_path: Path) -> None:
    (own / "a").mkdir(mode=0)
    clear_way(own, Path("a/b"), tmp_path / "source")
    assert (own / "a/b").is_dir()


def test_a_file_is_mounted_on_a_file(own: Path, tmp_path: Path) -> None:
    source = tmp_path / "file"
    source.write_text("words", "utf-8")
    (own / "file").symlink_to(tmp_path / "victim" / "made")
    clear_way(own, Path("file"), source)
    assert (own / "file").is_file()
    assert os.listdir(tmp_path / "victim") == []


@pytest.mark.usefixtures("strong")
async def test_the_next_life_of_a_cage_makes_nothing_outside(tmp_path: Path) -> None:
    """Where its folder is below one for temporary files, which the agent has moved."""
    work, victim = tmp_path / "deep/er/work", tmp_path / "victim"
    work.mkdir(parents=True)
    victim.mkdir()
    plan = CagePlan("strong", "default", CageProfile(), work, "k")

    async def inside(script: str) -> Attempted:
        return await attempt(plan, tmp_path / "data", ("bash", "-c", script))

    deep = tmp_path / "deep"
    moved = await inside(f"mv {deep} {deep}.away; ln -s /oldroot{victim} {deep}; ls -l {tmp_path}")
    assert b"/oldroot" in moved.output, moved.errors
    again = await inside("pwd")
    assert (again.code, again.output.decode().strip()) == (0, str(plan.cwd)), again.errors
    assert os.listdir(victim) == []
