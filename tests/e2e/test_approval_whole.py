"""What somebody decides about is on the page, however long it is; what is too long is not asked."""

import json
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.sessions import Person, at_page
from tests.e2e.visit import asked
from tests.e2e.witness import Quiet
from tests.portal import Portal

LONG = "echo " + "x" * 64_500 + "; touch {cwd}/PWN"
# In quotes: the runtime itself takes long over so many commands.
MARKS = "echo '" + "a;" * 200_000 + "needle" + "b;" * 100_000 + "'; touch {cwd}/PWN"
BLANK = "echo a" + "\n" * 1_500 + "touch {cwd}/PWN"
JOINED = "./test\u200d.sh"


def calling(when: str, tool: str, **arguments: str) -> dict[str, object]:
    return {
        "when": when,
        "steps": [{"call": {"tool": tool, "arguments": arguments}}, {"say": "Done."}],
    }


def running(when: str, command: str) -> dict[str, object]:
    return calling(when, "bash", command=command, description="as asked")


SCRIPT = json.dumps(
    {
        "models": [{"id": "rehearsal", "name": "Rehearsal", "multiplier": 0}],
        "rules": [
            running("at length", LONG),
            # Once: they are more than the model's context, and the runtime may begin again.
            {**running("many marks", MARKS), "times": 1},
            running("far below", BLANK),
            running("joined", JOINED),
            {**running("too much", "echo " + "x" * 1_100_000 + "; touch {cwd}/PWN"), "times": 1},
            calling(
                "write much",
                "create",
                path="{cwd}/made.sh",
                file_text="true\n" * 20_000 + "touch PWN\n",
            ),
            calling(
                "write wide",
                "create",
                path="{cwd}/wide.sh",
                file_text="true" + " " * 1_000 + "; touch PWN\n",
            ),
            {"steps": [{"say": "Done."}]},
        ],
    }
)


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("whole"), ("--permissions", "ask"), script=SCRIPT)
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
def person(portal: Portal, page: Page, quiet: Quiet) -> Iterator[Person]:
    del quiet  # it listens from the beginning
    (portal.work / "PWN").unlink(missing_ok=True)
    person = at_page(portal, page)
    yield person
    asked(portal, "POST", f"/api/v1/sessions/{person.session}/close")


def card_of(person: Person, request: str) -> Locator:
    person.says(request)
    card = person.log.locator(".ask").last
    expect(card.get_by_role("button", name="Allow once")).to_be_visible(timeout=20_000)
    return card


def is_in_view(place: Locator) -> bool:
    """Not only in the document: inside every box around it that scrolls."""
    return place.evaluate(
        """element => {
            const own = element.getBoundingClientRect();
            for (let box = element.parentElement; box; box = box.parentElement) {
                if (!/auto|scroll|clip|hidden/.test(getComputedStyle(box).overflowY)) continue;
                if (box.matches("html, body, main, [role=log], .talk, .upper")) continue;
                const around = box.getBoundingClientRect();
                if (own.bottom > around.bottom + 1 || own.top < around.top - 1) return false;
                if (own.right > around.right + 1) return false;
            }
            return own.height > 0;
        }"""
    )


def test_the_end_of_a_long_command_is_seen_with_its_separator_marked(
    person: Person, quiet: Quiet
) -> None:
    card = card_of(person, "at length")
    expect(card).to_contain_text("(shortened)")
    expect(card).to_contain_text("characters are hidden, with no separators")
    mark = card.locator("pre .sep", has_text=";")
    expect(mark).to_have_count(1)
    assert is_in_view(mark)
    expect(card.get_by_role("group", name="Command, end")).to_contain_text("; touch /")
    asked_for = person.events("approval.asked")[-1]["subject"]["command"]
    assert asked_for == LONG.replace("{cwd}", str(person.portal.work))
    card.get_by_role("button", name="Show all").click()
    whole = card.get_by_role("group", name="Command", exact=True)
    whole.focus()
    person.page.keyboard.press("End")
    expect(whole.locator(".sep")).to_be_visible()
    card.get_by_role("button", name="Allow once").click()
    person.is_idle()
    assert (person.portal.work / "PWN").exists(), "what was shown is what ran"
    quiet.check()


def test_what_stands_far_below_in_a_command_is_seen(person: Person) -> None:
    card = card_of(person, "far below")
    end = card.get_by_role("group", name="Command, end")
    expect(end).to_contain_text("touch /")
    assert end.evaluate("box => box.scrollTop + box.clientHeight >= box.scrollHeight - 1")
    expect(card.locator("pre .sep").first).to_contain_text("⏎")
    card.get_by_role("button", name="Deny", exact=False).first.click()
    person.is_idle()


def test_a_flood_of_marks_leaves_the_page_usable_and_is_found_in(
    person: Person, quiet: Quiet
) -> None:
    card = card_of(person, "many marks")
    expect(card).to_contain_text("separators")
    begun = time.monotonic()
    card.get_by_role("button", name="Show all").click()
    search = card.get_by_role("searchbox", name="Search")
    search.fill("needle")
    expect(card.get_by_role("status").first).to_have_text("1 of 1")
    found = card.locator("pre mark")
    expect(found).to_have_text("needle")
    assert is_in_view(found)
    assert time.monotonic() - begun < 20, "it is drawn as far as it is looked at"
    assert card.locator(".sep").count() < 50_000
    card.get_by_role("button", name="Deny", exact=False).first.click()
    expect(person.log.locator(".call .fact.bad").first).to_contain_text("Denied")
    quiet.check()


def test_what_cannot_be_seen_in_a_command_is_seen(person: Person) -> None:
    card = card_of(person, "joined")
    expect(card.locator("header")).to_contain_text("Run ./test⟨U+200D⟩.sh?")
    expect(card.get_by_role("group", name="Command")).to_have_text("./test⟨U+200D⟩.sh")
    card.get_by_role("button", name="Deny", exact=False).first.click()
    person.is_idle()


def test_the_end_of_a_long_change_is_seen(person: Person) -> None:
    card = card_of(person, "write much")
    last = card.get_by_role("group", name="Change, end").locator(".add").last
    expect(last).to_contain_text("+")
    expect(card.get_by_role("group", name="Change, end")).to_contain_text("+touch PWN")
    assert is_in_view(last)
    card.get_by_role("button", name="Deny", exact=False).first.click()
    person.is_idle()


def test_a_wide_line_of_a_change_is_wrapped(person: Person) -> None:
    card = card_of(person, "write wide")
    line = card.locator(".diff li", has_text="touch PWN")
    # Its colours come a moment later, and draw it anew: a click in that moment may be lost.
    expect(line.locator("span span").first).to_be_visible()
    assert is_in_view(line.locator("span").first)
    card.get_by_role("button", name="Deny", exact=False).first.click()
    person.is_idle()


def test_the_inbox_shows_the_same(person: Person) -> None:
    card_of(person, "at length")
    person.page.goto(f"{person.portal.url}/inbox.html")
    end = person.page.get_by_role("group", name="Command, end")
    expect(end).to_contain_text("; touch /")
    assert is_in_view(end.locator(".sep"))


def test_what_is_too_long_to_show_is_refused_before_anybody_is_asked(person: Person) -> None:
    person.says("too much")
    person.is_idle()
    row = person.log.locator(".call").last  # the call and its refusal are one row
    expect(row.locator(".ch")).to_contain_text("Denied: too long to show")
    assert person.events("approval.asked") == []
    decided = person.events("permission.decided")[0]
    assert not decided["allowed"]
    assert "in smaller" in decided["reason"]
    told = person.events("tool.ended")[0]
    assert decided["reason"] in json.dumps(told, ensure_ascii=False), "the agent is told why"
    assert not (person.portal.work / "PWN").exists()
