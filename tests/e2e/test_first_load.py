"""What a page asks for when it is opened: everything once, and nothing that is refused."""

import contextlib
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Error, Page, Response, Route, expect

from tests.e2e.visit import asked, calm, link, new_session, signed_in
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import share, trial

PATHS = (
    "/",
    "/jobs.html?wb={work}",
    "/jobTracking.html?jobName=sample&jobId={run}",
    "/jobTracking.html?jobName=sample",
    "/history.html",
    "/inbox.html",
    "/machines.html",
    "/settings.html",
    "/index.html?session={session}",
)
# By then lists that are asked for a second time have been: they are a second or two apart.
SETTLED_MS = 3_000


@dataclass
class Visits:
    """A server on which nothing happens any more, and addresses of what did."""

    portal: Portal
    session: str
    run: str

    def address(self, path: str) -> str:
        known = {"work": self.portal.work, "session": self.session, "run": self.run}
        return f"{self.portal.url}{path.format(**known)}"


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visits]:
    portal = Portal(tmp_path_factory.mktemp("loads"), script=None)
    portal.start()
    session = new_session(portal, "hello")
    started = asked(portal, "POST", "/api/v1/runs", {"job": "sample", "cwd": str(portal.work)})
    visits = Visits(portal, session, str(started.json()["id"]))
    while not is_over(visits):
        time.sleep(0.2)
    wait_until_nothing_changes(portal)
    yield visits
    portal.stop()


def is_over(visits: Visits) -> bool:
    run = asked(visits.portal, "GET", f"/api/v1/runs/{visits.run}").json()
    session = asked(visits.portal, "GET", f"/api/v1/sessions/{visits.session}").json()
    return run["ended_at"] is not None and session["state"] == "idle"


def wait_until_nothing_changes(portal: Portal) -> None:
    before = ""
    while (now := asked(portal, "GET", "/api/v1/runs").headers["X-Airboss-Lists"]) != before:
        before = now
        time.sleep(2)


@dataclass
class Asked:
    """What a page asked of the API, and how that was answered."""

    page: Page
    portal: Portal
    answers: Counter[str] = field(default_factory=Counter[str])
    refused: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.page.on("response", self._note)

    def _note(self, answer: Response) -> None:
        path = answer.url.removeprefix(self.portal.url)
        # The feed is one connection that is opened anew for each stream that is followed.
        if path.startswith("/api/") and not path.startswith("/api/v1/feed?"):
            self.answers[f"{answer.request.method} {path}"] += 1
            if answer.status != 200:
                self.refused.append(f"{answer.status} {path}")

    def settled(self) -> Counter[str]:
        calm(self.page)
        expect(self.page.locator(".fresh")).to_be_visible()
        self.page.wait_for_timeout(SETTLED_MS)
        return self.answers


@pytest.mark.parametrize("path", PATHS)
def test_a_page_asks_for_everything_once(
    visits: Visits, page: Page, quiet: Quiet, path: str
) -> None:
    told = Asked(page, visits.portal)
    signed_in(page, visits.portal).goto(visits.address(path))
    counted = told.settled()
    assert counted["GET /api/v1/signin"] == 1
    assert counted["GET /api/v1/inbox"] == 1
    assert counted["GET /api/v1/status"] <= 1
    assert {one: count for one, count in counted.items() if count > 1} == {}
    assert told.refused == []
    quiet.check()


def test_a_page_that_signs_in_by_its_address_asks_for_everything_once(
    visits: Visits, page: Page, quiet: Quiet
) -> None:
    told = Asked(page, visits.portal)
    page.goto(link(visits.portal))
    counted = told.settled()
    assert (counted["POST /api/v1/signin"], counted["GET /api/v1/status"]) == (1, 1)
    assert {one: count for one, count in counted.items() if count > 1} == {}
    assert told.refused == []
    quiet.check()


@trial
@pytest.mark.parametrize("path", PATHS[: share(2, len(PATHS))])
def test_a_page_that_nobody_is_signed_in_to_asks_only_whether_one_is(
    visits: Visits, page: Page, quiet: Quiet, path: str
) -> None:
    told = Asked(page, visits.portal)
    page.goto(visits.address(path))
    expect(page.get_by_role("heading", name="Sign in to Airboss")).to_be_visible()
    page.wait_for_timeout(SETTLED_MS // 3)
    assert dict(told.answers) == {"GET /api/v1/signin": 1}
    assert told.refused == []
    quiet.check()


def test_what_changes_before_the_feed_is_open_is_shown_too(visits: Visits, page: Page) -> None:
    held: list[Route] = []
    feed = re.compile("/api/v1/feed")
    signed_in(page, visits.portal).route(feed, lambda route: held.append(route))
    page.goto(visits.address("/"))
    expect(page.get_by_role("heading", name="Recent", exact=True)).to_be_visible()
    rows = page.locator(".runs li").count()
    new_session(visits.portal)
    page.wait_for_timeout(SETTLED_MS)
    assert page.locator(".runs li").count() == rows, "nobody has told the page yet"
    page.unroute(feed)
    for route in held:
        with contextlib.suppress(Error):  # one that the page has replaced meanwhile
            route.continue_()
    expect(page.locator(".runs li")).to_have_count(rows + 1, timeout=10_000)
