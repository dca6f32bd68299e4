"""A profile as a command line, without a cage."""

from dataclasses import replace
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.folders import CageFolders
from airboss.runtime.cage.system import SystemFacts
from airboss.runtime.cage.walls import (
    Bind,
    CageLayout,
    made_up_files,
    narrow_rules,
    strong_rules,
    strong_walls,
)

FOLDERS = CageFolders(Path("/data/cages/k"))
SYSTEM = SystemFacts(
    folders=(Path("/usr"),),
    links=((Path("/bin"), "usr/bin"),),
    etc=(Path("/etc/ld.so.cache"), Path("/etc/ssl/certs")),
    python=Path("/tools/python/bin/python3"),
    toolchains=(Path("/tools/python"),),
    programs=(Path("/tools/python/bin"),),
    author=("Ann", "ann@example.org"),
    copied=frozenset({Path("/etc/ld.so.cache")}),
)
WORK = Path("/srv/work")
LAYOUT = CageLayout(
    terms=CageProfile(),
    cwd=WORK,
    folders=FOLDERS,
    system=SYSTEM,
    warden=Path("/code/inside"),
    read=(Path("/srv/books"),),
    write=(Path("/srv/out"),),
    runtime=(Bind(Path("/cache/pkg"), Path("/opt/runtime")),),
    git=(Bind(WORK / ".git", WORK / ".git", writable=True), Bind(WORK / ".git/config", WORK)),
)


def binds(options: list[str]) -> list[tuple[str, str, str]]:
    kinds = ("--bind", "--ro-bind")
    return [
        (word, options[at + 1], options[at + 2]) for at, word in enumerate(options) if word in kinds
    ]


@pytest.mark.parametrize("kind", ["user", "pid", "net", "ipc", "uts"])
def test_every_namespace_is_its_own(kind: str) -> None:
    assert f"--unshare-{kind}" in strong_walls(LAYOUT)


def test_only_these_can_be_written() -> None:
    written = [target for kind, _, target in binds(strong_walls(LAYOUT)) if kind == "--bind"]
    assert written == [
        "/tmp",  # noqa: S108 - the cage's own
        "/var/tmp",  # noqa: S108
        "/home/agent",
        "/home/agent/.copilot",
        "/srv/out",
        "/srv/work",
        "/srv/work/.git",
    ]


def test_neither_home_nor_data_folder_nor_sys_is_there() -> None:
    sources = {source for _, source, _ in binds(strong_walls(LAYOUT))}
    assert not sources & {"/", "/home", "/root", "/data", "/sys", "/run", "/var", "/etc"}


def test_of_etc_one_folder_of_the_cage_is_mounted_and_in_it_what_is_no_small_file() -> None:
    seen = [
        (kind, source) for kind, source, target in binds(strong_walls(LAYOUT)) if "etc" in target
    ]
    assert seen == [("--ro-bind", "/data/cage-etc"), ("--ro-bind", "/etc/ssl/certs")]


def test_the_root_is_closed_after_all_mounts_and_what_git_closes_comes_after_the_folder() -> None:
    options = strong_walls(LAYOUT)
    assert options[-4:-2] == ["--remount-ro", "/"]
    sources = [source for _, source, _ in binds(options)]
    assert sources.index("/srv/work") < sources.index("/srv/work/.git/config")


def test_neither_proc_nor_dev_is_changed() -> None:
    options = strong_walls(LAYOUT)
    closed = [options[at + 1] for at, word in enumerate(options) if word == "--remount-ro"]
    assert closed == ["/dev", "/proc", "/"]


def test_an_old_bubblewrap_is_not_asked_for_what_it_does_not_know() -> None:
    assert "--disable-userns" in strong_walls(LAYOUT)
    assert "--disable-userns" not in strong_walls(replace(LAYOUT, disables_namespaces=False))
    assert "--size" in strong_walls(LAYOUT)
    assert "--size" not in strong_walls(replace(LAYOUT, bounds_memory=False))


def test_shared_memory_without_a_bound_is_on_the_disk() -> None:
    old = strong_walls(replace(LAYOUT, bounds_memory=False))
    assert ("--bind", "/data/cages/k/scratch", "/dev/shm") in binds(old)  # noqa: S108
    assert old.index("/dev/shm") < old.index("--remount-ro")  # noqa: S108
    assert "--tmpfs" not in old


def test_landlock_repeats_what_the_mounts_say() -> None:
    rules = strong_rules(LAYOUT)
    assert rules.needs == 0
    assert WORK in rules.write
    assert Path("/srv/out") in rules.write
    assert Path("/srv/books") in rules.read
    assert Path("/proc") in rules.read


def test_a_narrow_cage_has_everything_at_its_own_path() -> None:
    rules = narrow_rules(LAYOUT, 6)
    assert rules.needs == 6
    assert Path("/cache/pkg") in rules.read
    assert {WORK, FOLDERS.home, FOLDERS.state} <= set(rules.write)
    assert not {Path("/"), Path("/etc"), Path("/dev"), Path("/data")} & {*rules.read, *rules.write}


def test_of_the_person_only_name_and_address_go_in() -> None:
    files = made_up_files(("Ann", "ann@example.org"))
    assert 'name = "Ann"' in files["gitconfig"]
    assert "agent:x:1000" in files["passwd"]


def test_no_name_writes_another_line_of_the_configuration() -> None:
    hostile = made_up_files(('A"\n[core]\n\tpager = evil', ""))["gitconfig"]
    assert "[core]\n" not in hostile
    assert "agent@localhost" in hostile
