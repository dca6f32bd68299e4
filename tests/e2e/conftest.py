"""A real Chromium for the browser tests. Without one they fail and say what to run."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

# Chromium's own traffic (updates, sync, look-ups) has no place in a test.
FLAGS = [
    "--no-sandbox",  # as root, in a container, it does not start with one
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str:
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    for name in names:
        if name and (path := shutil.which(name)):
            return path
    pytest.fail("There is no Chromium for the browser tests. Run: sudo apt-get install chromium")


@pytest.fixture
def browser() -> Iterator[Browser]:
    """One per test: it holds the thread's event loop, which async tests need in between."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()
