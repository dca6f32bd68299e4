"""The message box: plan first, commands behind a slash, and what a session goes on with."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.sessions import Person, at_page
from tests.e2e.visit import asked, audit, calm, fits, window
from tests.e2e.witness import Quiet
from tests.portal import Portal

SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "Tidy"
    steps: [{say: "Tidied."}]
  - when: "build"
    steps:
      - call: {tool: exit_plan_mode, arguments: {summary: "- make **one** file\\n- test it"}}
      - call: {tool: create, arguments: {path: "{cwd}/made.txt", file_text: "x"}}
      - say: "Built."
"""
MARK_TWO_LINES = """list => getSelection().setBaseAndExtent(
    list.children[1].lastChild.firstChild, 1, list.children[2].lastChild.firstChild, 2
)"""
GIVEN = {
    "agents": {"reviewer": {"description": "Reviews.", "prompt": "You review."}},
    "commands": {"tidy": {"description": "Tidy the folder.", "prompt": "Tidy up."}},
}


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    folder: Path = tmp_path_factory.mktemp("modes")
    portal = Portal(folder, ("--permissions", "approve-all"), SCRIPT)
    portal.start()
    yield portal
    portal.stop()


def opened(portal: Portal, page: Page) -> Person:
    body = {"model": "rehearsal", "cwd": str(portal.work), **GIVEN}
    session = str(asked(portal, "POST", "/api/v1/sessions", body).json()["id"])
    return at_page(portal, page, session)


def test_a_plan_is_approved_with_changes_where_the_agent_shows_it(
    planned: Portal, page: Page, quiet: Quiet
) -> None:
    person = opened(planned, page)
    page.get_by_role("combobox", name="Mode", exact=True).select_option("plan first")
    person.says("build it")
    card = page.get_by_role("region", name="Plan to approve").last
    expect(card).to_contain_text("make one file", timeout=20_000)
    expect(card.locator("strong")).to_have_text("one")
    expect(page.get_by_role("status").get_by_text("Makes a plan ...")).to_be_visible()
    audit(calm(page))
    assert not (planned.work / "made.txt").exists()
    card.get_by_role("button", name="Approve with changes").click()
    send = card.get_by_role("button", name="Approve with changes")
    expect(send).to_be_disabled()
    card.get_by_role("textbox", name="What should be different?").fill("Use tabs.")
    send.click()
    person.is_idle()
    assert (planned.work / "made.txt").exists()
    expect(person.log).to_contain_text("Plan approved by owner")
    expect(person.log).to_contain_text("“Use tabs.”")
    expect(page.get_by_role("combobox", name="Mode", exact=True)).to_have_value("work")
    quiet.check()


def test_commands_and_agents_are_chosen_by_keyboard(
    planned: Portal, page: Page, quiet: Quiet
) -> None:
    person = opened(planned, page)
    person.request.press_sequentially("/ti")
    expect(page.get_by_role("option", name="/tidy Tidy the folder.")).to_be_visible()
    audit(calm(page))
    person.request.press("Enter")
    expect(person.log).to_contain_text("Tidied.", timeout=20_000)
    person.is_idle()
    person.request.fill("/context")
    person.request.press("Enter")
    told = page.get_by_role("region", name="Answer of the command")
    expect(told).to_contain_text("Context Usage")
    told.get_by_role("button", name="Hide").click()
    page.get_by_role("tab", name="Session").locator("visible=true").first.click()
    about = page.get_by_role("tabpanel", name="Session")
    expect(about).to_contain_text("reviewer: Reviews.")
    with page.expect_response(lambda answer: answer.request.method != "GET"):
        page.get_by_role("combobox", name="Agent").select_option("reviewer")
    expect(page.get_by_role("combobox", name="Agent")).to_have_value("reviewer")
    assert person.view["agent"] == "reviewer"
    expect(about.get_by_text("Agent", exact=True)).to_be_visible()
    quiet.check()


def test_on_a_phone_all_choices_are_in_one_sheet(planned: Portal, browser: Browser) -> None:
    page = window(browser, planned, width=390)
    quiet = Quiet(page)
    opened(planned, page)
    expect(page.get_by_role("combobox", name="Mode", exact=True)).to_be_hidden()
    button = page.get_by_role("button", name="Model, mode and permissions")
    button.click()
    sheet = page.get_by_role("group", name="From the next message on")
    for name in ("Model", "Mode", "Permissions", "Agent"):
        expect(sheet.get_by_role("combobox", name=name, exact=True)).to_be_visible()
    audit(calm(page))
    fits(page)
    sheet.get_by_role("combobox", name="Mode", exact=True).select_option("plan first")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(button).to_be_focused()
    expect(button).to_contain_text("plan first")
    quiet.check()


def test_marked_lines_go_with_a_message_and_a_fork_ends_before_one(
    planned: Portal, page: Page, quiet: Quiet
) -> None:
    (planned.work / "list.txt").write_text("one\ntwo\nthree\nfour\n", "utf-8")
    person = opened(planned, page)
    person.says("Tidy the desk")
    expect(person.log).to_contain_text("Tidied.", timeout=20_000)
    person.is_idle()
    page.goto(f"{planned.url}/index.html?session={person.session}#file=list.txt")
    page.reload()
    lines = page.get_by_role("list", name="Lines of list.txt")
    attach = page.get_by_role("button", name="Attach selection")
    attach.click()
    expect(page.get_by_text("Select some lines of the file first")).to_be_visible()
    lines.evaluate(MARK_TWO_LINES)
    attach.click()
    chosen = page.get_by_role("list", name="Attached selection")
    expect(chosen).to_contain_text("list.txt, lines 2-3")
    audit(calm(page))
    person.says("Tidy these")
    expect(chosen).to_have_count(0)
    expect(person.log).to_contain_text("Tidied.", timeout=20_000)
    person.is_idle()
    assert person.events("prompt.accepted")[-1]["selection"] == {
        "path": str(planned.work / "list.txt"),
        "text": "two\nthree",
        "first_line": 2,
        "last_line": 3,
    }
    page.get_by_role("button", name="Fork before this").last.click()
    page.wait_for_url(lambda address: person.session not in address, timeout=30_000)
    copy = page.get_by_role("log", name="Conversation")
    expect(copy).to_contain_text("Tidy the desk", timeout=20_000)
    expect(copy).not_to_contain_text("Tidy these")
    expect(copy).to_contain_text("Forked")
    first = page.url
    page.get_by_role("button", name="Fork", exact=True).click()
    page.wait_for_url(lambda address: address != first and person.session not in address)
    expect(copy).to_contain_text("Tidy the desk", timeout=20_000)
    quiet.check()
