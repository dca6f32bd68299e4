"""The Jobs page: the matrix at the left, the user's input at the right."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.e2e.visit import asked, calm, is_wide, signed_in, usable_by_all
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import trial, whole_only

ENTRY = """
models: {driving: rehearsal}
promptVariables: {}
tasks:
  greet: {model: {id: rehearsal}, prompt: [hello], requireUserInput: false}
  tell: {model: {id: rehearsal}, prompt: ["hello, $user-input"], requireUserInput: true}
  dawdle: {model: {id: rehearsal}, prompt: [take your time], requireUserInput: false}
  slip: {model: {id: rehearsal}, prompt: [unlucky], requireUserInput: false}
  write: {model: {id: rehearsal}, prompt: [write it], requireUserInput: false}
jobs:
  greet: {description: "Says hello.\\nTo whoever is there.", work: {kind: Ref, taskId: greet}}
  tell: {work: {kind: Seq, works: [{kind: Ref, taskId: greet}, {kind: Ref, taskId: tell}]}}
  dawdle: {work: {kind: Ref, taskId: dawdle}}
  slip: {work: {kind: Ref, taskId: slip}}
  write: {work: {kind: Ref, taskId: write}}
  left-out: {work: {kind: Ref, taskId: greet}}
  "<img src=x>\\u202e": {work: {kind: Ref, taskId: greet}}
grid:
  - keyword: Speak
    jobs: [{name: Greet, jobName: greet}, null, {name: Tell a tale, jobName: tell}]
  - keyword: Wait
    jobs: [null, {name: Dawdle, jobName: dawdle}, {name: Slip, jobName: slip}]
  - keyword: Act
    jobs: [{name: Write, jobName: write}]
"""


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("jobs"), options=("--permissions", "ask"))
    (portal.work / "harbor").mkdir(parents=True)
    (portal.work / "airboss.yaml").write_text(ENTRY, encoding="utf-8")
    portal.start()
    yield portal
    portal.stop()


def address(portal: Portal, folder: Path | None = None) -> str:
    return f"{portal.url}/jobs.html?wb={quote(str(folder or portal.work))}"


@pytest.fixture
def jobs(portal: Portal, page: Page, quiet: Quiet) -> Iterator[Page]:
    page.set_viewport_size({"width": 1600, "height": 900})
    signed_in(page, portal).goto(address(portal))
    yield calm(page)
    quiet.check()


def job(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=re.compile(f"^{re.escape(name)}"))


def text_box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="User input")


def box(place: Locator) -> dict[str, float]:
    found = place.bounding_box()
    assert found is not None
    x, y, width, height = found["x"], found["y"], found["width"], found["height"]
    return {"x": x, "y": y, "width": width, "height": height, "right": x + width}


def run(portal: Portal, name: str, text: str = "") -> str:
    asked_for = {"job": name, "input": text, "cwd": str(portal.work)}
    answer = asked(portal, "POST", "/api/v1/runs", asked_for)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def runs(portal: Portal, name: str) -> list[dict[str, Any]]:
    return asked(portal, "GET", f"/api/v1/runs?job={name}").json()["items"]


def started(page: Page, name: str) -> dict[str, list[str]]:
    page.get_by_role("button", name=f"Start Job: {name}").click()
    page.wait_for_url("**/jobTracking.html?*")
    return parse_qs(urlsplit(page.url).query)


@whole_only
def test_without_a_folder_it_goes_to_the_start_page(portal: Portal, page: Page) -> None:
    signed_in(page, portal)
    for query in ("", "?wb="):
        page.goto(f"{portal.url}/jobs.html{query}")
        page.wait_for_url("**/index.html")


@whole_only
def test_stop_server_is_no_button_among_the_jobs(jobs: Page) -> None:
    expect(jobs.get_by_role("heading", name="Available Jobs", level=1)).to_be_visible()
    expect(jobs.get_by_role("button", name="Stop Server")).to_have_count(0)


def test_a_row_is_its_keyword_and_a_button_for_each_job(jobs: Page) -> None:
    rows = jobs.get_by_role("region", name="Jobs").get_by_role("group")
    names = ["Speak", "Wait", "Act", "Other"]
    expect(rows).to_have_count(len(names))
    for row, name in zip(rows.all(), names, strict=True):
        expect(row).to_have_accessible_name(name)
        keyword = box(row.get_by_text(name, exact=True))
        for button in row.get_by_role("button").all():
            assert keyword["right"] <= box(button)["x"] + 1
    expect(rows.nth(0).get_by_role("button").nth(0)).to_contain_text("Greet")
    expect(rows.nth(0).get_by_role("button").nth(1)).to_contain_text("Tell a tale")


@whole_only
def test_an_empty_cell_is_blank(jobs: Page) -> None:
    [greet, tell, dawdle, slip] = [
        box(job(jobs, name)) for name in ("Greet", "Tell", "Dawdle", "Slip")
    ]
    assert greet["right"] < dawdle["x"], "the first cell of its row is null"
    assert dawdle["right"] < tell["x"], "the second cell of that row is null"
    assert tell["x"] == slip["x"]


@whole_only
def test_jobs_that_no_row_names_are_listed_below(jobs: Page) -> None:
    others = jobs.get_by_role("group", name="Other")
    expect(others.get_by_role("button", name=re.compile("^left-out"))).to_be_visible()
    hostile = others.get_by_role("button", name=re.compile("^<img src=x>⟨U\\+202E⟩"))
    expect(hostile).to_be_visible()
    assert box(others.get_by_role("button").first)["y"] > box(job(jobs, "Write"))["y"]


def test_a_click_selects_exclusively_and_a_second_click_unselects(jobs: Page) -> None:
    job(jobs, "Greet").click()
    expect(job(jobs, "Greet")).to_have_attribute("aria-pressed", "true")
    job(jobs, "Tell").click()
    expect(job(jobs, "Greet")).to_have_attribute("aria-pressed", "false")
    expect(job(jobs, "Tell")).to_have_attribute("aria-pressed", "true")
    job(jobs, "Tell").click()
    expect(jobs.locator("[aria-pressed=true]")).to_have_count(0)


@whole_only
def test_the_selection_outlives_a_reload(jobs: Page) -> None:
    job(jobs, "Greet").press("Space")
    jobs.reload()
    expect(job(jobs, "Greet")).to_have_attribute("aria-pressed", "true")


@whole_only
def test_there_is_a_box_only_for_a_job_that_requires_input(jobs: Page) -> None:
    expect(text_box(jobs)).to_have_count(0)
    job(jobs, "Greet").click()
    expect(jobs.get_by_role("heading", name="Greet")).to_be_visible()
    expect(text_box(jobs)).to_have_count(0)
    job(jobs, "Tell").click()
    expect(text_box(jobs)).to_be_enabled()
    expect(jobs.get_by_text("Required by the task tell (uses $user-input)")).to_be_visible()
    job(jobs, "Tell").click()
    expect(text_box(jobs)).to_have_count(0)


@whole_only
def test_a_job_says_what_its_entry_says_of_it(jobs: Page) -> None:
    expect(job(jobs, "Greet")).to_contain_text("Says hello.")
    expect(job(jobs, "Greet")).not_to_contain_text("To whoever is there.")
    job(jobs, "Greet").click()
    side = jobs.get_by_role("region", name="User input")
    expect(side).to_contain_text("To whoever is there.")


def test_without_a_selection_nothing_starts(jobs: Page) -> None:
    expect(jobs.get_by_role("button", name="Job Not Selected")).to_be_disabled()
    expect(jobs.get_by_role("button", name="Preview")).to_have_count(0)
    job(jobs, "Greet").click()
    expect(jobs.get_by_role("button", name="Start Job: Greet")).to_be_enabled()
    expect(jobs.get_by_text("Job Not Selected")).to_have_count(0)


def test_a_start_opens_the_tracking_page_in_the_same_window(portal: Portal, jobs: Page) -> None:
    job(jobs, "Tell").click()
    text_box(jobs).fill("a tale\nof two ports")
    query = started(jobs, "Tell a tale")
    assert query["jobName"] == ["tell"]
    [first, *_] = runs(portal, "tell")
    assert (query["jobId"], first["cwd"]) == ([first["id"]], str(portal.work))
    detail = asked(portal, "GET", f"/api/v1/runs/{first['id']}").json()
    assert detail["user_input"] == "a tale\nof two ports"
    jobs.go_back()
    expect(text_box(jobs)).to_have_value("")


@whole_only
def test_control_and_enter_start_it_too(jobs: Page) -> None:
    job(jobs, "Tell").click()
    text_box(jobs).fill("quickly")
    text_box(jobs).press("Control+Enter")
    jobs.wait_for_url("**/jobTracking.html?jobName=tell&jobId=*")


@whole_only
def test_preview_opens_the_tracking_page_without_a_job(portal: Portal, jobs: Page) -> None:
    job(jobs, "Greet").click()
    before = len(runs(portal, "greet"))
    jobs.get_by_role("link", name="Preview").click()
    jobs.wait_for_url("**/jobTracking.html?jobName=greet")
    assert len(runs(portal, "greet")) == before


def test_an_answer_that_is_lost_starts_nothing_twice(
    portal: Portal, jobs: Page, quiet: Quiet
) -> None:
    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    job(jobs, "Greet").click()
    before = len(runs(portal, "greet"))
    jobs.route("**/api/v1/runs", lose, times=1)
    jobs.get_by_role("button", name="Start Job: Greet").click()
    expect(jobs.get_by_role("alert")).to_contain_text("Could not start the job.")
    query = started(jobs, "Greet")
    now = runs(portal, "greet")
    assert (len(now), query["jobId"]) == (before + 1, [now[0]["id"]])
    quiet.said.clear()  # Chromium tells of the answer that was lost


@whole_only
def test_a_job_that_needs_input_says_so(jobs: Page, quiet: Quiet) -> None:
    job(jobs, "Tell").click()
    jobs.get_by_role("button", name="Start Job: Tell a tale").click()
    expect(jobs.get_by_role("alert")).to_contain_text("needs input. Tell it what to do")
    quiet.said.clear()  # Chromium tells of every 422


@whole_only
def test_what_was_written_is_kept_for_each_job(jobs: Page) -> None:
    job(jobs, "Tell").click()
    text_box(jobs).fill("not finished")
    job(jobs, "Greet").click()
    expect(text_box(jobs)).to_have_count(0)
    jobs.reload()
    job(jobs, "Tell").click()
    expect(text_box(jobs)).to_have_value("not finished")
    text_box(jobs).fill("")
    jobs.reload()
    expect(text_box(jobs)).to_have_value("")


@whole_only
def test_a_folder_that_does_not_exist_is_answered_with_the_one_that_was_meant(
    portal: Portal, jobs: Page, quiet: Quiet
) -> None:
    jobs.goto(f"{address(portal, portal.work / 'habor')}#job=greet")
    jobs.get_by_role("button", name="Start Job: Greet").click()
    alert = jobs.get_by_role("alert")
    expect(alert).to_contain_text("This folder does not exist.")
    expect(alert).to_contain_text("Did you mean")
    alert.get_by_role("button", name=str(portal.work / "harbor")).click()
    jobs.wait_for_url(re.compile("harbor"))
    quiet.said.clear()  # Chromium tells of every 422


@whole_only
def test_each_button_says_how_the_job_went_and_how_long_it_takes(
    portal: Portal, jobs: Page
) -> None:
    expect(job(jobs, "Slip")).to_contain_text("Never run")
    expect(job(jobs, "Slip")).not_to_contain_text("figures")
    run(portal, "greet")
    expect(job(jobs, "Greet")).to_contain_text(
        re.compile("Succeeded (just now|\\d+ s ago)"), timeout=30_000
    )
    expect(job(jobs, "Greet")).to_contain_text(re.compile("usually \\d+ s"))
    run(portal, "slip")
    expect(job(jobs, "Slip")).to_contain_text("Failed just now", timeout=30_000)


@whole_only
def test_each_button_says_what_runs_now_and_what_waits_for_the_person(
    portal: Portal, jobs: Page
) -> None:
    slow, writes = run(portal, "dawdle"), run(portal, "write")
    expect(job(jobs, "Dawdle")).to_contain_text("1 running", timeout=30_000)
    expect(job(jobs, "Write")).to_contain_text("waiting for you", timeout=30_000)
    job(jobs, "Write").click()
    note = jobs.get_by_role("alert")
    expect(note).to_contain_text("1 run of this job is in progress and waiting for you.")
    href = f"/jobTracking.html?jobName=write&jobId={writes}"
    expect(note.get_by_role("link", name="Open this one")).to_have_attribute("href", href)
    for one in (slow, writes):
        asked(portal, "POST", f"/api/v1/runs/{one}/stop")
    expect(job(jobs, "Dawdle")).to_contain_text("Canceled", timeout=30_000)
    expect(job(jobs, "Dawdle")).not_to_contain_text("running")
    expect(note).to_have_count(0)


@whole_only
def test_the_selected_job_tells_its_facts_and_its_last_runs(portal: Portal, jobs: Page) -> None:
    first = run(portal, "left-out")
    job(jobs, "left-out").click()
    side = jobs.get_by_role("region", name="User input")
    expect(side.get_by_role("heading", name="left-out")).to_be_visible()
    for name, value in (("Tasks", "1"), ("Permissions", "ask")):
        expect(side.locator("dl > div").filter(has_text=name)).to_contain_text(value)
    row = side.get_by_role("row").filter(has_text="Succeeded")
    expect(row).to_be_visible(timeout=30_000)
    expect(side.locator("dl > div").filter(has_text="Usual time")).to_contain_text(
        re.compile("\\d+ s")
    )
    way = f"/jobTracking.html?jobName=left-out&jobId={first}"
    expect(row.get_by_role("link")).to_have_attribute("href", way)


@whole_only
def test_the_right_part_is_800_px_wide_and_its_bar_can_be_dragged(jobs: Page) -> None:
    side = jobs.get_by_role("region", name="User input")
    bar = jobs.get_by_role("separator")
    is_wide(side, 800)
    at = box(bar)
    jobs.mouse.move(at["x"] + 4, 400)
    jobs.mouse.down()
    jobs.mouse.move(at["x"] + 104, 400, steps=4)
    jobs.mouse.up()
    is_wide(side, 700)
    bar.press("ArrowLeft")
    is_wide(side, 716)
    jobs.reload()
    calm(jobs)
    is_wide(side, 716)  # kept on this device
    bar.press("Enter")
    is_wide(side, 800)


@trial
def test_nobody_is_shut_out(portal: Portal, browser: Browser) -> None:
    run(portal, "greet")

    def selected(page: Page) -> None:
        page.goto(f"{address(portal)}#job=tell")
        expect(page.get_by_role("button", name="Start Job: Tell a tale")).to_be_visible()

    usable_by_all(browser, portal, selected)


def test_stop_server_asks_first_and_then_the_page_may_be_closed(tmp_path: Path, page: Page) -> None:
    portal = Portal(tmp_path)
    portal.start()
    try:
        signed_in(page, portal).goto(address(portal))
        stop = page.get_by_role("option", name=re.compile("Stop Server"))
        page.keyboard.press("Control+k")
        page.keyboard.type("stop server")
        stop.click()
        dialog = page.get_by_role("dialog", name="Stop the server?")
        expect(dialog).to_contain_text("No session is open. No job is running.")
        expect(dialog.get_by_role("button", name="Keep running")).to_be_focused()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        assert portal.is_running
        page.keyboard.press("Control+k")
        page.keyboard.type("stop server")
        stop.click()
        dialog.get_by_role("button", name="Stop Server").click()
        expect(page.get_by_role("heading", name="The server has stopped")).to_be_visible()
        expect(page.get_by_text("You can close this page.")).to_be_visible()
        portal.process.wait(10)
    finally:
        portal.stop()
