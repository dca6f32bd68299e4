"""Wherever one begins to read, in the middle of a turn or long after it: nothing is missing,
nothing comes twice, and the pieces of a block add up to its end."""

import asyncio
import random

from tests.contract.guest import Guest, Told, kinds
from tests.contract.stories import check_callbacks, check_events, without_deltas

CHANCE = random.Random()  # noqa: S311 - where a test reads is no secret
TALE = (
    "Once upon a time there was a ship, and the ship had a captain; the captain had a bird, "
    "the bird had an opinion on everything, and it was always the same."
)


async def _past(guest: Guest) -> tuple[str, list[Told]]:
    """A session with every kind of block behind it, and all that a viewer saw of it."""
    session = await guest.open()
    watching = asyncio.create_task(guest.follow_to(session, "session.closed"))
    for text in ("count aloud", "tell the tale", "two at once"):
        await guest.turn(session, text)
    await guest.do(session, "close")
    return session, await watching


async def test_pages_and_streams_add_up_from_every_position_afterwards(approved: Guest) -> None:
    session, seen = await _past(approved)
    check_events(seen)
    assert seen[0]["seq"] == 1
    stored = await approved.events(session)
    assert without_deltas(stored) == without_deltas(seen)
    for place in range(seen[-1]["seq"] + 1):
        known = [told for told in seen if told["seq"] <= place]
        rest = await approved.events(session, after=place)
        check_events(rest, known=known)
        assert without_deltas(known) + without_deltas(rest) == without_deltas(stored)
        if place % 7 == 0:
            assert await approved.follow_all(session, place) == rest


async def test_small_pages_join_without_a_seam(approved: Guest) -> None:
    session, seen = await _past(approved)
    whole = await approved.events(session, limit=1000)
    for limit in (1, 2, 3, 7):
        pages = await approved.events(session, limit=limit)
        check_events(pages)
        assert pages == whole
    assert whole[-1] == seen[-1]


async def test_reading_begins_anywhere_while_the_agent_speaks(guest: Guest) -> None:
    """Many viewers, each from its own moment and its own position, by stream and by page."""
    session = await guest.open()
    first = asyncio.create_task(guest.follow_to(session, "session.idle"))
    receipt = await guest.prompt(session, "tell the tale")
    late: list[tuple[int, asyncio.Task[list[Told]]]] = []
    for _ in range(25):
        place = CHANCE.randint(0, receipt["seq"] + 40)
        page = await guest.page(session, after=place)
        after = page["next_after"]
        late.append((place, asyncio.create_task(_rest(guest, session, page["items"], after))))
        await asyncio.sleep(0.02)
    seen = await first
    assert TALE in check_events(seen).ended.values()
    head = seen[-1]["seq"]
    for place, task in late:
        if place > head:
            task.cancel()
            continue
        read = await task
        known = [told for told in seen if told["seq"] <= place]
        check_events(read, known=known)
        assert without_deltas(read) == [t for t in without_deltas(seen) if t["seq"] > place]


async def _rest(guest: Guest, session: str, page: list[Told], after: int) -> list[Told]:
    """The page that was read, then what the stream says behind it."""
    if "session.idle" in kinds(page):
        return page
    return page + await guest.follow_to(session, "session.idle", after)


async def test_a_snapshot_and_the_stream_behind_it_fit(guest: Guest) -> None:
    """Taken again and again while a turn runs: no gap, no repetition."""
    session = await guest.open()
    seen = asyncio.create_task(guest.follow_to(session, "session.idle"))
    await guest.prompt(session, "tell the tale")
    snapshots: list[tuple[Told, asyncio.Task[list[Told]]]] = []
    while (view := await guest.show(session))["turns"] == 0:
        behind = guest.follow_to(session, "session.idle", view["seq"])
        snapshots.append((view, asyncio.create_task(behind)))
        await asyncio.sleep(0.03)
    everything = await seen
    assert len(snapshots) > 5
    for view, task in snapshots:
        behind = await task
        before = [told for told in everything if told["seq"] <= view["seq"]]
        check_events(behind, known=before)
        assert without_deltas(before) + without_deltas(behind) == without_deltas(everything)
        started = "turn.started" in kinds(before)
        assert view["state"] == ("working" if started else "idle")


async def test_live_adds_up_however_slowly_it_is_read(approved: Guest) -> None:
    """From memory while the turn runs, from the store when it is long over, and in between."""
    slow, fast = await approved.start(), await approved.start()
    for session in (slow, fast):
        for text in ("tell the tale", "count aloud"):
            await approved.query(session, text)
    heard = [told for _ in range(2) for told in await approved.hear(fast)]
    late = [await approved.live(slow) for _ in range(7)]  # a little, then nothing for long
    await approved.until(slow, "idle")
    late += [told for _ in range(2) for told in await approved.hear(slow)]
    assert len(check_callbacks(heard).ended) == len(check_callbacks(late).ended) == 5
    for read in (heard, late):
        assert TALE in check_callbacks(read).ended.values()
