"""Providers of one's own, added, listed, tested and removed from the terminal."""

import json
from collections.abc import Iterator

import pytest

from tests.contract.test_providers import KEY, service
from tests.portal import Portal

__all__ = ("service",)


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    with Portal(tmp_path_factory.mktemp("portal"), script=None).serving() as portal:
        yield portal


def test_a_provider_is_tried_added_used_and_removed(portal: Portal, service: str) -> None:
    assert "airboss provider add" in portal.run("provider", "list").stderr
    add = ("provider", "add", "lab", "--url", service)
    wrong = portal.run(*add, "--model", "m", said="wrong-key-0123456789")
    assert (wrong.returncode, "refused the key (401)" in wrong.stderr) == (2, True)
    assert "--no-test" in wrong.stderr
    unnamed = portal.run(*add, said=KEY)
    assert (unnamed.returncode, "It offers: " in unnamed.stderr) == (2, True)
    assert "--model ID" in unnamed.stderr
    done = portal.run(*add, "--model", "grand", "--model", "small", said=KEY)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "lab answered in " in done.stderr
    [row] = portal.run("provider", "list").stdout.splitlines()
    assert row.split("\t")[:2] + row.split("\t")[3:] == [
        *("lab", "openai", "grand, small", "set", "added", "not used yet"),
    ]
    assert portal.run("provider", "test", "lab", "--model", "small").returncode == 0
    [item] = json.loads(portal.run("provider", "list", "--json").stdout)["items"]
    assert (item["state"], KEY in json.dumps(item)) == ("fine", False)
    assert "lab/grand" in portal.run("models").stdout
    assert portal.run("chat", "--model", "lab/grand", "greet").returncode == 0
    kept = portal.run("provider", "remove", "lab")
    assert (kept.returncode, "--yes" in kept.stderr) == (2, True)
    assert portal.run("provider", "remove", "lab", "--yes").returncode == 0
    gone = portal.run("provider", "test", "lab")
    assert (gone.returncode, gone.stderr) == (2, "error: There is no provider lab.\n")


def test_one_that_is_down_is_added_without_a_test_and_says_so(portal: Portal) -> None:
    url = ("--url", "http://127.0.0.1:1/v1", "--model", "m")
    assert portal.run("provider", "add", "down", *url).returncode == 2
    assert portal.run("provider", "add", "down", *url, "--no-test").returncode == 0
    done = portal.run("provider", "test", "down")
    assert (done.returncode, "Is it running?" in done.stderr) == (2, True)
    told = portal.run("provider", "test", "down", "--json")
    assert (told.returncode, json.loads(told.stdout)["cause"]) == (2, "unreachable")
    assert "\tfailing since " in portal.run("provider", "list").stdout
