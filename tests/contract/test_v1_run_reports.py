"""A run over v1 as a report: what came of it, why, what changed; two runs compared."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.reported import (
    INPUT,
    WORDS,
    git,
    reported_portal,
    reset,
    until_over,
)
from tests.e2e.visit import asked
from tests.portal import Portal

Told = dict[str, Any]


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = reported_portal(tmp_path_factory.mktemp("reports"))
    portal.start()
    yield portal
    portal.stop()


def show(portal: Portal, path: str) -> Any:
    answer = asked(portal, "GET", path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ran(portal: Portal, job: str, text: str = "") -> str:
    answer = asked(portal, "POST", "/api/v1/runs", {"job": job, "input": text})
    assert answer.status_code == 201, answer.text
    run = str(answer.json()["id"])
    until_over(lambda path: show(portal, path), run)
    return run


@pytest.fixture(scope="module")
def status_before(portal: Portal) -> str:
    return git(portal.work, "status", "--porcelain")


@pytest.fixture(scope="module")
def ship(portal: Portal, status_before: str) -> str:
    return ran(portal, "ship", INPUT)


@pytest.fixture(scope="module")
def broken(portal: Portal, ship: str) -> str:
    return ran(portal, "broken")


def report(portal: Portal, run: str) -> Told:
    return show(portal, f"/api/v1/runs/{run}/report")


def test_a_run_is_known_by_a_title_from_its_input(portal: Portal, ship: str) -> None:
    view = next(v for v in show(portal, "/api/v1/runs")["items"] if v["id"] == ship)
    assert view["short_title"] == "A follower loses events"
    assert view["input_start"].startswith("# A follower loses events Find out why.")
    assert view["cwd"] == str(portal.work)


def test_it_can_be_renamed_and_tagged_also_when_it_has_ended(portal: Portal, broken: str) -> None:
    before = show(portal, f"/api/v1/runs/{broken}")
    body = {"title": "  Nightly\n check ", "tags": ["bug", "live", "bug"]}
    view = asked(portal, "PATCH", f"/api/v1/runs/{broken}", body).json()
    assert (view["short_title"], view["tags"]) == ("Nightly check", ["bug", "live"])
    assert view["ended_at"] == before["ended_at"]
    assert [v["id"] for v in show(portal, "/api/v1/runs?tag=live")["items"]] == [broken]
    assert [v["id"] for v in show(portal, "/api/v1/runs?text=nightly")["items"]] == [broken]
    assert show(portal, "/api/v1/runs?tag=liv")["items"] == []
    told = report(portal, broken)
    assert (told["title"], told["tags"]) == ("Nightly check", ["bug", "live"])
    bad = asked(portal, "PATCH", f"/api/v1/runs/{broken}", {"tags": ["a,b"]})
    assert bad.status_code == 422
    none = asked(portal, "PATCH", "/api/v1/runs/run_01234567890123456789012345", {"title": "x"})
    assert none.status_code == 404
    again = asked(portal, "POST", f"/api/v1/runs/{broken}/again").json()
    assert again["short_title"] == "Nightly check (2)"
    until_over(lambda path: show(portal, path), again["id"])


def test_a_report_says_what_it_was_for_and_what_each_task_concluded(
    portal: Portal, ship: str
) -> None:
    told = report(portal, ship)
    assert told["input"] == INPUT
    assert (told["job"], told["state"], told["who"]) == ("ship", "succeeded", "owner")
    assert told["outcome"] == {"head": "Succeeded.", "text": "No findings."}
    assert told["words"] is None
    assert told["tried"] == []
    said = {line["name"]: (line["state"], line["conclusion"]) for line in told["tasks"]}
    assert said == {
        "design": ("succeeded", "No findings."),
        "needs-migration": ("failed", "No table changes."),
        "write-migration": ("not-needed", "Not run, because needs-migration was false."),
        "build-server": ("succeeded", "`resume` subscribes first."),
        "lint · build-server": ("succeeded", "No findings."),
        "build-web": ("succeeded", "No findings."),
        "lint · build-web": ("succeeded", "No findings."),
        "fix-tests": ("succeeded", "A queue for each follower."),
        "tests-pass": ("succeeded", "613 passed."),
        "review": ("succeeded", "No findings."),
    }
    lines = {line["name"]: line for line in told["tasks"]}
    assert lines["needs-migration"]["answer"] is False
    assert lines["tests-pass"]["answer"] is True
    assert lines["fix-tests"]["rounds"] == 2
    whole = sum(line["usage"]["requests"] for line in told["tasks"])
    assert whole == told["usage"]["requests"]
    assert all(0 <= line["worked_ms"] <= told["took_ms"] for line in told["tasks"])


def test_names_that_are_told_apart_come_with_the_job(portal: Portal, ship: str) -> None:
    names = show(portal, f"/api/v1/runs/{ship}/job")["names"]
    assert names["4"] == "lint · build-server"
    assert names["6"] == "lint · build-web"


def test_its_changes_are_what_is_in_the_files_and_not_what_an_agent_said(
    portal: Portal, ship: str
) -> None:
    changes = report(portal, ship)["changes"]
    assert changes["source"] == "trees"
    files = {file["path"]: (file["how"], file["tasks"]) for file in changes["files"]}
    assert files == {
        "fix.txt": ("created", ["fix-tests"]),
        "made.txt": ("created", []),  # by a command: no editing tool told of it
        "server.py": ("edited", ["build-server"]),
    }
    assert (changes["added"], changes["removed"]) == (3, 1)
    page = show(portal, f"/api/v1/runs/{ship}/changes?limit=2")
    assert (page["count"], page["next"]) == (3, 2)
    assert "+fixed" in page["files"][0]["diff"]
    rest = show(portal, f"/api/v1/runs/{ship}/changes?first=2")
    assert rest["next"] is None
    assert "-old = 1\n+new = 1\n" in rest["files"][0]["diff"]


def test_nothing_of_the_repository_is_touched_but_names_of_ours(
    portal: Portal, ship: str, status_before: str
) -> None:
    after = git(portal.work, "status", "--porcelain")
    assert set(after.splitlines()) - set(status_before.splitlines()) <= {
        " M server.py",
        "?? fix.txt",
        "?? made.txt",
    }
    refs = git(portal.work, "for-each-ref", "--format=%(refname)", f"refs/airboss/runs/{ship}")
    assert refs.split() == [f"refs/airboss/runs/{ship}/{when}" for when in ("begin", "end")]
    assert git(portal.work, "rev-list", "--count", "--all").strip() == "1"


def test_a_failed_run_says_why_in_the_checks_own_words_and_what_to_do(
    portal: Portal, broken: str
) -> None:
    told = report(portal, broken)
    assert told["outcome"] == {
        "head": "hopeless failed.",
        "text": "Its check failed 2 times, and no retries are left. "
        "review and build-web were not run.",
    }
    assert told["words"]["text"] == WORDS
    assert (told["words"]["field"], told["words"]["attempt"]) == ("criteria.condition", 2)
    events = show(portal, f"/api/v1/task-runs/{told['words']['task_run']}/events")["items"]
    event = next(e["event"] for e in events if e["seq"] == told["words"]["seq"])
    assert event["reason"] == WORDS
    tried = [(one["attempt"], one["said"], one["check"][:20]) for one in told["tried"]]
    assert [one[0] for one in tried] == [1, 2]
    assert all(one[2] == WORDS[:20] for one in tried)
    assert [step["act"] for step in told["next"]] == ["retry", "open-session", "run-again"]
    assert told["next"][1]["session"] == told["tried"][-1]["session"]
    lines = {line["name"]: line for line in told["tasks"]}
    assert lines["review"]["state"] == "not-run"
    assert lines["review"]["conclusion"] == "Not run, because hopeless failed."


def test_decisions_have_who_made_them_and_how_long_it_took(portal: Portal) -> None:
    answer = asked(portal, "POST", "/api/v1/runs", {"job": "ask"})
    run = str(answer.json()["id"])
    end = time.monotonic() + 60
    while show(portal, f"/api/v1/runs/{run}")["state"] != "waiting-for-person":
        assert time.monotonic() < end
        time.sleep(0.05)
    items = show(portal, "/api/v1/inbox")["items"]
    told = report(portal, run)
    assert told["outcome"]["head"] == "Waiting for you: ask."
    assert [line["state"] for line in told["tasks"]] == ["waiting-for-person", "not-yet"]
    item = items[0]["id"]
    done = asked(portal, "POST", f"/api/v1/inbox/{item}/answer", {"answer": "Yes"})
    assert done.status_code < 300, done.text
    until_over(lambda path: show(portal, path), run)
    told = report(portal, run)
    [decision] = told["decisions"]["people"]
    assert decision["what"] == "Keep the fallback?"
    assert (decision["who"], decision["answer"], decision["task"]) == ("owner", "Yes", "ask")
    assert told["waited_for_person_ms"] > 0
    assert told["tasks"][0]["waited_for_person_ms"] == told["waited_for_person_ms"]


def test_two_runs_part_at_the_first_step_whose_outcome_or_changes_differ(
    portal: Portal, ship: str
) -> None:
    reset(portal)
    other = ran(portal, "ship", INPUT)  # its tests pass in the first round
    told = show(portal, f"/api/v1/run-comparison?a={ship}&b={other}")
    assert told["head"] == "They differ from tests-pass · round 1 on."
    assert told["same"] == {"input": True, "model": True, "definition": True, "folder": True}
    steps = {step["name"]: step for step in told["steps"]}
    assert steps["build-server"]["differs"] == "none"
    assert steps["tests-pass · round 1"]["a"]["answer"] is False
    assert steps["tests-pass · round 1"]["b"]["answer"] is True
    assert steps["fix-tests · round 2"]["b"] is None
    names = [step["name"] for step in told["steps"]]
    assert names.index("fix-tests · round 1") < names.index("tests-pass · round 1")
    assert (told["files"], told["files_alike"]) == ([], 3)
    assert told["checks_in_all"] > 5
    assert {check["name"] for check in told["checks"]} == {
        "tests-pass · round 1",
        "fix-tests · round 2",
        "tests-pass · round 2",
    }
    for path in (f"a={ship}&b={ship}", f"a={ship}"):
        assert asked(portal, "GET", f"/api/v1/run-comparison?{path}").status_code == 422
    assert asked(portal, "GET", f"/api/v1/run-comparison?a={ship}&b=run_1").status_code == 404

    assert asked(portal, "DELETE", f"/api/v1/runs/{other}").status_code == 204
    assert git(portal.work, "for-each-ref", f"refs/airboss/runs/{other}") == ""
