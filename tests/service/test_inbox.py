"""An agent asks, a person decides: on the real runtime, with the one list that everybody reads."""

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from airboss.errors import Conflict, Invalid, NotFound, StoreUnavailable
from airboss.harness.gate import NeedsApproval
from airboss.model.events import PermissionDecided, ToolEnded
from airboss.model.inbox_events import (
    INBOX,
    ApprovalAsked,
    Choice,
    InboxItem,
    ItemSettled,
    QuestionAsked,
)
from airboss.model.rules import Rule
from airboss.runtime.hooks import ToolUse
from airboss.runtime.permission import permission_request
from tests.houses import on_a_file
from tests.log.doubt import away_in_a_commit, refused_in_doubt
from tests.service.house import ME, House, house_in

SCRIPT = """
rules:
  - when: "touch it"
    steps:
      - call: {tool: bash, arguments: {command: "touch {cwd}/made.txt", description: "make it"}}
      - say: "Done."
  - when: "write it"
    steps:
      - call: {tool: create, arguments: {path: "{cwd}/hello.txt", file_text: "hi"}}
      - say: "Done."
  - when: "look at it"
    steps:
      - call: {tool: view, arguments: {path: "{cwd}/notes.txt"}}
      - say: "Seen."
  - when: "which colour"
    steps:
      - call:
          tool: ask_user
          arguments: {question: "Which colour?", choices: ["Red", "Blue"], allow_freeform: false}
      - say: "Thanks."
  - when: "what name"
    steps:
      - call: {tool: ask_user, arguments: {question: "What name?"}}
      - say: "Thanks."
  - when: "fill in"
    steps:
      - call:
          tool: ask_user
          arguments:
            question: "Where to?"
            form:
              type: object
              properties: {city: {type: string}, days: {type: integer, minimum: 1}}
              required: [city]
      - say: "Thanks."
  - when: "two at once"
    steps:
      - calls:
          - {tool: ask_user, arguments: {question: "First?"}}
          - {tool: ask_user, arguments: {question: "Second?"}}
      - say: "Thanks."
  - when: "ask badly"
    steps:
      - call: {tool: ask_user, arguments: {choices: "red"}}
      - say: "Sorry."
"""


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    script = tmp_path / "script.yaml"
    async with house_in(tmp_path, permissions="ask", rehearsal=script) as house:
        yield house


async def waiting(house: House, count: int = 1) -> list[InboxItem]:
    async with asyncio.timeout(15):
        async with house.services.log.follow(INBOX, 0) as follower:
            while len(items := (await house.services.inbox.show()).items) != count:
                await follower.next(1)
    return list(items)


async def ask(house: House, text: str) -> InboxItem:
    session = await house.start()
    await house.sessions.prompt(session.id, text, ME)
    return (await waiting(house))[0]


async def test_what_an_agent_wants_waits_until_a_person_allows_it(house: House) -> None:
    """APR-1, APR-5: the request says what it is about, and one decision releases it."""
    item = await ask(house, "touch it")
    asked = item.asked
    assert isinstance(asked, ApprovalAsked)
    command = f"touch {house.work}/made.txt"
    assert (asked.wish, asked.subject.command, asked.severity) == ("shell", command, "low")
    assert asked.title.startswith("Run touch")
    assert asked.description.startswith("make it")
    assert asked.choices == ("allow-once", "allow-always", "deny")
    assert asked.expires_at is None, "it waits for as long as it takes"
    assert not (house.work / "made.txt").exists()
    settled = await house.services.decisions.decide(item.id, "allow-once", "ada")
    assert (settled.outcome, settled.who) == ("allow-once", "ada")
    await house.until(item.session, "idle", turns=1)
    assert (house.work / "made.txt").exists()
    story = await house.story(item.session)
    decided = [event for event in story if isinstance(event, PermissionDecided)]
    assert [(one.allowed, one.by) for one in decided] == [(True, "person ada")]
    assert (await house.sessions.show(item.session)).items == ()
    assert await waiting(house, 0) == []


async def test_a_no_is_told_to_the_agent_with_its_reason(house: House) -> None:
    item = await ask(house, "write it")
    assert isinstance(item.asked, ApprovalAsked)
    assert "+hi" in (item.asked.subject.diff or "")
    await house.services.decisions.decide(item.id, "deny", "ada", "Not today.")
    await house.until(item.session, "idle", turns=1)
    assert not (house.work / "hello.txt").exists()
    ended = next(event for event in await house.story(item.session) if isinstance(event, ToolEnded))
    assert ended.error
    assert "ada denied it: Not today." in ended.error.message


async def test_exactly_one_decision_counts_and_the_others_are_told_which(house: House) -> None:
    """APR-6, APR-7."""
    item = await ask(house, "touch it")
    decide = house.services.decisions.decide
    results: list[ItemSettled | Conflict] = []

    async def say(choice: Choice, who: str) -> None:
        try:
            results.append(await decide(item.id, choice, who))
        except Conflict as refusal:
            results.append(refusal)

    async with asyncio.TaskGroup() as group:
        group.create_task(say("deny", "ada"))
        group.create_task(say("allow-once", "bob"))
    refused = [one for one in results if isinstance(one, Conflict)]
    assert len(refused) == 1
    await house.until(item.session, "idle", turns=1)
    with pytest.raises(Conflict, match="already decided: deny, by ada"):
        await decide(item.id, "allow-once", "bob")
    assert not (house.work / "made.txt").exists()
    with pytest.raises(NotFound):
        await decide("itm_nothing", "deny", "ada")
    settled = [one for one in await house.story(item.session) if isinstance(one, ItemSettled)]
    assert [one.outcome for one in settled] == ["deny"]


async def test_what_is_allowed_until_the_session_ends_is_no_rule_and_ends_with_it(
    house: House,
) -> None:
    item = await ask(house, "touch it")
    decisions = house.services.decisions
    with pytest.raises(Invalid, match="exact, program, session"):
        await decisions.decide(item.id, "allow-always", "ada", option="everything")
    settled = await decisions.decide(item.id, "allow-always", "ada", option="session")
    assert (settled.outcome, settled.rule) == ("allow-always", None)
    assert settled.allows == Rule(verdict="allow", wish="shell")
    assert house.services.rules.current == ()
    await house.until(item.session, "idle", turns=1)
    await house.sessions.prompt(item.session, "touch it", ME)
    await house.until(item.session, "idle", turns=2)
    decided = [one for one in await house.story(item.session) if isinstance(one, PermissionDecided)]
    assert [one.by for one in decided] == ["person ada", "rule session"]
    other = await ask(house, "touch it")
    assert other.session != item.session, "another session asks"


async def test_what_is_always_allowed_is_not_asked_again(house: House) -> None:
    item = await ask(house, "touch it")
    settled = await house.services.decisions.decide(item.id, "allow-always", "ada")
    assert settled.rule is not None
    await house.until(item.session, "idle", turns=1)
    await house.sessions.prompt(item.session, "touch it", ME)
    await house.until(item.session, "idle", turns=2)
    decided = [one for one in await house.story(item.session) if isinstance(one, PermissionDecided)]
    assert [one.by for one in decided] == ["person ada", f"rule {settled.rule}"]
    assert [kept.who for kept in house.services.rules.current] == ["ada"]


@on_a_file
@pytest.mark.parametrize("lands", [True, False])
async def test_a_rule_that_was_decided_in_doubt_is_kept_if_that_is_written(
    house: House, lands: bool
) -> None:
    item = await ask(house, "touch it")
    decisions, rules = house.services.decisions, house.services.rules
    async with away_in_a_commit(house.services.log, item.session, lands=lands):
        await refused_in_doubt(decisions.decide(item.id, "allow-always", "ada"))
    async with asyncio.timeout(10):
        while len(rules.current) != lands:  # noqa: ASYNC110 - no event says it
            await asyncio.sleep(0.01)
    if not lands:
        await decisions.decide(item.id, "allow-once", "ada")
    await house.until(item.session, "idle", turns=1)
    assert [kept.who for kept in rules.current] == ["ada"] * lands


@on_a_file
async def test_a_decision_in_doubt_resumes_its_session_if_it_is_written(house: House) -> None:
    item = await ask(house, "touch it")
    house.kill_runtime()
    await house.until(item.session, "interrupted")
    async with away_in_a_commit(house.services.log, item.session, lands=True):
        decide = house.services.decisions.decide(item.id, "allow-once", "ada")
        await refused_in_doubt(decide)
    await house.until(item.session, "idle")
    assert await waiting(house, 0) == []


async def test_a_question_is_answered_by_number_or_label_and_what_is_neither_is_refused(
    house: House,
) -> None:
    """ASK-4, ASK-9: an invalid answer is an error, and the question stays open."""
    item = await ask(house, "which colour")
    assert isinstance(item.asked, QuestionAsked)
    assert (item.asked.question, item.asked.choices) == ("Which colour?", ("Red", "Blue"))
    answer = house.services.decisions.answer
    for wrong in ("green", "3", "  "):
        with pytest.raises(Invalid):
            await answer(item.id, wrong, "ada")
    assert await waiting(house) == [item]
    settled = await answer(item.id, "2", "ada")
    assert (settled.answer, settled.was_words) == ("Blue", False)
    await house.until(item.session, "idle", turns=1)
    ended = next(one for one in await house.story(item.session) if isinstance(one, ToolEnded))
    assert ended.text == "The person chose: Blue"


async def test_a_form_is_checked_before_it_counts(house: House) -> None:
    item = await ask(house, "fill in")
    answer = house.services.decisions.answer
    with pytest.raises(Invalid, match="days"):
        await answer(item.id, '{"city": "Rome", "days": 0}', "ada")
    with pytest.raises(Invalid, match="JSON object"):
        await answer(item.id, "Rome", "ada")
    await answer(item.id, '{"city": "Rome", "days": 3}', "ada")
    await house.until(item.session, "idle", turns=1)
    ended = next(one for one in await house.story(item.session) if isinstance(one, ToolEnded))
    assert '"Rome"' in ended.text


async def test_a_call_that_asks_badly_is_refused_and_nobody_is_asked(house: House) -> None:
    session = await house.start()
    await house.sessions.prompt(session.id, "ask badly", ME)
    await house.until(session.id, "idle", turns=1)
    ended = next(one for one in await house.story(session.id) if isinstance(one, ToolEnded))
    assert ended.error
    assert "needs a string named “question”" in ended.error.message
    assert await waiting(house, 0) == []


@pytest.mark.parametrize("choice", ["allow-once", "deny"])
async def test_a_check_of_the_gate_may_ask_a_person(house: House, choice: Choice) -> None:
    """GATE-2: a hook may require approval, also for what nobody would ask about."""
    (house.work / "notes.txt").write_text("Notes.", encoding="utf-8")

    async def careful(_: ToolUse) -> NeedsApproval:
        return NeedsApproval("Somebody is careful.")

    session = await house.start()
    talk = await house.sessions._talk(session.id)  # pyright: ignore[reportPrivateUsage]
    gate = talk.gate
    gate.checks = replace(gate.checks, hooks=[careful])
    await house.sessions.prompt(session.id, "look at it", ME)
    item = (await waiting(house))[0]
    assert isinstance(item.asked, ApprovalAsked)
    assert (item.asked.title, item.asked.wish) == ("Call view?", "hook")
    assert "Somebody is careful." in item.asked.description
    await house.services.decisions.decide(item.id, choice, "ada")
    await house.until(session.id, "idle", turns=1)
    ended = next(one for one in await house.story(session.id) if isinstance(one, ToolEnded))
    assert (ended.error is None) is (choice == "allow-once")


async def test_what_was_shown_before_a_restart_decides_about_nothing_else(house: House) -> None:
    """The id of a call is the model's, which may give another call the same one."""
    item = await ask(house, "touch it")
    shown = item.asked
    assert isinstance(shown, ApprovalAsked)
    talk = await house.sessions._talk(item.session)  # pyright: ignore[reportPrivateUsage]
    talk.pending.keep([item])
    other = {"kind": "shell", "fullCommandText": "rm -r /", "toolCallId": shown.call}
    deciding = asyncio.create_task(
        talk.pending.decide(permission_request({"permissionRequest": other}))
    )
    items = {one.id: one for one in await waiting(house, 2)}
    del items[item.id]
    [second] = items.values()
    assert isinstance(second.asked, ApprovalAsked)
    assert second.asked.subject.command == "rm -r /"
    # In this order: the agent goes on behind the first, and what its turn asked ends with it.
    await house.services.decisions.decide(second.id, "deny", "ada")
    assert not (await deciding).allowed
    await house.services.decisions.decide(item.id, "allow-once", "ada")


@pytest.mark.timed
@pytest.mark.parametrize("text", ["touch it", "what name"])
async def test_an_abort_withdraws_what_was_asked_within_a_second(house: House, text: str) -> None:
    """APR-4, ASK-7."""
    item = await ask(house, text)
    began = time.monotonic()
    view = await house.sessions.abort(item.session)
    assert time.monotonic() - began < 1
    assert view.state == "idle"
    assert await waiting(house, 0) == []
    with pytest.raises(Conflict, match="no longer needed"):
        await house.services.decisions.decide(item.id, "deny", "ada")
    settled = [one for one in await house.story(item.session) if isinstance(one, ItemSettled)]
    assert [(one.outcome, one.who) for one in settled] == [("cancelled", None)]


async def test_nobody_who_comes_too_late_is_heard(house: House) -> None:
    """APR-2, APR-3, APR-7: nobody was there in time, and that is told apart from a no."""
    house.sessions.approval_seconds = 0.3
    item = await ask(house, "touch it")
    await house.until(item.session, "idle", turns=1)
    with pytest.raises(Conflict, match="Too late"):
        await house.services.decisions.decide(item.id, "allow-once", "ada")
    story = await house.story(item.session)
    settled = [one for one in story if isinstance(one, ItemSettled)]
    assert [(one.outcome, one.who) for one in settled] == [("timeout", None)]
    ended = next(one for one in story if isinstance(one, ToolEnded))
    assert ended.error
    assert "Nobody decided in time" in ended.error.message
    assert not (house.work / "made.txt").exists()


async def test_a_limit_of_the_settings_holds_over_that_of_a_session(house: House) -> None:
    """The session keeps its own over a resume; a task's waits for as long as it takes."""
    sessions = house.sessions
    script = await sessions.start("rehearsal", str(house.work), ME, approval_seconds=120)
    assert script.approval_seconds == 120
    await sessions.prompt(script.id, "touch it", ME)
    [item] = await waiting(house)
    assert item.asked.expires_at == pytest.approx(item.asked_at + 120_000, abs=10_000)
    await sessions.abort(script.id)
    house.kill_runtime()
    await house.until(script.id, "interrupted")
    for given, seconds in ((None, 120), (500, 500)):
        sessions.approval_seconds = given
        await sessions.resume(script.id, ME)
        await sessions.prompt(script.id, "touch it", ME)
        [item] = await waiting(house)
        assert item.asked.expires_at == pytest.approx(item.asked_at + seconds * 1000, abs=10_000)
        await sessions.abort(script.id)
        house.kill_runtime()
        await house.until(script.id, "interrupted")


async def test_a_second_question_takes_the_place_of_the_first(house: House) -> None:
    """ASK-1."""
    session = await house.start()
    await house.sessions.prompt(session.id, "two at once", ME)
    async with asyncio.timeout(15), house.sessions.follow(session.id, 0) as follower:
        while (await house.kinds(session.id)).count("question.asked") < 2:
            await follower.next(1)
    [item] = await waiting(house)
    await house.services.decisions.answer(item.id, "yes", "ada")
    await house.until(session.id, "idle", turns=1)
    ends = [one for one in await house.story(session.id) if isinstance(one, ToolEnded)]
    assert sorted(one.text for one in ends) == [
        "The person answered: yes",
        "The question was withdrawn before anybody answered.",
    ]


async def test_the_list_is_never_behind_the_session_that_asks(house: House) -> None:
    """What a session says of an item, the inbox says in the same transaction."""
    log, item = house.services.log, await ask(house, "touch it")
    seen: list[tuple[bool, bool]] = []

    async def watch() -> None:
        async with log.follow(item.session, 0) as follower:
            while not seen or any(seen[-1]):
                await follower.next(1)
                listed = (await house.services.inbox.show()).items
                asked = (await house.sessions.show(item.session)).items
                seen.append((bool(asked), bool(listed)))

    async with asyncio.TaskGroup() as group:
        group.create_task(watch())
        await house.services.decisions.decide(item.id, "deny", "ada")
    assert set(seen) <= {(True, True), (False, False)}


async def test_an_item_is_asked_in_both_streams_or_in_none(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault in one of the two is a fault of both: nobody is asked what no list shows."""
    session = await house.start()
    talk = await house.sessions._talk(session.id)  # pyright: ignore[reportPrivateUsage]

    def broken(*_: object) -> None:
        raise ValueError("Not today.")

    with monkeypatch.context() as patch:
        patch.setattr("airboss.model.views.fold_inbox", broken)
        patch.setattr("airboss.model.views.begin_inbox", broken)
        other = {"kind": "shell", "fullCommandText": "ls", "toolCallId": "call_1"}
        with pytest.raises(StoreUnavailable, match="could not be written"):
            await talk.pending.decide(permission_request({"permissionRequest": other}))
    assert "approval.asked" not in await house.kinds(session.id)
    assert (await house.sessions.show(session.id)).items == ()
    assert await waiting(house, 0) == []
