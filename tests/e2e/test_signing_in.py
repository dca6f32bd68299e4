"""Being signed in, in a real browser: two parts, all tabs, out at once, and no click that acts."""

import re
import socket
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.visit import asked, calm, link, new_session, signed_in
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import whole_only

REFUSED = "status of 40"
SIGN_IN = "Sign in to Airboss"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    port = free_port()
    own = " ".join(
        f"[press {number}]({address})"
        for number, address in enumerate(
            [
                f"http://localhost:{port}/api/stop",
                f"http://127.0.0.1:{port}/api/copilot/session/start/rehearsal",
                f"http://[::1]:{port}/api/stop",
                f"http://2130706433:{port}/api/stop",
                f"http://air.localhost:{port}/api/stop",
            ]
        )
    )
    script = f"""
models: [{{id: rehearsal, name: Rehearsal, multiplier: 0}}]
rules:
  - when: "show me"
    steps:
      - say: |
          # Done

          {own}

          Also http://localhost:{port}/api/stop and [a neighbour](http://localhost:1/x).
  - when: "hello"
    steps: [{{say: "Hello, captain."}}]
"""
    portal = Portal(tmp_path_factory.mktemp("signing"), ("--port", str(port)), script)
    portal.start()
    yield portal
    portal.stop()


def arrived(page: Page, portal: Portal) -> Page:
    """By an address from `airboss link`, as people do."""
    page.goto(link(portal))
    expect(page.get_by_role("heading", name="Start a session")).to_be_visible()
    return page


def test_all_tabs_are_in_and_signing_out_in_one_closes_the_others(
    portal: Portal, page: Page
) -> None:
    arrived(page, portal)
    other = page.context.new_page()
    other.goto(f"{portal.url}/history.html")
    expect(calm(other).get_by_role("heading", name="History", exact=True)).to_be_visible()
    page.goto(f"{portal.url}/settings.html#tokens")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name=SIGN_IN)).to_be_visible()
    expect(other.get_by_role("heading", name=SIGN_IN)).to_be_visible(timeout=5_000)
    assert page.context.cookies() == []
    assert page.evaluate("localStorage.getItem('airboss.keys')") is None
    arrived(page, portal)


@whole_only
def test_a_browser_that_lost_its_part_is_told_how_to_come_back(portal: Portal, page: Page) -> None:
    arrived(page, portal)
    page.evaluate("localStorage.clear()")
    page.goto(f"{portal.url}/jobs.html")
    expect(page.get_by_role("heading", name=SIGN_IN)).to_be_visible()
    expect(page.get_by_text("may have been cleared")).to_be_visible()
    expect(page.get_by_role("list").get_by_text("airboss link")).to_be_visible()
    arrived(page, portal)


@whole_only
def test_a_cookie_of_an_earlier_version_is_told_how_to_come_back(
    portal: Portal, page: Page
) -> None:
    arrived(page, portal)
    [cookie] = page.context.cookies()
    old = f"v1.owner.1800000000.1900000000.{'0' * 32}.{'0' * 64}"
    page.context.add_cookies([{"name": cookie["name"], "value": old, "url": portal.url}])  # pyright: ignore[reportTypedDictNotRequiredAccess]
    page.goto(portal.url)
    expect(page.get_by_text("signed in by an earlier version of Airboss")).to_be_visible()
    arrived(page, portal)


@whole_only
def test_an_address_for_another_name_asks_before_it_replaces_a_sign_in(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    token = portal.run("token", "add", "ann", "--role", "view").stdout.strip()
    made = httpx2.post(f"{portal.url}/api/v1/links", headers={"Authorization": f"Bearer {token}"})
    address = str(made.json()["url"])
    arrived(page, portal)
    page.goto(address)
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("You are signed in as owner.")
    expect(question).to_contain_text("Sign in as ann instead?")
    expect(page.get_by_role("heading", name="Start a session")).to_be_visible()
    assert "code" not in page.url
    question.get_by_role("button", name="Stay signed in as owner").click()
    expect(question).to_have_count(0)
    assert role_of(page) == "own"

    page.goto("about:blank")
    page.goto(address)  # it was not used up
    question.get_by_role("button", name="Sign in as ann").click()
    expect(question).to_have_count(0)
    expect(page.get_by_text("Your role is view.").first).to_be_visible()
    assert role_of(page) == "view"
    quiet.check(but=REFUSED)  # what was open as the owner is closed


def role_of(page: Page) -> object:
    """Of this browser, as the server sees it."""
    return page.evaluate(
        "fetch('/api/v1/signin', {headers: {'X-Airboss-Key': localStorage['airboss.keys']}})"
        ".then((answer) => answer.json()).then((told) => told.role)"
    )


@whole_only
def test_settings_list_who_is_signed_in_and_end_it(portal: Portal, browser: Browser) -> None:
    asked(portal, "DELETE", "/api/v1/signins")
    mine, theirs = (
        arrived(browser.new_context(reduced_motion="reduce").new_page(), portal) for _ in range(2)
    )
    mine.goto(f"{portal.url}/settings.html#tokens")
    rows = mine.get_by_role("table", name="Signed-in browsers").get_by_role("row")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="this browser")).to_have_count(1)
    expect(rows.first).to_contain_text(
        re.compile(r"Chrome on Linux.*owner, from (127\.0\.0\.1|::1)")
    )
    mine.get_by_role("button", name="Sign out: ").click()
    mine.get_by_role("dialog").get_by_role("button", name="Sign out").click()
    expect(theirs.get_by_role("heading", name=SIGN_IN)).to_be_visible(timeout=5_000)
    expect(rows).to_have_count(1)
    expect(theirs.get_by_text("This browser has been signed out.").first).to_be_visible()


class Listener(BaseHTTPRequestHandler):
    """Whatever else listens on this machine."""

    heard: dict[str, str] = {}  # noqa: RUF012 - one for all of its requests

    def do_GET(self) -> None:
        self.heard.update({name.lower(): value for name, value in self.headers.items()})
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Neighbour</title>")

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextmanager
def neighbour() -> Generator[str]:
    server = HTTPServer(("127.0.0.1", 0), Listener)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://localhost:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_what_another_port_of_this_host_hears_gets_nobody_in(portal: Portal, page: Page) -> None:
    arrived(page, portal)
    with neighbour() as address:
        page.goto(address)
    cookie = Listener.heard["cookie"]
    assert "airboss_" in cookie, "the browser gives it to every port; that is why there is a key"
    assert "x-airboss-key" not in Listener.heard
    assert page.evaluate("localStorage.getItem('airboss.keys')") is None, "kept per origin"
    stolen = httpx2.get(f"{portal.url}/api/v1/status", headers={"Cookie": cookie})
    assert (stolen.status_code, stolen.json()["code"]) == (401, "key_needed")


@whole_only
def test_stop_opened_in_the_browser_leads_to_the_pages_own(portal: Portal, page: Page) -> None:
    arrived(page, portal)
    for path in ("/api/stop", "/api/copilot/session/start/rehearsal", "/api/v1/stop"):
        answer = page.goto(f"{portal.url}{path}")
        assert answer is not None
        assert answer.status == 403, path
    page.goto(f"{portal.url}/api/stop")
    expect(page.get_by_text("does not stop the server")).to_be_visible()
    page.get_by_role("link", name="Open Airboss").click()
    expect(page.get_by_role("button", name="Search or run a command")).to_be_visible()
    assert portal.is_running
    stopped = httpx2.get(
        f"{portal.url}/api/test", headers={"Authorization": f"Bearer {portal.token}"}
    )
    assert stopped.status_code == 200, "scripts with a token go on"


def test_a_link_to_this_server_in_a_models_text_is_only_text(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    session = new_session(portal, "show me")
    signed_in(page, portal).goto(f"{portal.url}/index.html?session={session}")
    message = page.locator(".blk.message").last
    expect(message.get_by_role("heading", name="Done")).to_be_visible(timeout=20_000)
    expect(message.get_by_role("link")).to_have_count(1)
    expect(message.get_by_role("link")).to_have_text("a neighbour")
    expect(message).to_contain_text(f"press 0 ({portal.url}/api/stop)")
    expect(message).to_contain_text(f"Also {portal.url}/api/stop and")
    message.get_by_text("press 0").click()
    page.wait_for_timeout(300)
    assert len(page.context.pages) == 1
    quiet.check()


def test_a_click_from_another_page_does_nothing(portal: Portal, page: Page) -> None:
    arrived(page, portal)
    with neighbour() as address:
        page.goto(address)
        page.evaluate(
            "(to) => { const a = document.createElement('a'); a.href = to; a.textContent = 'win';"
            " document.body.append(a); }",
            f"{portal.url}/api/stop",
        )
        with page.expect_navigation() as went:
            page.get_by_role("link", name="win").click()
    assert went.value.status == 403
    assert portal.is_running
