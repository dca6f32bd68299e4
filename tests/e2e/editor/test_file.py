"""The entry editor and its file: what is saved, what others wrote, and that nothing is lost."""

import re
import time

import pytest
from playwright.sync_api import Browser, Dialog, Page, Route, expect

from tests.e2e.editor.editing import (
    ENTRY,
    WRONG,
    add_line,
    badge,
    code,
    file_of,
    go_to_end_of,
    opened,
    rewrite,
    see_end,
)
from tests.e2e.visit import asked, audit, calm, signed_in
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import whole_only


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()


def on_disk(portal: Portal) -> str:
    return file_of(portal).read_text(encoding="utf-8")


def soon_on_disk(portal: Portal, text: str) -> None:
    until = time.monotonic() + 15
    while on_disk(portal) != text:
        assert time.monotonic() < until, on_disk(portal)
        time.sleep(0.05)


def strip(page: Page, words: str) -> None:
    expect(page.locator(".strip").filter(has_text=words)).to_be_visible()


@whole_only
def test_the_page_names_the_file_its_path_and_its_state(portal: Portal, editor: Page) -> None:
    expect(editor.get_by_role("heading", level=1)).to_have_text("airboss.yaml")
    expect(editor.get_by_text(str(file_of(portal)))).to_be_visible()
    expect(badge(editor)).to_have_text("Saved")
    expect(editor).to_have_title(re.compile("airboss.yaml · Airboss"))
    expect(code(editor)).to_contain_text("Fixes failing tests")
    expect(editor.get_by_role("button", name="Save", exact=True)).to_be_disabled()


def test_control_and_s_saves_and_the_server_uses_it(portal: Portal, editor: Page) -> None:
    add_line(editor, "# one more line\n")
    expect(badge(editor)).to_have_text("Not saved")
    editor.keyboard.press("Control+s")
    expect(badge(editor)).to_have_text("Saved")
    soon_on_disk(portal, ENTRY + "# one more line\n")
    strip(editor, "Saved. In use now.")
    editor.get_by_role("link", name="Run it on the Jobs page").click()
    editor.wait_for_url("**/jobs.html?wb=*")
    expect(editor.get_by_role("button", name=re.compile("^Fix failing tests"))).to_be_visible()


def test_a_text_with_mistakes_is_saved_and_the_page_says_why_it_is_not_used(
    portal: Portal, editor: Page
) -> None:
    rewrite(editor, WRONG)
    save(editor)
    soon_on_disk(portal, WRONG)
    strip(editor, "Saved. Not in use:")
    expect(editor.locator(".strip")).to_contain_text("airboss.yaml")
    expect(editor.get_by_role("link", name="Open the Jobs page")).to_be_visible()


@whole_only
def test_a_file_that_does_not_exist_is_made(portal: Portal, page: Page, quiet: Quiet) -> None:
    file_of(portal).unlink()
    opened(page, portal)
    expect(badge(page)).to_have_text("New file")
    rewrite(page, ENTRY)
    expect(badge(page)).to_have_text("New file, not saved")
    save(page)
    expect(badge(page)).to_have_text("Saved")
    soon_on_disk(portal, ENTRY)
    strip(page, "Saved. In use now.")
    quiet.check()


@whole_only
def test_a_change_made_elsewhere_is_shown_where_nothing_was_written(
    portal: Portal, editor: Page
) -> None:
    file_of(portal).write_text("# by somebody else\n" + ENTRY, encoding="utf-8")
    expect(code(editor)).to_contain_text("# by somebody else")
    expect(badge(editor)).to_have_text("Saved")


def changed_on_both_sides(portal: Portal, page: Page) -> None:
    add_line(page, "# mine\n")
    file_of(portal).write_text("# theirs\n" + ENTRY, encoding="utf-8")
    alert = page.get_by_role("alert").filter(has_text="Changed on disk")
    expect(alert).to_contain_text(re.compile(r"Changed on disk at \d\d:\d\d\."))
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    page.keyboard.press("Control+s")
    assert on_disk(portal) == "# theirs\n" + ENTRY


def test_a_file_changed_elsewhere_is_not_overwritten_and_can_be_compared(
    portal: Portal, editor: Page
) -> None:
    changed_on_both_sides(portal, editor)
    editor.get_by_role("button", name="Compare").click()
    dialog = editor.get_by_role("dialog", name="The version on disk and yours")
    expect(dialog.locator("li.d")).to_contain_text("# theirs")
    expect(dialog.locator("li.a")).to_contain_text("# mine")
    audit(calm(editor))
    dialog.get_by_role("button", name="Decide later").click()
    expect(editor.get_by_role("button", name="Save", exact=True)).to_be_disabled()


@whole_only
def test_keep_mine_replaces_the_other_version_with_the_next_save(
    portal: Portal, editor: Page
) -> None:
    changed_on_both_sides(portal, editor)
    editor.get_by_role("button", name="Keep mine").click()
    expect(code(editor)).to_contain_text("# mine")
    assert on_disk(portal) == "# theirs\n" + ENTRY, "it is written by Save alone"
    save(editor)
    soon_on_disk(portal, ENTRY + "# mine\n")
    expect(badge(editor)).to_have_text("Saved")


@whole_only
def test_take_theirs_shows_the_other_version_and_can_be_undone(
    portal: Portal, editor: Page
) -> None:
    changed_on_both_sides(portal, editor)
    editor.get_by_role("button", name="Take theirs").click()
    expect(code(editor)).to_contain_text("# theirs")
    expect(badge(editor)).to_have_text("Saved")
    assert on_disk(portal) == "# theirs\n" + ENTRY
    code(editor).click()
    editor.keyboard.press("Control+z")
    expect(badge(editor)).to_have_text("Not saved")


def test_a_save_that_comes_too_late_writes_nothing(
    portal: Portal, editor: Page, quiet: Quiet
) -> None:
    """The page does not know yet that the file has changed: the server does."""
    add_line(editor, "# mine\n")
    theirs = "# theirs\n" + ENTRY

    def late(route: Route) -> None:
        file_of(portal).write_text(theirs, encoding="utf-8")
        route.continue_()

    editor.route("**/api/v1/entry/file", lambda route: late(route), times=1)
    save(editor)
    expect(editor.get_by_role("alert").filter(has_text="Changed on disk")).to_be_visible()
    assert on_disk(portal) == theirs
    expect(code(editor)).to_contain_text("# mine")
    quiet.said.clear()  # Chromium tells of every 409


def test_a_reload_loses_no_letter(portal: Portal, editor: Page) -> None:
    add_line(editor, "# not saved")
    editor.keyboard.type("!")
    asks: list[str] = []

    def leave(dialog: Dialog) -> None:
        asks.append(dialog.type)
        dialog.accept()

    editor.on("dialog", leave)
    editor.reload()
    assert asks == ["beforeunload"]
    see_end(calm(editor))
    expect(code(editor)).to_contain_text("# not saved!")
    expect(badge(editor)).to_have_text("Not saved")
    assert on_disk(portal) == ENTRY


def test_a_crash_loses_no_letter(portal: Portal, browser: Browser) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = opened(context.new_page(), portal)
    add_line(page, "# before the crash")
    page.keyboard.type("!")
    page.close(run_before_unload=False)  # as the browser goes without a word
    again = opened(context.new_page(), portal)
    see_end(again)
    expect(code(again)).to_contain_text("# before the crash!")
    expect(badge(again)).to_have_text("Not saved")


@whole_only
def test_a_draft_of_a_file_that_changed_meanwhile_asks_what_holds(
    portal: Portal, browser: Browser
) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = opened(context.new_page(), portal)
    add_line(page, "# mine\n")
    page.close(run_before_unload=False)
    file_of(portal).write_text("# theirs\n" + ENTRY, encoding="utf-8")
    again = opened(context.new_page(), portal)
    see_end(again)
    expect(code(again)).to_contain_text("# mine")
    expect(again.get_by_role("alert").filter(has_text="Changed on disk")).to_be_visible()


@whole_only
def test_leaving_asks_only_where_something_is_not_saved(portal: Portal, editor: Page) -> None:
    asks: list[str] = []

    def stay(dialog: Dialog) -> None:
        asks.append(dialog.type)
        dialog.dismiss()

    editor.on("dialog", stay)
    add_line(editor, "# mine\n")
    editor.get_by_role("link", name="History").click()
    expect(badge(editor)).to_have_text("Not saved")
    assert asks == ["beforeunload"]
    save(editor)
    expect(badge(editor)).to_have_text("Saved")
    editor.get_by_role("link", name="History").click()
    editor.wait_for_url("**/history.html")
    assert asks == ["beforeunload"]


@whole_only
def test_a_server_that_is_away_costs_nothing_that_was_written(
    tmp_path_factory: pytest.TempPathFactory, page: Page
) -> None:
    portal = Portal(tmp_path_factory.mktemp("away"))
    portal.work.mkdir(parents=True)
    file_of(portal).write_text(ENTRY, encoding="utf-8")
    portal.start()
    try:
        opened(page, portal)
        portal.stop()
        add_line(page, "# while it was away\n")
        alert = page.get_by_role("alert").filter(has_text="The server is not responding.")
        expect(alert).to_be_visible()
        save(page)
        expect(page.get_by_role("alert").filter(has_text="Not saved.")).to_be_visible()
        expect(code(page)).to_contain_text("# while it was away")
        expect(badge(page)).to_have_text("Not saved")
    finally:
        portal.stop()
    assert on_disk(portal) == ENTRY


@whole_only
def test_the_ending_of_lines_stays_as_the_file_has_it(portal: Portal, page: Page) -> None:
    windows = ENTRY.replace("\n", "\r\n").encode()
    file_of(portal).write_bytes(windows)
    opened(page, portal)
    expect(badge(page)).to_have_text("Saved")
    add_line(page, "# mine\n")
    save(page)
    expect(badge(page)).to_have_text("Saved")
    until = time.monotonic() + 15
    while file_of(portal).read_bytes() != windows + b"# mine\r\n":
        assert time.monotonic() < until, file_of(portal).read_bytes()[-40:]
        time.sleep(0.05)


@pytest.fixture(scope="session")
def tokens(running: Portal) -> dict[str, str]:
    return {
        role: running.run("token", "add", f"edits-{role}", "--role", role).stdout.strip()
        for role in ("view", "operate")
    }


@pytest.mark.parametrize("role", ["view", "operate"])
def test_who_may_not_write_reads_and_is_told_why(
    portal: Portal, page: Page, quiet: Quiet, tokens: dict[str, str], role: str
) -> None:
    signed_in(page, portal, tokens[role]).goto(f"{portal.url}/edit.html")
    expect(code(page)).to_have_attribute("aria-readonly", "true")
    expect(badge(page)).to_have_text("Read only")
    strip(page, "Read only. Saving needs the role own")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    expect(page.get_by_text("Start from an example")).to_have_count(0)
    code(page).click()
    page.keyboard.type("x")
    expect(code(page)).not_to_contain_text("x#")
    expect(page.locator("svg.flow")).to_be_visible()
    rehearse = page.get_by_role("button", name="Rehearse", exact=True)
    if role == "view":
        expect(rehearse).to_be_disabled()
        expect(rehearse).to_have_accessible_description(re.compile("Your role is view"))
    else:
        expect(rehearse).to_be_enabled()
    audit(calm(page))
    quiet.check()


@whole_only
def test_a_python_entry_is_shown_and_not_edited(
    tmp_path_factory: pytest.TempPathFactory, page: Page
) -> None:
    portal = Portal(tmp_path_factory.mktemp("python"))
    portal.work.mkdir(parents=True)
    (portal.work / "airboss.py").write_text("entry = {}\n", encoding="utf-8")
    with portal.serving():
        found = asked(portal, "GET", "/api/v1/entry/file").json()
        assert found["format"] == "python", found
        opened(page, portal)
        expect(badge(page)).to_have_text("Read only")
        strip(page, "A Python entry is a program.")
        expect(code(page)).to_contain_text("entry = {}")


@whole_only
def test_another_file_below_the_roots_opens_by_its_path(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    other = portal.work / "other.json"
    other.write_text('{"models": {"driving": "rehearsal"}}\n', encoding="utf-8")
    opened(page, portal, f"?path={other}")
    expect(page.get_by_role("heading", level=1)).to_have_text("other.json")
    go_to_end_of(page, 1)
    page.keyboard.press("ArrowLeft")
    page.keyboard.type(', "permissions": ')
    page.keyboard.press("Control+Space")
    options = page.get_by_role("listbox", name="Completions").get_by_role("option")
    expect(options.first).to_have_text("ask")
    page.wait_for_timeout(200)  # what appears under the fingers is not taken by the next key
    page.keyboard.press("Enter")
    expect(code(page)).to_contain_text('"permissions": "ask"}')
    save(page)
    strip(page, "Saved. Not in use: The server uses")
    assert '"permissions": "ask"' in other.read_text(encoding="utf-8")
    quiet.check()


def test_a_file_outside_of_the_roots_is_not_opened(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    signed_in(page, portal).goto(f"{portal.url}/edit.html?path=/etc/airboss.yaml")
    expect(page.get_by_role("alert")).to_contain_text("Could not open this file.")
    expect(code(page)).to_have_count(0)
    quiet.check(but="422")  # Chromium tells of each


@whole_only
def test_a_browser_that_keeps_nothing_says_so(portal: Portal, page: Page) -> None:
    page.add_init_script(
        "const set = Storage.prototype.setItem;"
        "Storage.prototype.setItem = function (name, value) {"
        "  if (name.includes('draft')) throw new DOMException('full', 'QuotaExceededError');"
        "  set.call(this, name, value); };"
    )
    opened(page, portal)
    add_line(page, "# mine\n")
    strip(page, "This browser has no room to keep the draft.")
    save(page)
    soon_on_disk(portal, ENTRY + "# mine\n")
    expect(page.get_by_text("This browser has no room")).to_have_count(0)
