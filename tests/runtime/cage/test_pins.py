"""Which files are mounted, and whether they are still there."""

import os
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.errors import CageUnavailable
from airboss.runtime.cage.folders import CageFolders
from airboss.runtime.cage.pins import Pins
from airboss.runtime.cage.system import system_facts
from airboss.runtime.cage.walls import Bind, CageLayout, same


@pytest.fixture
def layout(tmp_path: Path) -> CageLayout:
    work, own = tmp_path / "work", tmp_path / "own"
    for folder in (work / ".git/worktrees", own / "entry"):
        folder.mkdir(parents=True)
    (work / ".git/config").write_text("[core]\n", "utf-8")
    folders = CageFolders.of(tmp_path / "data", "k")
    git = (
        same(work / ".git", writable=True),
        same(work / ".git/config"),
        Bind(own, work / ".git/worktrees", writable=True),
        Bind(own / "entry", work / ".git/worktrees/entry"),
    )
    facts = system_facts()
    return CageLayout(CageProfile(), work, folders, facts, tmp_path / "warden", git=git)


@pytest.fixture
def pins(layout: CageLayout) -> Generator[Pins]:
    pins = Pins(layout)
    yield pins
    pins.close()


def test_each_mount_is_known_by_what_it_is_of(layout: CageLayout, pins: Pins) -> None:
    found = {pin.target: pin.number for pin in pins.mounted}
    own = layout.git[2].source
    assert found[layout.cwd] == layout.cwd.stat().st_ino
    assert found[layout.cwd / ".git/worktrees"] == own.stat().st_ino
    assert found[layout.cwd / ".git/worktrees/entry"] == (own / "entry").stat().st_ino


def replaced(file: Path) -> None:
    other = file.with_name("config.lock")
    other.write_text(file.read_text("utf-8"), "utf-8")
    other.replace(file)


def test_a_closed_file_that_is_replaced_is_seen_also_if_that_happens_twice(
    layout: CageLayout, pins: Pins
) -> None:
    config = layout.cwd / ".git/config"
    config.write_text("[core]\n\tbare = false\n", "utf-8")
    assert not pins.has_changed
    for _ in range(4):  # the first one's number would be free again, but for its open file
        replaced(config)
        assert pins.has_changed


def test_a_closed_file_that_is_gone_is_seen(layout: CageLayout, pins: Pins) -> None:
    (layout.cwd / ".git/worktrees").rename(layout.cwd / ".git/away")
    assert pins.has_changed


def test_what_lies_in_a_folder_of_the_cages_own_may_go(layout: CageLayout, pins: Pins) -> None:
    (layout.git[3].source).rmdir()
    assert not pins.has_changed


def test_a_link_or_nothing_in_its_place_refuses_the_cage(
    layout: CageLayout, tmp_path: Path
) -> None:
    config = layout.cwd / ".git/config"
    config.unlink()
    with pytest.raises(CageUnavailable, match=r"while the cage was built\. Try again\."):
        Pins(layout)
    config.symlink_to(tmp_path / "work")
    with pytest.raises(CageUnavailable, match="became a link"):
        Pins(layout)
    (tmp_path / "link").symlink_to(layout.cwd)
    around = replace(layout, git=(same(tmp_path / "link/.git", writable=True),))
    with pytest.raises(CageUnavailable, match="became a link"):
        Pins(around)


def test_nothing_of_it_stays_open(layout: CageLayout) -> None:
    before = len(os.listdir("/proc/self/fd"))
    pins = Pins(layout)
    assert len(os.listdir("/proc/self/fd")) > before
    pins.close()
    assert len(os.listdir("/proc/self/fd")) == before
