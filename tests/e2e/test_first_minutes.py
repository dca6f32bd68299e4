"""A person's first minutes: getting in, not getting in, and what to do first."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.visit import asked, calm, link, signed_in, usable_by_all
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import trial

# A code that was used is refused, and Chromium says so in its console.
REFUSED = "401"


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """Nobody is signed in to Copilot, no provider is there, and nothing has run."""
    portal = Portal(tmp_path_factory.mktemp("first"), script=None)
    portal.start()
    yield portal
    portal.stop()


def test_the_printed_address_gets_in_and_its_code_is_gone(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    [address] = re.findall(r"http://\S+/#code=\S+", portal.log)
    first, *_ = re.findall(r"http://\S+", portal.log)
    assert first == address, "the first address that is printed is the one to open"
    page.goto(address)
    expect(page.get_by_role("heading", name="Start a session")).to_be_visible()
    assert page.url == f"{portal.url}/"
    assert page.evaluate("location.href") == f"{portal.url}/"
    [cookie] = page.context.cookies()
    assert (cookie.get("httpOnly"), cookie.get("sameSite")) == (True, "Strict")
    assert portal.token not in str(cookie)
    assert "code" not in page.evaluate("document.cookie")

    page.goto(f"{portal.url}/test.html")
    page.go_back()
    assert page.url == f"{portal.url}/", "no entry of the history has the code"
    expect(page.get_by_role("heading", name="Start a session")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Start a session")).to_be_visible()
    quiet.check()
    code = address.rpartition("=")[2]
    assert [url for url in quiet.asked if code in url] == [], "the code is in no request's line"


def test_the_bare_address_does_not_get_in_and_says_how_to(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    page.goto(portal.url)
    expect(page.get_by_role("heading", name="Sign in to Airboss")).to_be_visible()
    expect(page.get_by_text("airboss link")).to_be_visible()
    assert page.title() == "Sign in · Airboss"
    assert page.context.cookies() == []
    quiet.check()


def test_an_address_works_once(portal: Portal, browser: Browser) -> None:
    address = link(portal)
    first, second = (browser.new_context(reduced_motion="reduce").new_page() for _ in range(2))
    quiet = Quiet(second)
    first.goto(address)
    expect(first.get_by_role("heading", name="Start a session")).to_be_visible()
    second.goto(address)
    expect(second.get_by_text("This sign-in link did not work.")).to_be_visible()
    assert second.url == f"{portal.url}/"
    assert second.context.cookies() == []
    quiet.check(but=REFUSED)

    second.goto(link(portal))
    expect(second.get_by_role("heading", name="Start a session")).to_be_visible()


def test_the_test_page_shows_the_message_to_those_who_are_in(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    page.goto(f"{portal.url}/test.html")
    expect(page.get_by_role("heading", name="Sign in to Airboss")).to_be_visible()
    quiet.check()
    signed_in(page, portal).goto(f"{portal.url}/test.html")
    expect(page.get_by_text("Hello, world!")).to_be_visible()


def test_without_a_sign_in_the_rehearsal_is_offered_and_how_to_get_more(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    signed_in(page, portal).goto(f"{portal.url}/")
    expect(page.get_by_label("Model")).to_contain_text("Rehearsal")
    expect(
        page.get_by_text("You can try everything now without signing in to GitHub Copilot.")
    ).to_be_visible()
    expect(page.get_by_text("Follows a script on this machine.")).to_be_visible()
    expect(page.get_by_role("link", name="Sign in", exact=True)).to_be_visible()
    page.get_by_role("link", name="Add a provider").click()
    expect(page.get_by_role("form", name="Add a provider")).to_be_in_viewport()
    quiet.check()


def test_one_can_read_what_the_sample_does_before_it_runs(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    signed_in(page, portal).goto(f"{portal.url}/")
    expect(page.get_by_role("heading", name="Nothing has run yet")).to_be_visible()
    page.get_by_role("link", name="See what it does").click()
    page.wait_for_url("**/jobs.html?wb=*#job=sample")
    expect(page.get_by_role("button", name="Start Job: Sample")).to_be_enabled()
    expect(page.get_by_text("sample-look and sample-read in parallel")).to_be_visible()
    quiet.check()


@trial
def test_nobody_is_shut_out(portal: Portal, browser: Browser) -> None:
    def first_visit(page: Page) -> None:
        page.goto(f"{portal.url}/")
        calm(page).get_by_text("sign in to GitHub Copilot or add a provider").click()

    usable_by_all(browser, portal, first_visit)


def test_the_sample_job_is_one_click_away(portal: Portal, page: Page, quiet: Quiet) -> None:
    """The last of those that need a server on which nothing has run."""
    signed_in(page, portal).goto(f"{portal.url}/")
    page.get_by_role("button", name="Run the sample job").click()
    page.wait_for_url("**/jobTracking.html?jobName=sample&jobId=*")
    run = page.evaluate("new URL(location).searchParams.get('jobId')")
    told = asked(portal, "GET", f"/api/v1/runs/{run}").json()
    assert (told["job"], told["cwd"]) == ("sample", str(portal.work))
    quiet.check()


def test_an_entry_that_cannot_be_used_is_told_of_and_the_last_good_one_stays(
    tmp_path: Path, page: Page, quiet: Quiet
) -> None:
    portal = Portal(tmp_path)
    portal.work.mkdir()
    entry = portal.work / "airboss.yaml"
    entry.write_text(GOOD, encoding="utf-8")
    portal.start()
    try:
        signed_in(page, portal).goto(f"{portal.url}/")
        calm(page)
        expect(page.get_by_role("alert")).to_have_count(0)
        entry.write_text(GOOD.replace("taskId: greet", "taskId: gone"), encoding="utf-8")
        # Nobody asks for it, and nothing is loaded again.
        expect(page.get_by_role("alert")).to_contain_text(
            "airboss.yaml has 1 error, so its last valid version is in use.", timeout=15_000
        )
        expect(page.get_by_role("alert")).to_contain_text("The last valid version is in use")
        page.goto(f"{portal.url}/jobs.html?wb={portal.work}")
        expect(page.get_by_role("alert")).to_contain_text(
            "airboss.yaml has 1 error, so its last valid version is in use."
        )
        expect(page.get_by_role("button", name="Greet")).to_be_visible()
        entry.write_text(GOOD, encoding="utf-8")
        expect(page.get_by_role("alert")).to_have_count(0, timeout=15_000)
        quiet.check()
    finally:
        portal.stop()


GOOD = """
models: {driving: rehearsal}
promptVariables: {}
tasks:
  greet: {model: {id: rehearsal}, prompt: [hello], requireUserInput: false}
jobs:
  greet: {work: {kind: Ref, taskId: greet}}
grid:
  - {keyword: Say, jobs: [{name: Greet, jobName: greet}]}
"""


def test_a_server_that_goes_away_and_comes_back_is_told_of(tmp_path: Path, page: Page) -> None:
    portal = Portal(tmp_path)
    portal.start()
    port = portal.url.rpartition(":")[2]
    try:
        signed_in(page, portal).goto(portal.url)
        badge = page.get_by_role("banner").get_by_role("status")
        expect(badge).to_have_text("Live", timeout=10_000)
        portal.stop()
        expect(badge).to_contain_text("Reconnecting", timeout=10_000)
        portal.options = ("--port", port)
        portal.start()
        expect(badge).to_have_text("Live", timeout=15_000)
        expect(page.get_by_role("heading", name="Start a session")).to_be_visible()
    finally:
        portal.stop()
