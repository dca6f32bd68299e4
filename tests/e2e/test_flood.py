"""More than anybody reads: ten megabytes in a block, and the page answers as before."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.model.events import (
    MessageEnded,
    MessageStarted,
    ReasoningEnded,
    ReasoningStarted,
    SessionClosed,
    SessionOpened,
    ToolEnded,
    ToolResult,
    ToolStarted,
)
from airboss.model.ids import new_session_id
from airboss.store.folder import DataFolder
from airboss.store.sqlite_database import SqliteDatabase
from tests.e2e.visit import signed_in
from tests.e2e.witness import Quiet
from tests.portal import Portal

pytestmark = pytest.mark.timeout(180)

LINE = "**0123456789** <b>abc</b> \u202e\n"
LONG = LINE * 40_000
HUGE = LINE * 400_000  # 10 MB and more


async def fill(data: Path, work: Path) -> str:
    """What a server wrote that is no more."""
    folder = DataFolder(data)
    database = SqliteDatabase(folder.database)
    await database.open()
    name = new_session_id()
    async with EventLog(database, Journal(folder.journal)).running() as log:
        writer = log.new_writer(name)
        opened = SessionOpened(model="rehearsal", cwd=str(work), policy="ask", who="owner")
        await writer.commit(opened)
        await writer.commit(
            ReasoningStarted(block="think"),
            ReasoningEnded(block="think", text=LONG),
            MessageStarted(block="say"),
            MessageEnded(block="say", text=HUGE),
            ToolStarted(block="tool", name="bash", arguments=LONG),
            ToolEnded(block="tool", text=LONG, result=ToolResult(content=LONG)),
        )
        await writer.commit(
            MessageStarted(block="last"), MessageEnded(block="last", text="The end.")
        )
        await writer.commit(SessionClosed(reason="Enough.", who="owner"))
    await database.close()
    return str(name)


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[Portal]:
    portal = Portal(tmp_path)
    portal.start()  # makes the data folder
    portal.stop()
    yield portal
    portal.stop()


def test_the_page_of_a_flooded_session_stays_usable(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    with ThreadPoolExecutor(1) as elsewhere:  # the browser has this thread's loop
        session = elsewhere.submit(asyncio.run, fill(portal.data, portal.work)).result()
    portal.start()
    began = time.monotonic()
    signed_in(page, portal).goto(f"{portal.url}/index.html?session={session}")
    expect(page.get_by_text("The end.")).to_be_visible(timeout=30_000)
    first = time.monotonic() - began
    closed = page.locator("[data-step][aria-expanded=false]")
    expect(closed.first).to_be_attached(timeout=30_000)
    for number in range(closed.count()):  # whatever is opened, the page answers
        began = time.monotonic()
        closed.nth(0).click()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible(timeout=5_000)
        page.keyboard.press("Escape")
        assert time.monotonic() - began < 5, number
    assert page.evaluate("document.querySelectorAll('*').length") < 20_000
    assert first < 30
    quiet.check()
