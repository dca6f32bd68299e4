"""All that waits for a person, on one page: decided there, by hand or by key, and only there."""

import re
import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.contract.asking import asking_portal_in
from tests.e2e.visit import asked, audit, new_session, signed_in, usable_by_all
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import trial, whole_only

INBOX = "/api/v1/inbox"


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = asking_portal_in(tmp_path_factory.mktemp("inbox"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
def inbox(portal: Portal, page: Page) -> Iterator[Page]:
    """The page, with nothing left that waits from the test before."""
    leave_nothing(portal)
    quiet = Quiet(page)
    signed_in(page, portal).goto(f"{portal.url}/inbox.html")
    expect(page.get_by_role("heading", name="Nothing is waiting for you")).to_be_visible()
    yield page
    quiet.check(but="422")


def leave_nothing(portal: Portal) -> None:
    for item in waiting(portal):
        asked(portal, "POST", f"/api/v1/sessions/{item['session']}/close")


def readable(page: Page) -> None:
    """The card has been there for as long as one needs to see it."""
    expect(cards(page).locator(".acts .btn").first).to_be_enabled()


def waiting(portal: Portal) -> list[dict[str, str]]:
    return asked(portal, "GET", INBOX).json()["items"]


def outcomes(portal: Portal, session: str) -> list[tuple[str, str | None]]:
    told = asked(portal, "GET", f"/api/v1/sessions/{session}/events?limit=500").json()["items"]
    events = [one["event"] for one in told]
    return [(e["outcome"], e.get("answer")) for e in events if e["kind"] == "item.settled"]


def cards(page: Page) -> Locator:
    return page.locator(".ask[tabindex]")


def test_an_item_appears_by_itself_is_counted_and_is_allowed(portal: Portal, inbox: Page) -> None:
    session = new_session(portal, "touch it")
    made = portal.work / "made.txt"
    made.unlink(missing_ok=True)
    card = cards(inbox)
    expect(card).to_contain_text(f"touch {portal.work}/made.txt", timeout=20_000)
    expect(inbox).to_have_title("(1) Inbox · Airboss")
    nav = inbox.get_by_role("navigation", name="Pages")
    expect(nav.get_by_role("link", name="Inbox 1")).to_have_attribute("aria-current", "page")
    expect(card).to_contain_text(re.compile(r"Waiting since \d\d:\d\d"))
    expect(card).not_to_contain_text("automatically")
    expect(card.locator(".risk")).to_have_text("Low riskCreates folders or empty files.")
    expect(card.get_by_role("link", name="touch it")).to_be_visible()
    expect(card.get_by_role("button", name="Allow once")).not_to_be_focused()
    card.get_by_role("button", name="Allow once").click()
    expect(inbox.get_by_role("heading", name="Nothing is waiting for you")).to_be_visible()
    expect(inbox).to_have_title("Inbox · Airboss")
    expect(inbox.locator(".past li").first).to_contain_text("Allowed once")
    assert outcomes(portal, session) == [("allow-once", None)]
    until_exists = time.monotonic() + 10
    while not made.exists():
        assert time.monotonic() < until_exists
        time.sleep(0.05)


def test_keys_move_and_decide_and_the_focus_goes_to_the_next(portal: Portal, inbox: Page) -> None:
    first = new_session(portal, "touch it")
    expect(inbox.locator(".pick")).to_have_count(1, timeout=20_000)
    second = new_session(portal, "write it")
    expect(inbox.locator(".pick")).to_have_count(2, timeout=20_000)
    inbox.keyboard.press("d")
    inbox.keyboard.press("a")
    assert len(waiting(portal)) == 2, "no key decides while no card has the focus"
    inbox.keyboard.press("j")
    expect(cards(inbox)).to_contain_text("hello.txt")
    expect(cards(inbox)).to_be_focused()
    inbox.keyboard.press("k")
    expect(cards(inbox)).to_contain_text("made.txt")
    expect(cards(inbox)).to_be_focused()
    readable(inbox)
    inbox.keyboard.press("d")
    expect(cards(inbox)).to_contain_text("hello.txt")
    expect(cards(inbox)).to_be_focused()
    inbox.keyboard.press("Tab")
    inbox.keyboard.press("d")
    assert [item["session"] for item in waiting(portal)] == [second]
    inbox.keyboard.press("Shift+Tab")
    expect(cards(inbox)).to_be_focused()
    readable(inbox)
    inbox.keyboard.press("d")
    expect(inbox.get_by_role("heading", name="Nothing is waiting for you")).to_be_visible()
    assert outcomes(portal, first) == [("deny", None)]
    assert outcomes(portal, second) == [("deny", None)]


@whole_only
def test_what_is_pressed_twice_does_not_decide_the_next_one(portal: Portal, inbox: Page) -> None:
    first, second = two_wait(portal, inbox)
    inbox.keyboard.press("j")
    inbox.keyboard.press("k")
    expect(cards(inbox)).to_contain_text("made.txt")
    readable(inbox)
    for _ in range(12):  # on a slow day, by somebody without patience
        inbox.keyboard.press("a")
        time.sleep(0.15)
    assert outcomes(portal, first) == [("allow-once", None)]
    assert [item["session"] for item in waiting(portal)] == [second]
    expect(cards(inbox)).to_contain_text("appeared just now")
    readable(inbox)
    inbox.keyboard.press("d")
    expect(inbox.get_by_role("heading", name="Nothing is waiting for you")).to_be_visible()
    assert outcomes(portal, second) == [("deny", None)]


def test_a_double_click_does_not_decide_the_next_one(portal: Portal, inbox: Page) -> None:
    first, second = two_wait(portal, inbox)
    button = cards(inbox).get_by_role("button", name="Allow once")
    expect(button).to_be_enabled()
    place = button.bounding_box()
    assert place is not None
    # By the page's own clock: by ours, on a busy machine, they come too far apart.
    inbox.evaluate(
        """([x, y]) => new Promise(done => {
            let more = 5;
            const timer = setInterval(() => {
                document.elementFromPoint(x, y).click();
                if (document.querySelectorAll(".pick").length < 2) more -= 1;
                if (more > 0) return;
                clearInterval(timer);
                done();
            }, 100);
        })""",
        [place["x"] + 10, place["y"] + 10],
    )
    assert outcomes(portal, first) == [("allow-once", None)]
    assert [item["session"] for item in waiting(portal)] == [second]


def two_wait(portal: Portal, inbox: Page) -> list[str]:
    """Two requests, the first of which is shown."""
    sessions: list[str] = []
    for text in ("touch it", "touch more"):
        sessions.append(new_session(portal, text))
        expect(inbox.locator(".pick")).to_have_count(len(sessions), timeout=20_000)
    return sessions


def test_a_no_can_say_why_and_the_agent_reads_it(portal: Portal, inbox: Page) -> None:
    session = new_session(portal, "touch it")
    card = cards(inbox)
    card.get_by_role("button", name="Deny and say why").click(timeout=20_000)
    reason = card.get_by_label("Reason (the agent sees it)")
    expect(reason).to_be_focused()
    reason.press_sequentially("add nothing, daddy")
    reason.press("Enter")
    expect(inbox.get_by_role("heading", name="Nothing is waiting for you")).to_be_visible()
    assert outcomes(portal, session) == [("deny", "add nothing, daddy")]


@whole_only
def test_a_change_is_shown_line_by_line_with_what_hides_in_it(portal: Portal, inbox: Page) -> None:
    new_session(portal, "write it")
    lines = cards(inbox).locator(".diff li.a")
    expect(lines.first).to_contain_text("hi ⟨U+001B⟩[31mred", timeout=20_000)


def test_a_question_is_answered_by_its_number(portal: Portal, inbox: Page) -> None:
    session = new_session(portal, "which colour")
    card = cards(inbox)
    expect(card).to_contain_text("Which colour?", timeout=20_000)
    expect(card.get_by_role("button", name="Answer", exact=True)).to_be_disabled()
    card.focus()
    inbox.keyboard.press("2")
    expect(card.get_by_role("radio", name="Blue")).to_be_checked()
    card.get_by_role("button", name="Answer", exact=True).click()
    expect(inbox.locator(".past li").first).to_contain_text("Answered")
    assert outcomes(portal, session) == [("answered", "Blue")]


@whole_only
def test_words_of_ones_own_and_no_answer_are_answers_too(portal: Portal, inbox: Page) -> None:
    named = new_session(portal, "what name")
    cards(inbox).get_by_label("Your answer").fill("Ada", timeout=20_000)
    cards(inbox).get_by_role("button", name="Answer", exact=True).click()
    expect(inbox.get_by_role("heading", name="Nothing is waiting for you")).to_be_visible()
    left = new_session(portal, "what name")
    cards(inbox).get_by_role("button", name="Decline to answer").click(timeout=20_000)
    expect(inbox.get_by_role("heading", name="Nothing is waiting for you")).to_be_visible()
    assert outcomes(portal, named) == [("answered", "Ada")]
    assert outcomes(portal, left) == [("declined", None)]


@whole_only
def test_a_form_is_filled_in_and_says_what_is_wrong(portal: Portal, inbox: Page) -> None:
    session = new_session(portal, "fill in")
    card = cards(inbox)
    card.get_by_role("button", name="Answer", exact=True).click(timeout=20_000)
    expect(card).to_contain_text("This field is required.")
    card.get_by_label("city").fill("Oslo")
    card.get_by_label("days").fill("0")
    card.get_by_role("button", name="Answer", exact=True).click()
    expect(card.get_by_role("alert")).to_contain_text("0 is less than the minimum of 1")
    card.get_by_label("days").fill("2")
    card.get_by_label("flies").check()
    card.get_by_role("button", name="Answer", exact=True).click()
    expect(inbox.get_by_role("heading", name="Nothing is waiting for you")).to_be_visible()
    [(outcome, answer)] = outcomes(portal, session)
    assert (outcome, answer) == ("answered", '{"city": "Oslo", "days": 2, "flies": true}')


@whole_only
def test_what_somebody_else_decides_stays_in_view_and_says_so(portal: Portal, inbox: Page) -> None:
    new_session(portal, "touch it")
    expect(cards(inbox)).to_be_visible(timeout=20_000)
    [item] = waiting(portal)
    answer = asked(portal, "POST", f"{INBOX}/{item['id']}/decision", {"choice": "deny"})
    assert answer.status_code == 200
    expect(inbox.locator(".ask.done")).to_contain_text(re.compile(r"Denied by \w+, \d\d:\d\d"))


@whole_only
def test_the_palette_goes_to_a_session_and_closes_with_esc(portal: Portal, inbox: Page) -> None:
    new_session(portal, "what name")
    expect(cards(inbox)).to_be_visible(timeout=20_000)
    inbox.emulate_media(reduced_motion="reduce")  # what is half drawn has no contrast yet
    inbox.keyboard.press("Control+k")
    field = inbox.get_by_role("combobox", name="Search or run a command")
    expect(field).to_be_focused()
    inbox.keyboard.press("Escape")
    expect(field).to_have_count(0)
    inbox.keyboard.press("Control+k")
    field.fill("what na")
    expect(inbox.get_by_role("option", selected=True)).to_contain_text("what name")
    audit(inbox)
    inbox.keyboard.press("Escape")
    expect(field).to_have_count(0)
    inbox.keyboard.press("?")
    keys = inbox.get_by_role("heading", name="Keyboard shortcuts")
    expect(keys).to_be_visible()
    audit(inbox)
    inbox.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    inbox.keyboard.press("g")
    inbox.keyboard.press("t")
    expect(inbox).to_have_url(f"{portal.url}/settings.html")
    inbox.goto(f"{portal.url}/inbox.html")


@trial
def test_everybody_can_use_it_by_day_and_by_night(portal: Portal, browser: Browser) -> None:
    leave_nothing(portal)
    for text in ("touch it", "touch it", "write it", "which colour", "fill in"):
        new_session(portal, text)

    def first(page: Page) -> None:
        page.goto(f"{portal.url}/inbox.html")
        expect(page.locator(".pick")).to_have_count(4, timeout=20_000)

    def choose(name: str) -> Callable[[Page], None]:
        return lambda page: page.locator(".pick").filter(has_text=name).click()

    def always(name: str) -> Callable[[Page], None]:
        def opened(page: Page) -> None:
            if name not in cards(page).inner_text():
                choose(name)(page)
            cards(page).get_by_role("button", name="Always allow").click()
            expect(cards(page).get_by_role("radio").first).to_be_visible()

        return opened

    views = (always("made.txt"), always("hello.txt"), choose("Which colour"), choose("Where to"))
    usable_by_all(browser, portal, first, *views)
