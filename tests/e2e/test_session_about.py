"""Session details: changed files, usage, exports, a question; and how the page looks."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.sessions import Person, at_page
from tests.e2e.visit import usable_by_all, window
from tests.portal import Portal
from tests.trials import trial, whole_only

PHONE = 480


def panel(person: Person) -> Locator:
    return person.page.get_by_role("complementary", name="About this session")


def test_changed_files_stand_beside_with_their_diffs_line_below_line(person: Person) -> None:
    expect(panel(person)).to_contain_text("No changes yet")
    (person.portal.work / "hello.py").write_text("def one():\n    return 1\n", encoding="utf-8")
    person.says("change it")
    person.is_idle()
    expect(panel(person)).to_contain_text("1 file")
    lines = panel(person).locator(".diff ol > li")
    expect(lines).to_have_count(5)
    boxes = [line.bounding_box() for line in lines.all()]
    steps = {(box["x"], round(box["height"])) for box in boxes if box}
    assert len(steps) == 1, "no stairs, and no line is higher than another"
    assert max(height for _, height in steps) <= 20, "and none has a blank one below it"
    expect(lines.locator("mark")).to_have_text(["1", "2"])
    expect(lines.locator(".hljs-keyword").first).to_have_text("def")
    assert person.log.is_visible()


@whole_only
def test_a_change_can_be_seen_side_by_side_and_taken_away_as_a_patch(person: Person) -> None:
    (person.portal.work / "hello.py").write_text("def one():\n    return 1\n", encoding="utf-8")
    person.says("change it")
    person.is_idle()
    panel(person).get_by_role("button", name="Split").click()
    halves = panel(person).locator(".diff li .half")
    expect(halves).to_have_count(6)  # two lines that stay or change, and an empty one
    before, after = (halves.nth(2), halves.nth(3))
    expect(before).to_contain_text("return 1")
    expect(after).to_contain_text("return 2")
    width = panel(person).evaluate("(it) => it.getBoundingClientRect().width")
    assert width >= 720, "there is room for two sides"
    person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel(person).get_by_role("button", name=re.compile("all changes as a patch")).click()
    patch = person.page.evaluate("navigator.clipboard.readText()")
    assert patch.startswith("--- a/hello.py\n+++ b/hello.py\n@@")


@whole_only
def test_the_panel_tells_what_it_took_and_what_it_is(person: Person) -> None:
    person.says("say hello")
    person.is_idle()
    usage = person.view["usage"]
    panel(person).get_by_role("tab", name="Usage").click()
    for words in (f"{usage['input_tokens']:,}", "Context"):
        expect(panel(person)).to_contain_text(words)
    panel(person).get_by_role("tab", name="Session").click()
    for words in ("Rehearsal", "approve-all", person.session):
        expect(panel(person)).to_contain_text(words)
    for words in ("Setup", "bash", "job_boolean_true"):
        expect(panel(person)).to_contain_text(words)


@whole_only
def test_below_1180_px_a_tab_holds_what_the_panel_says(portal: Portal, browser: Browser) -> None:
    person = at_page(portal, window(browser, portal, width=1000))
    expect(person.page.get_by_role("complementary")).to_have_count(0)
    person.page.get_by_role("tab", name="Session").click()
    expect(panel(person)).to_contain_text("Usage")
    expect(panel(person)).to_contain_text(person.session)
    expect(person.log).to_be_hidden()
    person.page.get_by_role("tab", name="Conversation").click()
    expect(person.log).to_be_visible()


@pytest.mark.parametrize(
    ("name", "mark"),
    [("Markdown", "Hello, captain."), ("JSON Lines", '"kind"'), ("HTML", "<html")],
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
    if name == "JSON Lines":
        told = [json.loads(line) for line in text.splitlines()]
        kinds = [line["event"]["kind"] for line in told if "event" in line]
        assert kinds[0] == "session.opened"


def test_a_question_on_the_side_is_answered_while_the_work_goes_on(person: Person) -> None:
    person.says("take your time")
    expect(person.block("Message")).to_contain_text("One moment.", timeout=10_000)
    person.page.get_by_role("button", name="Ask a side question").click()
    dialog = person.page.get_by_role("dialog", name="Ask a side question")
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
@trial
def test_the_page_fits_its_window_and_shuts_nobody_out(portal: Portal, browser: Browser) -> None:
    session = played(portal, browser)

    def come(page: Page) -> None:
        person = at_page(portal, page, session)
        expect(person.awaits).to_be_visible(timeout=10_000)
        expect(person.log.get_by_role("heading", name="The report")).to_be_visible()
        one_row = "(foot) => foot.getBoundingClientRect().height < 60"
        assert page.locator(".box .foot").evaluate(one_row), "its buttons need no second line"

    def open_every_tool(page: Page) -> None:
        closed = page.locator(".call [data-step][aria-expanded=false]")
        while closed.count() > 0:
            closed.first.click()

    def list_commands(page: Page) -> None:
        request(page).fill("/")
        expect(page.get_by_role("listbox", name="Commands")).to_be_visible()

    def list_files(page: Page) -> None:
        request(page).fill("look at @")
        expect(
            page.get_by_role("listbox", name="Files").get_by_role("option").first
        ).to_be_visible()

    usable_by_all(browser, portal, come, open_every_tool, list_commands, list_files)


@whole_only
def test_what_stands_beside_shuts_nobody_out_either(portal: Portal, browser: Browser) -> None:
    """A model that failed, with the others to choose from; a file; a change side by side."""
    (portal.work / "hello.py").write_text("def one():\n    return 1\n", encoding="utf-8")
    person = at_page(portal, window(browser, portal))
    for text in ("change it", "unlucky"):
        person.says(text)
        person.is_idle()

    def failed(page: Page) -> None:
        at_page(portal, page, person.session)
        page.get_by_role("button", name="Retry with another model").click()
        page.get_by_role("button", name="View Raw Data").click()
        card = page.get_by_role("region", name="The model isn't answering")
        expect(card.get_by_role("combobox", name="Model")).to_be_visible()

    def file(page: Page) -> None:
        page.locator(".call").get_by_role("link", name="hello.py").first.click()
        expect(page.get_by_role("list", name="Lines of hello.py")).to_be_visible()

    def split(page: Page) -> None:
        page.get_by_role("tab", name="Changes").locator("visible=true").first.click()
        if page.evaluate("innerWidth") > PHONE:  # there is room for one side only
            page.get_by_role("button", name="Split").click()
            expect(page.locator(".diff .half").first).to_be_visible()

    usable_by_all(browser, portal, failed, file, split)


def request(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Your message")
