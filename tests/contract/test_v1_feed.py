"""The feed: several streams on one connection, from any point, without a gap or a repetition."""

import asyncio
import random
import time
from contextlib import aclosing
from itertools import pairwise

import httpx2
import pytest

from airboss.model.states import FoldedSession
from tests.contract.feeds import FEED, data_of, feed, feed_to, named, told_of
from tests.contract.guest import Frame, Guest, Told, kinds
from tests.contract.stories import check_events, told, without_deltas
from tests.contract.test_v1_sessions import refused
from tests.portal import Portal

CHANCE = random.Random()  # noqa: S311 - when a viewer leaves is no secret


def folded(session: str, events: list[Told]) -> FoldedSession:
    state = FoldedSession(session)
    for one in events:
        told(state, one)
    return state


async def test_several_streams_come_on_one_connection_each_by_its_name(guest: Guest) -> None:
    first, second = await guest.open(), await guest.open()
    for session in (first, second):
        await guest.turn(session, "greet")
    frames = await feed_to(guest, named("caught-up"), f"{first}:0", f"{second}:2", "inbox:0")
    for session, after in ((first, 0), (second, 2)):
        told = told_of(frames, session)
        assert told == without_deltas(await guest.events(session, after))
    streams = frames[-1].data["streams"]
    assert streams[first] == (await guest.show(first))["seq"]
    assert set(streams) == {first, second, "inbox"}
    assert all(frame.id is None for frame in frames)


async def test_what_was_there_comes_without_its_deltas_and_folds_into_the_same(
    guest: Guest,
) -> None:
    session = await guest.open()
    for text in ("greet", "look around", "unlucky", "tell the tale"):
        await guest.turn(session, text)
    compact = told_of(await feed_to(guest, named("caught-up"), f"{session}:0"), session)
    whole = await guest.events(session)
    assert not [kind for kind in kinds(compact) if kind.endswith(".delta")]
    assert len(compact) < len(whole)
    assert folded(session, compact).plain() == folded(session, whole).plain()


async def test_what_was_there_comes_with_every_delta_where_that_is_asked_for(guest: Guest) -> None:
    session = await guest.open()
    await guest.turn(session, "tell the tale")
    whole = feed_to(guest, named("caught-up"), f"{session}:0", compact=False)
    assert told_of(await whole, session) == await guest.events(session)


async def test_of_a_block_that_is_open_all_that_was_said_comes_as_one(guest: Guest) -> None:
    session = await guest.open()
    receipt = await guest.prompt(session, "take your time")
    await guest.take(session, lambda frame: frame.kind == "message.delta", receipt["seq"])
    await asyncio.sleep(0.3)
    told = told_of(await feed_to(guest, named("caught-up"), f"{session}:0"), session)
    assert kinds(told)[-2:] == ["message.started", "message.delta"]
    assert told[-1]["event"]["text"] == "One moment. "
    await guest.do(session, "close")


async def test_what_comes_live_has_its_deltas_and_the_end_ends_only_its_stream(
    guest: Guest,
) -> None:
    session, other = await guest.open(), await guest.open()
    frames: list[Frame] = []
    async with asyncio.timeout(30), aclosing(feed(guest, f"{session}:2", f"{other}:2")) as told:
        async for frame in told:
            frames.append(frame)
            match frame.name:
                case "caught-up":
                    await guest.prompt(session, "tell the tale")
                case "end":
                    await guest.prompt(other, "greet")
                case "message" if frame.kind == "session.idle" and frame.data["stream"] == session:
                    await guest.do(session, "close")
                case "message" if frame.kind == "session.idle":
                    break
                case _:
                    pass
    live = told_of(frames, session)
    check_events(live)
    assert [kind for kind in kinds(live) if kind.endswith(".delta")]
    assert data_of(frames, "end") == [{"stream": session, "seq": live[-1]["seq"]}]
    assert kinds(told_of(frames, other))[-1] == "session.idle"


async def test_a_page_that_reconnects_at_random_points_misses_and_repeats_nothing(
    guest: Guest,
) -> None:
    session = await guest.open()
    watching = asyncio.create_task(guest.follow_to(session, "session.closed"))
    seen: list[Told] = []
    connections = 0

    async def keep_talking() -> None:
        while connections < 20:
            await guest.turn(session, "tell the tale")
        await guest.do(session, "close")

    talking = asyncio.create_task(keep_talking())
    async with asyncio.timeout(40):
        while "session.closed" not in kinds(seen):
            after = seen[-1]["seq"] if seen else 0
            frames = await feed_to(
                guest,
                lambda frame: frame.name == "end" or CHANCE.random() < 0.3,
                f"{session}:{after}",
            )
            seen += told_of(frames, session)
            connections += 1
        await talking
    everything = await watching
    assert [told["seq"] for told in seen] == sorted({told["seq"] for told in seen})
    assert without_deltas(seen) == without_deltas(everything)
    assert folded(session, seen).plain() == folded(session, everything).plain()


async def test_a_killed_server_is_picked_up_where_it_broke(own_portal: Portal) -> None:
    seen: list[Told] = []
    async with Guest.of(own_portal) as guest:
        session = await guest.open()
        await guest.turn(session, "greet")
        await guest.prompt(session, "take your time")

        def is_speaking(frame: Frame) -> bool:
            return frame.name == "message" and frame.kind == "message.delta"

        seen += told_of(await feed_to(guest, is_speaking, f"{session}:0"), session)
    own_portal.kill()
    own_portal.start()
    async with Guest.of(own_portal) as guest:
        again = await feed_to(guest, named("caught-up"), f"{session}:{seen[-1]['seq']}")
        seen += told_of(again, session)
        whole = await guest.events(session)
        assert kinds(seen)[-1] == "session.interrupted"
        assert without_deltas(seen) == without_deltas(whole)
        assert folded(session, seen).digest() == folded(session, whole).digest()


async def test_what_changed_elsewhere_is_told_together_and_not_for_deltas(guest: Guest) -> None:
    session = await guest.open()
    changed: list[tuple[float, list[str]]] = []
    async with asyncio.timeout(30), aclosing(feed(guest, lists=True)) as frames:
        assert [(await anext(frames)).name for _ in range(2)] == ["build", "caught-up"]
        talking = asyncio.create_task(guest.turn(session, "tell the tale"))
        async for frame in frames:
            if frame.name != "changed":
                continue
            changed.append((time.monotonic(), frame.data["streams"]))
            if (await guest.show(session))["turns"]:
                break
        told = await talking
    assert all(session in streams for _, streams in changed)
    assert len(changed) < len(without_deltas(told))
    assert all(later[0] - sooner[0] > 0.2 for sooner, later in pairwise(changed))


async def test_a_list_that_is_older_than_the_feed_can_be_told_from_one_that_is_not(
    guest: Guest,
) -> None:
    async def version_of_list() -> int:
        answer = await guest.http.get("/api/v1/sessions")
        return int(answer.headers["X-Airboss-Lists"])

    async def version_of_feed() -> int:
        *_, frame = await feed_to(guest, named("caught-up"), lists=True)
        return int(frame.data["lists"])

    before = await version_of_list()
    await guest.open()
    assert await version_of_feed() > before
    async with asyncio.timeout(10):
        while await version_of_list() != await version_of_feed():
            """Soon nothing changes any more, and they are the same."""
    *_, frame = await feed_to(guest, named("caught-up"))
    assert "lists" not in frame.data


async def test_without_lists_nothing_of_other_streams_is_told(guest: Guest) -> None:
    session, other = await guest.open(), await guest.open()
    frames: list[Frame] = []
    async with asyncio.timeout(30), aclosing(feed(guest, f"{session}:0")) as told:
        async for frame in told:
            frames.append(frame)
            if frame.name == "caught-up":
                await guest.turn(other, "greet")
                await guest.do(session, "close")
            if frame.name == "end":
                break
    assert {frame.name for frame in frames} == {"build", "message", "caught-up", "end"}
    assert {frame.data["stream"] for frame in frames if frame.name == "message"} == {session}


async def test_a_stream_that_does_not_exist_is_gone_and_the_others_come(guest: Guest) -> None:
    session = await guest.open()
    frames = await feed_to(guest, named("caught-up"), "ses_nothing:0", f"{session}:0")
    assert data_of(frames, "gone") == [{"stream": "ses_nothing"}]
    assert set(frames[-1].data["streams"]) == {session}
    assert len(told_of(frames, session)) == 2


async def test_a_stream_that_is_deleted_while_it_is_followed_is_gone(guest: Guest) -> None:
    session, other = await guest.open(), await guest.open()
    frames: list[Frame] = []
    async with asyncio.timeout(30), aclosing(feed(guest, f"{session}:0", f"{other}:0")) as told:
        async for frame in told:
            frames.append(frame)
            match frame.name:
                case "caught-up":
                    await guest.do(session, "close")
                case "end":
                    gone = await guest.http.delete(f"/api/v1/sessions/{session}")
                    assert gone.status_code == 204, gone.text
                case "gone":
                    await guest.do(other, "close")
                    break
                case _:
                    pass
    assert frames[-1].data == {"stream": session}


async def test_every_five_seconds_a_heartbeat_says_how_far_each_stream_was_told(
    guest: Guest,
) -> None:
    session = await guest.open()
    began = time.monotonic()
    frames = await feed_to(guest, named("heartbeat"), f"{session}:0", "inbox:0")
    assert 4.5 < time.monotonic() - began < 9
    beat = frames[-1].data
    assert beat["streams"][session] == 2
    assert abs(beat["at"] / 1000 - time.time()) < 5


@pytest.mark.parametrize(
    "follow",
    [":3", "x" * 65 + ":0", "ses_1:x", "ses_1:-1", "ses_1:²", "ses_1:" + "9" * 20, "inbox:1.5"],
)
async def test_what_is_no_stream_and_seq_is_refused_in_words(guest: Guest, follow: str) -> None:
    told = await refused(guest, "GET", "feed", params={"follow": follow})
    assert told[:2] == (422, "invalid")
    assert "follow" in told[2]


async def test_no_more_than_64_streams_and_none_twice(guest: Guest) -> None:
    many = [("follow", f"ses_{number}:0") for number in range(65)]
    told = await refused(guest, "GET", "feed", params=many)
    assert told[:2] == (422, "invalid")
    assert "64" in told[2]
    twice = [("follow", "inbox:0"), ("follow", "inbox:1")]
    told = await refused(guest, "GET", "feed", params=twice)
    assert told == (422, "invalid", "`follow` names inbox twice.")
    frames = await feed_to(guest, named("caught-up"), *(one for _, one in many[:64]))
    assert len(data_of(frames, "gone")) == 64


async def test_a_stopping_server_ends_the_feed_behind_the_last_words(own_portal: Portal) -> None:
    async with Guest.of(own_portal) as guest:
        session = await guest.open()
        await guest.prompt(session, "take your time")
        async with asyncio.timeout(30), aclosing(feed(guest, f"{session}:0")) as frames:
            seen = [await anext(frames)]
            stopping = asyncio.create_task(asyncio.to_thread(own_portal.stop))
            seen += [frame async for frame in frames]
        await stopping
    assert kinds(told_of(seen, session))[-1] == "session.interrupted"


async def test_a_removed_token_ends_the_feed(own_portal: Portal) -> None:
    token = own_portal.run("token", "add", "page").stdout.split()[-1]
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=own_portal.url, headers=headers, timeout=30) as http:
        async with asyncio.timeout(20), aclosing(feed(Guest(http, own_portal))) as frames:
            assert [(await anext(frames)).name for _ in range(2)] == ["build", "caught-up"]
            assert own_portal.run("token", "remove", "page").returncode == 0
            rest = [frame async for frame in frames]
        assert len(rest) <= 1  # a heartbeat, while the command ran
        assert (await http.get(FEED)).status_code == 401
