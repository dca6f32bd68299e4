"""A rehearsal in the entry editor: one button, nothing charged, no file changed."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.editor.editing import (
    ENTRY,
    WRONG,
    badge,
    code,
    file_of,
    rehearsal,
    rewrite,
    see_end,
)
from tests.e2e.visit import audit, calm
from tests.portal import Portal
from tests.trials import whole_only

# Each rehearsal starts a server and an agent runtime of its own.
pytestmark = pytest.mark.timeout(240)


def rehearse(page: Page) -> Locator:
    return page.get_by_role("button", name="Rehearse", exact=True)


def test_a_rehearsal_tells_how_each_task_went(portal: Portal, editor: Page) -> None:
    expect(rehearsal(editor)).to_contain_text(
        "A rehearsal runs the job with scripted answers. It costs nothing and changes no file."
    )
    code(editor).click()
    editor.keyboard.press("Control+Enter")
    expect(rehearsal(editor).get_by_text("Succeeded", exact=True)).to_be_visible(timeout=120_000)
    rows = rehearsal(editor).get_by_role("listitem")
    expect(rows.filter(has_text="review")).to_contain_text(re.compile(r"1 request, \d+\.\d s"))
    expect(rehearsal(editor)).not_to_contain_text("the version before this one")
    assert file_of(portal).read_text(encoding="utf-8") == ENTRY
    see_end(editor)
    editor.keyboard.insert_text("# another text\n")
    expect(rehearsal(editor)).to_contain_text("the version before this one")
    expect(badge(editor)).to_have_text("Not saved")


def test_a_rehearsal_is_off_with_its_reason_while_there_are_errors(editor: Page) -> None:
    rewrite(editor, WRONG)
    expect(rehearse(editor)).to_be_disabled()
    expect(editor.get_by_text("Fix 1 error to rehearse")).to_be_visible()
    expect(rehearse(editor)).to_have_accessible_description("Fix 1 error to rehearse")
    editor.keyboard.press("Control+Enter")
    expect(rehearsal(editor)).to_contain_text("Not rehearsed yet")


@whole_only
def test_a_job_that_needs_input_asks_for_it_first(editor: Page) -> None:
    editor.get_by_label("Job:").select_option("ask")
    rehearse(editor).click()
    dialog = editor.get_by_role("dialog", name="Rehearse ask")
    expect(dialog.get_by_role("button", name="Rehearse")).to_be_disabled()
    dialog.get_by_label("User input").fill("the second test, please")
    audit(calm(editor))
    dialog.get_by_role("button", name="Rehearse").click()
    expect(rehearsal(editor)).to_contain_text("find-cause", timeout=120_000)
    expect(rehearsal(editor).get_by_text(re.compile("Succeeded|Failed"))).to_be_visible(
        timeout=120_000
    )


def test_a_rehearsal_can_be_canceled(editor: Page) -> None:
    rehearse(editor).click()
    cancel = rehearsal(editor).get_by_role("button", name="Cancel")
    cancel.click()
    expect(rehearsal(editor).get_by_text("Canceled", exact=True)).to_be_visible(timeout=120_000)
    expect(cancel).to_have_count(0)
    expect(rehearse(editor)).to_be_enabled()


@whole_only
def test_an_example_is_rehearsed_with_the_answers_that_came_with_it(editor: Page) -> None:
    rewrite(editor, "")
    editor.get_by_text("Start from an example", exact=True).click()
    editor.locator(".examples .floating button").filter(has_text="failing tests").first.click()
    expect(rehearse(editor)).to_be_enabled()
    rehearse(editor).click()
    dialog = editor.get_by_role("dialog")
    expect(dialog.or_(rehearsal(editor).get_by_text("Running"))).to_be_visible()
    if dialog.count() > 0:
        dialog.get_by_label("User input").fill("the parser")
        dialog.get_by_label("User input").press("Control+Enter")
    expect(rehearsal(editor).get_by_text("Succeeded", exact=True)).to_be_visible(timeout=120_000)
    rows = rehearsal(editor).get_by_role("listitem")
    expect(rows.first).to_contain_text(re.compile(r"\d requests?, \d+\.\d s"))
