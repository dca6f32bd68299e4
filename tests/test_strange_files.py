"""What stands in the place of a file is read within bounds, or not at all."""

import errno
import hashlib
import os
from pathlib import Path

import pytest

from airboss import strange_files
from airboss.strange_files import FileTooLarge, NotAFile


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "link to a device"])
def test_what_is_no_file_is_said_at_once(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    match kind:
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
        case "device":
            place = Path("/dev/zero")
        case _:
            place.symlink_to("/dev/zero")
    with pytest.raises(NotAFile):
        strange_files.read(place, 100)
    with pytest.raises(NotAFile):
        strange_files.digest(place, 100)
    with pytest.raises(OSError):  # noqa: PT011 - a link is one of its own
        strange_files.copy(place, tmp_path / "copy", 100)
    assert not (tmp_path / "copy").exists()


def test_no_more_is_read_than_somebody_takes(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.write_bytes(b"12345")
    assert strange_files.read(place, 5) == b"12345"
    assert strange_files.digest(place, 5) == hashlib.sha256(b"12345").hexdigest()
    for refused in (strange_files.read, strange_files.digest):
        with pytest.raises(FileTooLarge):
            refused(place, 4)
    with pytest.raises(FileTooLarge):  # whose size says that it is empty
        strange_files.read("/proc/self/environ" if os.environ else "/proc/self/maps", 4)


def test_a_copy_has_the_times_and_is_of_no_link(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.write_bytes(b"12345")
    os.utime(place, ns=(5, 7))
    assert strange_files.copy(place, tmp_path / "copy", 5) == 5
    assert (tmp_path / "copy").stat().st_mtime_ns == 7
    (tmp_path / "link").symlink_to(place)
    with pytest.raises(OSError) as refused:  # noqa: PT011 - its number says it
        strange_files.copy(tmp_path / "link", tmp_path / "other", 5)
    assert refused.value.errno == errno.ELOOP
