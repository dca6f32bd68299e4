"""The Start page: a model, a folder, and the way to everything that goes on."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.e2e.visit import asked, calm, new_session, signed_in, usable_by_all
from tests.e2e.witness import Quiet
from tests.portal import SCRIPT, Portal
from tests.trials import trial, whole_only

MODELS = """
models:
  - {id: rehearsal, name: Rehearsal, multiplier: 0}
  - {id: gpt-5.10, name: GPT-5.10, multiplier: 3}
  - {id: gpt-5.2, name: GPT-5.2, multiplier: 1}
  - {id: claude-x, name: "Claude <i>X</i>", multiplier: 0.33}
"""
BY_NAME = [("Claude <i>X</i>", "0.33"), ("GPT-5.2", "1"), ("GPT-5.10", "3"), ("Rehearsal", "0")]
TIMES = "\N{MULTIPLICATION SIGN}"
_, _, RULES = SCRIPT.partition("rules:")


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """It offers several models, gpt-5.2 among them."""
    portal = Portal(tmp_path_factory.mktemp("start"), script=f"{MODELS}rules:{RULES}")
    portal.start()
    (portal.work / "harbor").mkdir()
    yield portal
    portal.stop()


@pytest.fixture
def start(portal: Portal, page: Page, quiet: Quiet) -> Iterator[Page]:
    signed_in(page, portal).goto(f"{portal.url}/")
    yield calm(page)
    quiet.check()


def button(page: Page) -> Locator:
    return page.get_by_role("button", name="Start", exact=True)


def folder(page: Page) -> Locator:
    return page.get_by_label("Working directory")


@whole_only
def test_models_are_listed_by_name_with_the_multiplier_beside(start: Page) -> None:
    options = start.get_by_label("Model").locator("option").all_inner_texts()
    names = [f"{name} · {times}{TIMES}" for name, times in BY_NAME]
    assert options == names


@whole_only
def test_gpt_5_2_is_chosen_where_it_exists(start: Page) -> None:
    expect(start.get_by_label("Model")).to_have_value("gpt-5.2")


def test_the_cheapest_is_chosen_where_it_does_not(tmp_path: Path, page: Page, quiet: Quiet) -> None:
    models = MODELS.replace("gpt-5.2", "gpt-5.1").replace("GPT-5.2", "GPT-5.1")
    portal = Portal(tmp_path, script=f"{models}rules:{RULES}")
    portal.start()
    try:
        signed_in(page, portal).goto(f"{portal.url}/index.html")
        expect(page.get_by_label("Model")).to_have_value("rehearsal")
        quiet.check()
    finally:
        portal.stop()


@whole_only
def test_the_folder_is_the_repositorys_root(portal: Portal, start: Page) -> None:
    root = asked(portal, "GET", "/api/config").json()["repoRoot"]
    expect(folder(start)).to_have_value(root)
    expect(start.get_by_text("This is the root of the repository")).to_be_visible()


@whole_only
def test_a_project_is_the_folder_beside_the_root(portal: Portal, start: Page) -> None:
    start.goto(f"{portal.url}/index.html?project=tern")
    expect(folder(start)).to_have_value(str(portal.work.parent / "tern"))


def test_jobs_is_at_the_far_left_and_opens_the_jobs_of_the_folder(
    portal: Portal, start: Page
) -> None:
    form = start.get_by_role("form").bounding_box()
    jobs = start.get_by_role("main").get_by_role("link", name="Jobs", exact=True)
    left, right = jobs.bounding_box(), button(start).bounding_box()
    assert form is not None
    assert left is not None
    assert right is not None
    gap = left["x"] - form["x"]
    assert gap < 40
    assert abs(form["x"] + form["width"] - right["x"] - right["width"] - gap) < 2
    folder(start).fill(str(portal.work / "harbor"))
    jobs.click()
    start.wait_for_url("**/jobs.html?wb=*")
    assert start.evaluate("new URL(location).searchParams.get('wb')") == str(portal.work / "harbor")


@whole_only
def test_start_waits_for_the_models(portal: Portal, page: Page, quiet: Quiet) -> None:
    held: list[Route] = []
    signed_in(page, portal).route("**/api/copilot/models", lambda route: held.append(route))
    page.goto(f"{portal.url}/")
    expect(folder(page)).not_to_have_value("")
    expect(button(page)).to_be_disabled()
    expect(page.get_by_label("Model")).to_contain_text("Loading models")
    held[0].continue_()
    expect(button(page)).to_be_enabled()
    quiet.check()


def test_start_starts_a_session_on_the_model_in_the_folder(portal: Portal, start: Page) -> None:
    start.get_by_label("Model").select_option("claude-x")
    folder(start).fill(str(portal.work / "harbor"))
    button(start).click()
    start.wait_for_url("**/index.html?session=*", timeout=15_000)
    session = start.evaluate("new URL(location).searchParams.get('session')")
    view = asked(portal, "GET", f"/api/v1/sessions/{session}").json()
    assert (view["model"], view["cwd"]) == ("claude-x", str(portal.work / "harbor"))


@whole_only
def test_enter_starts_too(portal: Portal, start: Page) -> None:
    start.get_by_label("Model").select_option("rehearsal")
    folder(start).press("Enter")
    start.wait_for_url("**/index.html?session=*", timeout=15_000)


@whole_only
def test_a_folder_that_does_not_exist_is_answered_with_the_one_that_was_meant(
    portal: Portal, start: Page, quiet: Quiet
) -> None:
    folder(start).fill(str(portal.work / "habor"))
    button(start).click()
    alert = start.get_by_role("alert")
    expect(alert).to_contain_text("This folder does not exist.")
    expect(alert).to_contain_text(f"Did you mean {portal.work / 'harbor'}?")
    expect(folder(start)).to_be_focused()
    expect(folder(start)).to_have_attribute("aria-invalid", "true")
    alert.get_by_role("button", name=str(portal.work / "harbor")).click()
    expect(folder(start)).to_have_value(str(portal.work / "harbor"))
    expect(alert).to_have_count(0)
    button(start).click()
    start.wait_for_url("**/index.html?session=*", timeout=15_000)
    quiet.said.clear()  # Chromium tells of every 422


@whole_only
def test_a_folder_that_agents_may_not_work_in_says_where_they_may(
    portal: Portal, start: Page, quiet: Quiet
) -> None:
    # Nothing is written there: it exists, and is outside of the roots.
    for path, words in (("harbor", "must be an absolute path"), ("/tmp", str(portal.work))):  # noqa: S108
        folder(start).fill(path)
        button(start).click()
        expect(start.get_by_role("alert")).to_contain_text(words)
        expect(button(start)).to_be_enabled()
    quiet.said.clear()  # Chromium tells of every 422


@whole_only
def test_models_that_cannot_be_had_are_asked_for_again(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    signed_in(page, portal).route("**/api/copilot/models", lambda route: route.abort())
    page.goto(f"{portal.url}/")
    expect(page.get_by_role("alert")).to_contain_text("Could not load the models.")
    expect(button(page)).to_be_disabled()
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(button(page)).to_be_enabled()
    expect(page.get_by_role("alert")).to_have_count(0)
    quiet.check(but="ERR_FAILED")


def test_what_goes_on_and_what_was_is_listed_with_a_way_in(portal: Portal, start: Page) -> None:
    session = new_session(portal, "take your time with <b>this</b>")
    row = start.get_by_role("listitem").filter(has_text="take your time")
    expect(row).to_contain_text("<b>this</b>", timeout=10_000)
    expect(row).to_contain_text("Working")
    expect(start.get_by_role("region", name="Running")).to_contain_text("take your time")
    expect(row).to_contain_text(re.compile(r"\d\d:\d\d"))  # when
    expect(row).to_contain_text(re.compile(r"\d:\d\d"))  # how long
    expect(row).to_contain_text("requests")
    asked(portal, "POST", f"/api/v1/sessions/{session}/close")
    expect(row).to_contain_text("Closed", timeout=10_000)
    expect(start.get_by_role("region", name="Recent")).to_contain_text("take your time")
    expect(row).to_contain_text("just now")
    row.get_by_role("link").click()
    start.wait_for_url(f"**/index.html?session={session}")


@whole_only
def test_a_run_is_listed_with_its_job_and_its_state(portal: Portal, start: Page) -> None:
    asked_for = {"job": "ask", "input": "hello", "cwd": str(portal.work)}
    run = asked(portal, "POST", "/api/v1/runs", asked_for).json()["id"]
    row = start.get_by_role("listitem").filter(has_text="Job · ").first
    expect(row).to_contain_text("ask", timeout=10_000)
    expect(row).to_contain_text(re.compile("Succeeded|Failed"), timeout=30_000)
    row.get_by_role("link").click()
    start.wait_for_url(f"**/jobTracking.html?jobName=ask&jobId={run}")


@trial
def test_nobody_is_shut_out(portal: Portal, browser: Browser) -> None:
    new_session(portal, "hello")

    def with_a_list(page: Page) -> None:
        page.goto(f"{portal.url}/")
        expect(page.get_by_role("listitem").first).to_be_visible()

    usable_by_all(browser, portal, with_a_list)
