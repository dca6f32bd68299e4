"""Events for somebody who comes late: the ends of blocks have the whole text."""

import asyncio

from tests.contract.guest import Guest, Told, kinds
from tests.contract.stories import without_deltas
from tests.contract.test_v1_sessions import refused


async def page(guest: Guest, session: str, **query: str | int) -> Told:
    answer = await guest.http.get(f"/api/v1/sessions/{session}/events", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_compact_pages_have_all_but_the_deltas_of_what_has_ended(guest: Guest) -> None:
    session = await guest.open()
    for text in ("greet", "look around"):
        await guest.turn(session, text)
    found: list[Told] = []
    more, after = True, 0
    while more:
        told = await page(guest, session, compact="true", limit=3, after=after)
        found += told["items"]
        more, after = told["more"], told["next_after"]
        assert len(told["items"]) <= 3
    assert found == without_deltas(await guest.events(session))


async def test_what_is_said_of_an_open_block_is_one_delta_and_a_stream_goes_on_behind_it(
    guest: Guest,
) -> None:
    session = await guest.open()
    await guest.prompt(session, "tell the tale")
    await guest.take(session, lambda frame: frame.data["event"].get("offset", 0) > 20)
    told = (await page(guest, session, compact="true"))["items"]
    rest = await guest.follow_to(session, "session.idle", told[-1]["seq"])
    deltas = [one for one in told if one["event"]["kind"] == "message.delta"]
    assert len(deltas) <= 1
    begun = "".join(one["event"]["text"] for one in deltas)
    pieces = [one["event"] for one in rest if one["event"]["kind"] == "message.delta"]
    end = next(one["event"] for one in rest if one["event"]["kind"] == "message.ended")
    assert begun + "".join(piece["text"] for piece in pieces) == end["text"]


async def test_the_last_events_are_the_end_of_the_compact_ones(guest: Guest) -> None:
    session = await guest.open()
    for text in ("greet", "look around"):
        await guest.turn(session, text)
    whole = without_deltas(await guest.events(session))
    for count in (1, 4, len(whole), 1000):
        told = await page(guest, session, last=count)
        assert told["items"] == whole[-count:]
        assert told["more"] is False
        assert told["next_after"] == told["seq"] == whole[-1]["seq"]


async def test_the_last_events_of_a_session_at_work_have_what_is_said_right_now(
    guest: Guest,
) -> None:
    session = await guest.open()
    receipt = await guest.prompt(session, "take your time")
    await guest.take(session, lambda frame: frame.kind == "message.delta", receipt["seq"])
    await asyncio.sleep(0.3)
    told = (await page(guest, session, last=1))["items"]
    assert kinds(told) == ["message.started", "message.delta"]
    await guest.do(session, "close")


async def test_too_many_at_once_are_refused(guest: Guest) -> None:
    session = await guest.open()
    for query in ({"last": 0}, {"last": 1001}):
        told = await refused(guest, "GET", f"sessions/{session}/events", params=query)
        assert told[:2] == (422, "invalid")
