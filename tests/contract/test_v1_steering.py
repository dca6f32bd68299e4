"""A message while the agent works: it waits, steers, interrupts or is refused; and a question
beside the work."""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import pytest

from tests.contract.guest import Guest, Told, kinds, only
from tests.contract.stories import check_events
from tests.contract.task_guest import TaskGuest

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


async def send(guest: Guest, session: str, text: str, delivery: str) -> Told:
    body = {"text": text, "delivery": delivery}
    answer = await guest.http.post(f"/api/v1/sessions/{session}/prompts", json=body)
    assert answer.status_code == 202, answer.text
    return answer.json()


async def call(
    guest: Guest, method: str, path: str, body: Mapping[str, object] | None = None
) -> tuple[int, Any]:
    answer = await guest.http.request(method, f"/api/v1/sessions/{path}", json=body)
    told = answer.json()
    return answer.status_code, told["detail"] if answer.status_code >= 400 else told


async def queue(guest: Guest, session: str) -> list[str]:
    status, told = await call(guest, "GET", f"{session}/queue")
    assert status == 200
    assert told["items"] == (await guest.show(session))["queue"]
    return [item["text"] for item in told["items"]]


async def at_work(guest: Guest, text: str = "take your time", kind: str = "message.delta") -> str:
    """A session in the middle of a turn."""
    session = await guest.open()
    await guest.prompt(session, text)
    await guest.follow_to(session, kind)
    return session


# Delivery.


async def test_a_message_that_steers_goes_into_the_turn_during_a_command(approved: Guest) -> None:
    session = await at_work(approved, "long command", "tool.delta")
    waits = await send(approved, session, "greet", "queue")
    steers = await send(approved, session, "number 7", "steer")
    await approved.until(session, "idle")
    events = await approved.events(session)
    check_events(events)
    accepted = only("prompt.accepted", events)
    assert [event.get("delivery") for event in accepted] == [None, None, "steer"]
    started = only("turn.started", events)
    assert [event["prompt"] for event in started] == [accepted[0]["prompt"], waits["prompt"]]
    [steered] = only("prompt.steered", events)
    assert steered == {
        "kind": "prompt.steered",
        "prompt": steers["prompt"],
        "turn": started[0]["turn"],
    }
    said = [event["text"] for event in only("message.ended", events)]
    assert "Rehearsed: “number 7”" in said
    assert [event["outcome"] for event in only("turn.ended", events)] == ["done", "done"]


async def test_a_message_that_steers_an_answer_is_read_behind_it_and_before_what_waits(
    guest: Guest,
) -> None:
    session = await at_work(guest, "tell the tale")
    await send(guest, session, "number 8", "queue")
    steers = await send(guest, session, "number 7", "steer")
    assert await queue(guest, session) == ["number 7", "number 8"]
    await guest.until(session, "idle")
    events = await guest.events(session)
    check_events(events)
    assert [event["prompt"] for event in only("prompt.steered", events)] == [steers["prompt"]]
    said = [event["text"] for event in only("message.ended", events)]
    assert [text[:9] for text in said] == ["Once upon", "Rehearsed", "Rehearsed"]
    assert "number 7" in said[1]
    assert len(only("turn.started", events)) == 2


@pytest.mark.parametrize("delivery", ["steer", "interrupt", "refuse"])
async def test_where_nothing_runs_every_delivery_is_an_ordinary_request(
    guest: Guest, delivery: str
) -> None:
    session = await guest.open()
    receipt = await send(guest, session, "greet", delivery)
    await guest.until(session, "idle")
    events = await guest.events(session)
    assert "delivery" not in only("prompt.accepted", events)[0]
    assert only("turn.started", events)[0]["prompt"] == receipt["prompt"]
    assert only("turn.ended", events)[0]["outcome"] == "done"


async def test_a_message_that_interrupts_ends_the_turn_and_comes_first(guest: Guest) -> None:
    session = await at_work(guest)
    waits = await send(guest, session, "number 8", "queue")
    comes = await send(guest, session, "number 7", "interrupt")
    view = await guest.until(session, "idle")
    events = await guest.events(session)
    check_events(events)
    prompts = [event["prompt"] for event in only("turn.started", events)]
    assert prompts[1:] == [comes["prompt"], waits["prompt"]]
    outcomes = [event["outcome"] for event in only("turn.ended", events)]
    assert outcomes == ["aborted", "done", "done"]
    assert view["turns"] == 3


async def test_a_message_that_is_not_to_wait_is_refused_and_changes_nothing(guest: Guest) -> None:
    session = await at_work(guest)
    body = {"text": "greet", "delivery": "refuse"}
    status, words = await call(guest, "POST", f"{session}/prompts", body)
    assert (status, words) == (
        409,
        "The agent is working, so the message was not accepted (`delivery` is `refuse`).",
    )
    assert await queue(guest, session) == []
    assert len(only("prompt.accepted", await guest.events(session))) == 1
    body = {"text": "greet", "delivery": "somehow"}
    assert (await call(guest, "POST", f"{session}/prompts", body))[0] == 422
    await guest.do(session, "close")


async def test_what_steers_and_was_not_read_comes_next_behind_an_abort(guest: Guest) -> None:
    session = await at_work(guest)
    waits = await send(guest, session, "number 8", "queue")
    steers = await send(guest, session, "number 7", "steer")
    await guest.do(session, "abort")
    await guest.until(session, "idle")
    events = await guest.events(session)
    assert only("prompt.steered", events) == []
    prompts = [event["prompt"] for event in only("turn.started", events)]
    assert prompts[1:] == [steers["prompt"], waits["prompt"]]
    said = [event["text"] for event in only("message.ended", events)]
    assert [text for text in said if "number 7" in text] == ["Rehearsed: “number 7”"], "once"


# The queue.


async def test_the_queue_is_listed_changed_reordered_and_emptied(guest: Guest) -> None:
    session = await at_work(guest)
    names = [(await send(guest, session, f"number {n}", "queue"))["prompt"] for n in range(4)]
    status, told = await call(guest, "GET", f"{session}/queue")
    first = {"prompt": names[0], "text": "number 0", "task": None, "who": "owner"}
    nothing = dict.fromkeys(("delivery", "images", "mode", "files", "selection"))
    assert (status, told["items"][0]) == (200, {**first, **nothing})
    change = {"text": f"number 20 {SECRET}"}
    status, told = await call(guest, "PATCH", f"{session}/queue/{names[2]}", change)
    assert [item["text"] for item in told["items"]][2] == "number 20 [secret removed]"
    await call(guest, "PATCH", f"{session}/queue/{names[3]}", {"position": 0})
    await call(guest, "PATCH", f"{session}/queue/{names[0]}", {"text": "number 10", "position": 9})
    last = ["number 3", "number 1", "number 20 [secret removed]", "number 10"]
    assert await queue(guest, session) == last
    assert (await call(guest, "DELETE", f"{session}/queue/{names[1]}"))[0] == 200
    assert await queue(guest, session) == [last[0], *last[2:]]
    assert await call(guest, "DELETE", f"{session}/queue") == (200, {"items": []})
    view = await guest.do(session, "abort")
    assert (view["state"], view["turns"]) == ("idle", 1)
    events = await guest.events(session)
    assert only("prompt.changed", events)[0] == {
        "kind": "prompt.changed",
        "prompt": names[2],
        "text": "number 20 [secret removed]",
        "who": "owner",
        "redacted": 1,
    }
    moved = only("prompt.moved", events)
    assert [(event["prompt"], event.get("before")) for event in moved] == [
        (names[3], names[0]),
        (names[0], None),
    ]
    reasons = {event["reason"] for event in only("prompt.dropped", events)}
    assert reasons == {"Removed from the queue by owner."}
    assert SECRET not in json.dumps(events)


async def test_the_queue_is_worked_on_in_its_new_order_and_words(guest: Guest) -> None:
    session = await at_work(guest)
    first, second = [(await send(guest, session, f"number {n}", "queue"))["prompt"] for n in (1, 2)]
    await call(guest, "PATCH", f"{session}/queue/{second}", {"text": "number 22", "position": 0})
    await guest.do(session, "abort")
    await guest.until(session, "idle")
    events = await guest.events(session)
    prompts = [event["prompt"] for event in only("turn.started", events)]
    assert prompts[1:] == [second, first]
    said = [event["text"] for event in only("message.ended", events)]
    assert said[1:] == ["Rehearsed: “number 22”", "Rehearsed: “number 1”"]


async def test_what_steers_is_changed_or_dropped_until_the_agent_reads_it(guest: Guest) -> None:
    session = await at_work(guest)
    one = (await send(guest, session, "number 7", "steer"))["prompt"]
    two = (await send(guest, session, "number 8", "steer"))["prompt"]
    status, words = await call(guest, "PATCH", f"{session}/queue/{one}", {"position": 1})
    assert (status, words) == (
        409,
        "The message is already being added to the running turn.",
    )
    assert (await call(guest, "PATCH", f"{session}/queue/{one}", {"text": "number 77"}))[0] == 200
    assert (await call(guest, "DELETE", f"{session}/queue/{two}"))[0] == 200
    assert await queue(guest, session) == ["number 77"]
    await guest.do(session, "abort")
    await guest.until(session, "idle")
    said = [event["text"] for event in only("message.ended", await guest.events(session))]
    assert said[1:] == ["Rehearsed: “number 77”"]


async def test_what_was_delivered_cannot_be_changed_any_more(guest: Guest) -> None:
    session = await guest.open()
    prompt = (await send(guest, session, "take your time", "queue"))["prompt"]
    await guest.follow_to(session, "message.delta")
    words = "This message is no longer queued: it was delivered to the agent, or removed."
    for method, body in (("PATCH", {"text": "greet"}), ("DELETE", None)):
        assert await call(guest, method, f"{session}/queue/{prompt}", body) == (409, words)
    body = {"text": " "}
    assert (await call(guest, "PATCH", f"{session}/queue/{prompt}", body))[0] == 422
    assert (await call(guest, "PATCH", f"{session}/queue/{prompt}", {"position": -1}))[0] == 422
    await guest.do(session, "close")
    told = await call(guest, "DELETE", f"{session}/queue")
    assert told == (409, "The session is closed. Resume it, or start a new one.")
    assert await queue(guest, session) == []


# A question beside the work.


async def test_a_question_beside_the_work_is_answered_while_the_turn_runs(guest: Guest) -> None:
    """BTW-4, BTW-5."""
    session = await at_work(guest)
    before = await guest.show(session)
    began = time.monotonic()
    question = {"question": f"which file {SECRET}"}
    status, told = await call(guest, "POST", f"{session}/asides", question)
    assert (status, told) == (200, {"answer": "Rehearsed: “which file [secret removed]”"})
    assert time.monotonic() - began < 5, "it does not wait for the turn"
    after = await guest.show(session)
    assert (after["state"], after["turn"], after["queue"]) == ("working", before["turn"], [])
    [event] = only("aside.answered", await guest.events(session))
    assert event == {
        "kind": "aside.answered",
        "who": "owner",
        "question": "which file [secret removed]",
        "answer": told["answer"],
    }
    await guest.do(session, "abort")
    again = await guest.turn(session, "greet")
    assert kinds(again).count("turn.started") == 1
    assert only("turn.ended", again)[0]["usage"]["requests"] == 1


async def test_a_question_beside_the_work_costs_the_turn_nothing(guest: Guest) -> None:
    """BTW-4."""
    session = await guest.open()
    await guest.turn(session, "greet")
    usage = (await guest.show(session))["usage"]
    await call(guest, "POST", f"{session}/asides", {"question": "number 1"})
    view = await guest.show(session)
    assert (view["usage"], view["turns"], view["state"]) == (usage, 1, "idle")


async def test_a_question_that_cannot_be_answered_is_refused_in_words(guest: Guest) -> None:
    """BTW-4: an empty answer is an error."""
    session = await guest.open()
    await guest.turn(session, "greet")
    status, words = await call(guest, "POST", f"{session}/asides", {"question": "silence"})
    assert (status, words) == (503, "The model did not answer the question.")
    status, words = await call(guest, "POST", f"{session}/asides", {"question": "unlucky"})
    assert status == 503
    assert "400" in words
    for question in ("", "  "):
        body = {"question": question}
        assert (await call(guest, "POST", f"{session}/asides", body))[0] == 422
    assert only("aside.answered", await guest.events(session)) == []
    await guest.do(session, "close")
    status, words = await call(guest, "POST", f"{session}/asides", {"question": "number 1"})
    assert (status, words) == (409, "The session is closed. Resume it, or start a new one.")
    assert (await call(guest, "POST", "ses_x/asides", {"question": "number 1"}))[0] == 404


async def test_a_question_before_any_request_is_refused_at_once(guest: Guest) -> None:
    session = await guest.open()
    began = time.monotonic()
    told = await call(guest, "POST", f"{session}/asides", {"question": "number 1"})
    assert time.monotonic() - began < 10
    assert told[0] == 409
    assert told[1] == (
        "This session has no history yet to answer from. "
        "Send a message first, or send this question as a message."
    )
    assert only("aside.answered", await guest.events(session)) == []
    await guest.turn(session, "greet")
    assert (await call(guest, "POST", f"{session}/asides", {"question": "number 1"}))[0] == 200


async def test_many_steer_at_once_and_each_is_read_once(approved: Guest) -> None:
    session = await at_work(approved, "long command", "tool.delta")
    async with asyncio.TaskGroup() as group:
        for number in range(6):
            group.create_task(send(approved, session, f"number {number}", "steer"))
    await approved.until(session, "idle")
    events = await approved.events(session)
    check_events(events)
    asked = [event["prompt"] for event in only("prompt.accepted", events)]
    begun = [event["prompt"] for event in only("turn.started", events) if "prompt" in event]
    read = [event["prompt"] for event in only("prompt.steered", events)]
    assert sorted([*begun, *read]) == sorted(asked)
    assert len(read) >= 1


async def test_what_a_task_asked_for_is_the_tasks(tasker: TaskGuest) -> None:
    session = await tasker.open(model="coder")
    await tasker.prompt(session, "Take your time.")
    await tasker.follow_to(session, "message.delta")
    run = await tasker.run("idle", session=session)
    await tasker.run_event(run, "task.mission.sent")
    mine = (await send(tasker, session, "Say more.", "queue"))["prompt"]
    status, told = await call(tasker, "GET", f"{session}/queue")
    assert [item["task"] for item in told["items"]] == [run, None]
    prompt = told["items"][0]["prompt"]
    words = "This message belongs to a task. To remove it, stop the task."
    for method, body in (
        ("PATCH", {"text": "greet"}),
        ("PATCH", {"position": 1}),
        ("DELETE", None),
    ):
        assert await call(tasker, method, f"{session}/queue/{prompt}", body) == (409, words)
    status, told = await call(tasker, "PATCH", f"{session}/queue/{mine}", {"position": 0})
    assert [item["prompt"] for item in told["items"]] == [mine, prompt]
    status, told = await call(tasker, "DELETE", f"{session}/queue")
    assert (status, [item["prompt"] for item in told["items"]]) == (200, [prompt])
    await tasker.stop_run(run)
    await tasker.do(session, "close")


async def test_a_message_with_the_same_key_is_sent_once(guest: Guest) -> None:
    session = await guest.start()
    path, body = f"/api/v1/sessions/{session}/prompts", {"text": "greet"}

    async def send(key: str) -> str:
        answer = await guest.http.post(path, json=body, headers={"Idempotency-Key": key})
        assert answer.status_code == 202, answer.text
        return answer.json()["prompt"]

    async with asyncio.TaskGroup() as group:
        begun = [group.create_task(send("mine")) for _ in range(3)]
    first = {one.result() for one in begun}
    second = {await send("another"), await send("another")}
    assert (len(first), len(second), first & second) == (1, 1, set())
