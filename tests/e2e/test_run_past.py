"""A moment of the past on the run page: what was asked then is read, and nothing can be pressed."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.contract.reported import reported_portal, until_over
from tests.e2e.tracked import begun, run_tab, until, visit
from tests.e2e.visit import asked, usable_by_all
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import trial


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = reported_portal(tmp_path_factory.mktemp("past"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture(scope="module")
def answered(portal: Portal) -> str:
    """A run whose first task asked a question, which was answered."""
    run = begun(portal, "ask")
    until(portal, run, lambda view: view["state"] == "waiting-for-person")
    item = asked(portal, "GET", "/api/v1/inbox").json()["items"][0]["id"]
    done = asked(portal, "POST", f"/api/v1/inbox/{item}/answer", {"answer": "Yes"})
    assert done.status_code == 200, done.text
    until_over(lambda path: asked(portal, "GET", path).json(), run)
    return run


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="Time in the run")


def where_it_waited(page: Page) -> None:
    """From its beginning along its events, until somebody is asked."""
    timeline = page.get_by_role("tab", name="Timeline").first
    if page.locator(".phone-only.ctools").is_visible():
        timeline.click()
    expect(page.locator(".tm.you")).to_have_count(1)
    slider(page).press("Home")
    expect(page.locator(".pastbar")).to_be_visible()
    # The moment moves, and is not read aloud each time: the slider tells it.
    expect(page.locator(".pastbar").get_by_role("status")).to_have_text(re.compile(r"^\D+$"))
    for _ in range(2):  # the task begins; it waits for a person
        slider(page).press("ArrowRight")
    if page.locator(".phone-only.ctools").is_visible():
        page.get_by_role("tab", name="Details", exact=True).click()
    expect(page.locator(".ask.was")).to_be_visible()


def test_what_was_asked_is_open_before_it_was_decided_and_decided_after_it(
    portal: Portal, page: Page, answered: str, quiet: Quiet
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    visit(page, portal, "ask", answered, "#node=0")
    expect(page.get_by_role("log", name="Driving")).to_contain_text("It was kept.")
    where_it_waited(page)
    card = page.get_by_role("region", name="Asked at that time: Keep the fallback?")
    expect(card).to_contain_text("open at")
    expect(card).to_contain_text("Decided at")
    expect(card).to_contain_text("answered by owner “Yes”")
    expect(page.locator(".nodehead")).to_contain_text("Waited for you")
    expect(page.locator(".then")).to_contain_text("the time you are viewing")
    expect(page.locator(".then")).to_contain_text("later block")
    timeline = page.locator(".gantt")
    expect(timeline.locator(".chipt")).to_have_text(re.compile(r"^\d+:\d\d$"))
    # Of the task at work and of its wait a part is to come, and of the next task everything.
    expect(timeline.locator(".later")).to_have_count(3)
    expect(timeline.locator("rect.ok")).to_have_count(0)

    # Nothing of it can be pressed, with the reason; ways to other moments can.
    expect(card.get_by_role("radio")).to_have_count(0)
    for name in ("Run again", "Rename the run"):
        button = page.get_by_role("button", name=name).first
        expect(button).to_be_disabled()
        expect(button).to_have_attribute("title", re.compile("You are viewing the past"))
    run_tab(page, "Report").click()
    for name in ("Add", "Run again"):
        expect(page.locator(".report").get_by_role("button", name=name)).to_be_disabled()
    run_tab(page, "ask").click()

    card.get_by_role("button", name="Go to").click()
    expect(card).to_have_count(0)
    log = page.get_by_role("log", name="Driving")
    expect(log).to_contain_text("Answered by owner")
    expect(page.locator(".pastbar")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".pastbar")).to_have_count(0)
    expect(page.locator(".then")).to_have_count(0)
    expect(page.get_by_role("button", name="Rename the run")).to_be_enabled()
    quiet.check()


@pytest.mark.timeout(180)
@trial
def test_nobody_is_shut_out_of_the_past(portal: Portal, browser: Browser, answered: str) -> None:
    usable_by_all(
        browser,
        portal,
        lambda page: where_it_waited(visit(page, portal, "ask", answered, "#node=0")),
    )
