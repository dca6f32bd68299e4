"""A session's context over v1: how full it is, and its history made shorter on request."""

import asyncio

from tests.contract.guest import Guest, Told, kinds
from tests.portal import Portal


async def compact(guest: Guest, session: str, **asked: str) -> tuple[int, Told]:
    path = f"/api/v1/sessions/{session}/compact"
    answer = await guest.http.post(path, json=asked, timeout=30)
    return answer.status_code, answer.json()


def of_kind(kind: str, events: list[Told]) -> list[Told]:
    return [told["event"] for told in events if told["event"]["kind"] == kind]


async def until_compacting(guest: Guest, session: str) -> None:
    async with asyncio.timeout(20):
        view = await guest.show(session)
        while not view["compacting"]:
            await asyncio.sleep(0.02)
            view = await guest.show(session)


async def test_an_idle_session_is_compacted_and_says_who_asked_for_it(guest: Guest) -> None:
    session = await guest.open()
    for text in ("greet me", "greet me again", "greet me more"):
        await guest.turn(session, text)
    before = await guest.show(session)
    assert before["context"]["limit"] == 128_000
    status, done = await compact(
        guest, session, instructions="Keep the ships. ".ljust(2000, "\U0001f6a2")
    )
    assert (status, done["compacted"]) == (200, True)
    view, events = await guest.show(session), await guest.events(session)
    [started], [ended] = of_kind("compaction.started", events), of_kind("compaction.ended", events)
    assert (started["trigger"], started["who"]) == ("manual", view["who"])
    assert {name: ended[name] for name in ("before", "after", "removed")} == {
        name: done[name] for name in ("before", "after", "removed")
    }
    assert view["context"]["tokens"] == done["after"]
    assert (view["state"], view["compacting"]) == ("idle", False)
    assert view["usage"]["requests"] == before["usage"]["requests"] + 1, "it is a call of the model"
    assert view["usage"]["input_tokens"] > before["usage"]["input_tokens"]
    assert kinds(await guest.turn(session, "greet me"))[-1] == "session.idle"


async def test_where_there_is_nothing_to_compact_that_is_said(guest: Guest) -> None:
    session = await guest.open()
    nothing = {"compacted": False, "before": None, "after": None, "removed": 0, "stopped": False}
    assert await compact(guest, session) == (200, nothing)
    bare = await guest.http.post(f"/api/v1/sessions/{session}/compact")
    assert (bare.status_code, bare.json()) == (200, nothing)


async def test_a_session_that_works_or_is_closed_is_not_compacted(guest: Guest) -> None:
    session = await guest.open()
    await guest.prompt(session, "take your time")
    await guest.until(session, "working")
    status, problem = await compact(guest, session)
    assert (status, "idle" in problem["detail"]) == (409, True)
    await guest.do(session, "abort")
    await guest.do(session, "close")
    assert (await compact(guest, session))[0] == 409
    assert (await compact(guest, session, instructions=""))[0] == 422
    assert (await compact(guest, session, instructions="x" * 2001))[0] == 422


async def test_what_is_asked_for_meanwhile_waits_and_a_stop_leaves_the_history(
    guest: Guest,
) -> None:
    session = await guest.open()
    await guest.turn(session, "greet me")
    await guest.turn(session, "greet me again")
    going = asyncio.create_task(compact(guest, session, instructions="The summary may take long."))
    await until_compacting(guest, session)
    assert (await compact(guest, session))[0] == 409
    await guest.prompt(session, "greet me a third time")
    await asyncio.sleep(0.5)
    assert len((await guest.show(session))["queue"]) == 1
    await guest.do(session, "abort")
    status, done = await going
    assert (status, done["compacted"], done["stopped"]) == (200, False, True)
    view = await guest.until(session, "idle")
    assert (view["compacting"], view["turns"]) == (False, 3)
    [ended] = of_kind("compaction.ended", await guest.events(session))
    assert ended["error"]
    assert ended["removed"] == 0


async def test_a_server_that_is_killed_meanwhile_leaves_a_session_that_goes_on(
    own_portal: Portal,
) -> None:
    async with Guest.of(own_portal) as guest:
        session = await guest.open()
        await guest.turn(session, "greet me")
        await guest.turn(session, "greet me again")
        measured = (await guest.show(session))["context"]
        going = asyncio.create_task(
            compact(guest, session, instructions="The summary may take long.")
        )
        await until_compacting(guest, session)
        await asyncio.sleep(1)  # the runtime keeps what was said a moment later
        await asyncio.to_thread(own_portal.kill)
        await asyncio.wait({going})
        assert going.exception() is not None
    await asyncio.to_thread(own_portal.start)
    async with Guest.of(own_portal) as guest:
        view = await guest.show(session)
        assert (view["state"], view["compacting"]) == ("interrupted", False)
        assert view["context"] == measured
        await guest.do(session, "resume")
        await guest.turn(session, "greet me once more")
        status, done = await compact(guest, session)
        assert (status, done["compacted"]) == (200, True)
