"""The inbox over v1, against a real server: what waits, what a person says, and who said it."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from airboss.model.inbox_events import InboxItem
from airboss.model.states import STATES
from tests.contract.asking import INBOX, AskedGuest, asking_portal_in, refusal
from tests.contract.guest import only
from tests.contract.stories import told
from tests.portal import Portal


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = asking_portal_in(tmp_path_factory.mktemp("asking"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
async def guest(asking: Portal, anyio_backend: str) -> AsyncGenerator[AskedGuest]:
    """With nothing left that waits from the test before."""
    async with AskedGuest.of(asking) as guest:
        for item in await guest.waiting():
            await guest.do(item["session"], "close")
        yield guest


@asynccontextmanager
async def named(portal: Portal, name: str) -> AsyncGenerator[AskedGuest]:
    """Somebody with a token of that name."""
    made = portal.run("token", "add", name, "--role", "decide")
    assert made.returncode == 0, made.stderr
    headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
    async with httpx2.AsyncClient(base_url=portal.url, headers=headers, timeout=30) as http:
        yield AskedGuest(http, portal)
    assert portal.run("token", "remove", name).returncode == 0


async def test_what_waits_is_listed_oldest_first_and_by_what_it_is(guest: AskedGuest) -> None:
    """APR-1: the request says what it is about."""
    approval = await guest.ask("touch it")
    question = await guest.ask("which colour")
    answer = await guest.http.get(INBOX)
    told = answer.json()
    assert told["items"] == [approval, question]
    assert told["seq"] > 0
    asked = approval["asked"]
    command = f"touch {guest.portal.work}/made.txt"
    assert (asked["kind"], asked["subject"]["command"]) == ("approval.asked", command)
    assert (asked["severity"], asked["risk"]) == ("low", "Creates folders or empty files.")
    assert asked["choices"] == ["allow-once", "allow-always", "deny"]
    assert [one["id"] for one in asked["options"]] == ["exact", "program", "session"]
    assert question["asked"]["choices"] == ["Red", "Blue"]
    assert await guest.waiting(kind="approval") == [approval]
    assert await guest.waiting(kind="question") == [question]
    assert await guest.waiting(kind="limit") == []
    assert await guest.waiting(session=question["session"]) == [question]
    assert await guest.waiting(run="run_x") == []
    answer = await guest.http.get(INBOX, params={"kind": "riddle"})
    assert answer.status_code == 422
    view = await guest.show(approval["session"])
    assert view["items"] == [approval]


async def test_one_decision_releases_the_agent_and_has_the_name_of_its_token(
    guest: AskedGuest,
) -> None:
    """APR-5, APR-6."""
    item = await guest.ask("touch it")
    made = guest.portal.work / "made.txt"
    made.unlink(missing_ok=True)
    async with named(guest.portal, "ada") as ada:
        answer = await ada.say(item["id"], "decision", choice="allow-once")
    assert answer.status_code == 200, answer.text
    told = {name: answer.json()[name] for name in ("item", "outcome", "who", "answer", "rule")}
    assert told == {
        "item": item["id"],
        "outcome": "allow-once",
        "who": "ada",
        "answer": None,
        "rule": None,
    }
    await guest.until(item["session"], "idle")
    assert made.exists()
    assert await guest.waiting() == []
    events = await guest.events(item["session"])
    assert [one["by"] for one in only("permission.decided", events)] == ["person ada"]
    late = await guest.say(item["id"], "decision", choice="deny")
    words = "This was already decided: allow-once, by ada."
    assert refusal(late) == (409, "conflict", words)


async def test_a_no_is_told_to_the_agent_with_its_words(guest: AskedGuest) -> None:
    item = await guest.ask("write it")
    answer = await guest.say(item["id"], "decision", choice="deny", words="Not today.")
    assert (answer.status_code, answer.json()["outcome"]) == (200, "deny")
    await guest.until(item["session"], "idle")
    assert not (guest.portal.work / "hello.txt").exists()
    ended = only("tool.ended", await guest.events(item["session"]))[0]
    assert "owner denied it: Not today." in ended["error"]["message"]


async def test_what_is_always_allowed_is_a_rule_afterwards(guest: AskedGuest) -> None:
    item = await guest.ask("touch it")
    settled = (await guest.say(item["id"], "decision", choice="allow-always")).json()
    kept = (await guest.http.get("/api/v1/rules")).json()["items"]
    assert [(one["id"], one["rule"], one["who"]) for one in kept] == [
        (settled["rule"], item["asked"]["rule"], "owner")
    ]
    await guest.until(item["session"], "idle")
    await guest.turn(item["session"], "touch it")
    assert await guest.waiting() == []
    assert (await guest.http.delete(f"/api/v1/rules/{settled['rule']}")).status_code == 204


async def test_an_answer_that_is_none_is_refused_and_the_question_stays_open(
    guest: AskedGuest,
) -> None:
    """ASK-4, ASK-9."""
    item = await guest.ask("which colour")
    wrong = await guest.say(item["id"], "answer", answer="green")
    words = "“green” is not one of the choices: 1 Red, 2 Blue."
    assert refusal(wrong) == (422, "invalid_answer", words)
    assert await guest.waiting() == [item]
    answer = await guest.say(item["id"], "answer", answer=" blue ")
    assert (answer.status_code, answer.json()["answer"]) == (200, "Blue")
    await guest.until(item["session"], "idle")
    ended = only("tool.ended", await guest.events(item["session"]))[0]
    assert ended["result"]["content"] == "The person chose: Blue"


async def test_a_form_is_answered_with_its_fields(guest: AskedGuest) -> None:
    item = await guest.ask("fill in")
    wrong = await guest.say(item["id"], "answer", answer='{"city": "Rome", "days": 0}')
    status, code, detail = refusal(wrong)
    assert (status, code) == (422, "invalid_answer")
    assert "days" in detail
    answer = await guest.say(item["id"], "answer", answer='{"city": "Rome", "days": 2}')
    assert answer.status_code == 200, answer.text
    await guest.until(item["session"], "idle")


async def test_a_question_can_be_declined_and_an_approval_cannot(guest: AskedGuest) -> None:
    question, approval = await guest.ask("what name"), await guest.ask("touch it")
    assert (await guest.say(question["id"], "decline")).json()["outcome"] == "declined"
    await guest.until(question["session"], "idle")
    ended = only("tool.ended", await guest.events(question["session"]))[0]
    assert ended["result"]["content"].startswith("The person declined to answer.")
    for verb, body in (("decline", {}), ("answer", {"answer": "yes"})):
        status, code, detail = refusal(await guest.say(approval["id"], verb, **body))
        assert (status, code) == (422, "invalid")
        assert detail == "This is not a question. Approve or deny it."


async def test_what_cannot_be_decided_is_refused_in_words(guest: AskedGuest) -> None:
    """APR-7."""
    nothing = await guest.say("itm_nothing", "decision", choice="deny")
    assert refusal(nothing) == (404, "not_found", "There is no item itm_nothing.")
    item = await guest.ask("what name")
    question = await guest.say(item["id"], "decision", choice="deny")
    assert refusal(question) == (422, "invalid", "This is a question. Answer it instead.")
    for verb, body in (
        ("decision", {}),
        ("decision", {"choice": "perhaps"}),
        ("decision", {"choice": "deny", "colour": "red"}),
        ("decision", {"choice": "deny", "words": "x" * 2001}),
        ("answer", {"answer": "x" * 100_001}),
    ):
        assert (await guest.say(item["id"], verb, **body)).status_code == 422
    await guest.do(item["session"], "abort")
    gone = await guest.say(item["id"], "answer", answer="Ada")
    words = "This is no longer needed: the agent continued or was stopped."
    assert refusal(gone) == (409, "conflict", words)


async def test_the_stream_says_what_comes_and_goes_from_any_point(guest: AskedGuest) -> None:
    seq = (await guest.http.get(INBOX)).json()["seq"]
    item = await guest.ask("what name")
    await guest.say(item["id"], "answer", answer="Ada")
    arrived, settled = await guest.heard_of(2, seq)
    told = arrived.data["event"]
    assert (told["kind"], InboxItem(**told["item"])) == ("inbox.arrived", InboxItem(**item))
    assert settled.data["event"] == {
        "kind": "inbox.settled",
        "item": item["id"],
        "session": item["session"],
        "outcome": "answered",
        "who": "owner",
    }
    assert arrived.id
    again = await guest.heard_of(1, 0, last_id=str(arrived.id))
    assert again == [settled]
    page = (await guest.http.get(f"{INBOX}/events", params={"after": seq})).json()
    assert page["items"] == [arrived.data, settled.data]
    answer = await guest.http.get(f"{INBOX}/stream", headers={"Last-Event-ID": "x"})
    assert answer.status_code == 422


async def test_whoever_reads_a_question_in_its_session_can_answer_it_at_once(
    guest: AskedGuest,
) -> None:
    """The list may be a moment behind the session's own stream."""
    session = await guest.open()
    for _ in range(3):
        receipt = await guest.prompt(session, "what name")
        asked = (await guest.follow_to(session, "question.asked", receipt["seq"]))[-1]["event"]
        answer = await guest.say(asked["item"], "answer", answer="Ada")
        assert answer.status_code == 200, answer.text
        await guest.until(session, "idle")


async def test_who_was_first_is_known_to_the_next_server_too(tmp_path: Path) -> None:
    """APR-7: and what a session of a person asked waits on."""
    portal = asking_portal_in(tmp_path)
    portal.start()
    try:
        async with AskedGuest.of(portal) as guest:
            decided, left = await guest.ask("touch it"), await guest.ask("what name")
            answer = await guest.say(decided["id"], "decision", choice="deny")
            assert answer.status_code == 200, answer.text
        portal.kill()
        portal.start()
        async with AskedGuest.of(portal) as guest:
            late = await guest.say(decided["id"], "decision", choice="allow-once")
            assert refusal(late)[2] == "This was already decided: deny, by owner."
            answer = await guest.say(left["id"], "answer", answer="Ada")
            assert answer.status_code == 200, answer.text
            assert await guest.waiting() == []
    finally:
        portal.stop()


async def test_nobody_decides_without_a_token(guest: AskedGuest) -> None:
    item = await guest.ask("touch it")
    headers = {"Authorization": "Bearer wrong"}
    for method, path in (
        ("GET", INBOX),
        ("GET", f"{INBOX}/stream"),
        ("POST", f"{INBOX}/{item['id']}/decision"),
    ):
        sent = {"choice": "allow-once"} if method == "POST" else None
        answer = await guest.http.request(method, path, headers=headers, json=sent)
        assert answer.status_code == 401
    assert await guest.waiting() == [item]


async def test_a_page_of_the_inbox_is_compared_as_of_every_event(guest: AskedGuest) -> None:
    first = await guest.ask("touch it")
    await guest.ask("which colour")
    assert (await guest.say(first["id"], "decision", choice="deny")).status_code == 200
    seq = (await guest.http.get(INBOX)).json()["seq"]
    state = STATES["inbox"]("inbox")
    events = (await guest.http.get(f"{INBOX}/events", params={"limit": 1000})).json()["items"]
    assert events[-1]["seq"] == seq
    for one in events:
        answer = await guest.digest("inbox", one["seq"], told(state, one))
        assert answer["same"] is True, one
    assert (await guest.digest("inbox", seq, "0" * 16))["same"] is False
