"""Control groups of both versions, in a made-up tree where this system does not have them."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.group import CageGroup, GroupUsage, make_group

TERMS = CageProfile(memory_mb=200, processes=50)


def tree(root: Path, mounts: str, ours: str, controls: dict[str, str]) -> Path:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text(mounts, "utf-8")
    (root / "proc/self/cgroup").write_text(ours, "utf-8")
    for path, text in controls.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return root


SECOND = "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
APP = "sys/fs/cgroup/user.slice/app.slice"


def read(path: Path) -> str:
    return path.read_text("utf-8").strip()


def test_version_two_is_used_where_a_folder_above_us_is_ours(tmp_path: Path) -> None:
    controls = {
        f"{APP}/cgroup.subtree_control": "cpu memory pids",
        f"{APP}/cgroup.procs": "",
        f"{APP}/airboss.scope/cgroup.subtree_control": "",
        f"{APP}/airboss.scope/cgroup.procs": "",
    }
    root = tree(tmp_path, SECOND, "0::/user.slice/app.slice/airboss.scope\n", controls)
    group = make_group("k", TERMS, root)
    assert group is not None
    assert group.version == 2
    assert group.memory.parent == root / APP
    assert read(group.memory / "memory.max") == str(200 << 20)
    assert read(group.memory / "pids.max") == "50"


def test_what_is_not_given_to_us_is_not_used(tmp_path: Path) -> None:
    controls = {f"{APP}/cgroup.subtree_control": "cpu pids", f"{APP}/cgroup.procs": ""}
    root = tree(tmp_path, SECOND, "0::/user.slice/app.slice\n", controls)
    assert make_group("k", TERMS, root) is None


FIRST = "".join(
    f"3{at} 31 0:2{at} / /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}\n"
    for at, name in enumerate(("cpu", "memory", "pids"))
)


def test_version_one_has_a_folder_for_each_controller(tmp_path: Path) -> None:
    controls = {"sys/fs/cgroup/memory/us/x": "", "sys/fs/cgroup/pids/x": ""}
    root = tree(tmp_path, FIRST, "4:memory:/us\n8:pids:/\n0::/\n", controls)
    group = make_group("k", TERMS, root)
    assert group is not None
    assert group.version == 1
    assert group.memory.parent == root / "sys/fs/cgroup/memory/us"
    assert group.pids.parent == root / "sys/fs/cgroup/pids"
    assert read(group.memory / "memory.limit_in_bytes") == str(200 << 20)
    assert read(group.pids / "pids.max") == "50"


def test_version_one_shares_the_processors_by_cage_where_it_can(tmp_path: Path) -> None:
    controls = {f"sys/fs/cgroup/{name}/x": "" for name in ("cpu", "memory", "pids")}
    root = tree(tmp_path, FIRST, "1:cpu:/\n4:memory:/\n8:pids:/\n", controls)
    group = make_group("k", TERMS, root)
    assert group is not None
    assert group.cpu is not None
    assert group.cpu in group.folders
    assert read(group.cpu / "cpu.shares") == "128"


@pytest.mark.parametrize("given", ["cpu memory pids", "memory pids"])
def test_version_two_does_so_where_it_is_given_to_us(tmp_path: Path, given: str) -> None:
    controls = {f"{APP}/cgroup.subtree_control": given, f"{APP}/cgroup.procs": ""}
    group = make_group("k", TERMS, tree(tmp_path, SECOND, "0::/user.slice/app.slice\n", controls))
    assert group is not None
    assert group.folders == (group.memory,)
    assert (group.cpu is not None) == ("cpu" in given)
    if group.cpu is not None:
        assert read(group.cpu / "cpu.weight") == "12"


def test_without_any_there_is_none(tmp_path: Path) -> None:
    assert make_group("k", TERMS, tmp_path) is None
    mounted = FIRST.replace("memory", "hugetlb")
    assert make_group("k", TERMS, tree(tmp_path, mounted, "8:pids:/\n", {})) is None


@pytest.mark.parametrize(
    ("files", "is_one"),
    [
        ({"memory.current": "5", "memory.peak": "7", "memory.events": "oom 3\noom_kill 2"}, True),
        ({"memory.usage_in_bytes": "5", "memory.max_usage_in_bytes": "7"}, False),
    ],
)
def test_what_it_uses_is_read(tmp_path: Path, files: dict[str, str], is_one: bool) -> None:
    memory, pids = tmp_path / "memory", tmp_path / "pids"
    memory.mkdir()
    pids.mkdir()
    for name, text in files.items():
        (memory / name).write_text(text, "utf-8")
    at = memory if is_one else pids
    (at / "pids.current").write_text("4", "utf-8")
    (memory / "memory.oom_control").write_text("under_oom 0\noom_kill 2", "utf-8")
    assert CageGroup(memory, at).usage() == GroupUsage(5, 7, 4, 2)


def test_groups_of_a_server_that_was_killed_are_removed(tmp_path: Path) -> None:
    controls = {"sys/fs/cgroup/memory/x": "", "sys/fs/cgroup/pids/x": ""}
    root = tree(tmp_path, FIRST, "4:memory:/\n8:pids:/\n", controls)
    dead = root / "sys/fs/cgroup/memory/airboss-999999999-1-k"
    living = dead.with_name(f"airboss-{os.getpid()}-0-k")
    for folder in (dead, living):
        folder.mkdir()
    make_group("k", TERMS, root)
    assert not dead.exists()
    assert living.exists()


def test_what_is_left_in_it_is_ended_with_it(tmp_path: Path) -> None:
    """Of a cage without namespaces, what left its session and cleared its environment."""
    with subprocess.Popen(["sleep", "600"], env={}, start_new_session=True) as left:
        (tmp_path / "cgroup.procs").write_text(f"{left.pid}\n", "utf-8")
        CageGroup(tmp_path, tmp_path).remove(seconds=0)
        assert left.wait(10) == -signal.SIGKILL
    (tmp_path / "cgroup.kill").write_text("", "utf-8")
    CageGroup(tmp_path, tmp_path).remove(seconds=0)
    assert read(tmp_path / "cgroup.kill") == "1"
