"""Many that wait: equal ones decided together, a rule suggested, and a device that says so."""

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.contract.asking import asking_portal_in
from tests.e2e.visit import asked, audit, fits, new_session, signed_in, window
from tests.pauses import pauses
from tests.portal import Portal
from tests.trials import whole_only

INBOX = "/api/v1/inbox"

# What the browser would show: it has no place to show it where nobody looks.
_DEVICE = """
window.shown = []; window.badges = [];
window.Notification = class {
  static permission = "default";
  static async requestPermission() { return (this.permission = "granted"); }
  constructor(title, { tag }) { window.shown.push([title, tag]); }
};
navigator.setAppBadge = async (count) => window.badges.push(count);
navigator.clearAppBadge = async () => window.badges.push(0);
document.hasFocus = () => false;
"""


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = asking_portal_in(tmp_path_factory.mktemp("groups"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture(autouse=True)
def leave_nothing(portal: Portal) -> Iterator[None]:
    yield
    for item in waiting(portal):
        asked(portal, "POST", f"/api/v1/sessions/{item['session']}/close")


def waiting(portal: Portal) -> list[dict[str, str]]:
    return asked(portal, "GET", INBOX).json()["items"]


def wait(portal: Portal, *texts: str) -> list[str]:
    """Sessions that wait for a person, in this order."""
    sessions: list[str] = []
    for text in texts:
        sessions.append(new_session(portal, text))
        until = time.monotonic() + 20
        pause = pauses()
        while sessions[-1] not in [item["session"] for item in waiting(portal)]:
            assert time.monotonic() < until
            time.sleep(next(pause))
    return sessions


def test_equal_requests_are_chosen_and_decided_together_by_keys(
    portal: Portal, browser: Browser
) -> None:
    first, second, third, _asks = wait(portal, "touch it", "touch it", "touch it", "which colour")
    page = window(browser, portal)
    page.goto(f"{portal.url}/inbox.html")
    expect(page.get_by_text("4 waiting for you, in 2 groups")).to_be_visible()
    rows = page.locator(".pick")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("3 identical requests")
    expect(rows.last).to_contain_text("Which colour?")  # younger, and no risk
    page.keyboard.press("j")
    expect(page.locator(".ask[tabindex]")).to_contain_text("Which colour?")
    page.keyboard.press("k")
    card = page.locator(".ask[tabindex]")
    expect(card).to_be_focused()
    expect(card).to_contain_text("3 of 3 selected")
    page.keyboard.press("x")
    expect(card).to_contain_text("2 of 3 selected")
    expect(card.get_by_role("checkbox").first).not_to_be_checked()
    expect(card.get_by_role("button", name="Deny these 2")).to_be_visible()
    allow = card.get_by_role("button", name="Allow these 2 once")
    expect(allow).to_be_enabled()
    audit(page)
    page.keyboard.press("a")
    expect(page.locator("#content").get_by_text("2 waiting for you", exact=True)).to_be_visible()
    left = [item["session"] for item in waiting(portal)]
    assert first in left
    assert second not in left
    assert third not in left


@whole_only
def test_equal_requests_are_always_allowed_together_by_one_rule(
    portal: Portal, browser: Browser
) -> None:
    sessions = wait(portal, "touch it", "touch it", "touch it")
    page = window(browser, portal)
    page.goto(f"{portal.url}/inbox.html")
    card = page.locator(".ask[tabindex]")
    expect(card).to_contain_text("3 of 3 selected")
    card.get_by_role("button", name="Always allow").click()
    ways = card.get_by_role("radio")
    expect(ways.first).to_be_checked()  # the narrowest
    expect(card.locator(".always label").first.locator("code")).to_have_count(1)
    audit(page)
    expect(card.get_by_role("button", name="Allow these 3 once")).to_be_enabled()
    card.focus()
    page.keyboard.press("2")
    expect(ways.nth(1)).to_be_checked()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Nothing is waiting for you")).to_be_visible()
    [kept] = asked(portal, "GET", "/api/v1/rules").json()["items"]
    asked(portal, "DELETE", f"/api/v1/rules/{kept['id']}")
    outcomes = [settled(portal, session) for session in sessions]
    assert outcomes == [["allow-always"], ["allow-once"], ["allow-once"]]


def settled(portal: Portal, session: str) -> list[str]:
    events = asked(portal, "GET", f"/api/v1/sessions/{session}/events?limit=1000").json()["items"]
    said = [recorded["event"] for recorded in events]
    return [event["outcome"] for event in said if event["kind"] == "item.settled"]


def test_the_fifth_yes_to_the_same_kind_suggests_a_rule_that_decides_what_waits(
    portal: Portal, browser: Browser
) -> None:
    for _ in range(5):
        wait(portal, "touch it")
        [item] = waiting(portal)
        said = asked(portal, "POST", f"{INBOX}/{item['id']}/decision", {"choice": "allow-once"})
        assert said.status_code == 200
    wait(portal, "touch it", "which colour")
    page = window(browser, portal)
    page.goto(f"{portal.url}/inbox.html")
    line = page.get_by_role("region", name="Suggestion")
    expect(line).to_contain_text("times today")
    expect(line).to_contain_text("would also allow 1 of the requests below")
    expect(line.locator("code")).to_contain_text("→ allow")
    audit(page)
    line.get_by_role("button", name="Add rule").click()
    expect(page.locator(".pick")).to_have_count(1)
    expect(line).to_have_count(0)
    [kept] = asked(portal, "GET", "/api/v1/rules").json()["items"]
    assert kept["rule"]["verdict"] == "allow"
    asked(portal, "DELETE", f"/api/v1/rules/{kept['id']}")


@whole_only
def test_on_a_phone_the_tapped_item_opens_in_place_and_closes_again(
    portal: Portal, browser: Browser
) -> None:
    wait(portal, "touch it", "touch it", "which colour")
    page = window(browser, portal, width=390)
    page.goto(f"{portal.url}/inbox.html")
    rows = page.locator(".list .item")
    expect(rows.first.locator(".ask")).to_contain_text("2 of 2 selected")
    audit(page)
    page.locator(".pick").last.click()
    expect(rows.last.locator(".ask")).to_contain_text("Red")
    expect(page.locator(".ask")).to_have_count(1)
    fits(page)
    page.locator(".pick").last.click()
    expect(page.locator(".ask")).to_have_count(0)


@whole_only
def test_a_device_tells_what_comes_only_after_somebody_turned_it_on(
    portal: Portal, page: Page
) -> None:
    page.add_init_script(_DEVICE)
    signed_in(page, portal).goto(f"{portal.url}/inbox.html")
    expect(page.get_by_role("heading", name="Nothing is waiting for you")).to_be_visible()
    wait(portal, "touch it")
    expect(page).to_have_title("(1) Inbox · Airboss")
    assert page.evaluate("[shown.length, badges.at(-1)]") == [0, 1]
    page.get_by_role("button", name="Notify me on this device").click()
    expect(page.get_by_role("button", name="Turn notifications off")).to_be_visible()
    wait(portal, "which colour")
    expect(page).to_have_title("(2) Inbox · Airboss")
    [[title, tag]] = page.evaluate("shown")
    assert (title, tag in [item["id"] for item in waiting(portal)]) == ("Which colour?", True)
    assert page.evaluate("badges.at(-1)") == 2
