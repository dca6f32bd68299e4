"""The doctor's check of cages, on this machine and on others that are played."""

import sys
from pathlib import Path

import pytest

from airboss.cli.cage import listing
from airboss.cli.doctor.cage import check_cage
from airboss.cli.doctor.checks import CheckedMachine
from airboss.runtime.cage import ability as ability_module
from airboss.runtime.cage import group, life
from airboss.runtime.cage.ability import ability
from airboss.runtime.cage.inside import landlock
from airboss.runtime.cage.walls import CageLayout, strong_walls

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has cages")


@pytest.fixture(autouse=True)
def strong() -> None:
    found = ability()
    if found.kind != "strong":
        pytest.fail(f"No strong cage holds here. {found.why} {found.advice}")


def machine(folder: Path, settings: str = "", path: str | None = None) -> CheckedMachine:
    folder.joinpath("settings.toml").write_text(settings, "utf-8")
    here = CheckedMachine.of(folder)
    return here if path is None else CheckedMachine(here.folder, {"PATH": path})


def test_a_strong_cage_is_tried_and_holds(tmp_path: Path) -> None:
    found = check_cage(machine(tmp_path))
    assert found.summary.startswith("Strong: 14 ways out were tried, and none led out.")
    assert [path.name for path in tmp_path.iterdir()] == ["settings.toml"]


def no_group(*_: object) -> None:
    return None


@pytest.mark.parametrize(("settings", "state"), [("", "warn"), ('cage = "always"', "fail")])
def test_root_without_a_control_group_on_an_older_kernel_is_warned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str, state: str
) -> None:
    monkeypatch.setattr(group, "make_group", no_group)
    monkeypatch.setattr(ability_module, "can_bound", lambda: False)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    found = check_cage(machine(tmp_path, settings))
    assert found.state == state
    assert "a watch alone ends a cage that is over its limits" in found.summary
    assert found.remedy == listing.ORDINARY_USER


def test_without_a_control_group_the_kernel_bounds_processes_by_other_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "make_group", no_group)
    monkeypatch.setattr(ability_module, "can_bound", lambda: True)
    found = check_cage(machine(tmp_path))
    assert found.state == "ok"
    assert "the kernel bounds the processes of a cage" in found.detail


@pytest.mark.parametrize(
    ("settings", "state"),
    [("", "warn"), ('cage = "always"', "fail"), ('cage = "always"\ncage_narrow = true', "warn")],
)
def test_without_bubblewrap_it_is_narrow_and_says_what_to_install(
    tmp_path: Path, settings: str, state: str
) -> None:
    if landlock.version() < landlock.NARROW_NEEDS:
        pytest.skip("this kernel has no Landlock that is enough")
    found = check_cage(machine(tmp_path, settings, path=str(tmp_path)))
    assert found.state == state
    assert found.summary.startswith("Narrow: only a cage without network holds here. 13 ways")
    assert "Install bubblewrap" in found.remedy
    assert ("cage_narrow" in found.remedy) == ("cage_narrow" not in settings)


@pytest.mark.parametrize(("settings", "state"), [("", "warn"), ('cage = "always"', "fail")])
def test_where_none_holds_it_is_said_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str, state: str
) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions' >&2; exit 1\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(landlock, "version", lambda: 0)
    found = check_cage(machine(tmp_path, settings, path=str(tmp_path)))
    assert (found.state, found.summary) == (state, "None: no cage holds here.")
    assert "No permissions" in found.detail
    assert "bwrap-userns-restrict" in found.remedy
    assert "container" in found.remedy


def test_a_way_that_leads_out_fails_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_net(layout: CageLayout) -> list[str]:
        return [word for word in strong_walls(layout) if word != "--unshare-net"]

    monkeypatch.setattr(life, "strong_walls", without_net)
    found = check_cage(machine(tmp_path))
    assert found.state == "fail"
    assert found.summary.startswith("These ways lead out of a cage: the network")


def test_cages_that_are_off_or_unknown_are_not_tried(tmp_path: Path) -> None:
    assert "turned off" in check_cage(machine(tmp_path, 'cage = "off"')).summary
    assert "not valid" in check_cage(machine(tmp_path, "cage = 1")).summary
