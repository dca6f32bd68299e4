"""Tokens with a name, added and revoked from the terminal."""

import json

import httpx2

from tests.portal import Portal
from tests.signing import Signed, sign_in_anew


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


def is_in(portal: Portal, signed: Signed) -> bool:
    answer = httpx2.get(f"{portal.url}/api/v1/status", headers=signed.headers)
    return answer.status_code == 200


def test_browsers_are_listed_and_signed_out(portal: Portal) -> None:
    portal.run("token", "signout", "--all")
    assert portal.run("token", "signins").stderr.startswith("No browser is signed in.")
    agent = {"User-Agent": "Mozilla/5.0 (Windows NT 10.0) AppleWebKit Chrome/150 Safari/537.36"}
    one = sign_in_anew(portal.url, portal.token, **agent)
    two, three = (sign_in_anew(portal.url, portal.token) for _ in range(2))
    listed = json.loads(portal.run("token", "signins", "--json").stdout)["items"]
    assert [item["device"] for item in listed][2] == "Chrome on Windows"
    first = portal.run("token", "signins").stdout.splitlines()[2]
    assert first.startswith("owner\tChrome on Windows\t127.0.0.1\t")
    done = portal.run("token", "signout", listed[2]["id"])
    assert (done.returncode, done.stderr) == (0, f"Signed out {listed[2]['id']}.\n")
    assert (is_in(portal, one), is_in(portal, two)) == (False, True)
    assert portal.run("token", "signout", "--all").returncode == 0
    assert (is_in(portal, two), is_in(portal, three)) == (False, False)


def test_to_sign_out_somebody_is_named_or_all(portal: Portal) -> None:
    for words in ((), ("sgn_1", "--all")):
        done = portal.run("token", "signout", *words)
        assert done.returncode == 2
        assert "airboss token signins" in done.stderr
    done = portal.run("token", "signout", "sgn_1")
    assert (done.returncode, done.stderr) == (2, "error: There is no sign-in sgn_1.\n")


def test_removing_a_token_signs_its_browsers_out(portal: Portal) -> None:
    token = portal.run("token", "add", "dan").stdout.strip()
    signed = sign_in_anew(portal.url, token)
    assert is_in(portal, signed)
    portal.run("token", "remove", "dan")
    assert not is_in(portal, signed)
    assert "dan" not in portal.run("token", "signins", "--json").stdout
