"""Runs as reports in a terminal: read, compared, renamed and tagged."""

import json
from collections.abc import Iterator

import pytest

from tests.contract.reported import INPUT, WORDS, reported_portal
from tests.portal import Portal


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = reported_portal(tmp_path_factory.mktemp("stage"))
    portal.start()
    yield portal
    portal.stop()


def ran(portal: Portal, job: str, *options: str) -> str:
    portal.run("run", job, "--cwd", str(portal.work), *options)
    listed = json.loads(portal.run("runs", "--job", job, "--json").stdout)
    return str(listed["items"][0]["id"])


@pytest.fixture(scope="module")
def runs(stage: Portal) -> tuple[str, str]:
    return ran(stage, "ship", "--input", INPUT), ran(stage, "broken")


def test_a_report_is_read_in_a_terminal(stage: Portal, runs: tuple[str, str]) -> None:
    told = stage.run("report", runs[1]).stdout
    assert "hopeless failed. Its check failed 2 times" in told
    for line in WORDS.splitlines():
        assert line in told
    assert "Not run, because hopeless failed." in told
    assert f"airboss retry {runs[1]}" in told
    other = stage.run("report", runs[0]).stdout
    assert "ship: A follower loses events" in other
    assert "server.py  (build-server)" in other
    assert json.loads(stage.run("report", runs[0], "--json").stdout)["state"] == "succeeded"


def test_a_run_is_renamed_and_tagged_and_found_by_its_tag(
    stage: Portal, runs: tuple[str, str]
) -> None:
    assert "to Nightly." in stage.run("rename", runs[1], "Nightly").stderr
    assert "bug, live." in stage.run("tag", runs[1], "bug", "live").stderr
    told = stage.run("tag", runs[1], "live", "--remove").stderr
    assert told.strip().endswith(": bug.")
    listed = stage.run("runs", "--tag", "bug").stdout
    assert "Nightly #bug" in listed
    assert runs[0] not in listed


def test_two_runs_are_compared_in_a_terminal(stage: Portal, runs: tuple[str, str]) -> None:
    told = stage.run("compare", *runs).stdout
    assert "They differ from " in told
    assert "Different files: 0, identical: 3" in told
    refused = stage.run("compare", runs[0], runs[0])
    assert refused.returncode != 0
    assert "two different runs" in refused.stderr
