"""A person's first minutes in a real browser: getting in, not getting in, and what is shown."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.visit import THEMES, asked, link, new_session
from tests.e2e.witness import Quiet
from tests.portal import Portal

# A page that nobody let in asks once, and Chromium says so in its console.
REFUSED = "401"


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("e2e"))
    portal.start()
    yield portal
    portal.stop()


def test_the_printed_address_gets_in_and_its_code_is_gone(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    [address] = re.findall(r"http://\S+/#code=\S+", portal.log)
    page.goto(address)
    expect(page.get_by_role("heading", name="Start a session")).to_be_visible()
    assert page.url == f"{portal.url}/"
    assert page.evaluate("location.href") == f"{portal.url}/"
    [cookie] = page.context.cookies()
    assert (cookie.get("httpOnly"), cookie.get("sameSite")) == (True, "Strict")
    assert portal.token not in str(cookie)
    assert "code" not in page.evaluate("document.cookie")

    page.goto(f"{portal.url}/test.html")
    page.go_back()
    assert page.url == f"{portal.url}/", "no entry of the history has the code"
    expect(page.get_by_role("heading", name="Start a session")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Start a session")).to_be_visible()
    expect(page.get_by_text("This server rehearses.")).to_be_visible()
    quiet.check()
    code = address.rpartition("=")[2]
    assert [url for url in quiet.asked if code in url] == [], "the code is in no request's line"


def test_the_bare_address_does_not_get_in_and_says_how_to(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    page.goto(portal.url)
    expect(page.get_by_role("heading", name="Sign in to this Airboss")).to_be_visible()
    expect(page.get_by_text("airboss link")).to_be_visible()
    assert page.title() == "Sign in · Airboss"
    assert page.context.cookies() == []
    quiet.check(but=REFUSED)


def test_an_address_works_once(portal: Portal, browser: Browser) -> None:
    address = link(portal)
    first, second = (browser.new_context().new_page() for _ in range(2))
    quiet = Quiet(second)
    first.goto(address)
    expect(first.get_by_role("heading", name="Start a session")).to_be_visible()
    second.goto(address)
    expect(second.get_by_text("This address did not let you in.")).to_be_visible()
    assert second.url == f"{portal.url}/"
    assert second.context.cookies() == []
    quiet.check(but=REFUSED)

    second.goto(link(portal))
    expect(second.get_by_role("heading", name="Start a session")).to_be_visible()


def test_the_test_page_shows_the_message_to_those_who_are_in(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    page.goto(f"{portal.url}/test.html")
    expect(page.get_by_role("heading", name="Sign in to this Airboss")).to_be_visible()
    quiet.check(but=REFUSED)
    page.goto(link(portal))
    expect(page.get_by_role("heading", name="Start a session")).to_be_visible()
    page.goto(f"{portal.url}/test.html")
    expect(page.get_by_role("status")).to_have_text("Hello, world!")


def test_a_session_of_the_api_appears_by_itself_and_follows_what_happens(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    page.goto(link(portal))
    expect(page.get_by_role("heading", name="Start a session")).to_be_visible()
    session = new_session(portal, "take your time with <b>this</b>")
    row = page.locator("tr, li, article").filter(has_text="take your time").first
    expect(row).to_be_visible(timeout=10_000)
    expect(row).to_contain_text("<b>this</b>")
    expect(row).to_contain_text("Working")
    asked(portal, "POST", f"/api/v1/sessions/{session}/close")
    expect(row).to_contain_text("Closed", timeout=10_000)
    quiet.check()


def test_a_server_that_goes_away_and_comes_back_is_told_of(tmp_path: Path, page: Page) -> None:
    portal = Portal(tmp_path)
    portal.start()
    port = portal.url.rpartition(":")[2]
    try:
        page.goto(link(portal))
        expect(page.get_by_role("status")).to_have_text("Live")
        portal.stop()
        expect(page.get_by_role("status")).to_contain_text("Reconnecting", timeout=10_000)
        portal.options = ("--port", port)
        portal.start()
        expect(page.get_by_role("status")).to_have_text("Live", timeout=10_000)
        expect(page.get_by_role("heading", name="Start a session")).to_be_visible()
    finally:
        portal.stop()


def test_the_pages_fit_their_window_by_day_and_by_night(
    portal: Portal, browser: Browser, tmp_path: Path
) -> None:
    """The pictures are for people to look at: `--basetemp DIR` says where they are kept."""
    session = new_session(portal, "hello")
    for scheme, width in itertools.product(THEMES, (1440, 390)):
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
        page = context.new_page()
        quiet = Quiet(page)

        def look(name: str) -> None:
            page.screenshot(path=tmp_path / f"{name}-{width}-{scheme}.png", full_page=True)  # noqa: B023
            assert page.evaluate("document.documentElement.scrollWidth") <= width  # noqa: B023

        page.goto(portal.url)
        expect(page.get_by_role("heading", name="Sign in to this Airboss")).to_be_visible()
        look("signed-out")
        page.goto(link(portal))
        expect(page.get_by_text("hello").first).to_be_visible(timeout=10_000)
        look("start")
        page.goto(f"{portal.url}/test.html")
        expect(page.get_by_role("status")).to_have_text("Hello, world!")
        look("test")
        quiet.check(but=REFUSED)
        context.close()
    asked(portal, "POST", f"/api/v1/sessions/{session}/close")
