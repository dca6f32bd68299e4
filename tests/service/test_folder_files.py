"""What people may see of a session's folder."""

import os
from pathlib import Path

import pytest

from airboss.errors import Invalid, NotFound
from airboss.harness.protected import Protected
from airboss.model.redaction import Redactor
from airboss.service.folder_files import MOST_BYTES, FolderFiles


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "src/follow.py").write_text("one\ntwo\n", encoding="utf-8")
    (folder / "follow.md").write_text("words", encoding="utf-8")
    return folder


def files(folder: Path, *places: Path) -> FolderFiles:
    return FolderFiles(folder, Protected(places), Redactor(("hush-hush-hush",)))


def test_a_text_file_is_read_by_a_relative_or_a_whole_path(folder: Path) -> None:
    for path in ("src/follow.py", f"{folder}/src/follow.py", "./src/../src/follow.py"):
        read = files(folder).read(path)
        assert (read.path, read.text, read.bytes) == ("src/follow.py", "one\ntwo\n", 8)


def test_what_lies_outside_is_refused_by_whatever_way_it_is_reached(folder: Path) -> None:
    (folder.parent / "other.txt").write_text("not yours", encoding="utf-8")
    (folder / "link").symlink_to(folder.parent / "other.txt")
    (folder / "up").symlink_to(folder.parent)
    for path in (
        "../other.txt",
        f"{folder.parent}/other.txt",
        "link",
        "up/other.txt",
        "/etc/passwd",
    ):
        with pytest.raises(Invalid, match="outside"):
            files(folder).read(path)


@pytest.mark.parametrize(
    "name", [".env", ".env.local", "tls.key", "a/id_rsa", ".git/config", ".SSH/known", "Server.PEM"]
)
def test_what_may_hold_secrets_is_refused(folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("TOKEN=1", encoding="utf-8")
    with pytest.raises(Invalid, match="secrets"):
        files(folder).read(name)
    assert files(folder).names("", 100).items == ["follow.md", "src/follow.py"]


def test_a_protected_place_below_the_folder_is_refused(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data/tokens.json").write_text("{}", encoding="utf-8")
    shown = files(folder, folder / "data")
    with pytest.raises(Invalid, match="secrets"):
        shown.read("data/tokens.json")
    assert "data/tokens.json" not in shown.names("", 100).items


def test_a_secret_that_the_server_knows_is_taken_out(folder: Path) -> None:
    (folder / "notes").write_text("the word is hush-hush-hush.", encoding="utf-8")
    assert "hush-hush-hush" not in files(folder).read("notes").text


def test_of_a_long_file_the_beginning_is_shown_and_says_so(folder: Path) -> None:
    (folder / "long.txt").write_bytes(b"x" * (MOST_BYTES + 5))
    read = files(folder).read("long.txt")
    assert (len(read.text), read.bytes, read.cut) == (MOST_BYTES, MOST_BYTES + 5, True)


def test_what_is_no_text_no_file_or_not_there_is_refused_in_words(folder: Path) -> None:
    (folder / "image").write_bytes(b"\x89PNG\0\0")
    os.mkfifo(folder / "pipe")
    for path, why in (
        ("image", "not a text file"),
        ("pipe", "not a readable file"),
        ("src", "not a readable file"),
        ("\0", "path"),
    ):
        with pytest.raises(Invalid, match=why):
            files(folder).read(path)
    with pytest.raises(NotFound):
        files(folder).read("nobody")


def test_names_are_found_by_letters_the_files_own_name_first(folder: Path) -> None:
    (folder / "follow").mkdir()
    (folder / "follow/zzz.py").write_text("", encoding="utf-8")
    (folder / "node_modules").mkdir()
    (folder / "node_modules/follow.js").write_text("", encoding="utf-8")
    found = files(folder).names("FOLL", 10)
    assert found.items == ["follow.md", "src/follow.py", "follow/zzz.py"]
    assert files(folder).names("foll", 2).more
