"""Browser tests share one browser, and leave the thread to async tests in between."""

import asyncio

from playwright.sync_api import Browser, Page, expect

from tests.e2e.visit import signed_in
from tests.e2e.witness import Quiet
from tests.portal import Portal

_KEPT = "document.cookie + JSON.stringify(localStorage)"


def test_a_page_opens_and_keeps_something(shared_portal: Portal, page: Page, quiet: Quiet) -> None:
    signed_in(page, shared_portal).goto(f"{shared_portal.url}/test.html")
    expect(page.get_by_text("Hello, world!")).to_be_visible()
    page.evaluate("localStorage.setItem('kept', 'here')")
    assert "here" in page.evaluate(_KEPT)
    quiet.check()


async def test_an_async_test_has_a_loop_of_its_own_in_between() -> None:
    async with asyncio.timeout(10):
        await asyncio.to_thread(lambda: None)


def test_the_next_page_finds_nothing_of_it(
    shared_portal: Portal, browser: Browser, page: Page
) -> None:
    assert browser.contexts == [page.context]
    signed_in(page, shared_portal).goto(f"{shared_portal.url}/test.html")
    expect(page.get_by_text("Hello, world!")).to_be_visible()
    assert "here" not in page.evaluate(_KEPT)
