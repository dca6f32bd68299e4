"""What one may not do is shown as such, with the reason; and who did what is shown to owners."""

import json
import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.contract.asking import asking_portal_in
from tests.e2e.visit import asked, audit, calm, new_session, signed_in
from tests.e2e.witness import Quiet
from tests.pauses import pauses
from tests.portal import Portal
from tests.trials import whole_only


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = asking_portal_in(tmp_path_factory.mktemp("roles"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture(scope="module")
def tokens(portal: Portal) -> dict[str, str]:
    roles = ("view", "operate", "decide")
    return {
        role: portal.run("token", "add", f"a-{role}", "--role", role).stdout.strip()
        for role in roles
    }


@pytest.fixture
def quietly(page: Page) -> Iterator[Page]:
    """Nothing that is barred was tried: no answer of the server says no."""
    quiet = Quiet(page)
    yield page
    quiet.check()


def barred(control: Locator, needed: str) -> None:
    expect(control).to_be_disabled()
    expect(control).to_have_attribute("title", re.compile(f"the role {needed}. Ask the owner"))


def item_of(portal: Portal, session: str) -> str:
    pause = pauses()
    for _ in range(200):
        found = asked(portal, "GET", f"/api/v1/inbox?session={session}").json()["items"]
        if found:
            return str(found[0]["id"])
        time.sleep(next(pause))
    raise AssertionError("nothing waits")


def test_a_viewer_reads_a_session_and_sees_why_there_is_no_more(
    portal: Portal, quietly: Page, tokens: dict[str, str]
) -> None:
    session = new_session(portal, "touch it")
    page = signed_in(quietly, portal, tokens["view"])
    page.goto(f"{portal.url}/index.html?session={session}")
    composer = page.get_by_role("region", name="Message", exact=True)
    expect(composer.get_by_role("note")).to_contain_text("Your role is view.")
    expect(composer.get_by_label("Your message")).to_be_disabled()
    barred(composer.get_by_role("button", name="Close Session"), "operate")
    card = page.get_by_role("region", name="Permission request")
    barred(card.get_by_role("button", name="Allow once"), "decide")
    barred(card.get_by_role("button", name="Always allow"), "own")
    card.focus()
    page.keyboard.press("a")
    page.keyboard.press("Control+Enter")
    audit(calm(page))
    assert item_of(portal, session), "it still waits"


def test_a_viewer_starts_nothing(portal: Portal, quietly: Page, tokens: dict[str, str]) -> None:
    page = signed_in(quietly, portal, tokens["view"])
    page.goto(f"{portal.url}/index.html")
    form = page.get_by_role("form", name="Start a session")
    barred(form.get_by_role("button", name="Start"), "operate")
    expect(form.get_by_role("note")).to_contain_text("Your role is view.")
    page.goto(f"{portal.url}/jobs.html?wb={portal.work}#job=sample")
    barred(page.get_by_role("button", name="Start Job"), "operate")
    page.keyboard.press("Control+k")
    page.keyboard.type("stop server")
    expect(page.get_by_role("option", name=re.compile("Stop Server"))).to_have_count(0)


def test_who_decides_allows_once_and_writes_no_rule(
    portal: Portal, quietly: Page, tokens: dict[str, str]
) -> None:
    session = new_session(portal, "touch it")
    item_of(portal, session)
    page = signed_in(quietly, portal, tokens["decide"])
    page.goto(f"{portal.url}/index.html?session={session}")
    card = page.get_by_role("region", name="Permission request")
    barred(card.get_by_role("button", name="Always allow"), "own")
    card.get_by_role("button", name="Allow once").click()
    expect(card.get_by_role("button", name="Allow once")).to_have_count(0)


@whole_only
def test_settings_show_who_one_is_and_what_only_owners_change(
    portal: Portal, quietly: Page, tokens: dict[str, str]
) -> None:
    page = signed_in(quietly, portal, tokens["operate"])
    page.goto(f"{portal.url}/settings.html")
    access = page.get_by_role("region", name="Access")
    expect(access).to_contain_text("Signed in as a-operate with the role operate")
    barred(page.get_by_role("button", name="Add a rule"), "own")
    barred(page.get_by_label("File or folder to trust"), "own")
    barred(page.get_by_role("button", name="Stop Server"), "own")
    acts = page.get_by_role("region", name="Audit")
    expect(acts.get_by_role("note")).to_contain_text("you need the role own")
    expect(acts.get_by_role("row")).to_have_count(0)


def test_owners_read_the_audit_and_take_it_away(portal: Portal, quietly: Page) -> None:
    portal.run("token", "add", "shown", "--role", "view")
    page = signed_in(quietly, portal)
    page.goto(f"{portal.url}/settings.html#audit")
    acts = page.get_by_role("region", name="Audit")
    expect(acts.get_by_role("row").filter(has_text="Token shown added, role view")).to_have_count(1)
    with page.expect_download() as saved:
        acts.get_by_role("button", name="Download all as JSON Lines").click()
    assert saved.value.suggested_filename == "audit.jsonl"
    lines = saved.value.path().read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0])["event"]["kind"] in ("audit.server.started", "audit.token.changed")
    audit(calm(page))


@whole_only
def test_a_role_that_is_taken_away_is_noticed_with_the_first_refusal(
    portal: Portal, page: Page
) -> None:
    token = portal.run("token", "add", "loser", "--role", "own").stdout.strip()
    signed_in(page, portal, token).goto(f"{portal.url}/settings.html")
    panel = page.get_by_role("region", name="Rules")
    panel.get_by_role("button", name="Add a rule").click()
    portal.run("token", "change", "loser", "--role", "view")
    panel.get_by_label("Command").fill("ls")
    panel.get_by_role("button", name="Add rule").click()
    expect(panel.get_by_role("status")).to_contain_text("This needs the role own")
    barred(panel.get_by_role("button", name="Add a rule"), "own")
