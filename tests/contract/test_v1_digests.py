"""A page and the server compare what they come to as of the same event."""

import asyncio
import re

from airboss.model.states import STATES
from tests.contract.guest import Guest, kinds
from tests.contract.stories import told, without_deltas
from tests.contract.task_guest import TaskGuest
from tests.contract.test_v1_sessions import refused


async def differences(guest: Guest) -> int:
    text = (await guest.http.get("/metrics")).text
    found = re.search(r"^airboss_page_differences_total (\d+)", text, re.MULTILINE)
    assert found
    return int(float(found[1]))


async def test_as_of_every_event_that_is_no_delta_both_come_to_the_same(guest: Guest) -> None:
    session = await guest.open()
    for text in ("greet", "two at once", "unlucky"):
        await guest.turn(session, text)
    await guest.do(session, "close")
    before = await differences(guest)
    state = STATES["session"](session)
    events = without_deltas(await guest.events(session))
    ours = [(one["seq"], told(state, one)) for one in events]
    for seq, have in (*ours, ours[3], ours[-1], ours[0]):
        answer = await guest.digest(f"sessions/{session}", seq, have)
        assert answer == {"seq": seq, "digest": have, "same": True}
    assert len({have for _, have in ours}) == len(ours)
    assert await differences(guest) == before


async def test_while_a_block_is_open_its_pieces_do_not_count(guest: Guest) -> None:
    session = await guest.open()
    receipt = await guest.prompt(session, "take your time")
    live = await guest.take(session, lambda frame: frame.kind == "message.delta", 0)
    await asyncio.sleep(0.2)
    assert receipt["seq"] < live[-1]["seq"]
    state = STATES["session"](session)
    ours = [told(state, one) for one in live][-1]
    seq = (await guest.show(session))["seq"]
    assert seq < live[-1]["seq"]
    assert (await guest.digest(f"sessions/{session}", seq, ours))["same"] is True
    await guest.do(session, "close")


async def test_a_page_that_is_wrong_is_told_so_and_counted(guest: Guest) -> None:
    session = await guest.open()
    before = await differences(guest)
    unknown = await guest.digest(f"sessions/{session}", 2)
    assert unknown["same"] is None
    wrong = await guest.digest(f"sessions/{session}", 2, "0" * 16)
    assert wrong == {**unknown, "same": False}
    assert await differences(guest) == before + 1


async def test_a_seq_that_cannot_be_compared_is_refused_in_words(guest: Guest) -> None:
    session = await guest.open()
    events = await guest.turn(session, "greet")
    await guest.turn(session, "greet")
    delta = next(one["seq"] for one in events if one["event"]["kind"].endswith(".delta"))
    path = f"sessions/{session}/digest"
    told_delta = await refused(guest, "GET", path, params={"seq": delta})
    assert told_delta[:2] == (422, "invalid")
    assert "delta" in told_delta[2]
    beyond = await refused(guest, "GET", path, params={"seq": 10**9})
    assert beyond[:2] == (409, "conflict")
    for query in ({}, {"seq": -1}, {"seq": 2, "have": "xyz"}):
        assert (await refused(guest, "GET", path, params=query))[:2] == (422, "invalid")
    for area in ("sessions", "runs", "task-runs"):
        missing = await refused(guest, "GET", f"{area}/nothing/digest", params={"seq": 1})
        assert missing[:2] == (404, "not_found")
    assert (await refused(guest, "GET", f"runs/{session}/digest", params={"seq": 1}))[0] == 404


async def test_an_inbox_in_which_nothing_ever_was_has_a_digest_too(guest: Guest) -> None:
    ours = STATES["inbox"]("inbox").digest()
    seq = (await guest.http.get("/api/v1/inbox")).json()["seq"]
    answer = await guest.digest("inbox", seq, ours)
    assert answer["same"] is True


async def test_a_task_run_has_one(tasker: TaskGuest) -> None:
    run = await tasker.run("stubborn")
    await tasker.over(run)
    answer = await tasker.http.get(f"/api/v1/task-runs/{run}/events", params={"limit": 1000})
    events = answer.json()["items"]
    state = STATES["task"](run)
    ours = [told(state, one) for one in events]
    assert kinds(events)[-1] == "task.ended"
    assert (await tasker.digest(f"task-runs/{run}", events[-1]["seq"], ours[-1]))["same"] is True
