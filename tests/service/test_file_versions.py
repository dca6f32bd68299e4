"""A file that others change too: read as one version, replaced only over the one that was seen."""

import errno
import os
import stat
import threading
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from airboss.service import file_versions
from airboss.service.file_versions import (
    FileNotUsable,
    FileVersion,
    VersionChanged,
    read_version,
    replace_version,
)

MOST = 1024


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path)) / "airboss.yaml"


def replace(file: Path, content: bytes, seen: str | None) -> None:
    replace_version(file, seen, MOST, lambda _: content)


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def left_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_file_is_read_with_its_digest_and_time(file: Path) -> None:
    assert read_version(file, MOST) is None
    file.write_bytes(b"one")
    os.utime(file, ns=(0, 1_700_000_000_123_456_789))
    found = read_version(file, MOST)
    assert found is not None
    assert (found.content, found.digest, found.modified_at) == (
        b"one",
        digest(b"one"),
        1_700_000_000_123,
    )


def test_a_new_file_is_made_and_nothing_else_is_left(file: Path) -> None:
    replace(file, b"one", None)
    assert file.read_bytes() == b"one"
    assert left_in(file.parent) == ["airboss.yaml"]


def test_a_replaced_file_keeps_its_mode(file: Path) -> None:
    file.write_bytes(b"one")
    file.chmod(0o640)
    replace(file, b"two", digest(b"one"))
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"two", 0o640)
    assert left_in(file.parent) == ["airboss.yaml"]


@pytest.mark.parametrize("seen", [None, digest(b"older")])
def test_a_version_that_the_writer_has_not_seen_is_not_overwritten(
    file: Path, seen: str | None
) -> None:
    file.write_bytes(b"newer")
    with pytest.raises(VersionChanged) as caught:
        replace(file, b"mine", seen)
    assert caught.value.found is not None
    assert caught.value.found.content == b"newer"
    assert file.read_bytes() == b"newer"
    assert left_in(file.parent) == ["airboss.yaml"]


def test_a_file_that_is_gone_is_not_made_again(file: Path) -> None:
    with pytest.raises(VersionChanged) as caught:
        replace(file, b"mine", digest(b"seen"))
    assert caught.value.found is None
    assert left_in(file.parent) == []


@pytest.mark.parametrize("before", [b"seen", None])
def test_a_change_while_the_new_version_is_written_wins(file: Path, before: bytes | None) -> None:
    if before is not None:
        file.write_bytes(before)

    def content(_: FileVersion | None) -> bytes:
        file.write_bytes(b"theirs, just now")
        return b"mine"

    with pytest.raises(VersionChanged) as caught:
        replace_version(file, None if before is None else digest(before), MOST, content)
    assert caught.value.found is not None
    assert caught.value.found.content == b"theirs, just now"
    assert file.read_bytes() == b"theirs, just now"
    assert left_in(file.parent) == ["airboss.yaml"]


def test_of_many_writers_of_one_version_exactly_one_succeeds(file: Path) -> None:
    file.write_bytes(b"seen")
    done: list[bytes] = []
    refused: list[bytes] = []
    gate = threading.Barrier(8)

    def write(number: int) -> None:
        mine = f"writer {number}".encode()
        gate.wait()
        try:
            replace(file, mine, digest(b"seen"))
            done.append(mine)
        except VersionChanged:
            refused.append(mine)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(done), len(refused)) == (1, 7)
    assert file.read_bytes() == done[0]
    assert left_in(file.parent) == ["airboss.yaml"]


def test_a_link_in_the_place_of_the_file_is_not_followed(file: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"seen")
    file.symlink_to(elsewhere)
    with pytest.raises(FileNotUsable, match="cannot be read"):
        read_version(file, MOST)
    with pytest.raises(FileNotUsable, match="cannot be written"):
        replace(file, b"mine", digest(b"seen"))
    assert elsewhere.read_bytes() == b"seen"


def test_a_link_in_the_place_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    real = Path(os.path.realpath(tmp_path))
    (real / "elsewhere").mkdir()
    (real / "elsewhere" / "airboss.yaml").write_bytes(b"seen")
    (real / "project").symlink_to(real / "elsewhere")
    file = real / "project" / "airboss.yaml"
    with pytest.raises(FileNotUsable, match="cannot be read"):
        read_version(file, MOST)
    with pytest.raises(FileNotUsable, match="cannot be written"):
        replace(file, b"mine", digest(b"seen"))
    assert left_in(real / "elsewhere") == ["airboss.yaml"]


def test_a_link_put_there_while_it_is_written_is_replaced_and_not_followed(
    file: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"theirs")
    file.write_bytes(b"seen")

    def content(_: FileVersion | None) -> bytes:
        file.unlink()
        file.symlink_to(elsewhere)
        return b"mine"

    with pytest.raises((VersionChanged, FileNotUsable)):
        replace_version(file, digest(b"seen"), MOST, content)
    assert elsewhere.read_bytes() == b"theirs"


def test_what_is_no_file_is_refused_in_words(file: Path) -> None:
    file.mkdir()
    with pytest.raises(FileNotUsable, match="is not a file"):
        read_version(file, MOST)
    with pytest.raises(FileNotUsable, match="is not a file"):
        replace(file, b"mine", None)
    file.rmdir()
    os.mkfifo(file)
    with pytest.raises(FileNotUsable, match="is not a file"):
        read_version(file, MOST)


def test_what_is_too_large_and_what_is_nowhere_is_refused_in_words(file: Path) -> None:
    file.write_bytes(b"x" * (MOST + 1))
    with pytest.raises(FileNotUsable, match="is larger than"):
        read_version(file, MOST)
    nowhere = file.parent / "nowhere" / "airboss.yaml"
    assert read_version(nowhere, MOST) is None
    with pytest.raises(FileNotUsable, match=r"The folder .*nowhere does not exist"):
        replace(nowhere, b"mine", None)


def test_a_full_disk_leaves_the_file_as_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_bytes(b"seen")

    def full(_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(file_versions.os, "fsync", full)
    with pytest.raises(FileNotUsable, match="No space left on device"):
        replace(file, b"mine", digest(b"seen"))
    assert file.read_bytes() == b"seen"
    assert left_in(file.parent) == ["airboss.yaml"]


def test_a_disk_without_hard_links_takes_a_new_file_too(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(file_versions.os, "link", no_links)
    replace(file, b"one", None)
    assert file.read_bytes() == b"one"
    assert left_in(file.parent) == ["airboss.yaml"]
