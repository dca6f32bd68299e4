"""The server gets `kill -9` at random moments, and nothing that anybody knew of is lost."""

import asyncio
import contextlib

import httpx2
import pytest

from tests.crash.conftest import MakePortal
from tests.crash.marks import left_of, soon
from tests.crash.witness import Witness, ask, show, start_session, until
from tests.portal import Portal
from tests.trials import dice, share, trial

LIVES = share(6, 50)


async def resume(client: httpx2.AsyncClient, session: str) -> httpx2.Response:
    return await client.post(f"/api/v1/sessions/{session}/resume")


async def live(portal: Portal, witnesses: list[Witness], events: int, seconds: float) -> None:
    """A life: everybody watches and asks for something, and so long behind so many events, or all
    that there are, the server is killed."""
    async with portal.client() as client, asyncio.TaskGroup() as group:
        for witness in witnesses:
            group.create_task(witness.watch(client))
        asked = [group.create_task(w.ask(client, "stream something")) for w in witnesses]
        await asyncio.wait(asked)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(3):
                while sum(len(witness.seen) for witness in witnesses) < events:  # noqa: ASYNC110 - it comes by HTTP
                    await asyncio.sleep(0.005)
        await asyncio.sleep(seconds)
        group.create_task(witnesses[0].ask(client, "stream it again"))
        portal.kill()


@trial
@pytest.mark.timeout(300)
async def test_kills_at_random_moments_lose_nothing_that_was_seen_or_acknowledged(
    make_portal: MakePortal,
) -> None:
    portal = make_portal("--permissions", "approve-all")
    chance, shown = dice(), 0
    old: Witness | None = None
    new: Witness | None = None
    for number in range(LIVES + 1):
        portal.start()
        async with portal.client() as client:
            for witness in filter(None, (old, new)):
                assert (await show(client, witness.session))["state"] == "interrupted"
                await witness.compare(client)
            if number == LIVES:
                break
            if old is not None:
                answer = await resume(client, old.session)
                assert answer.status_code == 200, answer.text
            else:
                old = Witness(await start_session(client, portal.work))
                await ask(client, old.session, "say that you are there")
                await until(client, old.session, "session.idle")
                await asyncio.sleep(1)  # the runtime writes a new session down a little later
            new = Witness(await start_session(client, portal.work))
        await live(portal, [old, new], chance.randrange(120), chance.uniform(0, 0.05))
        shown += len(old.seen) + len(new.seen)
        assert soon(lambda: not left_of(portal)), left_of(portal)
    assert shown > LIVES * 20, "the lives were too short to prove anything"


@trial
async def test_a_kill_while_sessions_start_or_are_resumed_leaves_none_half_open(
    make_portal: MakePortal,
) -> None:
    portal = make_portal("--permissions", "approve-all")
    portal.start()
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        await ask(client, session, "say that you are there")
        await until(client, session, "session.idle")
        await asyncio.sleep(1)

    async def try_to(path: str, **asked: str) -> None:
        with contextlib.suppress(httpx2.HTTPError):
            await client.post(path, json=asked)

    for number in range(0, 6, share(2, 1)):
        portal.kill()
        portal.start()
        async with portal.client() as client, asyncio.TaskGroup() as group:
            group.create_task(try_to(f"/api/v1/sessions/{session}/resume"))
            group.create_task(try_to("/api/v1/sessions", model="rehearsal", cwd=str(portal.work)))
            await asyncio.sleep(number * 0.06)
            portal.kill()
    portal.start()
    async with portal.client() as client:
        listed = (await client.get("/api/v1/sessions")).json()["items"]
        assert {view["state"] for view in listed} <= {"interrupted", "closed"}
        assert (await resume(client, session)).status_code == 200
        for view in listed:
            answer = await resume(client, view["id"])
            assert answer.status_code in (200, 409, 410), answer.text
            assert answer.status_code == 200 or answer.json()["detail"]
        receipt = await ask(client, session, "say that you are back")
        await until(client, session, "session.idle", receipt["seq"])


async def test_the_lock_of_a_killed_server_is_free_at_once(make_portal: MakePortal) -> None:
    portal = make_portal()
    for _ in range(3):
        portal.start()
        portal.kill()
        told = await asyncio.to_thread(portal.run, "status")
        assert told.returncode == 4, told.stderr
        assert "No server is running on this data folder" in told.stderr
