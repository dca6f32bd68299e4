"""What an agent asks a person, in the conversation of its session."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.sessions import Person, portal_in
from tests.e2e.visit import asked, audit, calm, new_session
from tests.portal import Portal
from tests.trials import whole_only


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = portal_in(tmp_path_factory.mktemp("asks"), "--permissions", "ask")
    yield portal
    portal.stop()


@pytest.fixture(autouse=True)
def nothing_is_written_yet(portal: Portal) -> None:
    """A file is created once, in whichever order the tests run."""
    (portal.work / "hello.txt").unlink(missing_ok=True)


def settled(person: Person) -> list[tuple[str, str | None]]:
    return [(event["outcome"], event.get("answer")) for event in person.events("item.settled")]


def test_a_permission_request_appears_with_its_choices_and_waits(person: Person) -> None:
    person.says("write it")
    card = person.log.locator(".ask").last
    expect(card.get_by_role("button", name="Allow once")).to_be_visible(timeout=15_000)
    expect(card.get_by_role("button", name="Deny", exact=False).first).to_be_visible()
    expect(card).to_contain_text("hello.txt")
    expect(card).to_contain_text(f"Folder {person.portal.work}")
    expect(card).to_contain_text("Requested by this session, started by owner")
    expect(person.call("hello.txt").locator(".ch")).to_contain_text("Waiting for you")
    expect(person.page.locator(".sub .st")).to_have_text("Waiting for you")
    expect(person.page.get_by_text("1 request above is waiting for you")).to_be_visible()
    person.page.reload()
    expect(card.get_by_role("button", name="Allow once")).to_be_visible(timeout=15_000)
    assert not (person.portal.work / "hello.txt").exists()
    # All of the page is there again, and nothing moves any more.
    expect(person.page.locator(".fresh")).to_have_text("Live", timeout=15_000)
    expect(card.get_by_role("list")).to_contain_text("there", timeout=15_000)
    card.get_by_role("button", name="Deny", exact=False).first.click()
    person.is_idle()
    assert settled(person) == [("deny", None)]
    assert not (person.portal.work / "hello.txt").exists()


@whole_only
def test_what_is_allowed_is_done_and_recorded(person: Person) -> None:
    person.says("write it")
    card = person.log.locator(".ask").last
    card.get_by_role("button", name="Allow once").click(timeout=15_000)
    person.is_idle()
    assert (person.portal.work / "hello.txt").read_text() == "hi\nthere\n"
    assert settled(person) == [("allow-once", None)]
    expect(card).to_have_count(0)
    row = person.call("Created")  # the call and its decision are one row
    expect(row.locator(".ch")).to_contain_text("Allowed once by owner")
    expect(person.log.locator(".call")).to_have_count(1)


def test_a_question_appears_with_its_choices_and_its_answer_is_recorded(person: Person) -> None:
    person.says("which colour")
    card = person.log.locator(".ask").last
    expect(card).to_contain_text("Which colour?", timeout=15_000)
    card.get_by_text("Blue").click()
    card.get_by_role("button", name="Answer", exact=True).click()
    expect(person.block("Message")).to_contain_text("A fine colour.", timeout=15_000)
    assert settled(person) == [("answered", "Blue")]
    expect(person.call("Asked Which colour?")).to_contain_text("“Blue”")


def test_always_allow_shows_what_each_way_writes_and_what_else_it_allows(person: Person) -> None:
    person.says("push hard")
    card = person.log.locator(".ask").last
    risk = "High riskOverwrites commits on the remote. Others can lose work."
    expect(card.locator(".risk")).to_have_text(risk)
    card.get_by_role("button", name="Always allow").click()
    ways = card.get_by_role("radio")
    expect(ways).to_have_count(4)
    expect(ways.first).to_be_checked()  # the narrowest
    rows = card.locator(".always label")
    expect(rows.nth(0)).to_contain_text("shell git push --force in ")
    expect(rows.nth(0)).to_contain_text("Nothing else")
    expect(rows.nth(1)).to_contain_text("shell git push * in ")
    expect(rows.nth(2)).to_contain_text("git reset --hard HEAD~3")
    expect(rows.nth(3)).to_contain_text("in this session")
    audit(calm(person.page))
    expect(card.get_by_role("button", name="Allow once")).to_be_enabled()  # for long enough here
    card.focus()
    person.page.keyboard.press("4")
    expect(ways.nth(3)).to_be_checked()
    expect(card).to_contain_text("This rule ends with the session.")
    person.page.keyboard.press("Enter")
    person.is_idle()
    [event] = person.events("item.settled")
    assert (event["outcome"], event.get("rule")) == ("allow-always", None)
    assert event["allows"] == {"verdict": "allow", "wish": "shell"}
    person.says("push hard")
    person.is_idle()
    assert len(person.events("approval.asked")) == 1, "it is not asked again in this session"
    expect(person.call("git push").locator(".ch")).to_contain_text("Allowed for this session")


@whole_only
def test_a_call_that_a_rule_allowed_says_so_in_its_row(person: Person) -> None:
    rule = {"verdict": "allow", "wish": "write", "path": "hello.*"}
    made = asked(person.portal, "POST", "/api/v1/rules", {"rule": rule}).json()
    person.says("write it")
    person.is_idle()
    asked(person.portal, "DELETE", f"/api/v1/rules/{made['id']}")
    row = person.call("Created")
    expect(row.locator(".ch")).to_contain_text("Allowed by rule write hello.*")
    row.locator(".tog").click()
    expect(row).to_contain_text(f"Allowed by rule {made['id']}: write hello.* → allow")
    expect(person.log.locator(".call")).to_have_count(1)


@whole_only
def test_an_edit_behind_anothers_approval_names_it_and_it_is_decided_here(person: Person) -> None:
    edited = person.portal.work / "hello.py"
    edited.write_text("1\n", encoding="utf-8")
    first = Person(person.portal, person.page, new_session(person.portal, "change it"))
    inbox = person.page.get_by_role("navigation", name="Pages").get_by_role("link", name="Inbox 1")
    expect(inbox).to_be_visible(timeout=15_000)
    person.says("change it, too")
    row = person.call("hello.py")
    expect(row.locator(".ch")).to_contain_text("Waiting for another session", timeout=15_000)
    expect(row).to_contain_text("Waiting for the approval Change hello.py? in session change it.")
    expect(person.page.locator(".sub .st")).to_have_text("Waiting for another session")
    where = row.get_by_role("link", name="change it")
    expect(where).to_have_attribute("href", f"/index.html?session={first.session}")
    expect(person.log.locator(".ask")).to_have_count(0)
    row.get_by_role("button", name="Decide here").click()
    expect(row.locator(".asked-by").get_by_role("link")).to_have_text("change it")
    audit(calm(person.page))
    row.get_by_role("button", name="Deny", exact=False).first.click()
    card = person.log.locator(".ask").last
    expect(row.locator(".ch")).to_contain_text("Waiting for you", timeout=15_000)
    expect(person.log).not_to_contain_text("Waiting for the approval")
    assert settled(first) == [("deny", None)]
    card.get_by_role("button", name="Deny", exact=False).first.click()
    person.is_idle()
    assert settled(person) == [("deny", None)]
