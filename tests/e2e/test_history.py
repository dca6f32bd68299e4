"""All that ran and was said, found again by what one remembers of it."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.contract.job_guest import entry_of, ref
from tests.e2e.visit import asked, calm, new_session, signed_in, usable_by_all
from tests.e2e.witness import Quiet
from tests.pauses import pauses
from tests.portal import Portal
from tests.trials import trial, whole_only


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("history"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
def history(portal: Portal, page: Page, quiet: Quiet) -> Iterator[Page]:
    yield signed_in(page, portal)
    quiet.check()


def ended(portal: Portal, text: str) -> str:
    """A session that was asked one thing, has answered, and is closed."""
    session = new_session(portal, text)
    until = time.monotonic() + 20
    pause = pauses()
    while (view := _view(portal, session))["state"] != "idle" or view["turns"] == 0:
        assert time.monotonic() < until
        time.sleep(next(pause))
    asked(portal, "POST", f"/api/v1/sessions/{session}/close")
    return session


def _view(portal: Portal, session: str) -> dict[str, Any]:
    return asked(portal, "GET", f"/api/v1/sessions/{session}").json()


def closed(portal: Portal) -> None:
    session = new_session(portal)
    asked(portal, "POST", f"/api/v1/sessions/{session}/close")


def row(page: Page, name: str) -> Locator:
    """Of a run, a task or a session itself, not of what was found in it."""
    rows = page.get_by_role("row").filter(has=page.get_by_role("link", name=name))
    return rows.filter(has_not=page.locator("mark"))


def places(page: Page) -> Locator:
    """Results in transcripts, as rows."""
    return page.get_by_role("row").filter(has=page.locator("mark"))


@whole_only
def test_a_row_says_how_it_went_and_leads_there(portal: Portal, history: Page) -> None:
    session = ended(portal, "hello, oldest <b>friend</b>")
    history.goto(f"{portal.url}/history.html")
    mine = row(history, "hello, oldest <b>friend</b>")
    expect(mine).to_contain_text("Closed")
    expect(mine).to_contain_text("Session")
    expect(mine).to_contain_text("rehearsal")
    link = mine.get_by_role("link")
    assert link.get_attribute("href") == f"/index.html?session={session}"


@whole_only
def test_a_run_stands_among_the_sessions_by_when_it_began(portal: Portal, history: Page) -> None:
    ended(portal, "hello, before the run")
    words = "hello\n" + "and more of it, " * 20
    asked_for = {"job": "ask", "input": words, "cwd": str(portal.work)}
    run = asked(portal, "POST", "/api/v1/runs", asked_for).json()["id"]
    ended(portal, "hello, after the run")
    history.set_viewport_size({"width": 1100, "height": 800})
    history.goto(f"{portal.url}/history.html")
    links = history.locator(".hist .name a.b")
    expect(links.first).to_have_text("hello, after the run")
    shown = links.all_text_contents()
    assert shown[:3] == ["hello, after the run", "Ask: hello", "hello, before the run"]
    mine = row(history, "ask").first
    expect(mine).to_contain_text("Job · ")
    expect(mine).to_contain_text("Succeeded", timeout=30_000)
    fits = "table => table.scrollWidth <= table.parentElement.clientWidth"
    assert history.locator(".hist").evaluate(fits), "no column hangs over the edge"
    where = f"/jobTracking.html?jobName=ask&jobId={run}"
    assert mine.get_by_role("link").get_attribute("href") == where


@whole_only
def test_a_task_by_itself_is_one_row_and_leads_to_its_session(
    portal: Portal, history: Page
) -> None:
    asked_for = {"task": "sample-look", "cwd": str(portal.work)}
    task = asked(portal, "POST", "/api/v1/task-runs", asked_for).json()["id"]
    for place in ("history.html", ""):
        history.goto(f"{portal.url}/{place}")
        mine = history.get_by_role("row" if place else "listitem").filter(
            has=history.get_by_role("link", name="sample-look", exact=True)
        )
        expect(mine).to_have_count(1, timeout=30_000)
        expect(mine).to_contain_text("Task")
        expect(mine).to_contain_text("Succeeded", timeout=30_000)
        view = asked(portal, "GET", f"/api/v1/task-runs/{task}").json()
        where = f"/index.html?session={view['opened'][-1]}"
        assert mine.get_by_role("link").get_attribute("href") == where
    history.goto(f"{portal.url}/history.html?kind=task-runs")
    expect(history.locator(".hist .name a.b")).to_have_text(["sample-look"])
    history.get_by_label("Select sample-look").check()
    history.get_by_role("button", name="Delete").click()
    history.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(history.locator(".hist .name a.b")).to_have_count(0)
    assert asked(portal, "GET", f"/api/v1/task-runs/{task}").status_code == 404


@whole_only
def test_a_task_that_failed_is_retried_where_it_is_chosen(portal: Portal, history: Page) -> None:
    # It fails before it has a session: nothing ran before it.
    request = {"task": "approve", "cwd": str(portal.work)}
    task = asked(portal, "POST", "/api/v1/task-runs", request).json()["id"]
    history.goto(f"{portal.url}/history.html?kind=task-runs&text=approve")
    # It has no page, and so no link.
    mine = history.locator(".hist tbody tr").filter(has_not=history.locator("mark"))
    expect(mine).to_contain_text("Failed", timeout=30_000)
    history.get_by_label("Select approve", exact=True).check()
    history.get_by_role("button", name="Retry").click()
    expect(history.get_by_label("Select approve", exact=True)).to_have_count(2)
    listed = asked(portal, "GET", "/api/v1/task-runs?text=approve").json()["items"]
    assert [one["id"] for one in listed][1:] == [task]


def test_filters_are_the_servers_and_stay_in_the_address(portal: Portal, history: Page) -> None:
    ended(portal, "hello, needle")
    ended(portal, "hello, haystack")
    history.goto(f"{portal.url}/history.html")
    history.get_by_label("Search names and transcripts").fill("needle")
    expect(history).to_have_url(f"{portal.url}/history.html?text=needle")
    expect(row(history, "hello, haystack")).to_have_count(0)
    expect(row(history, "hello, needle")).to_be_visible()
    history.get_by_label("Kind").select_option("Jobs")
    expect(history.get_by_text("No results")).to_be_visible()
    history.reload()
    expect(history.get_by_label("Search names and transcripts")).to_have_value("needle")
    expect(history.get_by_text("No results")).to_be_visible()
    history.get_by_role("button", name="Clear filters").first.click()
    expect(row(history, "hello, haystack")).to_be_visible()
    expect(history).to_have_url(f"{portal.url}/history.html")
    history.get_by_label("State").select_option("In progress")
    expect(row(history, "hello, haystack")).to_have_count(0)


@whole_only
def test_what_was_said_is_a_result_like_others_and_leads_to_its_place(
    portal: Portal, history: Page
) -> None:
    session = ended(portal, "hello there, aardvark")
    history.goto(f"{portal.url}/history.html?text=captain&kind=sessions")
    first = places(history).first
    expect(first.locator("mark")).to_have_text("captain")
    expect(first).to_contain_text("Hello,")
    expect(first).to_contain_text("Session · Message")
    expect(first).to_contain_text("Closed")
    events = asked(portal, "GET", f"/api/v1/sessions/{session}/events?limit=1000").json()["items"]
    [seq] = [one["seq"] for one in events if one["event"]["kind"] == "message.ended"]
    link = first.get_by_role("link", name="hello there, aardvark")
    assert link.get_attribute("href") == f"/index.html?session={session}#seq={seq}"
    # The session that is called so, and the request that it is called by: newest first.
    history.goto(f"{portal.url}/history.html?text=aardvark")
    expect(history.locator(".hist tbody tr")).to_have_count(2)
    history.get_by_label("Select hello there, aardvark", exact=True).check()
    expect(history.get_by_text("1 selected")).to_be_visible()
    expect(history.locator(".hist tbody tr.sel")).to_have_count(2)
    history.get_by_label("Kind").select_option("Jobs")
    expect(history.get_by_text("No results")).to_be_visible()
    history.goto(f"{portal.url}/history.html?text=nobodysaidthis")
    expect(history.get_by_text("No results")).to_be_visible()
    history.goto(f"{portal.url}/history.html?text=%5B")
    expect(history.get_by_text("No results")).to_be_visible()
    expect(history.get_by_role("alert")).to_have_count(0)


def test_rows_learn_how_they_stand_and_new_ones_wait_to_be_shown(
    portal: Portal, history: Page
) -> None:
    session = new_session(portal, "take your time, elder")
    history.goto(f"{portal.url}/history.html")
    elder = row(history, "take your time, elder")
    expect(elder).to_contain_text("Working")
    ended(portal, "hello, newcomer")
    expect(history.get_by_role("button", name="Show 1 new")).to_be_visible(timeout=15_000)
    expect(row(history, "hello, newcomer")).to_have_count(0)
    asked(portal, "POST", f"/api/v1/sessions/{session}/close")
    expect(elder).to_contain_text("Closed", timeout=15_000)
    history.get_by_role("button", name="Show 1 new").click()
    expect(row(history, "hello, newcomer")).to_be_visible()


def test_what_is_chosen_is_exported(portal: Portal, history: Page) -> None:
    ended(portal, "hello, keep me on paper")
    history.goto(f"{portal.url}/history.html")
    row(history, "hello, keep me on paper").get_by_role("checkbox").check()
    with history.expect_download() as saved:
        history.get_by_role("button", name="Export").click()
    told = saved.value.path().read_text(encoding="utf-8")
    assert "hello, keep me on paper" in told
    assert "Hello, captain." in told


def test_what_is_deleted_is_named_and_gone_and_what_goes_on_is_kept(
    portal: Portal, history: Page, quiet: Quiet
) -> None:
    old = ended(portal, "hello, forget me")
    busy = new_session(portal, "take your time, keep me")
    history.goto(f"{portal.url}/history.html?text=me")
    for name in ("hello, forget me", "take your time, keep me"):
        row(history, name).get_by_role("checkbox").check()
    expect(history.get_by_text("2 selected")).to_be_visible()
    history.get_by_role("button", name="Delete").click()
    dialog = history.get_by_role("dialog", name="Delete 2 items?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_role("button", name="Delete").click()
    expect(history.get_by_role("alert")).to_contain_text("take your time, keep me: ")
    expect(row(history, "hello, forget me")).to_have_count(0)
    expect(row(history, "take your time, keep me")).to_be_visible()
    assert asked(portal, "GET", f"/api/v1/sessions/{old}").status_code == 404
    assert asked(portal, "GET", f"/api/v1/sessions/{busy}").status_code == 200
    asked(portal, "POST", f"/api/v1/sessions/{busy}/close")
    quiet.said = [text for text in quiet.said if "409" not in text]


@whole_only
def test_more_than_a_page_is_read_on_in_order(portal: Portal, history: Page) -> None:
    with ThreadPoolExecutor(4) as people:
        list(people.map(closed, [portal] * 52))
    history.goto(f"{portal.url}/history.html?kind=sessions")
    expect(history.get_by_text("50 shown, newest first")).to_be_visible()
    history.get_by_role("button", name="Show more").click()
    expect(history.get_by_role("button", name="Show more")).to_have_count(0)
    listed = asked(portal, "GET", "/api/v1/sessions?of=person&limit=200").json()["items"]
    links = history.locator(".hist .name a.b")
    expect(links).to_have_count(len(listed))
    shown = [link.get_attribute("href") for link in links.all()]
    assert shown == [f"/index.html?session={session['id']}" for session in listed]


@whole_only
def test_keys_go_along_the_names(portal: Portal, history: Page) -> None:
    ended(portal, "hello, first of keys")
    history.goto(f"{portal.url}/history.html")
    links = history.locator(".hist .name a.b")
    expect(links.first).to_be_visible()
    history.keyboard.press("j")
    expect(links.nth(0)).to_be_focused()
    history.keyboard.press("j")
    expect(links.nth(1)).to_be_focused()
    history.keyboard.press("k")
    expect(links.nth(0)).to_be_focused()


@trial
def test_everybody_can_use_it_by_day_and_by_night(portal: Portal, browser: Browser) -> None:
    ended(portal, "hello, everybody")

    def hits(page: Page) -> None:
        page.goto(f"{portal.url}/history.html?text=hello")
        expect(page.locator("mark").first).to_be_visible()
        calm(page).locator("tbody input[type=checkbox]").first.check()

    usable_by_all(browser, portal, hits)


@whole_only
def test_runs_are_filtered_by_tag_and_by_jobs_that_no_entry_has_any_more(
    portal: Portal, history: Page
) -> None:
    """The last one: the server has another entry behind it."""
    asked_for = {"job": "ask", "input": "hello, tagged", "cwd": str(portal.work)}
    run = asked(portal, "POST", "/api/v1/runs", asked_for).json()["id"]
    asked(portal, "PATCH", f"/api/v1/runs/{run}", {"tags": ["nightly"]})
    history.goto(f"{portal.url}/history.html?kind=runs&text=tagged")
    row(history, "hello, tagged").get_by_role("link", name="nightly").click()
    expect(history).to_have_url(f"{portal.url}/history.html?tag=nightly")
    expect(history.locator(".hist .name a.b")).to_have_text(["Ask: hello, tagged"])
    expect(history.get_by_label("Tag", exact=True)).to_have_value("nightly")
    expect(row(history, "Ask: hello, tagged")).to_contain_text("Succeeded", timeout=30_000)
    request = {"entry": entry_of({"other": ref("yes")})}
    installed = asked(portal, "POST", "/api/v1/entry/install", request)
    assert installed.status_code == 200, installed.text
    history.goto(f"{portal.url}/history.html")
    jobs = history.get_by_label("Job").locator("option")
    expect(jobs).to_have_text(["Any job", "other", "ask"])
    history.get_by_label("Job").select_option("ask")
    expect(row(history, "Ask: hello, tagged")).to_be_visible()
