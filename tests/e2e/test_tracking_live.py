"""The tracking page while a job runs: marks, tabs that come, stop, retry, run again, decide."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.tracked import (
    address,
    begun,
    node,
    over,
    shown,
    state,
    tab,
    tracked_portal,
    until,
    visit,
)
from tests.e2e.visit import asked
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import whole_only

SLOWLY = 30_000


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = tracked_portal(tmp_path_factory.mktemp("live"))
    portal.start()
    yield portal
    portal.stop()


def test_a_node_has_a_triangle_while_it_runs_and_then_a_tick(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    run = begun(portal, "short")
    visit(page, portal, "short", run)
    expect(state(page)).to_have_text("JOB: RUNNING")
    expect(page.get_by_role("button", name="Stop Job")).to_be_enabled()
    expect(node(page, "moment").locator(".mkr")).to_be_visible(timeout=SLOWLY)
    expect(node(page, "open-pr").locator(".mk")).to_have_count(0)
    expect(node(page, "moment").locator(".mkt")).to_be_visible(timeout=SLOWLY)
    expect(state(page)).to_have_text("JOB: SUCCEEDED", timeout=SLOWLY)
    expect(page.get_by_role("button", name="Stop Job")).to_have_count(0)
    expect(page).to_have_title(re.compile("JOB: SUCCEEDED · short"))
    quiet.check()


# Notes every mark that a node has, one after the other: each may be there for a moment only.
NOTE_MARKS = """(flow) => {
  window.marks = [];
  const look = () => {
    const sign = flow.querySelector('[aria-label^="linger"] .mk + path')?.getAttribute("class");
    if (sign && sign !== window.marks.at(-1)) window.marks.push(sign);
  };
  look();
  new MutationObserver(look).observe(flow, {subtree: true, childList: true, attributes: true});
}"""


@whole_only
def test_a_task_in_a_loop_starts_over_and_replaces_what_was_kept(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    run = begun(portal, "rounds")
    visit(page, portal, "rounds", run, "#node=1")
    page.locator(".flow").evaluate(NOTE_MARKS)
    facts = page.locator(".nodehead")
    expect(facts).to_contain_text("Round 1", timeout=SLOWLY)
    expect(facts).to_contain_text("Round 2", timeout=SLOWLY)
    rounds = page.get_by_role("group", name="Round").get_by_role("button")
    expect(rounds).to_have_count(2)
    expect(rounds.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(state(page)).to_have_text("JOB: SUCCEEDED", timeout=SLOWLY)
    assert page.evaluate("window.marks") == ["mkr", "mkt", "mkr", "mkt"]
    quiet.check()


@whole_only
def test_a_new_attempt_adds_its_tab_without_switching_to_it(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    run = begun(portal, "first")
    visit(page, portal, "first", run, "#node=0")
    expect(tab(page, "Driving")).to_have_attribute("aria-selected", "true", timeout=SLOWLY)
    expect(tab(page, "Attempt #1")).to_be_visible(timeout=SLOWLY)
    tab(page, "Attempt #1").click()
    expect(tab(page, "Attempt #2")).to_be_visible(timeout=SLOWLY)
    expect(tab(page, "Attempt #1")).to_have_attribute("aria-selected", "true")
    over(portal, run)
    expect(tab(page, "Attempt #1")).to_have_attribute("aria-selected", "true")
    tab(page, "Attempt #2").click()
    # It was recorded all the same while nobody looked.
    expect(page.get_by_role("log", name="Attempt #2")).to_contain_text("One moment.")
    quiet.check()


def test_a_job_is_stopped_after_a_question_that_says_what_ends(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    run = begun(portal, "slow")
    until(portal, run, lambda view: len(view["running"]) == 1 and len(view["works"]) == 2)
    visit(page, portal, "slow", run, "#node=1")
    expect(page.get_by_role("log", name="Driving")).to_contain_text("One moment.", timeout=SLOWLY)
    page.get_by_role("button", name="Stop Job").click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("1 task running: slow")
    expect(question.get_by_role("button", name="Keep running")).to_be_focused()
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    assert shown(portal, run)["state"] == "running"

    page.get_by_role("button", name="Stop Job").click()
    question.get_by_role("button", name="Stop Job").click()
    expect(state(page)).to_have_text("JOB: CANCELED", timeout=SLOWLY)
    expect(node(page, "slow").locator(".mk")).to_have_count(0)
    expect(page.locator(".strip")).to_contain_text("Stopped by")
    assert shown(portal, run)["state"] == "canceled"
    quiet.check()


def test_the_failed_part_is_retried_in_the_same_run(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    run = begun(portal, "mend")
    assert over(portal, run)["state"] == "failed"
    visit(page, portal, "mend", run, "#node=1")
    expect(state(page)).to_have_text("JOB: FAILED")
    page.get_by_role("button", name="Retry the failed part").click()
    expect(state(page)).to_have_text("JOB: SUCCEEDED", timeout=SLOWLY)
    assert page.url == address(portal, "mend", run, "#node=1")
    expect(node(page, "mend").locator(".mkt")).to_be_visible()
    expect(page.get_by_role("button", name="Retry the failed part")).to_have_count(0)
    times = page.get_by_role("group", name="Time", exact=True).get_by_role("button")
    expect(times).to_have_count(2)
    expect(times.nth(1)).to_have_attribute("aria-pressed", "true")
    designs = [work for work in shown(portal, run)["works"] if work["task"] == "design"]
    assert len(designs) == 1, "what had succeeded stays"
    quiet.check()


@whole_only
def test_run_again_opens_the_page_of_a_new_run(portal: Portal, page: Page, quiet: Quiet) -> None:
    run = begun(portal, "input", input="the dishes")
    over(portal, run)
    visit(page, portal, "input", run)
    page.get_by_role("button", name="Run again").first.click()
    page.wait_for_url(lambda url: "jobId=" in url and run not in url)
    expect(state(page)).to_have_text("JOB: SUCCEEDED", timeout=SLOWLY)
    again = page.url.rpartition("jobId=")[2]
    assert shown(portal, again)["again"] == run
    assert shown(portal, again)["user_input"] == "the dishes"
    quiet.check()


def test_who_is_waited_for_is_told_and_led_to_the_question(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    run = begun(portal, "greet")
    until(portal, run, lambda view: view["state"] == "waiting-for-person")
    visit(page, portal, "greet", run)
    expect(node(page, "greet").locator(".you")).to_be_visible()
    expect(node(page, "greet").locator(".mkr")).to_be_visible()
    expect(page.locator(".strip")).to_contain_text("Waiting for you: greet asks")
    page.get_by_role("button", name="Decide").click()
    expect(node(page, "greet")).to_have_attribute("aria-pressed", "true")
    card = page.locator(".side .ask")
    expect(card).to_contain_text("echo ahoy")
    card.get_by_role("button", name="Allow once").click()
    expect(state(page)).to_have_text("JOB: SUCCEEDED", timeout=SLOWLY)
    expect(page.locator(".strip")).to_have_count(0)
    quiet.check()


def test_a_page_that_is_reloaded_or_opened_late_shows_the_same(portal: Portal, page: Page) -> None:
    run = begun(portal, "second")
    visit(page, portal, "second", run, "#node=0")
    expect(tab(page, "Attempt #1")).to_be_visible(timeout=SLOWLY)
    over(portal, run)
    expect(state(page)).to_have_text("JOB: SUCCEEDED", timeout=SLOWLY)
    expect(tab(page, "Attempt #2")).to_be_visible()
    seen = whole(page)
    page.reload()
    assert whole(page) == seen


def whole(page: Page) -> tuple[list[str], dict[str, str]]:
    """All texts of the page; those of the conversation by block, since only a part is drawn."""
    driving = page.get_by_role("log", name="Driving")
    expect(driving).to_contain_text("[TASK SUCCEEDED]")
    why = page.get_by_role("region", name="Why")
    expect(why.get_by_role("button", name="event")).to_have_count(4)
    blocks = driving.locator("[data-block]")
    texts = "(all) => all.map((it) => [it.dataset.block, it.innerText])"
    said = dict(blocks.evaluate_all(texts))
    # In steps: in one go, a block in the middle may never be drawn.
    while driving.evaluate("(it) => (it.scrollBy(0, -it.clientHeight / 2), it.scrollTop)"):
        page.wait_for_timeout(50)
        said |= dict(blocks.evaluate_all(texts))
    expect(blocks.first).to_contain_text("[SESSION STARTED]")
    said |= dict(blocks.evaluate_all(texts))
    parts = page.locator(".left, .nodehead, .why, [role=tablist]").all_inner_texts()
    return parts, said


@whole_only
def test_a_list_of_events_follows_its_end_only_at_the_end(portal: Portal, page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 1000})
    run = begun(portal, "wide")
    visit(page, portal, "wide", run)
    page.get_by_role("tab", name="Events").click()
    events = page.get_by_role("listbox", name="Events of the run")
    over(portal, run)
    expect(events).to_contain_text("Run succeeded.", timeout=SLOWLY)
    events.evaluate("(it) => it.scrollTo(0, 0)")
    expect(events).to_contain_text("Run accepted")
    expect(page.get_by_role("button", name="Jump to latest")).to_be_visible()
    asked(portal, "POST", f"/api/v1/runs/{run}/retry")  # refused: it succeeded, so nothing is new
    expect(events).to_contain_text("Run accepted")
    page.get_by_role("button", name="Jump to latest").click()
    expect(events).to_contain_text("Run succeeded.")
    expect(page.get_by_role("button", name="Jump to latest")).to_have_count(0)
