"""The copy of the runtime's program that nobody can read: made once, whole, and made anew."""

import logging
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from airboss.runtime.launcher import unreadable
from airboss.runtime.locate import Located

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux makes use of it")

PROGRAM = b"\x7fELF and all the rest"


@pytest.fixture
def native(tmp_path: Path) -> Located:
    """As it lies in the cache, with its files around it."""
    pkg = tmp_path / "pkg"
    inside = pkg / "prebuilds" / "linux-x64"
    inside.mkdir(parents=True)
    (inside / "copilot-runtime").write_bytes(PROGRAM)
    (inside / "copilot-runtime").chmod(0o755)
    (inside / "runtime.node").write_text("the library", "utf-8")
    (pkg / "ripgrep").mkdir()
    (pkg / "ripgrep" / "rg").write_text("search", "utf-8")
    return Located(inside / "copilot-runtime", "our cache", native=True)


def test_it_can_be_run_and_not_read_and_finds_its_files_around_it(
    native: Located, tmp_path: Path
) -> None:
    copy = unreadable(native, tmp_path / "launcher")
    assert copy.is_relative_to(tmp_path / "launcher")
    assert oct(copy.stat().st_mode)[-3:] == "111"
    assert not copy.is_symlink()
    assert (copy.parent / "runtime.node").read_text("utf-8") == "the library"
    assert (copy.parents[2] / "ripgrep" / "rg").read_text("utf-8") == "search"
    assert oct(native.path.stat().st_mode)[-3:] == "755", "the original stays as it was"
    made = copy.stat()
    assert unreadable(native, tmp_path / "launcher").stat() == made, "made once"


def test_one_that_was_opened_up_or_cut_off_is_made_anew(native: Located, tmp_path: Path) -> None:
    copy = unreadable(native, tmp_path / "launcher")
    copy.chmod(0o755)
    assert oct(unreadable(native, tmp_path / "launcher").stat().st_mode)[-3:] == "111"
    copy.chmod(0o755)
    copy.write_bytes(b"half")
    copy.chmod(0o111)
    assert unreadable(native, tmp_path / "launcher").stat().st_size == len(PROGRAM)


def test_another_runtime_replaces_the_copy_and_nothing_half_made_stays(
    native: Located, tmp_path: Path
) -> None:
    folder = tmp_path / "launcher"
    before = unreadable(native, folder)
    (folder / ".new-left").mkdir()
    native.path.write_bytes(PROGRAM + b", newer")
    after = unreadable(native, folder)
    assert after != before
    assert [place.name for place in folder.iterdir()] == [after.parents[2].name]


def test_a_single_file_is_copied_without_its_neighbours(tmp_path: Path) -> None:
    single = tmp_path / "bin" / "copilot"
    single.parent.mkdir()
    single.write_bytes(PROGRAM)
    (single.parent / "other").write_text("not ours", "utf-8")
    copy = unreadable(Located(single, "the setting", native=False), tmp_path / "launcher")
    assert [file.name for file in copy.parent.iterdir()] == ["copilot"]


def test_what_an_interpreter_must_read_is_run_as_it_is(tmp_path: Path) -> None:
    script = tmp_path / "copilot-runtime"
    script.write_text("#!/bin/sh\n", "utf-8")
    assert unreadable(Located(script, "the setting", native=True), tmp_path / "l") == script
    assert not (tmp_path / "l").exists()


def test_where_no_copy_can_be_made_the_runtime_runs_all_the_same_and_it_is_said(
    native: Located, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "launcher").write_text("a file is in the way", "utf-8")
    with caplog.at_level(logging.WARNING):
        assert unreadable(native, tmp_path / "launcher") == native.path
    assert "agents can read its memory" in caplog.text
    assert os.access(native.path, os.R_OK)


def test_who_starts_at_the_same_time_has_the_same_copy(
    native: Located, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    native.path.write_bytes(PROGRAM + os.urandom(4_000_000))
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(unreadable, native, tmp_path / "launcher") for _ in range(8)]
        made = [one.result() for one in asked]
    assert len({*made}) == 1
    assert made[0] != native.path
    assert caplog.records == []
