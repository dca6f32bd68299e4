"""Chats that waited for a person when their server was killed: the items wait on, and a decision
goes on with the turn, once. One server is killed for all of them."""

import asyncio
import json
import shutil
import time
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.contract.asking import refusal
from tests.contract.guest import Told
from tests.crash.waiting import KEPT_SECONDS, Waited, of_kind, portal_in, restarted
from tests.portal import Portal

pytestmark = pytest.mark.timeout(120)

APPROVALS = (
    *("allowed", "denied", "twice", "queued", "stopped", "closed", "deleted", "resumed"),
    *("racing", "told", "changed", "altered", "gone"),
)


@dataclass
class Before:
    """What sessions of the first server waited for."""

    portal: Portal
    items: dict[str, Told] = field(default_factory=dict[str, Told])
    runtime: int = 0

    def session(self, name: str) -> str:
        return str(self.items[name]["session"])

    async def prepare(self) -> None:
        async with Waited.of(self.portal) as guest:
            for name in APPROVALS:
                self.items[name] = await guest.ask(f"touch {name}")
            self.items["answered"] = await guest.ask("colour")
            self.items["queried"] = await guest.ask("colour")
            await guest.prompt(self.session("queued"), "hello")
            await guest.hear(self.session("told"), "onApproval")
            status = (await guest.http.get("/api/v1/status")).json()
            self.runtime = status["runtime"]["pid"]
            await asyncio.sleep(KEPT_SECONDS)

    def kill(self) -> None:
        """With its runtime, which follows it in a moment and writes until then."""
        self.portal.kill()
        until = time.monotonic() + 10
        while Path(f"/proc/{self.runtime}").exists():
            assert time.monotonic() < until, "the runtime outlived its server"
            time.sleep(0.05)


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Before]:
    portal = portal_in(tmp_path_factory.mktemp("waiting"))
    portal.start()
    before = Before(portal)
    asyncio.run(before.prepare())
    before.kill()
    states = portal.data / "copilot-home" / "session-state"
    shutil.rmtree(states / before.session("gone"))
    # The runtime asks for something else than what was shown.
    for name in ("changed", "altered"):
        story = states / before.session(name) / "events.jsonl"
        text = story.read_text("utf-8")
        story.write_text(text.replace(f"touch {name}", "touch another"), "utf-8")
    portal.start()
    yield before
    portal.stop()


@pytest.fixture
async def after(before: Before, anyio_backend: str) -> AsyncGenerator[Waited]:
    async with Waited.of(before.portal) as guest:
        yield guest


async def test_what_was_asked_waits_on_as_the_same_item(before: Before, after: Waited) -> None:
    view = await after.show(before.session("allowed"))
    assert (view["state"], view["turn"]) == ("interrupted", None)
    assert [item["id"] for item in view["items"]] == [before.items["allowed"]["id"]]
    waiting = {item["id"]: item for item in await after.waiting()}
    for name in ("allowed", "answered"):
        assert waiting[before.items[name]["id"]] == before.items[name]
    assert "another" not in after.done
    assert "changed" not in after.done


async def test_an_approval_goes_on_with_the_turn(before: Before, after: Waited) -> None:
    item = before.items["allowed"]
    assert await after.allow(item["id"]) == 200
    events = await after.ended(item["session"])
    assert after.done.count("allowed") == 1
    assert [one["text"] for one in of_kind("message.ended", events)] == ["Touched."]
    assert [one["item"] for one in of_kind("approval.asked", events)] == [item["id"]]
    assert [one["by"] for one in of_kind("permission.decided", events)] == ["person owner"]
    assert len(of_kind("session.resumed", events)) == 1
    started = of_kind("turn.started", events)
    assert started[0]["prompt"] == started[1]["prompt"], "the one request goes on"
    assert [one["outcome"] for one in of_kind("turn.ended", events)] == ["interrupted", "done"]
    assert not of_kind("session.error", events)


async def test_a_denial_is_told_to_the_agent(before: Before, after: Waited) -> None:
    item = before.items["denied"]
    answer = await after.say(item["id"], "decision", choice="deny", words="Not here.")
    assert answer.status_code == 200, answer.text
    events = await after.ended(item["session"])
    assert [one["allowed"] for one in of_kind("permission.decided", events)] == [False]
    assert [one["text"] for one in of_kind("message.ended", events)] == ["Touched."]
    assert "denied" not in after.done


async def test_an_answer_goes_on_with_the_turn(before: Before, after: Waited) -> None:
    item = before.items["answered"]
    assert (await after.say(item["id"], "answer", answer="blue")).status_code == 200
    events = await after.ended(item["session"])
    ends = [one["result"]["content"] for one in of_kind("tool.ended", events) if not one["cut"]]
    assert ends == ["The person chose: blue"]
    assert [one["item"] for one in of_kind("question.asked", events)] == [item["id"]]


async def test_of_many_decisions_the_first_counts(before: Before, after: Waited) -> None:
    item = before.items["twice"]
    async with asyncio.TaskGroup() as group:
        said = [group.create_task(after.allow(item["id"])) for _ in range(4)]
    assert sorted(one.result() for one in said) == [200, 409, 409, 409]
    events = await after.ended(item["session"])
    answer = await after.say(item["id"], "decision", choice="deny")
    assert refusal(answer)[2] == "This was already decided: allow-once, by owner."
    assert after.done.count("twice") == 1
    assert len(of_kind("item.settled", events)) == 1


async def test_what_was_queued_comes_behind_the_turn(before: Before, after: Waited) -> None:
    session = before.session("queued")
    assert [one["text"] for one in (await after.show(session))["queue"]] == ["hello"]
    assert await after.allow(before.items["queued"]["id"]) == 200
    events = await after.ended(session, 3)
    assert [one["text"] for one in of_kind("message.ended", events)] == ["Touched.", "Hello."]


async def test_a_stop_withdraws_what_was_asked(before: Before, after: Waited) -> None:
    item = before.items["stopped"]
    view = await after.do(item["session"], "abort")
    assert (view["state"], view["items"]) == ("interrupted", [])
    await after.asks_nothing(item["session"])
    assert await after.allow(item["id"]) == 409
    again = await after.http.post(f"/api/v1/sessions/{item['session']}/abort")
    assert refusal(again)[0] == 409
    view = await after.do(item["session"], "resume")
    assert (view["state"], view["turns"]) == ("idle", 1)
    await after.turn(item["session"], "hello")
    assert "stopped" not in after.done


async def test_a_session_that_is_closed_or_deleted_asks_nothing(
    before: Before, after: Waited
) -> None:
    assert (await after.do(before.session("closed"), "close"))["state"] == "closed"
    path = f"/api/v1/sessions/{before.session('deleted')}"
    assert (await after.http.delete(path)).status_code == 204
    for name in ("closed", "deleted"):
        await after.asks_nothing(before.session(name))
        assert await after.allow(before.items[name]["id"]) == 409
    assert {"closed", "deleted"}.isdisjoint(after.done)


async def test_a_session_that_a_person_resumes_waits_on(before: Before, after: Waited) -> None:
    item = before.items["resumed"]
    await after.do(item["session"], "resume")
    await after.until(item["session"], "working")
    assert [one["id"] for one in await after.waiting(session=item["session"])] == [item["id"]]
    await after.prompt(item["session"], "hello")
    assert await after.allow(item["id"]) == 200
    events = await after.ended(item["session"], 3)
    assert [one["text"] for one in of_kind("message.ended", events)] == ["Touched.", "Hello."]
    assert after.done.count("resumed") == 1


async def test_a_decision_counts_while_the_session_is_being_resumed(
    before: Before, after: Waited
) -> None:
    item = before.items["racing"]
    async with asyncio.TaskGroup() as group:
        group.create_task(after.do(item["session"], "resume"))
        decided = group.create_task(after.allow(item["id"]))
    assert decided.result() == 200
    events = await after.ended(item["session"])
    assert after.done.count("racing") == 1
    assert len(of_kind("approval.asked", events)) == 1


async def test_live_tells_that_it_was_interrupted_and_goes_on_after_the_decision(
    before: Before, after: Waited
) -> None:
    item = before.items["told"]
    heard = await after.hear(item["session"], "SessionClosed")
    names = [one.get("callback") or next(iter(one)) for one in heard]
    assert names[-4:] == ["onEndToolExecution", "onAgentEnd", "sessionError", "error"]
    assert "onItemSettled" not in names
    assert json.loads(heard[-2]["sessionError"])["name"] == "SessionInterrupted"
    assert await after.live(item["session"]) == {"error": "SessionNotFound"}
    for call in ("query", "stop"):
        told = await after.seed(f"copilot/session/{item['session']}/{call}", "blue")
        assert told == {"error": "SessionNotFound"}
    assert await after.allow(item["id"]) == 200
    heard = await after.hear(item["session"])
    names = [one["callback"] for one in heard]
    assert names[:2] == ["onItemSettled", "onAgentStart"]
    assert names[-2:] == ["onAgentEnd", "onIdle"]


async def test_a_query_answers_no_question_of_a_session_that_is_closed_to_it(
    before: Before, after: Waited
) -> None:
    item = before.items["queried"]
    told = await after.seed(f"copilot/session/{item['session']}/query", "blue")
    assert told == {"error": "SessionNotFound"}
    assert await after.waiting(session=item["session"]) == [item]
    await after.hear(item["session"], "SessionClosed")
    await after.do(item["session"], "close")
    await after.asks_nothing(item["session"])
    assert await after.live(item["session"]) == {"error": "SessionNotFound"}


async def test_a_decision_is_not_used_for_something_else(before: Before, after: Waited) -> None:
    item = before.items["changed"]
    assert await after.allow(item["id"]) == 200
    new = await after.first(session=item["session"])
    assert new["id"] != item["id"]
    assert "touch another" in new["asked"]["subject"]["command"]
    assert await after.allow(new["id"]) == 200
    events = await after.ended(item["session"])
    assert [one["name"] for one in of_kind("session.error", events)] == ["DecisionNotUsed"]
    assert after.done.count("another") == 1
    assert "changed" not in after.done


async def test_what_is_not_asked_again_is_withdrawn_and_says_why(
    before: Before, after: Waited
) -> None:
    item = before.items["altered"]
    await after.do(item["session"], "resume")
    events = await after.follow_to(item["session"], "item.settled")
    settled = events[-1]["event"]
    assert (settled["item"], settled["outcome"]) == (item["id"], "cancelled")
    assert settled["reason"] == "The agent was resumed and no longer asks for this."
    answer = await after.say(item["id"], "decision", choice="allow-once")
    assert refusal(answer)[2] == settled["reason"]
    new = await after.first(session=item["session"])
    assert "touch another" in new["asked"]["subject"]["command"]
    assert (await after.say(new["id"], "decision", choice="deny")).status_code == 200
    await after.ended(item["session"])
    assert "altered" not in after.done


async def test_a_decision_on_a_session_that_the_runtime_lost_says_so(
    before: Before, after: Waited
) -> None:
    item = before.items["gone"]
    assert await after.allow(item["id"]) == 200
    events = await after.follow_to(item["session"], "session.restarted")
    assert "has no record of session" in events[-1]["event"]["why"]
    await after.asks_nothing(item["session"])


async def test_a_session_killed_between_the_decision_and_the_resume_goes_on(
    before: Before, after: Waited
) -> None:
    """Behind all others: it ends their server."""
    item = await after.ask("touch again")
    await asyncio.sleep(KEPT_SECONDS)
    async with restarted(before.portal) as second:
        assert await second.allow(item["id"]) == 200
    async with restarted(before.portal) as third:
        events = await third.ended(item["session"])
        assert third.done.count("again") == 1
        assert [one["item"] for one in of_kind("approval.asked", events)] == [item["id"]]
        assert len(of_kind("item.settled", events)) == 1
