"""A real Chromium, one for all browser tests. Without one they fail and say what to run."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from scripts.chromium import FLAGS, MISSING, chromium
from tests.e2e.sessions import Person, at_page, portal_in
from tests.e2e.witness import Quiet
from tests.portal import Portal

# Where several browsers share two cores; what has to be soon says so itself.
expect.set_options(timeout=15_000)


@dataclass(frozen=True)
class Shared:
    """Playwright holds the thread's event loop while it lives, and async tests come in between:
    so it has the thread only while a browser test runs."""

    browser: Browser
    loop: asyncio.AbstractEventLoop

    def take_thread(self) -> None:
        asyncio._set_running_loop(self.loop)

    def leave_thread(self) -> None:
        asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def shared_browser() -> Iterator[Shared]:
    path = chromium() or pytest.fail(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        shared = Shared(browser, asyncio.get_running_loop())
        shared.leave_thread()
        yield shared
        shared.take_thread()
        browser.close()


@pytest.fixture
def browser(shared_browser: Shared) -> Iterator[Browser]:
    """The one of this process. Whatever a test opens in it is closed behind the test."""
    shared_browser.take_thread()
    yield shared_browser.browser
    for context in shared_browser.browser.contexts:
        context.close()
    shared_browser.leave_thread()


@pytest.fixture
def page(browser: Browser) -> Page:
    """In a context of its own: it shares no cookie and no storage with another test's. Nothing in
    it moves for ever: each frame is drawn without a graphics card, on what the tests run on."""
    return browser.new_context(reduced_motion="reduce").new_page()


@pytest.fixture
def quiet(page: Page) -> Quiet:
    return Quiet(page)


@pytest.fixture(scope="session")
def shared_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """One server for all tests that find their own among whatever others have left on it.
    Who stops it, installs an entry or counts rows takes a `Portal` of its own."""
    portal = Portal(tmp_path_factory.mktemp("shared"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """One for all tests of the session page: each has a session of its own there."""
    portal = portal_in(tmp_path_factory.mktemp("sessions"))
    yield portal
    portal.stop()


@pytest.fixture
def person(portal: Portal, page: Page, quiet: Quiet) -> Iterator[Person]:
    """At the page of a new session."""
    person = at_page(portal, page)
    yield person
    quiet.check()
