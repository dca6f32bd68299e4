"""The mistakes of an entry on the Jobs page: each with its lines and what to write instead."""

import time
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.visit import asked, signed_in, usable_by_all
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import trial

TOKEN = "ghp_" + "a" * 36
BROKEN = f"""\
models: {{driving: rehearsal}}
promptVariables: {{}}
tasks:
  greet:
    model: {{id: rehearsal}}  # {TOKEN}
    prompt: "Say\u202ehello."
    requireUserInput: false
jobs:
  greet:
    work: {{kind: Ref, taskId: gret}}
grid: []
"""
MANY = BROKEN + "".join(f"field-{number}: 1\n" for number in range(500))


@trial
def test_every_mistake_is_on_the_jobs_page_with_what_to_write_instead(
    tmp_path: Path, page: Page, browser: Browser, quiet: Quiet
) -> None:
    portal = Portal(tmp_path)
    portal.work.mkdir()
    file = portal.work / "airboss.yaml"
    file.write_text(BROKEN, encoding="utf-8")
    portal.start()
    try:
        jobs = f"{portal.url}/jobs.html?wb={quote(str(portal.work))}"
        signed_in(page, portal).goto(jobs)
        expect(page.get_by_role("alert")).to_contain_text(
            "airboss.yaml has 2 errors, so the built-in jobs are in use."
        )
        shown = page.get_by_role("region", name="Errors in airboss.yaml")
        expect(shown.get_by_role("listitem")).to_have_count(2)
        the_list_is_whole(shown)
        assert TOKEN not in page.content()
        expect(page.get_by_role("button", name="Sample")).to_be_visible()
        usable_by_all(browser, portal, lambda other: other.goto(jobs))

        file.write_text(MANY, encoding="utf-8")
        last = time.monotonic() + 15
        while asked(portal, "GET", "/api/v1/entry/mistakes").json()["mistakes"] != 502:
            assert time.monotonic() < last, "the server has not read it"
            time.sleep(0.1)
        page.reload()
        expect(page.get_by_role("alert")).to_contain_text(
            "airboss.yaml has 502 errors, so the built-in jobs are in use."
        )
        expect(shown.get_by_role("listitem")).to_have_count(50)
        expect(shown).to_contain_text("These are the first 50 of 502 errors.")
        quiet.check()
    finally:
        portal.stop()


def the_list_is_whole(shown: Locator) -> None:
    prompt, task = shown.get_by_role("listitem").all()
    expect(prompt).to_contain_text("airboss.yaml:6:13")
    expect(prompt).to_contain_text('entry.tasks["greet"].prompt')
    expect(prompt).to_contain_text("Should be a list.")
    expect(prompt.locator(".here")).to_contain_text('6    prompt: "Say⟨U+202E⟩hello."')
    expect(prompt.locator("mark")).to_have_text('"Say⟨U+202E⟩hello."')
    expect(prompt.locator(".at")).to_have_count(5)
    expect(prompt.locator(".example")).to_have_text('prompt: ["Say⟨U+202E⟩hello."]')
    expect(task).to_contain_text('"gret" is not a valid task name. Did you mean "greet"?')
    expect(task.locator("mark")).to_have_text("gret")
    expect(task).to_contain_text("The tasks of this entry are: greet.")
