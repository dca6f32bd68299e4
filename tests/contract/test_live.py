"""`live`: each response once, in order, to whoever asks; and the seed's words for all that ends."""

import asyncio
import contextlib
import json
import time

import pytest

from tests.contract.guest import Guest, Told
from tests.contract.stories import check_callbacks


def names(heard: list[Told]) -> list[str]:
    """The callbacks in order, a run of deltas as one."""
    found = [told.get("callback") or next(iter(told)) for told in heard]
    return [name for at, name in enumerate(found) if not at or found[at - 1] != name]


async def test_callbacks_come_in_order_with_exactly_the_seeds_arguments(guest: Guest) -> None:
    session = await guest.start()
    await guest.query(session, "greet")
    heard = await guest.hear(session)
    blocks = check_callbacks(heard)
    told = names(heard)
    assert told[:5] == [
        "onAgentStart",
        "onStartReasoning",
        "onReasoning",
        "onStartMessage",
        "onMessage",
    ]
    assert sorted(told[5:7]) == ["onEndMessage", "onEndReasoning"]
    assert told[7:] == ["onAgentEnd", "onIdle"]
    assert sorted(blocks.ended.values()) == [
        "Hello, captain. Ünïcödé 🛫 too.",
        "Somebody greets me.",
    ]


async def test_a_tool_is_told_from_its_arguments_to_its_result(guest: Guest) -> None:
    session = await guest.start()
    await guest.query(session, "look around")
    heard = await guest.hear(session)
    check_callbacks(heard)
    start = next(told for told in heard if told["callback"] == "onStartToolExecution")
    end = next(told for told in heard if told["callback"] == "onEndToolExecution")
    said = [t["delta"] for t in heard if t["callback"] == "onToolExecution"]
    assert start == {
        "callback": "onStartToolExecution",
        "toolCallId": start["toolCallId"],
        "toolName": "view",
        "toolArguments": json.dumps({"path": str(guest.portal.work)}),
    }
    assert end == {
        "callback": "onEndToolExecution",
        "toolCallId": start["toolCallId"],
        "result": {"content": "".join(said)},
    }


async def test_a_tool_that_fails_ends_with_an_error_and_no_result(guest: Guest) -> None:
    session = await guest.start()
    await guest.query(session, "two at once")
    heard = await guest.hear(session)
    check_callbacks(heard)
    ends = [told for told in heard if told["callback"] == "onEndToolExecution"]
    errors = [end["error"] for end in ends if "error" in end]
    assert (len(ends), errors) == (2, [{"message": "Path does not exist", "code": "failure"}])


async def test_a_shells_output_is_told_while_it_runs(approved: Guest) -> None:
    session = await approved.start()
    await approved.query(session, "count aloud")
    heard = await approved.hear(session)
    check_callbacks(heard)
    said = [told["delta"] for told in heard if told["callback"] == "onToolExecution"]
    assert len(said) > 2
    assert "".join(said).startswith("line 1\nline 2\nline 3\nline 4\nline 5\n")


async def test_a_failing_model_is_one_error_and_the_session_goes_on(guest: Guest) -> None:
    session = await guest.start()
    await guest.query(session, "unlucky")
    heard = await guest.hear(session)
    check_callbacks(heard)
    assert names(heard) == ["onAgentStart", "sessionError", "onAgentEnd", "onIdle"]
    error = json.loads(heard[1]["sessionError"])
    assert "The rehearsal script says that this request fails." in error["message"]
    assert {"name", "message"} <= set(error) <= {"name", "message", "stack", "cause"}
    await guest.query(session, "greet")
    assert "onEndMessage" in names(await guest.hear(session))


async def test_a_stream_that_is_cut_leaves_no_block_open(guest: Guest) -> None:
    session = await guest.start()
    await guest.query(session, "cut off")  # the runtime tries it several times, for 5 s
    heard = await guest.hear(session)
    blocks = check_callbacks(heard)
    assert set(blocks.ended.values()) == {"So far", "The beginning of"}
    assert names(heard).count("sessionError") == 1
    assert names(heard)[-2:] == ["onAgentEnd", "onIdle"]
    await guest.query(session, "greet")
    check_callbacks(await guest.hear(session))


async def test_an_aborted_turn_leaves_no_block_open(guest: Guest) -> None:
    session = await guest.start()
    await guest.query(session, "take your time")
    first = await guest.hear(session, "onMessage")
    await guest.do(session, "abort")
    heard = first + await guest.hear(session)
    blocks = check_callbacks(heard)
    assert list(blocks.ended.values()) == ["One moment. "]
    assert names(heard)[-3:] == ["onEndMessage", "onAgentEnd", "onIdle"]


# Waiting.


@pytest.mark.timed
async def test_a_call_waits_five_seconds_for_a_response(guest: Guest) -> None:
    session = await guest.start()
    began = time.monotonic()
    assert await guest.live(session) == {"error": "HttpRequestTimeout"}
    assert 5.0 <= time.monotonic() - began <= 5.5


async def test_a_waiting_call_gets_what_comes(guest: Guest) -> None:
    session = await guest.start()
    waiting = asyncio.create_task(guest.live(session))
    await asyncio.sleep(0.1)
    await guest.query(session, "greet")
    assert (await waiting)["callback"] == "onAgentStart"


async def test_a_second_call_beside_a_waiting_one_is_refused(guest: Guest) -> None:
    session = await guest.start()
    waiting = asyncio.create_task(guest.live(session))
    await asyncio.sleep(0.1)
    for _ in range(3):
        assert await guest.live(session) == {"error": "ParallelCallNotSupported"}
    other = await guest.start()
    await guest.query(other, "greet")
    assert (await guest.live(other))["callback"] == "onAgentStart"
    await guest.query(session, "greet")
    assert (await waiting)["callback"] == "onAgentStart"


async def test_of_many_callers_at_once_none_gets_what_another_got(guest: Guest) -> None:
    """Parallel calls are refused or served, and what is served is served once."""
    session = await guest.start()
    await guest.query(session, "tell the tale")
    heard: list[Told] = []
    over = asyncio.Event()

    async def call() -> None:
        while True:
            told = await guest.live(session)
            if "callback" in told:
                heard.append(told)
            if told == {"callback": "onIdle"}:
                over.set()

    async with asyncio.timeout(20):
        callers = [asyncio.create_task(call()) for _ in range(8)]
        await over.wait()
        for caller in callers:
            caller.cancel()
        await asyncio.wait(callers)
    said = sum(len(told["delta"]) for told in heard if told["callback"] == "onMessage")
    end = next(told for told in heard if told["callback"] == "onEndMessage")
    assert said == len(end["completeContent"])
    others = [json.dumps(told) for told in heard if "delta" not in told]
    assert len(others) == len(set(others))


async def test_a_caller_that_disconnects_loses_nothing(guest: Guest) -> None:
    session = await guest.start()
    for _ in range(5):  # they wait, and leave before anything comes
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await guest.live(session)
    await guest.query(session, "greet")
    heard = await guest.hear(session)
    assert names(heard)[0] == "onAgentStart"
    check_callbacks(heard)


async def test_callers_that_come_and_go_while_the_agent_speaks_hear_all_of_it(
    guest: Guest,
) -> None:
    session = await guest.start()
    await guest.query(session, "take your time")
    heard = await guest.hear(session, "onMessage")
    while "".join(t.get("delta", "") for t in heard) != "One moment. ":
        heard.append(await guest.live(session))
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0.1):
            await guest.live(session)
    await guest.do(session, "abort")
    heard += await guest.hear(session)
    assert list(check_callbacks(heard).ended.values()) == ["One moment. "]


# The end.


async def test_an_id_that_was_never_used_is_not_found(guest: Guest) -> None:
    for session in ("ses_never", "x", "%20", "%F0%9F%9B%AB"):
        assert await guest.live(session) == {"error": "SessionNotFound"}


async def test_a_closed_session_is_drained_then_closed_once_then_not_found(guest: Guest) -> None:
    session = await guest.start()
    await guest.query(session, "greet")
    await guest.until(session, "idle")
    await guest.stop(session)
    heard = await guest.hear(session, "SessionClosed")
    assert names(heard)[-3:] == ["onAgentEnd", "onIdle", "error"]
    check_callbacks(heard)
    for _ in range(2):
        assert await guest.live(session) == {"error": "SessionNotFound"}


async def test_a_waiting_call_hears_that_the_session_was_stopped(guest: Guest) -> None:
    session = await guest.start()
    waiting = asyncio.create_task(guest.live(session))
    await asyncio.sleep(0.1)
    await guest.stop(session)
    assert await waiting == {"error": "SessionClosed"}
    assert await guest.live(session) == {"error": "SessionNotFound"}


async def test_viewers_over_v1_do_not_disturb_live(guest: Guest) -> None:
    session = await guest.start()
    await guest.turn(session, "greet")
    await guest.events(session)
    heard = await guest.hear(session)
    assert names(heard)[0] == "onAgentStart"
    check_callbacks(heard)
