"""Secrets put in from the terminal: with a server, and without one."""

import json
import os
from pathlib import Path

import pytest

from tests.portal import Portal

KEY = "lab-0123456789-hush"


def holders(folder: Path) -> set[str]:
    """The files below it that have the key in them."""
    return {
        str(file.relative_to(folder))
        for file in folder.rglob("*")
        if file.is_file() and KEY.encode() in file.read_bytes()
    }


def test_a_secret_needs_no_server(nowhere: Portal) -> None:
    assert nowhere.run("secret", "list").stderr.startswith("No secrets are stored.")
    done = nowhere.run("secret", "set", "lab", said=f"{KEY}\n")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "Kept lab in a private file of the data folder.\n"
    assert nowhere.run("secret", "list").stdout.startswith("lab\ta private file")
    refused = nowhere.run("secret", "remove", "lab")
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    assert nowhere.run("secret", "remove", "lab", "--yes").returncode == 0
    assert holders(nowhere.folder) == set()
    assert nowhere.run("secret", "remove", "lab", "--yes").returncode == 2


@pytest.mark.parametrize(
    ("name", "said", "words"),
    [
        ("lab", "", "The secret is empty."),
        ("lab", "short", "It must have 8 to 2048"),
        ("lab", "x" * 20_000, "that is no secret"),
        ("a/b", KEY, "letters, digits"),
    ],
)
def test_what_is_no_secret_is_refused(portal: Portal, name: str, said: str, words: str) -> None:
    done = portal.run("secret", "set", name, said=said)
    assert done.returncode == 2
    assert words in done.stderr


def test_an_argument_is_no_way_to_tell_it(nowhere: Portal) -> None:
    assert nowhere.run("secret", "set", "lab", KEY).returncode == 2
    assert holders(nowhere.folder) == set()


def test_a_server_learns_it_at_once_and_nobody_hears_of_it(portal: Portal) -> None:
    assert portal.run("secret", "set", "lab", said=KEY).returncode == 0
    listed = json.loads(portal.run("secret", "list", "--json").stdout)["items"]
    assert [(item["name"], item["place"]) for item in listed] == [("lab", "file")]
    # What a person types is stored without it, although it has no shape of a secret.
    assert portal.run("chat", "--keep", f"hello {KEY}").returncode == 0
    assert holders(portal.folder) == {"data/secrets/lab"}
    assert KEY not in portal.run("audit").stdout
    assert "secret.changed" in portal.run("audit").stdout
    bob = portal.run("token", "add", "bob", "--role", "decide").stdout.strip()
    for words in (("list",), ("set", "x"), ("remove", "lab", "--yes")):
        done = portal.run("secret", *words, said=KEY, AIRBOSS_TOKEN=bob)
        assert (done.returncode, "role own" in done.stderr) == (2, True)
    portal.stop()
    portal.start()
    assert portal.run("chat", "--keep", f"hello {KEY}").returncode == 0
    assert holders(portal.folder) == {"data/secrets/lab"}
    assert portal.run("secret", "remove", "lab", "--yes").returncode == 0
    assert holders(portal.folder) == set()
    assert os.listdir(portal.data / "secrets") == []
