"""What is measured of processes, on some of our own."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from airboss.runtime.cage.usage import (
    FilesInMemory,
    available_memory,
    descendants,
    free_bytes,
    shared_memory,
)


def test_no_more_are_counted_than_need_be(family: int) -> None:
    assert len(descendants(family, 100)) == 20
    assert 5 <= len(descendants(family, 5)) <= 20


HIDES = """
import mmap, os, sys, time
if sys.argv[1] == "mapped":
    kept = mmap.mmap(-1, 64 << 20)
    kept.write(b"x" * (64 << 20))
else:
    kept = os.memfd_create("kept")
    os.write(kept, b"x" * (64 << 20))
print("done", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("how", ["mapped", "file"])
def test_memory_that_is_nobodys_own_counts(how: str) -> None:
    command = [sys.executable, "-c", HIDES, how]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as one:
        try:
            assert one.stdout is not None
            assert one.stdout.readline() == b"done\n"
            for most in (1 << 40, 0):
                assert 64 <= shared_memory([one.pid], most, FilesInMemory()) >> 20 < 80
        finally:
            one.kill()


def test_what_several_have_in_common_counts_once() -> None:
    forks = HIDES.replace("print(", "[os.fork() or time.sleep(60) for _ in range(3)]\nprint(")
    command = [sys.executable, "-c", forks, "mapped"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as one:
        try:
            assert one.stdout is not None
            assert one.stdout.readline() == b"done\n"
            family = [one.pid, *descendants(one.pid, 10)]
            assert len(family) == 4
            assert shared_memory(family, 70 << 20, FilesInMemory()) >> 20 < 80
        finally:
            os.killpg(one.pid, signal.SIGKILL)


HOLDS = """
import os, time
kept = os.memfd_create("kept")
os.write(kept, b"x" * (8 << 20))
first = os.getpid()
for _ in range(19):
    if os.getpid() == first:
        os.fork()
if os.getpid() != first:
    os.close(kept)
    for number in range(950):
        os.dup(0)
os.write(1, b"done\\n")
time.sleep(60)
"""


def test_many_descriptors_are_seen_in_several_short_looks() -> None:
    command = [sys.executable, "-c", HOLDS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as one:
        try:
            assert one.stdout is not None
            for _ in range(20):
                assert one.stdout.readline() == b"done\n"
            # Who has it is looked at last, as looks begin at the end.
            family, files = [one.pid, *descendants(one.pid, 100)], FilesInMemory()
            assert len(family) == 20
            assert [files.look(family) >> 20 for _ in range(5)] == [0, 0, 8, 8, 8]
        finally:
            os.killpg(one.pid, signal.SIGKILL)


def test_what_is_not_there_is_as_the_caller_says(tmp_path: Path) -> None:
    assert free_bytes(tmp_path / "gone", 7) == 7
    assert free_bytes(tmp_path, 7) > 7
    assert available_memory(7) > 7


def test_where_no_file_more_can_be_made_nothing_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that are empty fill a disk as well."""
    found = os.statvfs(tmp_path)

    def with_files(files: int, left: int) -> Callable[[Path], os.statvfs_result]:
        numbers = [*found]
        numbers[5:8] = (files, left, left)
        return lambda _: os.statvfs_result(numbers)

    for files, left, free in (
        (1_000_000, 0, 0),
        (1_000_000, 20_000, min(1_000_000_000, found.f_bavail * found.f_frsize)),
        (0, 0, found.f_bavail * found.f_frsize),  # it has no number of files
    ):
        monkeypatch.setattr(os, "statvfs", with_files(files, left))
        assert free_bytes(tmp_path, 7) == free
