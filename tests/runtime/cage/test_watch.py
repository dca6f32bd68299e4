"""What the watch sees of a cage, on processes of our own."""

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.runtime.cage import watch as watch_module
from airboss.runtime.cage.group import CageGroup
from airboss.runtime.cage.watch import CageWatch, in_words
from airboss.runtime.process_threads import SWEEPS


def test_too_many_processes_are_seen(family: int, tmp_path: Path) -> None:
    few, many = CageProfile(processes=16), CageProfile(processes=32)
    assert CageWatch(few, family, None, (tmp_path,)).look() == "processes"
    assert CageWatch(many, family, None, (tmp_path,)).look() is None


@pytest.mark.anyio
async def test_it_looks_also_while_every_other_thread_is_busy(family: int, tmp_path: Path) -> None:
    is_over = threading.Event()
    loop = asyncio.get_running_loop()
    busy = [loop.run_in_executor(pool, is_over.wait, 30) for pool in (None, SWEEPS) * 32]
    try:
        async with asyncio.timeout(20):
            over = CageWatch(CageProfile(processes=16), family, None, (tmp_path,)).until_over()
            assert await over == "processes"
    finally:
        is_over.set()
        await asyncio.wait(busy)


def group_that_says(folder: Path, **files: str) -> CageGroup:
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(text, "utf-8")
    return CageGroup(folder, folder)


def test_what_the_kernel_ended_for_its_memory_is_seen_also_afterwards(tmp_path: Path) -> None:
    group = group_that_says(tmp_path, memory_events="oom_kill 1\n", memory_peak="7\n")
    watch = CageWatch(CageProfile(), 1, group, ())
    assert watch.look() == "memory"
    assert watch.ended_by() == "memory"
    assert watch.peak == 7


def test_a_busy_moment_is_no_flood(tmp_path: Path) -> None:
    group = group_that_says(tmp_path, pids_current="16\n")
    watch = CageWatch(CageProfile(processes=16), 1, group, ())
    looks = [watch.look() for _ in range(11)]
    group_that_says(tmp_path, pids_current="3\n")
    looks.append(watch.look())
    assert set(looks) == {None}
    group_that_says(tmp_path, pids_current="16\n")
    assert [watch.look() for _ in range(12)][-1] == "processes"


def test_a_full_disk_is_seen_whoever_filled_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "LEAST_DISK_BYTES", 1 << 60)
    monkeypatch.setattr(watch_module, "_NO_DISK_BYTES", 1 << 60)
    assert CageWatch(CageProfile(), 1, None, (tmp_path,)).look() == "disk"


WRITER = "import sys, time; sys.stdin.read(1); open(sys.argv[1], 'wb').write(bytes(4 << 20)); "


def test_on_a_disk_that_is_nearly_full_only_who_writes_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "LEAST_DISK_BYTES", 1 << 50)
    monkeypatch.setattr(watch_module, "_NO_DISK_BYTES", 0)
    command = [sys.executable, "-c", WRITER + "time.sleep(60)", str(tmp_path / "big")]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        watch = CageWatch(CageProfile(), writer.pid, None, (tmp_path,))
        assert [watch.look(), watch.look()] == [None, None]
        writer.stdin.write(b"!")
        writer.stdin.flush()
        until, found = time.monotonic() + 10, None
        while found is None and time.monotonic() < until:
            time.sleep(0.02)
            found = watch.look()
        writer.kill()
    assert found == "disk"


def test_each_limit_is_said_in_words() -> None:
    terms = CageProfile(memory_mb=4096, processes=512)
    assert in_words("memory", terms).endswith("more than 4,096 MB of memory.")
    assert in_words("processes", terms).endswith("more than 512 processes.")
    assert in_words("disk", terms).endswith("are free on the disk that it writes to.")
