"""The server is found by its data folder, and its token goes nowhere else."""

from pathlib import Path

import pytest

from airboss.cli.client import Address, find
from airboss.cli.folder import data_folder
from airboss.cli.trouble import CommandRefused, Unreachable
from airboss.settings import default_data_folder
from airboss.store.folder import DataFolder, ServerNote, write_private


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path)
    write_private(folder.token, "the-token-of-this-folder\n")
    return folder


def test_a_running_server_is_found_with_its_token(folder: DataFolder) -> None:
    held = folder.hold()
    held.announce(ServerNote(1, "http://localhost:8888", 0))
    found = find(folder.path, {})
    held.release()
    assert found == Address("http://localhost:8888", "the-token-of-this-folder")


def test_a_note_that_a_killed_server_left_is_no_server(folder: DataFolder) -> None:
    folder.hold().announce(ServerNote(1, "http://localhost:8888", 0))
    note = folder.path / "server.json"
    left = note.read_text(encoding="utf-8")
    write_private(note, left)
    with pytest.raises(Unreachable, match="Start one with: airboss serve"):
        find(folder.path, {})


def test_variables_go_before_the_folder(folder: DataFolder) -> None:
    told = {"AIRBOSS_URL": "http://127.0.0.1:9/", "AIRBOSS_TOKEN": "given"}
    assert find(folder.path, told) == Address("http://127.0.0.1:9", "given")
    told.pop("AIRBOSS_TOKEN")
    assert find(folder.path, told) == Address("http://127.0.0.1:9", "the-token-of-this-folder")


def test_the_folders_token_is_not_shown_to_another_machine(folder: DataFolder) -> None:
    told = {"AIRBOSS_URL": "https://airboss.example"}
    assert find(folder.path, told) == Address("https://airboss.example", None)


@pytest.mark.parametrize("url", ["ftp://x", "localhost:8888", "http://"])
def test_an_address_that_is_none_is_refused(folder: DataFolder, url: str) -> None:
    with pytest.raises(CommandRefused, match="AIRBOSS_URL"):
        find(folder.path, {"AIRBOSS_URL": url})


def test_client_and_server_agree_on_the_default_folder(tmp_path: Path) -> None:
    for environ in ({}, {"AIRBOSS_DATA": str(tmp_path)}, {"AIRBOSS_DATA": ""}):
        assert data_folder(None, environ).path == default_data_folder(environ)
