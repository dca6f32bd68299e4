"""Whether a session is caged stands at its head; behind it: hosts, refusals, folders and walls."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from airboss.runtime.cage.ability import ability
from tests.e2e.sessions import at_page
from tests.e2e.visit import asked, audit, calm, fits, window
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import whole_only

SCRIPT = """
models:
  - {id: rehearsal, name: Rehearsal, multiplier: 0}
rules:
  - when: "work"
    steps:
      - call:
          tool: bash
          arguments: {command: "curl -s http://other.example/; true", description: "work"}
      - say: "Done."
  - steps: [{say: "Well."}]
"""
ENTRY = """
models: {driving: rehearsal}
promptVariables: {}
tasks:
  caged: {prompt: ["Say it."], requireUserInput: false, permissions: caged}
  free: {prompt: ["Say it."], requireUserInput: false}
jobs:
  inside: {work: {kind: Ref, taskId: caged, modelOverride: {category: driving}}}
  outside: {work: {kind: Ref, taskId: free, modelOverride: {category: driving}}}
grid: []
"""
SETTINGS = """
[cages.default]
read = ["{read}"]
hosts = ["files.example.org"]
"""

strong = pytest.mark.skipif(ability().kind != "strong", reason="no strong cage holds here")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Portal]:
    entry = tmp_path / "entry.yaml"
    entry.write_text(ENTRY, encoding="utf-8")
    portal = Portal(tmp_path, ("--permissions", "ask", "--entry", str(entry)), SCRIPT)
    read = tmp_path / "sdk"
    read.mkdir()
    portal.data.mkdir(parents=True)
    settings = portal.data / "settings.toml"
    settings.write_text(SETTINGS.format(read=read), encoding="utf-8")
    with portal.serving():
        yield portal


def opened(portal: Portal, permissions: str) -> str:
    wish = {"model": "rehearsal", "cwd": str(portal.work), "permissions": permissions}
    answer = asked(portal, "POST", "/api/v1/sessions", wish)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def panel(page: Page) -> Locator:
    return page.get_by_role("tabpanel", name="Cage")


def by_day_and_by_night(page: Page) -> None:
    audit(calm(page))
    fits(page)
    page.emulate_media(color_scheme="dark")
    audit(page, runOnly=["color-contrast"])


@strong
@pytest.mark.timeout(120)
def test_the_badge_of_a_caged_session_opens_what_its_cage_let_through_and_refused(
    server: Portal, browser: Browser
) -> None:
    page = window(browser, server)
    quiet = Quiet(page)
    person = at_page(server, page, opened(server, "caged"))
    person.says("work")
    person.is_idle()
    person.button("caged").click()
    said = panel(page)
    expect(said).to_contain_text("Strong · profile default · open")
    expect(said).to_contain_text("1 allowed by the profile, all others are refused")
    expect(said.get_by_role("row", name="files.example.org")).to_contain_text("profile")
    refused = said.get_by_role("listitem").filter(has_text="other.example:80")
    expect(refused).to_contain_text("It is not among the hosts of this cage.")
    expect(refused.locator(".num")).to_have_text(re.compile(r"1$"))
    expect(said).not_to_contain_text("configuration and hooks in it")
    for words in (f"{server.work}read and write", f"{server.folder / 'sdk'}read", "Memory4 GB"):
        expect(said).to_contain_text(words)
    expect(said.get_by_role("listitem").filter(has_text="Namespaces")).to_be_visible()
    by_day_and_by_night(page)
    page.set_viewport_size({"width": 390, "height": 844})
    expect(said).to_be_visible()
    fits(page)
    asked(server, "POST", f"/api/v1/sessions/{person.session}/close")
    expect(said).to_contain_text("profile default · ended")
    quiet.check()


def test_a_session_without_a_cage_says_so_also_on_a_phone(server: Portal, browser: Browser) -> None:
    page = window(browser, server, width=390)
    quiet = Quiet(page)
    person = at_page(server, page, opened(server, "ask"))
    person.button("not caged").click()
    expect(panel(page)).to_contain_text("This agent is not in a cage.")
    expect(panel(page)).to_contain_text(f"airboss fork {person.session} --permissions caged")
    by_day_and_by_night(page)
    quiet.check()


@strong
@whole_only
@pytest.mark.timeout(120)
def test_a_session_is_forked_into_a_cage_at_its_badge(server: Portal, browser: Browser) -> None:
    page = window(browser, server, width=390)
    person = at_page(server, page, opened(server, "ask"))
    person.says("Say it.")
    person.is_idle()
    person.button("not caged").click()
    panel(page).get_by_role("button", name="Fork into a cage").click()
    page.wait_for_url(lambda url: person.session not in url)
    expect(page.get_by_role("button", name="caged", exact=True)).to_be_visible()
    expect(person.log).to_contain_text("Well.")


@strong
@pytest.mark.timeout(120)
def test_start_offers_a_cage_and_a_run_says_whether_it_has_one(
    server: Portal, browser: Browser
) -> None:
    page = window(browser, server)
    quiet = Quiet(page)
    page.goto(f"{server.url}/")
    page.get_by_label("Work in a cage, without asking").check()
    by_day_and_by_night(page)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url(re.compile(r"session="))
    expect(page.get_by_role("button", name="caged", exact=True)).to_be_visible()
    for job, words in (("inside", "caged"), ("outside", "not caged")):
        wish = {"job": job, "cwd": str(server.work)}
        run = asked(server, "POST", "/api/v1/runs", wish).json()["id"]
        page.goto(f"{server.url}/jobTracking.html?jobName={job}&jobId={run}")
        badge = page.locator(".jobhead .cagebadge")
        expect(badge).to_have_text(words)
    fits(page)
    quiet.check()
