"""The entry editor: what it says while one writes, and the chart beside the text."""

import re

from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.editor.editing import (
    ENTRY,
    WRONG,
    WRONG_LINE,
    badge,
    code,
    file_of,
    go_to_end_of,
    opened,
    problems,
    rewrite,
    see_end,
)
from tests.e2e.visit import audit, calm, fits, is_wide, usable_by_all
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import trial, whole_only

EXAMPLES = (
    "fix-failing-tests",
    "migrate-api",
    "review-branch",
    "triage-issues",
    "upgrade-dependency",
    "write-docs",
)


def count(page: Page, words: str) -> None:
    expect(problems(page).locator("header .st")).to_have_text(words)


def options(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Completions").get_by_role("option")


def rehearse(page: Page) -> Locator:
    return page.get_by_role("button", name="Rehearse", exact=True)


def chart(page: Page) -> Locator:
    return page.locator("svg.flow")


# Problems.


def test_a_right_entry_has_no_errors(editor: Page) -> None:
    count(editor, "No errors")
    expect(rehearse(editor)).to_be_enabled()
    expect(editor.locator(".cm-lintRange-error")).to_have_count(0)


@whole_only
def test_a_mistake_is_said_in_the_words_of_airboss_check(portal: Portal, editor: Page) -> None:
    rewrite(editor, WRONG)
    count(editor, "1 error")
    file_of(portal).write_text(WRONG, encoding="utf-8")
    told = portal.run("check", str(file_of(portal))).stdout
    [problem] = problems(editor).get_by_role("listitem").all()
    expect(problem).to_contain_text(f"Line {WRONG_LINE}")
    expect(problem.locator(".where")).to_have_text("jobs.fix.work.works[1].works[0].taskId")
    said = " ".join(problem.locator("p").inner_text().split()).partition(": ")[2]
    first = said.partition(".")[0]
    assert first in " ".join(told.split()), (said, told)


def test_a_mistake_is_marked_in_the_text_and_beside_it(editor: Page) -> None:
    rewrite(editor, WRONG)
    expect(editor.locator(".cm-lintRange-error")).to_have_text("revew")
    expect(editor.locator(".cm-lint-marker-error")).to_have_count(1)
    expect(editor.locator(".cm-line.bad")).to_contain_text("revew")


@whole_only
def test_one_click_repairs_a_name_that_is_nearly_right(editor: Page) -> None:
    rewrite(editor, WRONG)
    problems(editor).get_by_role("button", name="Use review").click()
    expect(code(editor)).to_contain_text("taskId: review}")
    count(editor, "No errors")
    expect(code(editor)).to_be_focused()


@whole_only
def test_f8_goes_from_problem_to_problem(editor: Page) -> None:
    two = WRONG.replace("jobName: fix}", "jobName: fxi}")
    rewrite(editor, two)
    count(editor, "2 errors")
    editor.keyboard.press("F8")
    expect(editor.locator(".cm-activeLine")).to_contain_text("revew")
    expect(problems(editor).locator("li.sel")).to_contain_text(f"Line {WRONG_LINE}")
    editor.keyboard.press("F8")
    expect(editor.locator(".cm-activeLine")).to_contain_text("fxi")
    editor.keyboard.press("F8")
    expect(editor.locator(".cm-activeLine")).to_contain_text("revew")
    problems(editor).get_by_role("button", name=re.compile(r"^Line \d+")).last.click()
    expect(editor.locator(".cm-activeLine")).to_contain_text("fxi")


@whole_only
def test_what_would_not_be_granted_is_a_hint(editor: Page) -> None:
    rewrite(editor, ENTRY.replace("permissions: read-only", "permissions: approve-all"))
    expect(problems(editor).get_by_role("button", name="1 hint")).to_be_visible()
    count(editor, "No errors")
    expect(problems(editor).get_by_role("listitem")).to_contain_text("approve-all")


@whole_only
def test_a_text_that_cannot_be_read_says_where(editor: Page) -> None:
    rewrite(editor, "models: {driving: [\n")
    count(editor, "1 error")
    expect(rehearse(editor)).to_be_disabled()
    expect(editor.get_by_text("Before the last errors")).to_be_visible()


# Completion and hover.


@whole_only
def test_control_and_space_lists_the_values_of_a_field(editor: Page) -> None:
    line = ENTRY[: ENTRY.index("permissions:")].count("\n") + 1
    go_to_end_of(editor, line)
    for _ in "read-only":
        editor.keyboard.press("Backspace")
    editor.keyboard.press("Control+Space")
    expect(options(editor)).to_have_text(["ask", "read-only", "deny-all", "approve-all"])
    audit(calm(editor))
    editor.keyboard.type("de")
    expect(options(editor)).to_have_text(["deny-all"])
    editor.wait_for_timeout(200)
    editor.keyboard.press("Enter")
    expect(editor.locator(".cm-activeLine")).to_have_text("    permissions: deny-all")


def test_names_of_the_draft_are_completed_while_one_types(editor: Page) -> None:
    see_end(editor)
    editor.keyboard.insert_text("  - keyword: more\n    jobs: [{name: Ask, jobName: ")
    editor.keyboard.type("as")
    expect(options(editor)).to_have_text(re.compile("^ask"))
    editor.keyboard.press("Escape")
    go_to_end_of(editor, ENTRY[: ENTRY.index("modelOverride")].count("\n") + 1)
    editor.keyboard.press("Home")
    editor.keyboard.press("Shift+End")
    editor.keyboard.insert_text("work: {kind: Ref, taskId: ")
    editor.keyboard.type("fi")
    expect(options(editor)).to_have_count(2)
    expect(options(editor)).to_have_text([re.compile("^find-cause"), re.compile("^fix-tests")])


@whole_only
def test_keys_are_offered_with_what_they_are_for(editor: Page) -> None:
    line = ENTRY[: ENTRY.index("  review:")].count("\n") + 1
    go_to_end_of(editor, line)
    editor.keyboard.press("Enter")
    editor.keyboard.type("cri")
    expect(options(editor).first).to_contain_text("criteria")
    expect(editor.locator(".cm-completionInfo")).to_contain_text(re.compile(r"\w+ \w+"))
    editor.wait_for_timeout(200)
    editor.keyboard.press("Tab")
    expect(code(editor)).to_contain_text("criteria:")


def test_variables_are_offered_in_a_prompt(editor: Page) -> None:
    line = ENTRY[: ENTRY.index("[hello again]")].count("\n") + 1
    go_to_end_of(editor, line)
    editor.keyboard.press("ArrowLeft")
    editor.keyboard.type(" $b")
    expect(options(editor).first).to_contain_text("$board")


def test_the_pointer_on_a_field_tells_what_it_is_for(editor: Page) -> None:
    editor.locator(".cm-line", has_text="requireUserInput").first.locator("span").first.hover()
    about = editor.locator(".cm-tooltip-hover .about")
    expect(about).to_contain_text("requireUserInput")
    expect(about).to_contain_text("true or false")


# The chart.


def test_the_chart_is_drawn_from_the_text_as_it_is_written(editor: Page) -> None:
    expect(chart(editor)).to_have_attribute("aria-label", "Flow chart of fix, 3 tasks")
    expect(chart(editor)).to_contain_text("read-only")
    rewrite(editor, WRONG)
    broken = chart(editor).locator(".node.broken")
    expect(broken).to_have_count(1)
    expect(broken).to_contain_text("revew")
    expect(broken).to_contain_text("no such task")
    expect(editor.get_by_text("3 tasks, 1 broken")).to_be_visible()


def test_another_job_can_be_chosen(editor: Page) -> None:
    editor.get_by_label("Job:").select_option("ask")
    expect(chart(editor)).to_have_attribute("aria-label", "Flow chart of ask, 1 task")
    expect(chart(editor)).to_contain_text("needs your input")


def test_the_bar_between_code_and_chart_can_be_moved(editor: Page) -> None:
    side = editor.get_by_role("region", name="Chart and rehearsal")
    is_wide(side, 520)
    editor.get_by_role("separator").press("ArrowLeft")
    is_wide(side, 536)


def test_in_a_narrow_window_the_chart_is_behind_a_button(editor: Page) -> None:
    side = editor.get_by_role("region", name="Chart and rehearsal")
    for width in (1180, 1000, 390):
        editor.set_viewport_size({"width": width, "height": 844})
        expect(side).to_be_hidden()
        editor.get_by_role("button", name="Chart").click()
        expect(chart(editor)).to_be_visible()
        expect(code(editor)).to_be_hidden()
        fits(editor)
        editor.get_by_role("button", name="Code").click()
        expect(code(editor)).to_be_visible()
    editor.set_viewport_size({"width": 1440, "height": 900})
    expect(side).to_be_visible()


# Examples.


def test_an_empty_file_starts_from_an_example(portal: Portal, page: Page, quiet: Quiet) -> None:
    file_of(portal).unlink()
    opened(page, portal)
    page.get_by_text("Start from an example", exact=True).click()
    items = page.locator(".examples .floating button")
    expect(items).to_have_count(len(EXAMPLES))
    audit(calm(page))
    items.first.click()
    expect(badge(page)).to_have_text("New file, not saved")
    count(page, "No errors")
    expect(chart(page)).to_be_visible()
    quiet.check()


def test_an_example_asks_before_it_replaces_what_was_written(editor: Page) -> None:
    editor.get_by_text("Start from an example", exact=True).click()
    editor.locator(".examples .floating button").first.click()
    dialog = editor.get_by_role("dialog", name="Replace your text?")
    expect(dialog.get_by_role("button", name="Keep my text")).to_be_focused()
    editor.keyboard.press("Escape")
    expect(code(editor)).to_contain_text("Fixes failing tests, then")
    editor.get_by_text("Start from an example", exact=True).click()
    editor.locator(".examples .floating button").first.click()
    dialog.get_by_role("button", name="Replace").click()
    expect(code(editor)).not_to_contain_text("Fixes failing tests, then")
    count(editor, "No errors")
    editor.keyboard.press("Control+z")
    expect(code(editor)).to_contain_text("Fixes failing tests, then")
    expect(badge(editor)).to_have_text("Saved")


# Ways to it, and everybody's way.


def test_the_jobs_page_its_mistakes_and_the_palette_lead_to_it(
    portal: Portal, editor: Page
) -> None:
    file_of(portal).write_text(WRONG, encoding="utf-8")
    editor.goto(f"{portal.url}/jobs.html?wb={portal.work}")
    editor.get_by_role("link", name="Edit", exact=True).click()
    editor.wait_for_url("**/edit.html")
    editor.goto(f"{portal.url}/jobs.html?wb={portal.work}")
    editor.get_by_role("link", name="Open in the editor").click()
    editor.wait_for_url("**/edit.html?path=*")
    expect(editor.get_by_role("heading", level=1)).to_have_text("airboss.yaml")
    editor.goto(f"{portal.url}/jobs.html?wb={portal.work}")
    editor.get_by_role("link", name=f"airboss.yaml:{WRONG_LINE}").click()
    editor.wait_for_url(f"**/edit.html?path=*#L{WRONG_LINE}")
    expect(editor.locator(".cm-activeLine")).to_contain_text("revew")
    editor.goto(f"{portal.url}/history.html")
    expect(editor.get_by_role("heading", level=1)).to_be_visible()
    editor.keyboard.press("Control+k")
    expect(editor.get_by_role("combobox", name="Search or run a command")).to_be_focused()
    editor.keyboard.type("edit the entry")
    chosen = editor.get_by_role("option", name=re.compile("^Edit the entry"), selected=True)
    expect(chosen).to_be_visible(timeout=15_000)
    editor.keyboard.press("Enter")
    editor.wait_for_url("**/edit.html")


def test_letters_typed_in_the_text_are_no_keys_of_the_page(editor: Page) -> None:
    code(editor).click()
    editor.keyboard.type("?gh")
    expect(code(editor)).to_contain_text("?gh")
    expect(editor.get_by_role("dialog")).to_have_count(0)
    assert editor.url.endswith("/edit.html")


@trial
def test_nobody_is_shut_out(portal: Portal, browser: Browser) -> None:
    def right(page: Page) -> None:
        file_of(portal).write_text(ENTRY, encoding="utf-8")
        page.goto(f"{portal.url}/edit.html")
        expect(problems(page)).to_contain_text("No errors")

    def wrong(page: Page) -> None:
        file_of(portal).write_text(WRONG, encoding="utf-8")
        page.goto(f"{portal.url}/edit.html")
        expect(problems(page)).to_contain_text("1 error")

    usable_by_all(browser, portal, right, wrong)
