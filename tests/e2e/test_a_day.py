"""A day in one browser: runs that are read as reports, a failure that is understood and retried,
two runs compared, sessions that get in each other's way, an inbox that is worked off by keys."""

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

import airboss
from tests.e2e.sessions import Person
from tests.e2e.tracked import CALL, begun, over, ref, run_tab, seq, state, task, visit
from tests.e2e.visit import asked, new_session, signed_in
from tests.e2e.witness import Quiet
from tests.pauses import pauses
from tests.portal import Portal
from tests.trials import whole_only

WORDS: Final = "2 of 613 tests still fail.\n\nFAILED tests/test_merge.py::test_two_writers"
# Below all of them stand the rules that come with Airboss, for the sample job.
RULES: Final = rf"""
- when: "Do the tests pass"
  times: 1
  steps: &no
    - call: {{tool: job_boolean_false, arguments: {{argument: {json.dumps(WORDS)}}}}}
    - say: "No."
- when: "Do the tests pass"
  times: 1
  steps: &yes
    - call: {{tool: job_boolean_true, arguments: {{argument: "613 passed"}}}}
    - say: "Yes."
- when: "Do the tests pass"
  steps: *no
- when: "Mend the merge|Review it"
  steps:
    - call: {{tool: job_boolean_true, arguments: {{argument: "done"}}}}
    - say: "Held the rows back."
- when: "start at one"
  steps:
    - call: {{tool: edit, arguments: {{path: "{{cwd}}/tally.py", old_str: "= 0", new_str: "= 1"}}}}
    - say: "It starts at one."
- when: "call it count"
  steps:
    - call:
        tool: edit
        arguments: {{path: "{{cwd}}/tally.py", old_str: "tally", new_str: "count"}}
    - say: "It is called count."
- when: "which base"
  steps:
    - call:
        tool: ask_user
        arguments: {{question: "Which base?", choices: ["Ten", "Two"], allow_freeform: false}}
    - call:
        tool: edit
        arguments: {{path: "{{cwd}}/tally.py", old_str: "base 8", new_str: "base 2"}}
    - say: "It has the base."
- when: "four-"
  steps:
    - calls:
        - {{tool: bash, arguments: {{command: "touch same", description: "make it"}}}}
        - {{tool: bash, arguments: {{command: "touch {{last}}.txt", description: "make it"}}}}
        - {{tool: bash, arguments: {{command: "rm {{last}}.old", description: "remove it"}}}}
        - tool: ask_user
          arguments: {{question: "{{last}}?", choices: ["Yes", "No"], allow_freeform: false}}
    - say: "Done."
"""
JUDGED: Final = {"condition": [f"Do the tests pass? {CALL}"], "runConditionInSameSession": False}


def built_in(path: str) -> dict[str, Any]:
    return yaml.safe_load((Path(airboss.__file__).parent / path).read_text(encoding="utf-8"))


def entry() -> dict[str, Any]:
    """The sample job as it comes with Airboss, and one whose check fails at first."""
    brought = built_in("entry/builtin.yaml")
    sample = {name: one for name, one in brought["tasks"].items() if name.startswith("sample")}
    own = {"mend": task("Mend the merge.", 0, **JUDGED), "review": task("Review it.")}
    for one in own.values():
        one["model"] = {"category": "driving"}
    return {
        "models": {"driving": "rehearsal"},
        "promptVariables": {"answer": brought["promptVariables"]["answer"]},
        "tasks": {**sample, **own},
        "jobs": {
            "sample": brought["jobs"]["sample"],
            "merge": {"work": seq(ref("mend"), ref("review"))},
        },
        "grid": [],
    }


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[Portal]:
    rules = [*yaml.safe_load(RULES), *built_in("runtime/rehearsal/builtin.yaml")["rules"]]
    script = {"models": [{"id": "rehearsal", "name": "Rehearsal"}], "rules": rules}
    portal = Portal(tmp_path, ("--permissions", "ask"), json.dumps(script))
    portal.work.mkdir(parents=True)
    (portal.work / "airboss.json").write_text(json.dumps(entry()), encoding="utf-8")
    (portal.work / "tally.py").write_text("tally = 0  # base 8\n", encoding="utf-8")
    portal.start()
    yield portal
    portal.stop()


@whole_only
@pytest.mark.timeout(180)
def test_a_day(portal: Portal, page: Page, quiet: Quiet) -> None:
    signed_in(page, portal)
    for part in (
        read_the_sample_run_as_a_report,
        understand_a_failure_and_retry_it,
        compare_two_runs,
        work_in_three_sessions_on_one_file,
        decide_twelve_by_keys,
    ):
        part(portal, page)
    quiet.check()


def sessions(portal: Portal) -> list[dict[str, Any]]:
    return asked(portal, "GET", "/api/v1/sessions?limit=200").json()["items"]


def waiting(portal: Portal) -> list[dict[str, Any]]:
    return asked(portal, "GET", "/api/v1/inbox").json()["items"]


def is_waiting(portal: Portal, item: dict[str, Any]) -> bool:
    return item["id"] in [one["id"] for one in waiting(portal)]


def any_works(portal: Portal) -> bool:
    return any(one["state"] in ("opening", "working") for one in sessions(portal))


def until(holds: Callable[[], object], what: str) -> None:
    end = time.monotonic() + 30
    pause = pauses()
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(next(pause))


def region(page: Page, name: str) -> Locator:
    return page.locator(".report").get_by_role("region", name=name)


def read_the_sample_run_as_a_report(portal: Portal, page: Page) -> None:
    page.goto(portal.url)
    page.get_by_role("button", name="Run the sample job").click()
    page.wait_for_url("**/jobTracking.html?jobName=sample&jobId=*")
    expect(state(page)).to_have_text("JOB: SUCCEEDED", timeout=40_000)
    run_tab(page, "Report").click()
    expect(region(page, "Outcome")).to_contain_text("Succeeded.")
    lines = region(page, "What each task concluded").get_by_role("listitem")
    expect(lines.filter(has_text="sample-look")).to_contain_text("what lies in this folder")
    expect(lines.filter(has_text="sample-suggest")).to_contain_text("Try next")


def understand_a_failure_and_retry_it(portal: Portal, page: Page) -> None:
    run = begun(portal, "merge")
    over(portal, run)
    visit(page, portal, "merge", run)
    expect(region(page, "Outcome")).to_contain_text("mend failed.")
    expect(region(page, "Outcome")).to_contain_text("review was not run.")
    assert region(page, "What the failed check said").locator("pre").inner_text() == WORDS
    expect(page.get_by_role("log")).to_have_count(0)  # nobody opened a transcript
    page.get_by_role("button", name="Retry the failed part").first.click()
    expect(state(page)).to_have_text("JOB: SUCCEEDED", timeout=40_000)
    expect(region(page, "Outcome")).to_contain_text("Succeeded.")


def compare_two_runs(portal: Portal, page: Page) -> None:
    assert over(portal, begun(portal, "merge"))["state"] == "failed"
    page.goto(f"{portal.url}/history.html")
    boxes = page.get_by_role("checkbox", name="Select merge")
    expect(boxes).to_have_count(2)
    for place in range(2):
        boxes.nth(place).check()
    page.get_by_role("link", name="Compare").click()
    expect(page.locator(".verdict")).to_contain_text("They differ from mend")
    expect(page.get_by_role("region", name="Outcome of each task")).to_contain_text("review")


def work_in_three_sessions_on_one_file(portal: Portal, page: Page) -> None:
    """One is asked about the file; the others wait behind it, and say so."""
    first = open_session(portal, page, "start at one")
    expect(standing(page)).to_have_text("Waiting for you")
    expect(card(page)).to_contain_text("Change tally.py?")
    second = open_session(portal, page, "call it count")
    row = second.call("tally.py")
    expect(row.locator(".ch")).to_contain_text("Waiting for another session")
    expect(standing(page)).to_have_text("Waiting for another session")
    third = open_session(portal, page, "which base")
    expect(card(page)).to_contain_text("Which base?")
    expect(standing(page)).to_have_text("Waiting for you")
    card(page).get_by_text("Two").click()
    card(page).get_by_role("button", name="Answer", exact=True).click()
    expect(third.call("tally.py").locator(".ch")).to_contain_text("Waiting for another session")
    expect(third.call("tally.py").get_by_role("link", name="start at one")).to_be_visible()

    third.call("tally.py").get_by_role("button", name="Decide here").click()
    [item] = waiting(portal)
    third.call("tally.py").get_by_role("button", name="Allow once").click()
    until(lambda: not is_waiting(portal, item), "it was not decided")
    while any_works(portal):
        allow_what_waits(portal, page)
    changed = (portal.work / "tally.py").read_text(encoding="utf-8")
    assert changed == "count = 1  # base 2\n"
    for person in (first, second, third):
        assert [event["allowed"] for event in person.events("permission.decided")] == [True]
    visit_session(portal, page, second.session)
    expect(second.call("Edited").locator(".ch")).to_contain_text("Allowed once by owner")


def open_session(portal: Portal, page: Page, text: str) -> Person:
    session = new_session(portal, text)
    visit_session(portal, page, session)
    return Person(portal, page, session)


def visit_session(portal: Portal, page: Page, session: str) -> None:
    page.goto(f"{portal.url}/index.html?session={session}")
    expect(page.get_by_role("log", name="Conversation")).to_be_visible()


def standing(page: Page) -> Locator:
    return page.locator(".sub .st")


def card(page: Page) -> Locator:
    return page.locator(".ask[tabindex]").last


def allow_what_waits(portal: Portal, page: Page) -> None:
    """The next of those that wait, where it is asked; what works says what it waits for."""
    until(lambda: waiting(portal) or not any_works(portal), "nothing is asked, and nothing ends")
    items = waiting(portal)
    if not items:
        return
    visit_session(portal, page, items[0]["session"])
    expect(standing(page)).to_have_text("Waiting for you")
    card(page).get_by_role("button", name="Allow once").click()
    until(lambda: not is_waiting(portal, items[0]), "it was not decided")


def decide_twelve_by_keys(portal: Portal, page: Page) -> None:
    """Commands that are alike and that are not, of two kinds of risk, and questions."""
    for name in ("one", "two", "three"):
        new_session(portal, f"four-{name}")
    until(lambda: len(waiting(portal)) == 12, "not all of them ask")
    page.goto(f"{portal.url}/inbox.html")
    left = 12
    while left > 0:
        count = page.locator("#content").get_by_text(re.compile(rf"^{left} waiting for you"))
        expect(count).to_be_visible()
        if left == 12:
            page.keyboard.press("j")
        expect(card(page)).to_be_focused()
        decided = card(page).element_handle()
        left -= decide_by_key(page)
        until(lambda now=left: len(waiting(portal)) == now, "a key did not decide it")
        decided.wait_for_element_state("hidden")  # the next card is there
    expect(page.get_by_role("heading", name="Nothing is waiting for you")).to_be_visible()
    until(lambda: not any_works(portal), "something hangs")
    assert sorted(path.name for path in portal.work.glob("four-*")) == []
    assert (portal.work / "same").exists()


def decide_by_key(page: Page) -> int:
    """What is alike is allowed together, questions are answered, all else is denied. How many."""
    label = card(page).get_attribute("aria-label") or ""
    if label.startswith("Question"):
        page.keyboard.press("2")
        expect(card(page).get_by_role("radio", name="No")).to_be_checked()
        page.keyboard.press("Enter")
        return 1
    expect(card(page).locator(".acts .btn").first).to_be_enabled()
    page.keyboard.press("a" if "identical" in label else "d")
    return int(label.split()[0]) if "identical" in label else 1
