"""One server for each data folder: the second hears who has it, a dead one is in nobody's way."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from airboss.errors import DataFolderTaken, StoreUnavailable
from airboss.store.folder import DataFolder, ServerNote, write_private
from airboss.store.tokens import NamedTokens

NOTE = ServerNote(pid=4321, url="http://127.0.0.1:8888", started_at=1000)

HOLDER = """
import sys, time
from pathlib import Path
from airboss.store.folder import DataFolder, ServerNote
held = DataFolder(Path(sys.argv[1])).hold()
held.announce(ServerNote(int(sys.argv[2]), "http://127.0.0.1:1", 5))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path / "data")


@pytest.fixture
def holder(folder: DataFolder) -> Generator["subprocess.Popen[str]"]:
    """Another process that has the folder."""
    program = [sys.executable, "-c", HOLDER, str(folder.path), "77"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        assert running.stdout.readline() == "held\n"
        yield running
        running.kill()


def test_the_second_holder_hears_who_has_the_folder(folder: DataFolder) -> None:
    held = folder.hold()
    held.announce(NOTE)
    with pytest.raises(DataFolderTaken) as refused:
        folder.hold()
    assert str(refused.value) == (
        f"The data folder {folder.path} is in use by the server with process id 4321 at "
        "http://127.0.0.1:8888. Stop that server first, or use another folder with "
        "--data."
    )
    assert folder.note() == NOTE
    held.release()
    assert folder.note() is None
    folder.hold().release()


def test_another_process_has_the_folder_as_long_as_it_lives(
    folder: DataFolder, holder: "subprocess.Popen[str]"
) -> None:
    with pytest.raises(DataFolderTaken, match="process id 77 at http"):
        folder.hold()
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert (folder.path / "server.json").exists()
    assert folder.note() is None
    held = folder.hold()
    # The dead one is not named in the place of the living.
    with pytest.raises(DataFolderTaken, match="in use by another process"):
        folder.hold()
    held.release()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x"}', '{"pid": 1}', "null"])
def test_a_note_that_cannot_be_read_is_no_note(folder: DataFolder, content: str) -> None:
    held = folder.hold()
    (folder.path / "server.json").write_text(content, "utf-8")
    assert folder.note() is None
    held.release()


def test_looking_whether_a_folder_is_held_makes_nothing(folder: DataFolder) -> None:
    assert (folder.note(), folder.is_locked()) == (None, False)
    assert not folder.path.exists()


def test_who_only_looks_is_in_no_servers_way(folder: DataFolder) -> None:
    """A command line that asks for the server has its lock for a moment."""
    folder.hold().release()
    looking = (
        "import sys\nfrom pathlib import Path\nfrom airboss.store.folder import DataFolder\n"
        "print(1, flush=True)\nwhile True: DataFolder(Path(sys.argv[1])).is_locked()"
    )
    program = [sys.executable, "-c", looking, str(folder.path)]
    with subprocess.Popen(program, stdout=subprocess.PIPE) as running:
        assert running.stdout
        running.stdout.readline()
        for _ in range(5):
            folder.hold().release()
        running.kill()


def test_the_folder_and_what_is_private_in_it_are_for_their_owner_only(folder: DataFolder) -> None:
    held = folder.hold()
    held.announce(NOTE)
    write_private(folder.token, "secret")
    modes = [folder.path, folder.copilot_home, folder.token, folder.path / "server.json"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in modes] == [0o700, 0o700, 0o600, 0o600]
    held.release()


def test_a_folder_keeps_its_name(folder: DataFolder) -> None:
    folder.create()
    name = folder.owner_id()
    assert name.startswith("own_")
    assert DataFolder(folder.path).owner_id() == name
    (folder.path / "id").write_text("", "utf-8")
    assert folder.owner_id() not in {"", name}


def test_a_file_where_the_folder_should_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way", "utf-8")
    with pytest.raises(StoreUnavailable, match="choose another with --data"):
        DataFolder(tmp_path / "data").hold()


def test_a_private_file_that_cannot_be_written_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "token").mkdir()
    (tmp_path / "token" / "in-the-way").touch()
    with pytest.raises(StoreUnavailable, match="token cannot be written"):
        write_private(tmp_path / "token", "secret")
    assert os.listdir(tmp_path) == ["token"]


READ_ONLY = """
import os, sys
from pathlib import Path
from airboss.errors import AirbossError
from airboss.store.folder import DataFolder
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    DataFolder(Path(sys.argv[1])).hold()
except AirbossError as error:
    print(f"{error.code}: {error}")
"""


@pytest.mark.parametrize("below", [".", "data"])
def test_a_read_only_folder_is_refused_in_words(below: str) -> None:
    """Asked by somebody without root's rights, who may look into the folder and no more."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / below
        Path(made).chmod(0o555)
        program = [sys.executable, "-c", READ_ONLY, str(folder)]
        answer = subprocess.run(program, capture_output=True, text=True, check=True)
    assert answer.stdout == (
        f"store_unavailable: The data folder {folder} cannot be written: Permission denied. "
        "Free some space, fix its permissions, or choose another with --data.\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="there are no such bits")
def test_nobody_else_can_hold_the_folder_where_others_may_look_into_it(tmp_path: Path) -> None:
    """Whoever may read a lock's file may take the lock, and no server would start any more."""
    (tmp_path / "open").mkdir(mode=0o755)
    folder = DataFolder(tmp_path / "open")
    held = folder.hold()
    try:
        NamedTokens(folder).add("ann")
        held.announce(NOTE)
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.path.iterdir()}
    finally:
        held.release()
    assert {name for name, mode in modes.items() if mode & 0o077} == set()
    assert {"lock", "tokens.lock", "tokens.json", "server.json"} <= set(modes)
