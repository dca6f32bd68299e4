"""How a test writes in the entry editor: by the keyboard, as people do."""

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.e2e.visit import calm, signed_in
from tests.portal import Portal

ENTRY = """\
# Fixes failing tests, then has the change reviewed.
models:
  driving: rehearsal
  deep: rehearsal
promptVariables:
  board: [Ask the board.]
tasks:
  find-cause:
    description: Names the cause of the first failing test.
    requireUserInput: true
    prompt:
      - Run the tests. Name the cause of the first failure.
      - "What the person adds: $user-input"
  fix-tests:
    model: {category: deep}
    requireUserInput: false
    permissions: read-only
    prompt: [hello]
  review:
    model: {category: deep}
    requireUserInput: false
    prompt: [hello again]
jobs:
  fix:
    work:
      kind: Seq
      works:
        - {kind: Ref, taskId: fix-tests}
        - kind: Par
          works:
            - {kind: Ref, taskId: review}
            - {kind: Ref, taskId: fix-tests}
  ask:
    work: {kind: Ref, taskId: find-cause, modelOverride: {category: deep}}
grid:
  - keyword: fix
    jobs: [{name: Fix failing tests, jobName: fix}]
"""
WRONG = ENTRY.replace("- {kind: Ref, taskId: review}", "- {kind: Ref, taskId: revew}")
WRONG_LINE = WRONG[: WRONG.index("revew")].count("\n") + 1


def file_of(portal: Portal) -> Path:
    return portal.work / "airboss.yaml"


def opened(page: Page, portal: Portal, query: str = "") -> Page:
    signed_in(page, portal).goto(f"{portal.url}/edit.html{query}")
    expect(code(page)).to_be_visible()
    return calm(page)


def code(page: Page) -> Locator:
    return page.locator(".cm-content")


def badge(page: Page) -> Locator:
    return page.locator(".edit-head .st")


def problems(page: Page) -> Locator:
    return page.get_by_role("region", name="Problems", exact=True)


def rehearsal(page: Page) -> Locator:
    return page.get_by_role("region", name="Last rehearsal")


def see_end(page: Page) -> None:
    """Only the lines in view stand in the page."""
    code(page).click()
    page.keyboard.press("Control+End")


def go_to_end_of(page: Page, line: int) -> None:
    code(page).click()
    page.keyboard.press("Control+Home")
    for _ in range(line - 1):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("End")


def rewrite(page: Page, text: str) -> None:
    """Another text in the place of all there is, in one go: nothing is completed or indented."""
    code(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def add_line(page: Page, text: str) -> None:
    """A comment at the very end."""
    see_end(page)
    page.keyboard.insert_text(text)
