"""The MCP servers of a session on its page: how each is, its tools, and a sign-in at one, from the
request in the session to the server's own page and back."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.visit import audit, calm, new_session, signed_in
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.servers.started import SIGNED_IN, Wiki, started

pytestmark = pytest.mark.timeout(120)

SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "^read"
    steps:
      - call: {tool: wiki-page, arguments: {name: "{last}"}}
      - say: "Read."
"""


@pytest.fixture(scope="module")
def wiki() -> Iterator[Wiki]:
    with started(SIGNED_IN) as address:
        yield Wiki(address)


@pytest.fixture
def portal(tmp_path: Path, wiki: Wiki) -> Iterator[Portal]:
    portal = Portal(tmp_path, ("--permissions", "approve-all"), SCRIPT)
    portal.data.mkdir(parents=True, mode=0o700)
    settings = (
        f'mcp_wait_seconds = 60\n[session.mcp_servers.wiki]\nurl = "{wiki.url}"\n'
        '[session.mcp_servers.broken]\ncommand = ["/no/such/program"]\n'
    )
    (portal.data / "settings.toml").write_text(settings, "utf-8")
    portal.start()
    yield portal
    portal.stop()


def at_session(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("tab", name="Session").click()


def test_a_person_signs_in_at_a_server_and_its_tools_are_there(page: Page, portal: Portal) -> None:
    quiet = Quiet(signed_in(page, portal))
    session = new_session(portal, "read-owls")
    at_session(page, f"{portal.url}/index.html?session={session}")
    card = page.locator("section.ask")
    expect(card).to_contain_text("Sign in at the MCP server wiki?", timeout=40_000)
    servers = page.locator("ul.servers li")
    expect(servers.filter(has_text="wiki")).to_contain_text("needs a sign-in")
    broken = servers.filter(has_text="broken")
    expect(broken).to_contain_text("failed")
    expect(broken.locator(".server-error")).not_to_be_empty()
    audit(calm(page))

    # Not today, and then all the same: the panel has the way there.
    card.get_by_role("button", name="Continue without it").click()
    expect(page.get_by_text("Declined by")).to_be_visible()
    servers.filter(has_text="wiki").get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Refuse").click()
    expect(page.get_by_role("alert")).to_contain_text("was not granted (access_denied)")

    at_session(page, f"{portal.url}/index.html?session={session}")
    servers.filter(has_text="wiki").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="May Airboss read the wiki?")).to_be_visible()
    page.get_by_role("link", name="Allow").click()
    expect(page.get_by_role("status").filter(has_text="Signed in at wiki.")).to_be_visible()
    assert "code=" not in page.url
    audit(calm(page))
    page.get_by_role("link", name="Open the session").click()
    page.get_by_role("tab", name="Session").click()
    connected = servers.filter(has_text="wiki")
    expect(connected).to_contain_text("connected")
    expect(connected).to_contain_text("Signed in by")
    expect(connected).to_contain_text("page")
    connected.get_by_role("button", name="Sign out").click()
    expect(connected).not_to_contain_text("Signed in by")
    assert [one for one in quiet.said if "424" not in one] == [], "it was refused once"

    # The next session is asked, from the inbox.
    new_session(portal, "read-mice")
    page.goto(f"{portal.url}/inbox.html")
    card.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Allow").click()
    expect(page.get_by_role("status").filter(has_text="Signed in at wiki.")).to_be_visible()
    page.get_by_role("link", name="Open the session").click()
    expect(page.get_by_text("Read.", exact=True)).to_be_visible()
