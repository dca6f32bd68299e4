"""Tokens with a name, added and revoked from the terminal."""

import json

from tests.portal import Portal


def test_a_named_token_opens_the_server_until_it_is_removed(portal: Portal) -> None:
    token = portal.run("token", "add", "bob").stdout.strip()
    told = portal.run("status", "--json", AIRBOSS_TOKEN=token)
    assert json.loads(told.stdout)["who"] == "bob"
    names = json.loads(portal.run("token", "list", "--json").stdout)
    assert [item["name"] for item in names["items"]] == ["bob"]
    assert portal.run("token", "list").stdout.startswith("bob\t")
    assert portal.run("token", "remove", "bob").returncode == 0
    assert portal.run("status", AIRBOSS_TOKEN=token).returncode == 2


def test_a_token_needs_no_server(nowhere: Portal) -> None:
    assert nowhere.run("token", "list").stderr.startswith("No named tokens.")
    assert nowhere.run("token", "add", "eve").returncode == 0
    assert nowhere.run("token", "list").stdout.startswith("eve\t")


def test_what_cannot_be_is_refused_in_words(nowhere: Portal) -> None:
    done = nowhere.run("token", "remove", "nobody")
    assert (done.returncode, done.stderr) == (2, "error: There is no token named nobody.\n")
    assert nowhere.run("token", "add", "No Name").returncode == 2
