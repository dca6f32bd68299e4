"""Several machines as people see them: real servers on one PostgreSQL, and a browser at each."""

import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.databases import with_tables
from tests.e2e.visit import signed_in, usable_by_all, window
from tests.e2e.witness import Quiet
from tests.machines.story import Fleet, Machine
from tests.portal import Portal
from tests.postgres import Postgres
from tests.trials import whole_only

pytestmark = pytest.mark.timeout(240)

# What is promised; the trials, which have the machine to themselves, hold it.
BOUND_SECONDS = 5
# A run whose worker is killed goes on elsewhere within five seconds on a machine with time; here
# eight browsers and servers may share two cores.
BOUND_MS = 60_000


@contextmanager
def fleet_in(postgres: Postgres, folder: Path) -> Generator[Fleet]:
    folder.mkdir(exist_ok=True)
    name = with_tables(postgres)
    fleet = Fleet(folder, postgres.url(name), lease=20)
    try:
        yield fleet
    finally:
        fleet.end()
        postgres.drop(name)


@pytest.fixture
def fleet(postgres: Postgres, tmp_path: Path) -> Generator[Fleet]:
    with fleet_in(postgres, tmp_path) as fleet:
        yield fleet


def at_run(browser: Browser, portal: Portal, run: str) -> Page:
    page = window(browser, portal)
    page.goto(f"{portal.url}/jobTracking.html?jobName=story&jobId={run}")
    expect(page.locator(".jobstate")).to_contain_text("RUNNING")
    return page


def taken_over(fleet: Fleet, browser: Browser) -> tuple[list[Machine], list[Page], str, float]:
    """Two servers, a browser at each of them, the run that both look at, and after how many seconds
    both showed that another server has it, whose first one was killed."""
    dying, *others = (fleet.machine(f"build-{number}") for number in (1, 2, 3))
    for machine in (dying, *others):
        machine.serve()
    run = fleet.start()
    fleet.until_it_ticks()
    pages = [at_run(browser, machine.portal, run) for machine in others]
    for page in pages:
        expect(page.locator(".counts")).to_contain_text("on build-1")
    killed = time.monotonic()
    dying.portal.kill()
    for page in pages:
        moved = page.locator(".strip.moved")
        expect(moved).to_contain_text("Taken over by build-", timeout=BOUND_MS)
    return others, pages, run, time.monotonic() - killed


def test_two_browsers_on_two_servers_show_who_took_a_run_over_and_end_with_the_same_text(
    fleet: Fleet, browser: Browser
) -> None:
    others, pages, run, _ = taken_over(fleet, browser)
    for page in pages:
        strip = page.locator(".strip.moved")
        expect(strip).to_contain_text("build-1 was lost.")
        expect(strip).to_contain_text("The task slow start")
        expect(strip).to_contain_text("1 finished task stay")
    for page in pages:
        expect(page.locator(".jobstate")).to_contain_text("SUCCEEDED", timeout=BOUND_MS)
    (moved,) = [event for event in fleet.events(run) if event["kind"] == "run.moved"]
    for page in pages:
        expect(page.locator(".strip.moved")).to_contain_text(f"Taken over by {moved['to']}")
        expect(page.locator(".strip.moved")).to_contain_text("The task slow started again")
        expect(page.locator(".counts")).to_contain_text(f"on {moved['to']}")
        expect(page.locator(".fresh")).to_contain_text("Complete")
    texts = [page.locator(".left").inner_text() for page in pages]
    assert texts[0] == texts[1]
    assert fleet.done == ["first", "again", "last"]

    # And what the page of machines says of it.
    portal = others[0].portal

    def look(page: Page) -> None:
        page.goto(f"{portal.url}/machines.html")
        expect(page.locator(".fleet tbody tr")).to_have_count(3)

    page = window(browser, portal)
    quiet = Quiet(page)
    look(page)
    row = page.locator(".fleet tr", has_text="build-1")
    expect(row.locator(".st.stale")).to_have_text("Lost")
    expect(page.locator(".fleet tr", has_text="build-2")).to_contain_text("this page")
    news = page.locator(".panel", has_text="What happened")
    expect(news).to_contain_text("build-1 was lost with 1 run")
    assert page.get_by_role("button", name="hurry").count() == 0
    quiet.check()
    usable_by_all(browser, portal, look)


@whole_only
def test_two_browsers_show_within_the_bound_who_took_a_run_over(
    postgres: Postgres, browser: Browser, tmp_path: Path
) -> None:
    took: list[float] = []
    while not took or (min(took) > BOUND_SECONDS and len(took) < 3):
        with fleet_in(postgres, tmp_path / f"fleet-{len(took)}") as fleet:
            _, pages, _, seconds = taken_over(fleet, browser)
            for page in pages:
                expect(page.locator(".jobstate")).to_contain_text("SUCCEEDED", timeout=BOUND_MS)
            first, second = (page.locator(".left").inner_text() for page in pages)
            assert first == second
        took.append(seconds)
    assert min(took) <= BOUND_SECONDS, took


@whole_only
def test_a_machine_that_is_not_heard_is_shown_with_what_becomes_of_its_runs_and_no_button(
    fleet: Fleet, browser: Browser
) -> None:
    silent, other = fleet.machine("build-7"), fleet.machine("build-2")
    for machine in (silent, other):
        machine.serve()
    run = fleet.start()
    fleet.until_it_ticks()
    at = at_run(browser, other.portal, run)
    machines = window(browser, other.portal)
    machines.goto(f"{other.portal.url}/machines.html")
    expect(machines.locator(".fleet tr", has_text="build-7")).to_contain_text("Alive")
    silent.portal.process.send_signal(signal.SIGSTOP)
    try:
        words = "build-7 not heard for"
        strip = machines.locator(".strip.silent")
        expect(strip).to_contain_text(words, timeout=BOUND_MS)
        expect(strip).to_contain_text("its 1 run goes on elsewhere in")
        expect(strip.get_by_role("button")).to_have_count(0)
        # Nothing that counts is read aloud every second.
        expect(strip.get_by_role("status")).to_have_text("build-7 is not heard.")
        row = machines.locator(".fleet tr", has_text="build-7")
        expect(row.locator(".st.stale")).to_have_text("Not heard, was Alive")
        expect(machines.locator(".lines")).to_contain_text(["The task slow starts again."])
        expect(at.locator(".strip.silent")).to_contain_text(words)
        expect(at.locator(".strip.silent")).to_contain_text("this run goes on elsewhere in")
        expect(at.locator(".strip.moved")).to_contain_text(
            "Taken over by build-2", timeout=BOUND_MS
        )
        expect(machines.locator(".strip.silent")).to_have_count(0)
        expect(row.locator(".st.stale")).to_have_text("Lost")
    finally:
        silent.portal.process.send_signal(signal.SIGCONT)
    expect(at.locator(".jobstate")).to_contain_text("SUCCEEDED", timeout=BOUND_MS)


def test_a_machine_is_drained_and_takes_work_again_on_the_page(
    fleet: Fleet, browser: Browser
) -> None:
    one, other = fleet.machine("build-1"), fleet.machine("build-2")
    for machine in (one, other):
        machine.serve()
    page = window(browser, other.portal)
    page.goto(f"{other.portal.url}/machines.html")
    row = page.locator(".fleet tr", has_text="build-1")
    page.get_by_role("button", name="Drain build-1").click()
    expect(row).to_contain_text("Draining, 0 left")
    assert fleet.state_of("build-1") == "draining"
    page.get_by_role("button", name="Let build-1 take work again").click()
    expect(row).to_contain_text("Alive")
    assert fleet.state_of("build-1") == "alive"
    token = other.portal.run("token", "add", "eye", "--role", "decide").stdout.strip()
    theirs = signed_in(browser.new_context(reduced_motion="reduce").new_page(), other.portal, token)
    theirs.goto(f"{other.portal.url}/machines.html")
    expect(theirs.get_by_role("button", name="Drain build-1")).to_be_disabled()


@whole_only
def test_a_run_whose_folder_was_lost_with_its_machine_is_moved_on_the_page(
    fleet: Fleet, browser: Browser
) -> None:
    lost, without, other = (fleet.machine(f"build-{number}") for number in (1, 2, 3))
    other.portal.options += ("--root", str(lost.portal.work))
    for machine in (lost, without, other):
        machine.serve()
    run = fleet.start(cwd=lost.portal.work)
    fleet.until_run_is(run, "running")
    lost.portal.kill()
    page = window(browser, other.portal)
    page.goto(f"{other.portal.url}/machines.html")
    page.get_by_role("button", name="Move story to another machine").click(timeout=BOUND_MS)
    form = page.get_by_role("form", name="Move story")
    form.get_by_label("Move to").select_option("build-2")
    form.get_by_role("button", name="Move", exact=True).click()
    expect(page.get_by_text("build-2 has no folder")).to_be_visible()
    form.get_by_label("Move to").select_option("build-3")
    form.get_by_role("button", name="Move", exact=True).click()
    expect(page.get_by_role("heading", name="Waiting for a machine")).to_have_count(0)
    expect(page.locator(".fleet tr", has_text="build-3")).to_contain_text("1")


def test_a_server_alone_says_how_to_add_a_machine(shared_portal: Portal, browser: Browser) -> None:
    def look(page: Page) -> None:
        page.goto(f"{shared_portal.url}/machines.html")
        expect(page.get_by_role("heading", name="Airboss runs on one machine")).to_be_visible()
        expect(page.locator(".fleet tbody tr")).to_have_count(1)

    page = window(browser, shared_portal)
    look(page)
    expect(page.get_by_role("link", name="How to add a machine")).to_have_attribute(
        "href", "/docs/many-machines.html#set-it-up"
    )
    page.goto(f"{shared_portal.url}/history.html")
    page.keyboard.press("g")
    page.keyboard.press("m")
    expect(page.get_by_role("heading", name="Machines", exact=True)).to_be_visible()
    usable_by_all(browser, shared_portal, look)
