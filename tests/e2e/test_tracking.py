"""The tracking page of runs that have ended, and of jobs that do not run: chart, selection, why."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.tracked import (
    SHIP,
    address,
    begun,
    node,
    over,
    run_tab,
    shown,
    state,
    tab,
    tracked_portal,
    visit,
)
from tests.e2e.visit import asked, fits, is_wide, signed_in, usable_by_all, window
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import trial, whole_only


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = tracked_portal(tmp_path_factory.mktemp("tracking"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture(scope="module")
def ship(portal: Portal) -> str:
    """A run with everything in it: a condition, parallels, a retry, a loop of two rounds."""
    run = begun(portal, "ship")
    assert over(portal, run)["state"] == "succeeded"
    return run


@pytest.fixture(scope="module")
def hopeless(portal: Portal) -> str:
    run = begun(portal, "hopeless")
    assert over(portal, run)["state"] == "failed"
    return run


@whole_only
def test_without_a_job_it_goes_to_the_first_page(portal: Portal, page: Page, quiet: Quiet) -> None:
    signed_in(page, portal).goto(f"{portal.url}/jobTracking.html?jobId=run_1")
    page.wait_for_url(f"{portal.url}/index.html")
    quiet.check()


def test_a_preview_is_the_chart_only_over_the_full_width(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    visit(page, portal, "ship")
    expect(state(page)).to_have_text("JOB: PREVIEW")
    expect(page.get_by_role("status").filter(has_text="Preview")).to_be_visible()
    expect(page.get_by_role("button", name="Stop Job")).to_have_count(0)
    expect(page.get_by_role("separator")).to_have_count(0)
    expect(page.locator(".side")).to_have_count(0)
    chart = page.locator(".chart").bounding_box()
    assert chart is not None
    assert chart["width"] == page.evaluate("innerWidth")

    page.locator(".flow g.node").filter(has_text="design").click()
    expect(page.locator(".sel")).to_have_count(0)
    expect(page.locator(".flow [role=button]")).to_have_count(0)
    assert page.url == address(portal, "ship")
    quiet.check()


@whole_only
def test_a_preview_shows_the_prompts_and_where_input_is_needed(portal: Portal, page: Page) -> None:
    visit(page, portal, "input")
    task = next(one for one in tasks(portal) if one["name"] == "input")
    begin = str(task["prompt"])[:8]
    expect(page.locator(".flow g.node").filter(has_text="input")).to_contain_text(begin)
    prompts = page.get_by_role("region", name="Prompts")
    expect(prompts.get_by_text("needs your input")).to_have_count(1)
    prompts.get_by_text("input", exact=True).click()
    expect(prompts.locator("pre").filter(visible=True)).to_have_text(str(task["prompt"]))


def tasks(portal: Portal) -> list[dict[str, object]]:
    return asked(portal, "GET", "/api/v1/tasks").json()["items"]


def test_a_job_or_a_run_that_is_not_there_is_told_of_with_a_way_on(
    portal: Portal, page: Page
) -> None:
    signed_in(page, portal).goto(address(portal, "no such job"))
    expect(page.get_by_role("alert")).to_contain_text(
        "The current entry has no job named no such job"
    )
    expect(page.get_by_role("link", name="Available Jobs")).to_be_visible()
    page.goto(address(portal, "ship", "run_01234567890123456789012345"))
    expect(page.get_by_role("alert")).to_contain_text("There is no run")
    expect(page.get_by_role("alert").get_by_role("link", name="History")).to_be_visible()


def test_left_is_the_job_and_right_the_sessions_with_a_bar_between(
    portal: Portal, page: Page, ship: str, quiet: Quiet
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    visit(page, portal, "ship", ship)
    side = page.locator(".side")
    is_wide(side, 800)
    bar = page.get_by_role("separator", name="Width of the right side")
    assert box(page.locator(".left"))["x"] == 0
    assert box(bar)["x"] < box(side)["x"]
    grip = box(bar)
    page.mouse.move(grip["x"] + 4, grip["y"] + 300)
    page.mouse.down()
    page.mouse.move(grip["x"] + 104, grip["y"] + 300)
    page.mouse.up()
    is_wide(side, 700)
    bar.dblclick()
    is_wide(side, 800)
    quiet.check()


def box(of: Locator) -> Any:
    found = of.bounding_box()
    assert found is not None
    return found


@pytest.mark.parametrize(("job", "said"), [("ship", "SUCCEEDED"), ("hopeless", "FAILED")])
def test_the_state_stands_in_large_letters_and_an_ended_job_has_nothing_to_stop(
    portal: Portal, page: Page, ship: str, hopeless: str, job: str, said: str
) -> None:
    visit(page, portal, job, ship if job == "ship" else hopeless)
    expect(state(page)).to_have_text(f"JOB: {said}")
    size: float = state(page).evaluate("(it) => parseFloat(getComputedStyle(it).fontSize)")
    assert size >= 28
    expect(page.get_by_role("button", name="Stop Job")).to_have_count(0)
    expect(page.get_by_role("status").filter(has_text="Complete")).to_be_visible()


# Shapes: the name of the SVG element, and the hue of its inside.
SHAPES = {
    "TaskNode": (".task", "rect", "blue"),
    "CondNode": ("path.cond", "path", "yellow"),
    "ParBegin": (".par", "rect", "black"),
    "AltEnd": (".alt", "rect", "pink"),
    "CondBegin": (".cbar", "rect", "yellow"),
    "LoopEnd": (".loop", "circle", "grey"),
}
HUE = """(it) => {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.fillStyle = getComputedStyle(it).fill;
  const [r, g, b] = canvas.fillStyle.match(/\\w\\w/g).map((two) => parseInt(two, 16));
  if (r + g + b < 100) return "black";
  if (Math.max(r, g, b) - Math.min(r, g, b) < 20) return "grey";
  if (b > r && b >= g) return "blue";
  return b > g ? "pink" : "yellow";
}"""


@whole_only
def test_every_kind_of_node_has_its_shape_and_its_colour(
    portal: Portal, page: Page, ship: str
) -> None:
    visit(page, portal, "ship", ship)
    for where, element, hue in SHAPES.values():
        shape = page.locator(f".flow {where}").first
        expect(shape).to_be_visible()
        assert shape.evaluate("(it) => it.tagName") == element
        assert shape.evaluate(HUE) == hue, where
    expect(page.locator(".flow .par")).to_have_count(2)
    corners = page.locator(".flow path.cond").evaluate_all(
        "(all) => all.map((it) => it.getAttribute('d').match(/[lh]/g).length).sort()"
    )
    assert corners == [3, 5], "a diamond, and a hexagon"


@whole_only
def test_the_chart_is_centred_and_its_arrows_go_up_only_where_it_loops_back(
    portal: Portal, page: Page, ship: str
) -> None:
    page.set_viewport_size({"width": 1600, "height": 1100})
    visit(page, portal, "ship", ship)
    room, flow = box(page.locator(".chart")), box(page.locator(".flow"))
    assert flow["x"] + flow["width"] / 2 == pytest.approx(room["x"] + room["width"] / 2, abs=10)
    ways: list[list[float]] = page.locator(".flow .arr").evaluate_all(
        "(all) => all.map((it) => [...it.getAttribute('d').matchAll(/[ML](\\S+) (\\S+?)(?=L|$)/g)]"
        ".map((point) => Number(point[2])))"
    )
    upward = [way for way in ways if way[-1] < way[0]]
    assert len(upward) == 1
    assert len(ways) > 12
    labels = page.locator(".flow .lbl").all_text_contents()
    assert sorted(labels) == ["false", "false", "true", "true"]
    grey = page.locator(".flow .head").first.evaluate(HUE)
    assert grey == "grey"


@whole_only
def test_ctrl_and_the_wheel_zoom_in_tenths_from_a_fifth_to_three(
    portal: Portal, page: Page, ship: str, quiet: Quiet
) -> None:
    page.set_viewport_size({"width": 1440, "height": 1200})
    visit(page, portal, "ship", ship)
    size = page.locator(".ctools .num")
    page.keyboard.press("-")
    page.get_by_role("button", name="Fit").click()
    first = 80
    expect(size).to_have_text(f"{first} %")
    room = box(page.locator(".chart"))
    page.mouse.move(room["x"] + room["width"] / 2, room["y"] + room["height"] / 2)
    page.mouse.wheel(0, 40)
    expect(size).to_have_text(f"{first} %")  # without Ctrl it scrolls
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    expect(size).to_have_text(f"{first + 10} %")
    for _ in range(30):
        page.mouse.wheel(0, -100)
    expect(size).to_have_text("300 %")
    for _ in range(30):
        page.mouse.wheel(0, 100)
    expect(size).to_have_text("20 %")
    page.keyboard.up("Control")
    width = box(page.locator(".flow"))["width"]
    page.keyboard.press("+")
    expect(size).to_have_text("30 %")
    assert box(page.locator(".flow"))["width"] == pytest.approx(width * 1.5, abs=1)
    page.keyboard.press("-")
    expect(size).to_have_text("20 %")
    page.keyboard.press("0")
    expect(size).to_have_text(f"{first} %")
    quiet.check()


@whole_only
def test_what_is_below_the_pointer_stays_there(portal: Portal, page: Page, ship: str) -> None:
    visit(page, portal, "ship", ship)
    for _ in range(12):
        page.keyboard.press("+")
    target = node(page, "fix-tests")
    target.scroll_into_view_if_needed()
    before = box(target.locator("rect.task"))
    page.mouse.move(before["x"] + 20, before["y"] + 20)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    after = box(target.locator("rect.task"))
    assert after["width"] > before["width"]
    assert after["x"] <= before["x"] + 20 <= after["x"] + after["width"]
    assert abs(after["y"] - before["y"]) < 40


@whole_only
def test_ticks_and_crosses_stand_at_the_left_border(
    portal: Portal, page: Page, hopeless: str
) -> None:
    visit(page, portal, "hopeless", hopeless)
    for name, mark in (("design", ".mkt"), ("hopeless", ".mkx")):
        body = box(node(page, name).locator("rect.task"))
        sign = box(node(page, name).locator(".mk"))
        assert sign["x"] + sign["width"] / 2 == pytest.approx(body["x"], abs=2)
        expect(node(page, name).locator(mark)).to_be_visible()
    expect(node(page, "open-pr").locator(".mk")).to_have_count(0)


def test_a_click_selects_a_node_and_shows_its_sessions_as_tabs(
    portal: Portal, page: Page, ship: str, quiet: Quiet
) -> None:
    visit(page, portal, "ship", ship)
    expect(node(page, "build-web")).to_contain_text("attempt 2 of 3")
    expect(page.locator(".gantt rect title").filter(has_text="#1 failed")).to_have_count(1)
    shape = node(page, "build-web").locator("rect.task")
    before = stroke(shape)
    node(page, "build-web").click()
    expect(node(page, "build-web")).to_have_attribute("aria-pressed", "true")
    assert stroke(shape) >= 3 * before
    tabs = page.get_by_role("tablist", name="Sessions").get_by_role("tab")
    expect(tabs).to_have_text(["Driving", "failedAttempt #1", "succeededAttempt #2"])
    expect(tab(page, "Driving")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("heading", name="build-web")).to_be_visible()

    tab(page, "Attempt #1").click()
    conversation = page.get_by_role("log", name="Attempt #1")
    expect(conversation).to_contain_text("Build the web part.")
    expect(conversation).not_to_contain_text("Does the web part build?")
    page.keyboard.press("ArrowRight")
    expect(tab(page, "Attempt #2")).to_have_attribute("aria-selected", "true")
    expect(tab(page, "Attempt #2")).to_be_focused()
    quiet.check()


def stroke(shape: Locator) -> float:
    return shape.evaluate("(it) => parseFloat(getComputedStyle(it).strokeWidth)")


@whole_only
def test_decisions_of_the_task_stand_among_what_its_driving_sessions_said(
    portal: Portal, page: Page, ship: str
) -> None:
    page.set_viewport_size({"width": 1440, "height": 2400})  # what is not in view is not there
    visit(page, portal, "ship", ship, "#node=5")
    driving = page.get_by_role("log", name="Driving")
    expect(driving.get_by_text("(TaskDecision)").first).to_be_attached()
    driving.evaluate("(it) => it.scrollTo(0, 0)")
    expect(driving.locator("article").first).to_contain_text("[SESSION STARTED]")
    texts = driving.locator("article").all_inner_texts()
    asked = [n for n, text in enumerate(texts) if "Does the web part build?" in text]
    decided = [n for n, text in enumerate(texts) if "criteria.condition does not hold" in text]
    assert asked[0] < decided[0] < asked[-1], texts


def test_nothing_selected_shows_the_report_and_the_definition_is_a_tab(
    portal: Portal, page: Page, ship: str, quiet: Quiet
) -> None:
    visit(page, portal, "ship", ship)
    expect(run_tab(page, "Report")).to_have_attribute("aria-selected", "true")
    run_tab(page, "Definition").click()
    told = json.loads(page.locator(".json").inner_text())
    assert told["jobName"] == "ship"
    assert told["job"]["work"]["kind"] == SHIP["kind"]
    assert told["chart"]["nodes"][0] == {
        "id": 0,
        "hint": ["TaskNode", 0],
        "label": "design",
        "arrows": [{"to": 1, "loopBack": False}],
    }
    node(page, "design").click()
    expect(page.locator(".json")).to_have_count(0)
    assert page.url.endswith("#node=0")
    expect(run_tab(page, "design")).to_have_attribute("aria-selected", "true")
    node(page, "design").click()
    expect(page.locator(".report")).to_be_visible()
    assert "#" not in page.url
    quiet.check()


@whole_only
def test_selecting_in_one_view_selects_in_all(portal: Portal, page: Page, ship: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 1100})
    visit(page, portal, "ship", ship)
    row = page.locator(".gantt [role=button]").filter(has_text="open-pr")
    row.click(position={"x": 20, "y": 8})
    expect(node(page, "open-pr")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("heading", name="open-pr")).to_be_visible()

    page.get_by_role("tab", name="Events").click()
    near = page.locator(".evt.near")
    expect(near.first).to_contain_text("open-pr")
    event = page.get_by_role("option").filter(has_text="Succeeded").filter(has_text="tests-pass")
    event.last.click()
    expect(event.last).to_have_attribute("aria-selected", "true")
    expect(node(page, "tests-pass")).to_have_attribute("aria-pressed", "true")
    assert "event=run-" in page.url
    page.get_by_role("tab", name="Timeline").click()
    expect(page.locator(".gantt [aria-pressed=true]")).to_contain_text("tests-pass")

    page.reload()
    expect(node(page, "tests-pass")).to_have_attribute("aria-pressed", "true")


@whole_only
def test_rounds_of_a_loop_can_be_chosen_and_a_condition_says_true_or_false(
    portal: Portal, page: Page, ship: str
) -> None:
    visit(page, portal, "ship", ship, "#node=12")
    name = page.locator(".nodehead h2").inner_text()
    assert name == "tests-pass"
    expect(node(page, "tests-pass")).to_contain_text("round 2")
    expect(node(page, "tests-pass")).to_contain_text("true")
    expect(page.locator(".nodehead")).to_contain_text("Round 2")
    rounds = page.get_by_role("group", name="Round").get_by_role("button")
    expect(rounds).to_have_count(2)
    expect(rounds.nth(1)).to_have_attribute("aria-pressed", "true")
    rounds.nth(0).click()
    expect(page.locator(".nodehead")).to_contain_text("Round 1")
    expect(page.locator(".nodehead .tf")).to_have_text("false")
    expect(page.get_by_role("log", name="Driving")).to_contain_text("Not yet.")
    assert "iteration=1" in page.url


def test_why_has_every_check_its_outcome_and_its_reason(
    portal: Portal, page: Page, hopeless: str, quiet: Quiet
) -> None:
    visit(page, portal, "hopeless", hopeless, "#node=1")
    why = page.get_by_role("region", name="Why")
    expect(why).to_contain_text("1 check failed in the last attempt, and no retries are left.")
    rows = why.locator("tbody tr")
    expect(rows).to_have_count(5)
    for n, (check, attempt, outcome, reason) in enumerate(
        [
            ("toolExecuted", "#1", "passed", "All were called."),
            ("condition", "#1", "failed", "2 tests still fail"),
            ("toolExecuted", "#2", "passed", "All were called."),
            ("condition", "#2", "failed", "2 tests still fail"),
            ("retryTimes", "\N{EN DASH}", "used up", "1 retry used"),
        ]
    ):
        for cell, said in enumerate((check, attempt, outcome, reason)):
            expect(rows.nth(n).locator("td").nth(cell)).to_contain_text(said)
    rows.nth(1).get_by_role("button", name="event").click()
    chosen = page.get_by_role("option", selected=True)
    expect(chosen).to_contain_text("condition failed: 2 tests still fail")
    quiet.check()


@whole_only
def test_siblings_that_are_alike_fold_and_open(portal: Portal, page: Page, ship: str) -> None:
    visit(page, portal, "ship", ship)
    stack = node(page, "translate \N{MULTIPLICATION SIGN} 6")
    expect(stack).to_contain_text("6 done")
    expect(node(page, "translate 0")).to_have_count(0)
    stack.click()
    expect(stack).to_have_count(0)
    page.get_by_role("button", name="Fit").click()  # what is not in view is not in the page
    expect(page.locator('.flow [aria-label^="translate · "]')).to_have_count(6)
    page.get_by_label("Fold siblings").uncheck()
    page.get_by_label("Fold siblings").check()
    expect(stack).to_be_visible()


@whole_only
def test_what_succeeded_can_be_hidden_and_what_failed_shown_alone(
    portal: Portal, page: Page, ship: str, hopeless: str
) -> None:
    visit(page, portal, "hopeless", hopeless)
    page.get_by_label("Failed only").check()
    expect(page.locator(".flow [role=button]")).to_have_count(1)
    expect(node(page, "hopeless")).to_be_visible()
    page.get_by_label("Failed only").uncheck()
    page.get_by_label("Hide succeeded").check()
    expect(node(page, "design")).to_have_count(0)
    expect(node(page, "open-pr")).to_be_visible()
    visit(page, portal, "ship", ship)
    page.get_by_label("Failed only").check()
    expect(page.get_by_text("Nothing failed")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    expect(node(page, "design")).to_be_visible()


@whole_only
def test_the_keyboard_goes_along_the_arrows(portal: Portal, page: Page, ship: str) -> None:
    visit(page, portal, "ship", ship)
    node(page, "design").focus()
    for key, name in (
        ("ArrowDown", "scan-risk"),
        ("ArrowDown", "needs-migration"),
        ("ArrowDown", "write-migration"),
        ("ArrowDown", "build-server"),
        ("ArrowRight", "build-web"),
        ("ArrowRight", "translate"),
        ("ArrowLeft", "build-web"),
        ("ArrowDown", "fix-tests"),
        ("ArrowUp", "build-server"),
        ("End", "open-pr"),
        ("Home", "design"),
    ):
        page.keyboard.press(key)
        expect(node(page, name).first).to_be_focused()
    page.keyboard.press("Enter")
    expect(node(page, "design")).to_have_attribute("aria-pressed", "true")
    expect(node(page, "design")).to_be_focused()
    page.keyboard.press("Space")
    expect(node(page, "design")).to_have_attribute("aria-pressed", "false")


@whole_only
def test_who_listens_hears_each_node_and_what_follows(
    portal: Portal, page: Page, ship: str
) -> None:
    visit(page, portal, "ship", ship)
    chart = page.get_by_role("list", name="Flow chart, 15 tasks")
    expect(chart.get_by_role("listitem")).to_have_count(10)
    said = node(page, "tests-pass").get_attribute("aria-label") or ""
    assert said.startswith("tests-pass round 2")
    assert said.endswith("true. Back to fix-tests, if true open-pr.")


@whole_only
def test_a_run_shows_its_own_chart_also_when_the_entry_is_another_one(
    portal: Portal, page: Page
) -> None:
    run = begun(portal, "short")
    over(portal, run)
    file = portal.work / "airboss.json"
    before = file.read_text(encoding="utf-8")
    entry = json.loads(before)
    entry["jobs"]["short"] = {"work": {"kind": "Ref", "taskId": "translate"}}
    file.write_text(json.dumps(entry), encoding="utf-8")
    try:
        visit(page, portal, "short")
        expect(page.locator(".flow g.node")).to_have_count(1, timeout=10_000)
        visit(page, portal, "short", run)
        expect(page.locator(".flow g.node")).to_have_count(3)
        assert shown(portal, run)["state"] == "succeeded"
    finally:
        file.write_text(before, encoding="utf-8")


@pytest.mark.timeout(180)
@trial
def test_nobody_is_shut_out_by_day_or_by_night_on_a_phone_or_a_wide_screen(
    portal: Portal, browser: Browser, ship: str, hopeless: str
) -> None:
    usable_by_all(
        browser,
        portal,
        lambda page: visit(page, portal, "ship", ship, "#node=5"),
        lambda page: visit(page, portal, "hopeless", hopeless, "#node=1&attempt=1"),
        lambda page: visit(page, portal, "hopeless", hopeless),
        lambda page: as_a_list(visit(page, portal, "ship", ship)),
        lambda page: visit(page, portal, "ship"),
    )


def as_a_list(page: Page) -> None:
    """The tasks of a wide part, opened from the chart."""
    chart = page.get_by_role("tab", name="Chart")
    if chart.is_visible():
        chart.click()
    node(page, "translate").click()
    if chart.is_visible():
        page.get_by_role("tab", name="Details", exact=True).click()
    expect(page.get_by_role("searchbox", name="Search 6 tasks")).to_be_visible()


@whole_only
def test_the_tasks_of_a_wide_part_are_a_list_that_a_key_searches(
    portal: Portal, page: Page, ship: str
) -> None:
    as_a_list(visit(page, portal, "ship", ship))
    rows = page.locator(".items tbody tr")
    expect(rows).to_have_count(6)
    order = page.get_by_role("group", name="Order").get_by_role("button")
    expect(order).to_have_text(["Needs you first", "As listed"])
    order.last.click()
    expect(order.last).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("/")
    search = page.get_by_role("searchbox", name="Search 6 tasks")
    expect(search).to_be_focused()
    page.keyboard.type("no such task")
    expect(rows).to_have_count(0)


def test_on_a_phone_details_chart_timeline_and_events_take_turns(
    portal: Portal, browser: Browser, ship: str
) -> None:
    page = window(browser, portal, "light", 390)
    visit(page, portal, "ship", ship)
    views = page.get_by_role("tablist", name="Details, chart, timeline or events")
    expect(page.locator(".report")).to_be_visible()
    expect(page.locator(".chart")).to_be_hidden()
    views.get_by_role("tab", name="Chart").click()
    expect(page.locator(".chart")).to_be_visible()
    expect(page.locator(".report")).to_be_hidden()
    expect(page.locator(".dock")).to_be_hidden()
    views.get_by_role("tab", name="Timeline").click()
    expect(page.locator(".gantt")).to_be_visible()
    expect(page.locator(".chart")).to_be_hidden()
    views.get_by_role("tab", name="Events").click()
    expect(page.get_by_role("listbox", name="Events of the run")).to_be_visible()
    fits(page)
