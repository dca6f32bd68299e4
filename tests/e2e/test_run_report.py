"""The run page as a report: understood without opening a transcript, and acted on from there."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.contract.reported import INPUT, WORDS, reported_portal, reset, until_over
from tests.e2e.tracked import begun, node, run_tab, state, until, visit
from tests.e2e.visit import asked, signed_in, usable_by_all
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import trial, whole_only


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = reported_portal(tmp_path_factory.mktemp("report"))
    portal.start()
    yield portal
    portal.stop()


def ran(portal: Portal, job: str, text: str = "") -> str:
    run = begun(portal, job, input=text)
    until_over(lambda path: asked(portal, "GET", path).json(), run)
    return run


@pytest.fixture(scope="module")
def ship(portal: Portal) -> str:
    return ran(portal, "ship", INPUT)


@pytest.fixture(scope="module")
def broken(portal: Portal, ship: str) -> str:
    return ran(portal, "broken")


def test_a_failed_run_opens_on_its_report_with_the_failed_node_selected(
    portal: Portal, page: Page, broken: str, quiet: Quiet
) -> None:
    visit(page, portal, "broken", broken)
    expect(run_tab(page, "Report")).to_have_attribute("aria-selected", "true")
    expect(node(page, "hopeless")).to_have_attribute("aria-pressed", "true")
    expect(node(page, "hopeless")).to_be_in_viewport()
    assert "#" not in page.url
    report = page.locator(".report")
    expect(report.get_by_role("region", name="Outcome")).to_contain_text(
        "hopeless failed. Its check failed 2 times, and no retries are left. "
        "review and build-web were not run."
    )
    words = report.get_by_role("region", name="What the failed check said")
    assert words.locator("pre").inner_text() == WORDS
    tried = report.get_by_role("region", name="What was tried").locator("tbody tr")
    expect(tried).to_have_count(2)
    expect(tried.nth(0)).to_contain_text("Sorted the rows.")
    expect(tried.nth(1)).to_contain_text("Held the rows back.")
    lines = report.get_by_role("region", name="What each task concluded").get_by_role("listitem")
    expect(lines.first).to_contain_text("hopeless")
    expect(lines.filter(has_text="review")).to_contain_text("Not run, because hopeless failed.")
    expect(node(page, "review")).to_contain_text("not run")
    expect(page.get_by_role("button", name="Stop Job")).to_have_count(0)
    link = report.get_by_role("link", name="Open the failed session")
    told = asked(portal, "GET", f"/api/v1/runs/{broken}/report").json()
    expect(link).to_have_attribute("href", f"/index.html?session={told['tried'][1]['session']}")

    words.get_by_role("button", name="event").click()
    chosen = page.get_by_role("option", selected=True)
    expect(chosen).to_contain_text("condition failed")
    quiet.check()


def test_a_run_that_succeeded_says_what_was_concluded_changed_and_decided(
    portal: Portal, page: Page, ship: str, quiet: Quiet
) -> None:
    visit(page, portal, "ship", ship)
    report = page.locator(".report")
    expect(report.get_by_role("region", name="Outcome")).to_contain_text("Succeeded.")
    expect(report.get_by_role("region", name="What was asked")).to_contain_text("Find out why.")
    lines = report.get_by_role("region", name="What each task concluded").get_by_role("listitem")
    expect(lines.filter(has_text="build-web").filter(has_text="lint")).to_have_count(1)
    expect(lines.filter(has_text="needs-migration").first.locator(".tf")).to_have_text("false")
    expect(lines.filter(has_text="fix-tests")).to_contain_text("2 rounds")
    expect(node(page, "lint · build-web")).to_be_visible()
    pill = node(page, "needs-migration")
    expect(pill).to_contain_text("false")
    expect(pill.locator(".mkx")).to_have_count(0)
    timeline = page.locator(".gantt")
    expect(timeline).to_contain_text("lint · build-web")
    rounds = timeline.get_by_role("button").filter(has_text="round")
    names = ["fix-tests · round 1", "tests-pass · round 1", "fix-tests · round 2"]
    expect(rounds.locator(".nm")).to_have_text([*names, "tests-pass · round 2"])

    changes = report.get_by_role("region", name="What changed")
    expect(changes).to_contain_text("3 files")
    changes.get_by_role("button", name="server.py").click()
    expect(changes.locator(".diff").last).to_contain_text("new = 1")
    expect(changes.locator(".diff").first).to_contain_text("fixed")
    run_tab(page, "Changes").click()
    expect(run_tab(page, "Changes")).to_contain_text("3")
    expect(page.locator(".report .diff")).to_have_count(3)
    assert "tab=changes" in page.url
    page.keyboard.press("ArrowRight")
    expect(page.locator(".json")).to_be_visible()
    quiet.check()


@whole_only
def test_keys_go_to_the_report_and_to_a_comparison_but_never_while_somebody_types(
    portal: Portal, page: Page, ship: str
) -> None:
    visit(page, portal, "ship", ship, "#node=0")
    report = run_tab(page, "Report")
    expect(run_tab(page, "design")).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Rename the run").click()
    field = page.get_by_role("textbox", name="Title of the run")
    field.press("End")
    page.keyboard.type("rc")
    field.press("Escape")
    for keys in ("Shift+R", "Alt+r", "Control+c", "Shift+C"):
        page.keyboard.press(keys)
    expect(report).to_have_attribute("aria-selected", "false")
    page.keyboard.press("r")
    expect(report).to_have_attribute("aria-selected", "true")
    expect(report).to_be_focused()
    page.keyboard.press("?")
    listed = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(listed).to_contain_text("Compare with another run")
    page.keyboard.press("c")  # what floats has its own keys
    listed.get_by_role("button", name="Close").last.click()
    page.keyboard.press("c")
    page.wait_for_url(f"{portal.url}/compare.html?a={ship}")


@whole_only
def test_on_a_phone_the_retry_stays_at_the_foot(portal: Portal, page: Page, broken: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, portal, "broken", broken)
    retry = page.locator(".report").get_by_role("button", name="Retry the failed part")
    expect(retry).to_have_count(1)
    expect(retry).to_be_in_viewport()
    box = retry.bounding_box()
    assert box is not None
    assert box["y"] > 740
    next_step = page.get_by_role("region", name="What to do next").get_by_role("listitem").first
    expect(next_step).to_contain_text("Retry the failed part.")
    page.get_by_role("region", name="Time and cost by task").scroll_into_view_if_needed()
    expect(retry).to_be_in_viewport()


@whole_only
def test_it_is_renamed_and_tagged_in_place(portal: Portal, page: Page, ship: str) -> None:
    visit(page, portal, "ship", ship)
    expect(page.locator(".jobhead .t")).to_have_text("A follower loses events")
    page.get_by_role("button", name="Rename the run").click()
    field = page.get_by_role("textbox", name="Title of the run")
    field.fill("Events after a gap")
    field.press("Enter")
    expect(page.locator(".jobhead .t")).to_have_text("Events after a gap")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("textbox", name="New tag").fill("follower")
    page.get_by_role("textbox", name="New tag").press("Enter")
    expect(page.locator(".tag").filter(has_text="follower")).to_be_visible()
    page.get_by_role("button", name="Remove the tag follower").click()
    expect(page.locator(".tag").filter(has_text="follower")).to_have_count(0)
    told = asked(portal, "GET", f"/api/v1/runs/{ship}").json()
    assert (told["short_title"], told["tags"]) == ("Events after a gap", [])


def test_a_live_run_opens_on_the_task_at_work_and_can_be_stopped(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    run = begun(portal, "linger")
    until(portal, run, lambda view: any(w["task"] == "linger" for w in view["running"]))
    visit(page, portal, "linger", run)
    expect(run_tab(page, "linger")).to_have_attribute("aria-selected", "true")
    expect(node(page, "linger")).to_have_attribute("aria-pressed", "true")
    expect(node(page, "review")).to_contain_text("not started")
    run_tab(page, "Report").click()
    expect(page.get_by_role("region", name="Outcome")).to_contain_text("Working on linger.")
    page.get_by_role("button", name="Stop Job").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop Job").click()
    expect(state(page)).to_have_text("JOB: CANCELED", timeout=15_000)
    expect(page.get_by_role("region", name="Outcome")).to_contain_text("Stopped by owner.")
    expect(node(page, "review")).to_contain_text("not run")
    expect(page.get_by_role("button", name="Stop Job")).to_have_count(0)
    quiet.check()

    page.get_by_text("More actions: export, delete").locator("..").click()
    page.get_by_role("button", name="Delete this run").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert asked(portal, "GET", f"/api/v1/runs/{run}").status_code == 200
    page.get_by_role("button", name="Delete this run").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.wait_for_url(f"{portal.url}/history.html")
    assert asked(portal, "GET", f"/api/v1/runs/{run}").status_code == 404


def test_the_axis_shows_the_run_as_it_was_and_plays_it_back(
    portal: Portal, page: Page, ship: str, quiet: Quiet
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    told = asked(portal, "GET", f"/api/v1/runs/{ship}").json()
    visit(page, portal, "ship", ship, "#node=9")
    review = page.get_by_role("log", name="Driving")
    expect(review).to_contain_text("No findings.")
    slider = page.get_by_role("slider", name="Time in the run")
    read: list[str] = []
    page.on("request", lambda request: read.append(request.url))
    slider.focus()
    page.keyboard.press("Home")
    expect(state(page)).to_contain_text("JOB: RUNNING")
    expect(page.locator(".pastbar")).to_contain_text("0:00 of")
    expect(node(page, "design")).to_contain_text("not started")
    expect(page.locator(".tabpanel")).to_contain_text("review has not started")
    expect(page.get_by_role("button", name="Run again").first).to_be_disabled()
    for _ in range(2):  # design begins, and ends
        page.keyboard.press("ArrowRight")
    expect(node(page, "design").locator(".mkt")).to_be_visible()
    expect(page.locator(".jobhead .counts")).to_contain_text("1 of 10 tasks")
    expect(node(page, "review")).to_contain_text("not started")
    page.keyboard.press("Escape")
    expect(state(page)).to_have_text("JOB: SUCCEEDED")
    expect(page.locator(".pastbar")).to_have_count(0)
    expect(review).to_contain_text("No findings.")
    # Whoever drags to and fro does not read the task and its sessions again and again.
    whole = [url for url in read if "/digest" not in url]
    assert not [url for url in whole if "/task-runs/" in url or "/sessions/" in url]

    axis = page.locator(".axis").bounding_box()
    assert axis is not None
    y = axis["y"] + 29
    page.mouse.move(axis["x"] + 140, y)
    page.mouse.down()
    page.mouse.move(axis["x"] + 160, y)
    expect(state(page)).to_contain_text("JOB: RUNNING")
    page.mouse.up()
    page.get_by_role("combobox", name="Speed").select_option("50")
    page.get_by_role("button", name="Play").click()
    expect(state(page)).to_have_text("JOB: SUCCEEDED")
    expect(page.locator(".pastbar")).to_have_count(0)
    assert told["state"] == "succeeded"
    quiet.check()


@whole_only
def test_two_runs_are_chosen_in_the_history_and_compared(
    portal: Portal, page: Page, ship: str, broken: str, quiet: Quiet
) -> None:
    reset(portal)
    again = ran(portal, "ship", INPUT)
    signed_in(page, portal).goto(f"{portal.url}/history.html")
    boxes = page.get_by_role("checkbox", name="Select ship")
    expect(boxes).to_have_count(2)
    boxes.nth(0).check()
    expect(page.get_by_role("link", name="Compare")).to_have_count(0)
    boxes.nth(1).check()
    page.get_by_role("link", name="Compare").click()
    page.wait_for_url(f"{portal.url}/compare.html?a={ship}&b={again}")
    expect(page.locator(".verdict")).to_contain_text("They differ from tests-pass · round 1 on.")
    outcome = page.get_by_role("region", name="Outcome of each task")
    expect(outcome.locator("tr.part")).to_contain_text("613 passed.")
    expect(outcome.locator("tr.part .tf")).to_have_text(["false", "true"])
    expect(outcome.get_by_role("row").filter(has_text="build-server")).to_have_count(0)
    outcome.get_by_role("button", name="steps with the same outcome").click()
    expect(outcome.get_by_role("row").filter(has_text="build-web").first).to_be_visible()
    expect(page.get_by_role("region", name="Checks that differ")).to_contain_text("failed")
    files = page.get_by_role("region", name="Differences in the results")
    expect(files).to_contain_text("the same")
    page.get_by_role("link", name="Choose another run").click()
    page.get_by_role("searchbox", name="Search runs").fill("broken")
    page.get_by_role("link", name="broken").click()
    expect(page.locator(".verdict")).to_contain_text("They differ from")
    quiet.check()


def in_the_past(page: Page) -> None:
    """A moment before the end; on a phone the timeline is shown for it."""
    timeline = page.get_by_role("tab", name="Timeline").first
    if timeline.is_visible():
        timeline.click()
    page.get_by_role("slider", name="Time in the run").press("ArrowLeft")
    expect(page.locator(".pastbar")).to_be_visible()


@pytest.mark.timeout(180)
@trial
def test_nobody_is_shut_out_of_a_report(
    portal: Portal, browser: Browser, ship: str, broken: str
) -> None:
    usable_by_all(
        browser,
        portal,
        lambda page: visit(page, portal, "broken", broken),
        lambda page: visit(page, portal, "ship", ship),
        lambda page: visit(page, portal, "ship", ship, "#tab=changes"),
        lambda page: in_the_past(visit(page, portal, "broken", broken, "#node=1")),
        lambda page: page.goto(f"{portal.url}/compare.html?a={ship}&b={broken}"),
        lambda page: page.goto(f"{portal.url}/compare.html?a={ship}"),
    )
