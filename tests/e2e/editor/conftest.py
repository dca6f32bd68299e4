"""The entry editor on a server with one small entry."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.e2e.editor.editing import ENTRY, file_of, opened
from tests.e2e.witness import Quiet
from tests.portal import Portal


@pytest.fixture(scope="session")
def running(
    tmp_path_factory: pytest.TempPathFactory, quick_python: dict[str, str]
) -> Iterator[Portal]:
    """One server for all that only write in the editor."""
    portal = Portal(tmp_path_factory.mktemp("editor"), extra_environ=quick_python)
    with portal.serving():
        yield portal


@pytest.fixture
def portal(running: Portal) -> Portal:
    """With the entry as it was at first."""
    file_of(running).write_text(ENTRY, encoding="utf-8")
    return running


@pytest.fixture
def editor(portal: Portal, page: Page, quiet: Quiet) -> Iterator[Page]:
    page.set_viewport_size({"width": 1440, "height": 900})
    yield opened(page, portal)
    quiet.check()
