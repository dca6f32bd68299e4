"""Chats of a server that was killed: whoever lives ends them, and their own server goes on with one
when somebody had decided what it asked."""

import asyncio

import pytest

from tests.crash.waiting import KEPT_SECONDS, Waited, of_kind, portal_in, restarted
from tests.machines.story import Fleet, Machine
from tests.trials import whole_only

FREE = "SELECT 1 FROM streams WHERE stream = %s AND owner IS NULL"
pytestmark = [pytest.mark.timeout(180), pytest.mark.timed]


@pytest.fixture
def asking(fleet: Fleet) -> Machine:
    """A server whose chats ask for permission."""
    fleet.shared.mkdir(exist_ok=True)
    portal = portal_in(fleet.folder / "asking", "--shared-root", str(fleet.shared))
    portal.extra_environ["AIRBOSS_DATABASE"] = fleet.url
    with (portal.data / "settings.toml").open("a", encoding="utf-8") as settings:
        settings.write('name = "asking"\nlease_seconds = 6\n')
    machine = Machine(portal, 6)
    fleet.machines.append(machine)
    return machine


async def waits_once(machine: Machine) -> tuple[str, str]:
    """A session, and what it asks; the runtime has it on disk."""
    async with Waited.of(machine.portal) as guest:
        item = await guest.ask("touch it")
        await asyncio.sleep(KEPT_SECONDS)
    return item["session"], item["id"]


async def test_a_chat_that_another_server_ended_goes_on_at_its_own_with_what_was_decided(
    fleet: Fleet, asking: Machine
) -> None:
    other = fleet.machine("other")
    other.serve()
    asking.serve()
    session, item = await waits_once(asking)
    async with restarted(asking.portal) as guest:
        assert await guest.allow(item) == 200
        asking.portal.kill()
    # The other one ends it, and says so once.
    fleet.until(lambda: fleet.view(session)["state"] == "interrupted")
    fleet.until(lambda: fleet.rows(FREE, session) != [])
    [(who,)] = fleet.rows("SELECT who FROM decided_chats WHERE session = %s", session)
    assert who == "owner"
    said = fleet.kinds(session)
    await asyncio.sleep(2)
    assert fleet.kinds(session) == said
    asking.serve()
    async with Waited.of(asking.portal) as guest:
        events = await guest.ended(session)
        assert guest.done.count("it") == 1
    assert [one["item"] for one in of_kind("approval.asked", events)] == [item]
    assert len(of_kind("item.settled", events)) == 1
    assert not of_kind("session.restarted", events), "it has its history"
    fleet.until(lambda: not fleet.rows("SELECT 1 FROM decided_chats"))


@whole_only
async def test_a_chat_that_is_resumed_on_another_machine_says_that_it_starts_over(
    fleet: Fleet, asking: Machine
) -> None:
    other = fleet.machine("other")
    other.serve()
    asking.serve()
    async with Waited.of(asking.portal) as guest:
        session = await guest.open(cwd=str(fleet.shared))
        await guest.prompt(session, "hello")
        await guest.ended(session, 1)
    asking.portal.kill()
    fleet.until(lambda: fleet.view(session)["state"] == "interrupted")
    async with Waited.of(other.portal) as guest:
        await guest.do(session, "resume")
        said = [one["event"] for one in await guest.events(session)]
    [begun] = of_kind("session.restarted", said)
    assert begun["why"] == "Its earlier conversation is on another machine."
