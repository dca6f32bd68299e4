"""How a session ends, is interrupted and goes on, as its page tells it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.sessions import Person, at_page, portal_in
from tests.e2e.visit import asked, window
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import whole_only

CUT_OFF = "net::ERR_"


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[Portal]:
    portal = portal_in(tmp_path)
    yield portal
    portal.stop()


@pytest.fixture
def person(portal: Portal, page: Page, quiet: Quiet) -> Iterator[Person]:
    person = at_page(portal, page)
    yield person
    quiet.check(but=CUT_OFF)


@whole_only
def test_close_session_stands_at_the_lower_left_and_stop_server_elsewhere(person: Person) -> None:
    close = person.button("Close Session").bounding_box()
    size = person.page.viewport_size
    assert close is not None
    assert size is not None
    assert close["x"] < size["width"] / 3
    assert close["y"] > size["height"] - 60
    expect(person.button("Stop Server")).to_have_count(0)


def stop_from_the_palette(person: Person) -> Locator:
    person.page.keyboard.press("Control+k")
    person.page.keyboard.type("stop server")
    person.page.get_by_role("option", name=re.compile("Stop Server")).click()
    return person.page.get_by_role("dialog", name="Stop the server?")


def test_close_session_ends_it_and_says_that_the_page_may_be_closed(person: Person) -> None:
    person.says("say hello")
    person.is_idle()
    person.button("Close Session").click()
    expect(person.page.get_by_text("You can close this page.")).to_be_visible(timeout=10_000)
    assert person.view["state"] == "closed"
    expect(person.block("Message")).to_contain_text("Hello, captain.")
    expect(person.request).to_have_count(0)
    person.page.get_by_role("link", name="Open History").click()
    expect(person.page).to_have_url(re.compile("/history.html"))


@whole_only
def test_a_page_that_a_page_opened_closes_with_its_session(
    portal: Portal, browser: Browser, person: Person
) -> None:
    with person.page.expect_popup() as opened:
        person.page.evaluate("window.open(location.href)")
    page = opened.value
    expect(page.get_by_role("button", name="Close Session")).to_be_visible(timeout=10_000)
    with page.expect_event("close"):
        page.get_by_role("button", name="Close Session").click()
    assert person.view["state"] == "closed"


@whole_only
def test_stop_server_asks_once_and_says_what_ends_and_what_goes_on(person: Person) -> None:
    dialog = stop_from_the_palette(person)
    expect(dialog).to_contain_text("1 open session will be interrupted. You can resume it")
    expect(dialog).to_contain_text("No job is running.")
    expect(dialog.get_by_role("button", name="Keep running")).to_be_focused()
    person.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert person.portal.is_running
    assert person.view["state"] == "idle"


def test_stop_server_ends_the_server_and_the_session_can_be_resumed(
    portal: Portal, person: Person
) -> None:
    person.says("say hello")
    person.is_idle()
    stop_from_the_palette(person).get_by_role("button", name="Stop Server").click()
    expect(person.page.get_by_text("You can close this page.")).to_be_visible(timeout=10_000)
    portal.process.wait(15)
    portal.start()
    assert person.view["state"] == "interrupted"


def test_an_interrupted_session_says_so_and_can_be_resumed(
    portal: Portal, browser: Browser, person: Person
) -> None:
    person.says("say hello")
    person.is_idle()
    port = portal.url.rpartition(":")[2]
    portal.stop()
    portal.options = (*portal.options, "--port", port)
    portal.start()
    expect(person.page.get_by_text("The session was interrupted")).to_be_visible(timeout=20_000)
    expect(person.block("Message")).to_contain_text("Hello, captain.")
    person.button("Resume").click()
    expect(person.button("Send")).to_be_enabled(timeout=20_000)
    person.says("write a report")
    expect(person.block("Message")).to_contain_text("The report", timeout=15_000)
    late = at_page(portal, window(browser, portal), person.session)
    expect(late.log).to_contain_text("Hello, captain.")
    expect(late.log).to_contain_text("The report")


def test_a_page_whose_server_is_gone_claims_and_counts_nothing_more(
    portal: Portal, page: Page
) -> None:
    page.clock.install()
    person = at_page(portal, page)
    person.says("take your time")
    expect(person.log).to_contain_text("One moment.")
    expect(page.locator(".awaits")).to_contain_text("Awaits responses ...")
    portal.kill()
    page.clock.fast_forward(60_000)
    expect(page.locator(".fresh")).to_contain_text("Stale since")
    expect(page.locator(".sub .st")).to_have_text("Stale, was Working")
    expect(page.locator(".awaits")).to_be_empty()
    counted = page.locator(".log .num, .meta[aria-hidden]").all_text_contents()
    page.clock.fast_forward(60_000)
    assert page.locator(".log .num, .meta[aria-hidden]").all_text_contents() == counted


def test_a_session_that_waited_for_a_person_says_so_and_goes_on_when_they_decide(
    tmp_path: Path, page: Page, quiet: Quiet
) -> None:
    portal = portal_in(tmp_path, "--permissions", "ask")
    try:
        person = at_page(portal, page)
        person.says("write it")
        card = person.log.locator(".ask").last
        expect(card.get_by_role("button", name="Allow once")).to_be_visible()
        page.wait_for_timeout(1_000)  # until the runtime has it on disk
        port = portal.url.rpartition(":")[2]
        portal.kill()
        portal.options = (*portal.options, "--port", port)
        portal.start()
        expect(page.get_by_text("The session is waiting for you")).to_be_visible(timeout=20_000)
        expect(page.get_by_text("When you decide it, the agent continues")).to_be_visible()
        expect(page.locator(".sub .st")).to_have_text("Waiting for you")
        card.get_by_role("button", name="Allow once").click()
        person.is_idle()
        expect(person.call("Created").locator(".ch")).to_contain_text("Allowed once by")
        assert (portal.work / "hello.txt").exists()
        assert person.log.get_by_text("write it", exact=True).count() == 1
        quiet.check(but=CUT_OFF)
    finally:
        portal.stop()


@whole_only
def test_what_another_page_closes_is_closed_here(portal: Portal, person: Person) -> None:
    asked(portal, "POST", f"/api/v1/sessions/{person.session}/close")
    expect(person.page.get_by_text("The session is closed")).to_be_visible(timeout=10_000)
