"""What a page shows is true: after every kind of absence it says what a fresh page says."""

import contextlib
import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, Route, expect

from tests.e2e.tracked import node
from tests.e2e.visit import asked, fits, new_session, window
from tests.e2e.witness import Quiet
from tests.pauses import pauses
from tests.portal import Portal
from tests.trials import whole_only

# A page whose server is gone says so in its console, by Chromium's own words.
CUT_OFF = "net::ERR_"
SECONDS = 2.0

SCRIPT = r"""
models:
  - {id: rehearsal, name: Rehearsal, multiplier: 0}
chunk_ms: 120
chunk_chars: 6
rules:
  - when: "tell a long story"
    steps:
      - reasoning: "Once there was a log, and everything was in it, in order, and none of it twice."
      - say: >-
          It began on a quiet evening. Nobody watched, and yet every word was written down first.
          Then came the night of the great cut, and the morning after it nothing was missing.
  - when: "tell it in few words"
    steps: [{reasoning: "Once there was a log."}, {say: "It began, and it ended."}]
  - when: "short"
    steps: [{say: "Brief."}]
"""

ENTRY = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {
        name: {
            "model": {"category": "driving"},
            "prompt": [f"tell a long story, {name}"],
            "requireUserInput": False,
        }
        for name in ("first", "second", "third")
    },
    "jobs": {
        "saga": {
            "work": {
                "kind": "Seq",
                "works": [
                    {"kind": "Ref", "taskId": "first"},
                    {
                        "kind": "Par",
                        "works": [
                            {"kind": "Ref", "taskId": "second"},
                            {"kind": "Ref", "taskId": "third"},
                        ],
                    },
                ],
            }
        }
    },
    "grid": [{"keyword": "tell", "jobs": [{"name": "Saga", "jobName": "saga"}]}],
}


def portal_in(folder: Path) -> Portal:
    portal = Portal(folder, script=SCRIPT)
    portal.work.mkdir(parents=True)
    (portal.work / "airboss.json").write_text(json.dumps(ENTRY), encoding="utf-8")
    return portal


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """For all who look at sessions of their own."""
    with portal_in(tmp_path_factory.mktemp("truth")).serving() as portal:
        yield portal


@pytest.fixture
def own_portal(tmp_path: Path) -> Iterator[Portal]:
    """One that a test may kill, stop for a while, or count on."""
    with portal_in(tmp_path).serving() as portal:
        yield portal


def text(page: Page) -> str:
    return str(page.evaluate("document.body.innerText"))


def until(holds: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    pause = pauses()
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(next(pause))
    return False


def shown(portal: Portal, path: str) -> dict[str, Any]:
    return asked(portal, "GET", f"/api/v1/{path}").json()


def at_rest(portal: Portal, path: str) -> bool:
    return shown(portal, path)["state"] in ("idle", "closed", "interrupted", "succeeded", "failed")


def is_true(page: Page, browser: Browser, portal: Portal, address: str) -> None:
    """Within two seconds from now, what it says is what a page says that is opened now."""
    are_true([page], browser, portal, address)


def are_true(pages: list[Page], browser: Browser, portal: Portal, address: str) -> None:
    began = time.monotonic()
    fresh = window(browser, portal)
    fresh.goto(f"{portal.url}{address}")
    expect(fresh.locator(".fresh")).to_have_text("Live", timeout=10_000)
    taken = time.monotonic() - began
    for page in pages:
        # A busy machine takes longer than that for the fresh one, which still draws.
        same = until(lambda page=page: text(page) == text(fresh), max(1.0, SECONDS - taken))
        assert same, f"{text(page)}\n--- and a fresh one ---\n{text(fresh)}"
    fresh.close()


def visited(browser: Browser, portal: Portal, address: str) -> Page:
    page = window(browser, portal)
    page.goto(f"{portal.url}{address}")
    expect(page.locator(".fresh")).to_have_text("Live", timeout=10_000)
    return page


def story(portal: Portal) -> tuple[str, str]:
    """A session that is being told a story, and where it is looked at."""
    session = new_session(portal, "tell a long story")
    return session, f"/index.html?session={session}"


def told(portal: Portal) -> tuple[str, str]:
    """A session whose story has ended, and where it is looked at."""
    session = new_session(portal, "tell it in few words")
    assert until(lambda: shown(portal, f"sessions/{session}")["turns"] == 1)
    assert until(lambda: at_rest(portal, f"sessions/{session}"))
    return session, f"/index.html?session={session}"


def saga(portal: Portal) -> tuple[str, str]:
    run = asked(portal, "POST", "/api/v1/runs", {"job": "saga"}).json()["id"]
    return f"runs/{run}", f"/jobTracking.html?jobName=saga&jobId={run}"


def test_a_server_that_is_killed_in_a_stream_and_comes_back(
    own_portal: Portal, browser: Browser
) -> None:
    session, address = story(own_portal)
    page = visited(browser, own_portal, address)
    expect(page.get_by_text("It began on a quiet").first).to_be_visible(timeout=10_000)
    port = own_portal.url.rsplit(":", 1)[1]
    own_portal.kill()
    expect(page.locator(".fresh")).to_contain_text("Reconnecting")
    own_portal.options = ("--port", port)
    own_portal.start()
    expect(page.locator(".fresh")).to_have_text("Live", timeout=15_000)
    is_true(page, browser, own_portal, address)
    assert shown(own_portal, f"sessions/{session}")["state"] == "interrupted"


def test_a_run_goes_on_behind_a_killed_server_and_so_does_its_page(
    own_portal: Portal, browser: Browser
) -> None:
    run, address = saga(own_portal)
    page = visited(browser, own_portal, address)
    expect(page.get_by_text("JOB: RUNNING")).to_be_visible()
    port = own_portal.url.rsplit(":", 1)[1]
    own_portal.kill()
    own_portal.options = ("--port", port)
    own_portal.start()
    assert until(lambda: at_rest(own_portal, run), 60)
    expect(page.get_by_text("JOB: SUCCEEDED")).to_be_visible(timeout=5_000)
    is_true_when_complete(page, browser, own_portal, address)


def is_true_when_complete(page: Page, browser: Browser, portal: Portal, address: str) -> None:
    fresh = window(browser, portal)
    fresh.goto(f"{portal.url}{address}")
    expect(fresh.locator(".fresh")).to_have_text("Complete", timeout=10_000)
    # A run at work opens on the task that works, and one that has ended on its report.
    for one in (page, fresh):
        node(one, "third").click()
    assert until(lambda: text(page) == text(fresh), SECONDS), f"{text(page)}\n---\n{text(fresh)}"


def cut_off(page: Page) -> None:
    """Chromium may tell a page that it is offline before it lets no request through. What the page
    opened in between stays open, so it is told until it has noticed."""
    page.context.set_offline(True)

    def noticed() -> bool:
        page.evaluate("dispatchEvent(new Event('offline'))")
        return "Reconnecting" in page.locator(".fresh").inner_text()

    assert until(noticed, 15)


def test_a_network_that_is_cut_while_the_agent_works(portal: Portal, browser: Browser) -> None:
    session, address = story(portal)
    page = visited(browser, portal, address)
    cut_off(page)
    assert until(lambda: at_rest(portal, f"sessions/{session}"))
    page.context.set_offline(False)
    is_true(page, browser, portal, address)


@whole_only
def test_a_server_that_hangs_and_wakes(own_portal: Portal, browser: Browser) -> None:
    """Nothing breaks the connection; only the silence tells."""
    _, address = told(own_portal)
    page = visited(browser, own_portal, address)
    os.kill(own_portal.pid, signal.SIGSTOP)
    expect(page.locator(".fresh")).to_contain_text("Reconnecting", timeout=20_000)
    os.kill(own_portal.pid, signal.SIGCONT)
    expect(page.locator(".fresh")).to_have_text("Live", timeout=15_000)
    is_true(page, browser, own_portal, address)


def test_a_tab_that_slept_for_an_hour(portal: Portal, browser: Browser) -> None:
    session, address = story(portal)
    page = window(browser, portal)
    page.clock.install()
    page.goto(f"{portal.url}{address}")
    expect(page.locator(".fresh")).to_have_text("Live", timeout=10_000)
    page.context.set_offline(True)  # a laptop that sleeps loses its connections
    assert until(lambda: at_rest(portal, f"sessions/{session}"))
    asked(portal, "POST", f"/api/v1/sessions/{session}/prompts", {"text": "short"})
    assert until(lambda: shown(portal, f"sessions/{session}")["turns"] == 2)
    page.clock.fast_forward("01:00:00")
    page.context.set_offline(False)
    expect(page.get_by_text("Brief.", exact=True)).to_be_visible()
    fresh = visited(browser, portal, address)
    # An hour lies between their clocks, not between what they know.
    same = until(lambda: _without_badge(page) == _without_badge(fresh), SECONDS)
    assert same, f"{_without_badge(page)}\n---\n{_without_badge(fresh)}"


def test_a_browser_whose_clock_is_a_day_off_counts_by_the_server_s(
    portal: Portal, browser: Browser
) -> None:
    session = new_session(portal, "short")
    assert until(lambda: at_rest(portal, f"sessions/{session}"))
    page = window(browser, portal)
    page.clock.install(time=time.time() + 86_400)
    page.goto(f"{portal.url}/")
    row = page.locator(".runs li", has=page.locator(f"a[href*={session}]"))
    expect(row.locator("time")).to_have_text(re.compile(r"^just now$|^\d+ (s|min) ago$"))


def test_a_phone_has_room_for_since_when_a_page_is_stale(portal: Portal, browser: Browser) -> None:
    page = window(browser, portal, width=360)
    page.clock.install()
    page.goto(f"{portal.url}/")
    badge = page.locator(".fresh")
    expect(badge).to_have_text("Live")
    # Somebody waits, too.
    page.evaluate(
        """document.querySelector(".menu-btn").insertAdjacentHTML("beforebegin",
        '<a class="phone-only row"><svg width="16"></svg><span class="count">14</span></a>')"""
    )
    page.context.set_offline(True)
    page.clock.fast_forward("01:00")
    expect(badge).to_contain_text("Stale since")
    assert page.evaluate("(it) => it.scrollWidth <= it.clientWidth", badge.element_handle())
    page.get_by_role("button", name="Try now").click(trial=True)
    page.get_by_role("button", name="Menu").click(trial=True)
    fits(page)


def _without_badge(page: Page) -> str:
    return str(page.evaluate("document.querySelector('main').innerText"))


def test_two_tabs_a_late_one_and_one_that_is_reloaded_in_a_stream(
    portal: Portal, browser: Browser
) -> None:
    session, address = story(portal)
    first = visited(browser, portal, address)
    second = visited(browser, portal, address)
    expect(second.get_by_text("It began on a quiet").first).to_be_visible(timeout=10_000)
    second.reload()
    late = visited(browser, portal, address)
    assert until(lambda: at_rest(portal, f"sessions/{session}"))
    are_true([first, second, late], browser, portal, address)


def test_a_page_that_was_made_to_differ_heals_and_is_counted(
    own_portal: Portal, browser: Browser
) -> None:
    _, address = told(own_portal)
    page = window(browser, own_portal)
    # One event does not reach the page, as if something between here and there had eaten it.
    page.route("**/events?*", _without_a_message)
    page.goto(f"{own_portal.url}{address}")
    expect(page.locator(".fresh")).to_have_text("Live", timeout=10_000)
    page.unroute_all(behavior="wait")
    is_true(page, browser, own_portal, address)
    metrics = asked(own_portal, "GET", "/metrics").text
    counted = [line for line in metrics.splitlines() if line.startswith("airboss_page_differences")]
    assert [line.rsplit(" ", 1)[1] for line in counted if not line.endswith(" 0")] != []


def _without_a_message(route: Any) -> None:
    answer = route.fetch()
    body = answer.json()
    body["items"] = [one for one in body["items"] if one["event"]["kind"] != "message.ended"]
    route.fulfill(response=answer, json=body)


def test_what_a_page_says_meanwhile_is_no_error_to_its_console(
    portal: Portal, browser: Browser
) -> None:
    session, address = story(portal)
    page = window(browser, portal)
    quiet = Quiet(page)
    page.goto(f"{portal.url}{address}")
    expect(page.locator(".fresh")).to_have_text("Live", timeout=10_000)
    cut_off(page)
    page.context.set_offline(False)
    expect(page.locator(".fresh")).to_have_text("Live", timeout=10_000)
    quiet.check(but=CUT_OFF)
    asked(portal, "POST", f"/api/v1/sessions/{session}/close")


def test_a_way_that_holds_streams_back_is_gone_by_pages(portal: Portal, browser: Browser) -> None:
    session, address = story(portal)
    page = window(browser, portal)
    asked_for: list[str] = []
    page.on("request", lambda request: asked_for.append(request.url))
    held: list[Route] = []  # no answer, and no end
    page.route("**/api/v1/feed*", lambda route: held.append(route))
    page.clock.install()
    page.goto(f"{portal.url}{address}")
    expect(page.locator(".fresh")).to_be_visible()
    for _ in range(8):  # the silence of half a minute
        page.clock.fast_forward(4_000)
        time.sleep(0.3)
    expect(page.locator(".fresh")).to_have_text("Live", timeout=10_000)
    assert until(lambda: at_rest(portal, f"sessions/{session}"))
    asked(portal, "POST", f"/api/v1/sessions/{session}/prompts", {"text": "short"})
    expect(page.get_by_text("Brief.", exact=True)).to_be_visible(timeout=10_000)
    assert not [url for url in asked_for if "/live" in url]
    fresh = visited(browser, portal, address)
    assert until(lambda: _without_badge(page) == _without_badge(fresh), 5)
    for route in held:
        with contextlib.suppress(Error):  # those that the page has given up
            route.abort()


EARLIER = "an-earlier-build"
_OWN_BUILD = re.compile(r'(name="airboss-build" content=")\w+')


def of_an_earlier_build(page: Page, times: int) -> list[str]:
    """So many loads of the page are of an earlier build; what each load was, in order."""
    loads: list[str] = []

    def answer(route: Route) -> None:
        fetched = route.fetch()
        is_old = len(loads) < times
        loads.append("old" if is_old else "new")
        body = fetched.text()
        route.fulfill(
            response=fetched, body=_OWN_BUILD.sub(rf"\g<1>{EARLIER}", body) if is_old else body
        )

    page.route("**/index.html?session=*", answer)
    return loads


def is_loaded(page: Page, loads: list[str], expected: list[str]) -> bool:
    """Within ten seconds; a page's requests come to us only while we wait by its clock."""
    for _ in range(200):
        if loads == expected:
            return True
        page.wait_for_timeout(50)
    return False


def test_a_page_of_an_earlier_build_reloads_once(portal: Portal, browser: Browser) -> None:
    _, address = told(portal)
    page = window(browser, portal)
    loads = of_an_earlier_build(page, times=1)
    page.goto(f"{portal.url}{address}")
    assert is_loaded(page, loads, ["old", "new"])
    expect(page.locator(".fresh")).to_have_text("Live", timeout=10_000)
    cut_off(page)
    page.context.set_offline(False)
    is_true(page, browser, portal, address)
    assert loads == ["old", "new"]


def test_a_page_that_stays_of_an_earlier_build_does_not_reload_again(
    portal: Portal, browser: Browser
) -> None:
    _, address = told(portal)
    page = window(browser, portal)
    loads = of_an_earlier_build(page, times=100)
    page.goto(f"{portal.url}{address}")
    assert is_loaded(page, loads, ["old", "old"])
    for _ in range(2):
        expect(page.locator(".fresh")).to_have_text("Live", timeout=10_000)
        cut_off(page)
        page.context.set_offline(False)
    is_true(page, browser, portal, address)
    assert loads == ["old", "old"]


def test_a_page_that_became_old_does_not_reload_under_the_hands_of_who_writes(
    portal: Portal, browser: Browser
) -> None:
    _, address = told(portal)
    page = visited(browser, portal, address)
    loads = of_an_earlier_build(page, times=0)
    cut_off(page)
    page.evaluate(f"document.querySelector('meta[name=airboss-build]').content = '{EARLIER}'")
    field = page.locator("textarea").first
    field.fill("half a sen")
    page.context.set_offline(False)
    expect(page.locator(".fresh")).to_have_text("Live", timeout=10_000)
    page.wait_for_timeout(2_000)
    assert loads == []
    field.blur()
    assert is_loaded(page, loads, ["new"])
    expect(page.locator("textarea").first).to_have_value("half a sen")
