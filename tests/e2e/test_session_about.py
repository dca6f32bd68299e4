"""Beside the conversation: changed files, usage, exports, a question; and how the page looks."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.sessions import Person, at_page
from tests.e2e.visit import usable_by_all, window
from tests.portal import Portal


def wrote(person: Person) -> None:
    person.says("write it")
    person.is_idle()


def test_changed_files_are_listed_with_their_diffs(person: Person) -> None:
    rail = person.page.get_by_role("complementary", name="About this session")
    expect(rail).to_contain_text("0 files")
    (person.portal.work / "hello.txt").unlink(missing_ok=True)
    wrote(person)
    expect(rail).to_contain_text("1 file", timeout=10_000)
    rail.get_by_role("button", name=re.compile("hello.txt")).click()
    dialog = person.page.get_by_role("dialog", name="hello.txt")
    expect(dialog.locator(".diff li.a")).to_have_text([re.compile("hi"), re.compile("there")])
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)


def test_the_rail_tells_what_it_took_and_what_it_is(person: Person) -> None:
    person.says("say hello")
    person.is_idle()
    rail = person.page.get_by_role("complementary", name="About this session")
    usage = person.view["usage"]
    for words in (f"{usage['input_tokens']:,}", "Context", "Rehearsal", "approve-all"):
        expect(rail).to_contain_text(words)
    expect(rail).to_contain_text(person.session)


def test_below_1100_px_a_button_holds_what_the_rail_says(portal: Portal, browser: Browser) -> None:
    person = at_page(portal, window(browser, portal, width=1000))
    expect(person.page.get_by_role("complementary")).to_have_count(0)
    person.page.get_by_role("button", name=re.compile(r"^Changes \d")).click()
    dialog = person.page.get_by_role("dialog", name="About this session")
    expect(dialog).to_contain_text("Usage")
    expect(dialog).to_contain_text(person.session)


@pytest.mark.parametrize(
    ("name", "mark"),
    [("Markdown", "Hello, captain."), ("JSON lines", '"kind"'), ("One HTML file", "<html")],
)
def test_it_can_be_exported(person: Person, name: str, mark: str, tmp_path: Path) -> None:
    person.says("say hello")
    person.is_idle()
    person.page.get_by_role("button", name="Export").click()
    with person.page.expect_download() as told:
        person.page.get_by_role("button", name=re.compile(name)).click()
    file = tmp_path / "export"
    told.value.save_as(file)
    text = file.read_text(encoding="utf-8")
    assert mark in text
    assert "Hello, captain." in text
    if name == "JSON lines":
        told = [json.loads(line) for line in text.splitlines()]
        kinds = [line["event"]["kind"] for line in told if "event" in line]
        assert kinds[0] == "session.opened"


def test_a_question_on_the_side_is_answered_while_the_work_goes_on(person: Person) -> None:
    person.says("take your time")
    expect(person.block("Message")).to_contain_text("One moment.", timeout=10_000)
    person.page.get_by_role("button", name="Ask on the side").click()
    dialog = person.page.get_by_role("dialog", name="Ask on the side")
    dialog.get_by_role("textbox", name="Your question").fill("say hello")
    dialog.get_by_role("button", name="Ask", exact=True).click()
    expect(dialog.locator(".aside-said")).to_contain_text("Hello, captain.", timeout=30_000)
    dialog.get_by_role("button", name="Close").click()
    expect(person.awaits).to_be_visible()
    assert len(person.events("turn.started")) == 1


def played(portal: Portal, browser: Browser) -> str:
    """A session with a block of every kind, at work on its last request."""
    person = at_page(portal, window(browser, portal))
    for text in (
        "say hello",
        "look at nothing",
        "delegate",
        "write it",
        "unlucky",
        "write a report",
    ):
        person.says(text)
        person.is_idle()
    person.says("take your time")
    expect(person.block("Message")).to_contain_text("One moment.", timeout=10_000)
    person.request.fill("Then add a line about it to the notes, and tell me which one it is.")
    person.button("Queue").click()
    expect(person.request).to_have_value("")
    return person.session


@pytest.mark.timeout(180)
def test_the_page_fits_its_window_and_shuts_nobody_out(portal: Portal, browser: Browser) -> None:
    session = played(portal, browser)

    def come(page: Page) -> None:
        person = at_page(portal, page, session)
        expect(person.awaits).to_be_visible(timeout=10_000)
        expect(person.log.get_by_role("heading", name="The report")).to_be_visible()

    def open_every_tool(page: Page) -> None:
        for header in page.locator("article.tool > header .hd").all():
            header.click()

    usable_by_all(browser, portal, come, open_every_tool)
