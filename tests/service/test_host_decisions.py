"""What a person says about a host that a cage wants to reach, from the inbox to the connection."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.cli.inbox.item_page import draw
from airboss.cli.screen import out
from airboss.harness.host_items import HostItems
from airboss.model.ids import SessionId
from airboss.model.inbox_events import ApprovalAsked, InboxItem
from airboss.runtime.cage.host_request import HostAnswer, HostRequest
from tests.harness.opened_house import House, opened_house
from tests.pauses import pauses

pytestmark = pytest.mark.anyio


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    async with opened_house(tmp_path) as house:
        yield house


async def hosts_of(house: House, folder: Path) -> tuple[str, HostItems]:
    sessions = house.services.sessions
    view = await sessions.start("rehearsal", str(folder), "me")
    talk = sessions._open[SessionId(view.id)]  # pyright: ignore[reportPrivateUsage]
    return view.id, talk.hosts


async def permits(hosts: HostItems, host: str = "files.example.org") -> HostAnswer:
    return await hosts.permit(HostRequest(host, 443, listed=False), "ask")


async def waiting(house: House, count: int = 1) -> list[InboxItem]:
    async with asyncio.timeout(10):
        for seconds in pauses():
            if len(found := list(house.services.inbox.waiting())) == count:
                return found
            await asyncio.sleep(seconds)
    raise AssertionError


async def test_a_host_is_allowed_for_every_cage_by_a_rule_that_is_kept(
    house: House, tmp_path: Path
) -> None:
    _, hosts = await hosts_of(house, tmp_path)
    async with asyncio.TaskGroup() as tasks:
        connection = tasks.create_task(permits(hosts))
        [item] = await waiting(house)
        await house.services.decisions.decide(item.id, "allow-always", "mona", option="domain")
    [kept] = house.services.rules.current
    assert (kept.rule.wish, kept.rule.host) == ("host", "*.example.org")
    assert connection.result() == HostAnswer(True, "", f"rule {kept.id}")
    _, others = await hosts_of(house, tmp_path)
    assert (await permits(others, "other.example.org")).allowed


async def test_a_host_is_allowed_until_the_session_ends_and_no_rule_is_written(
    house: House, tmp_path: Path
) -> None:
    _, hosts = await hosts_of(house, tmp_path)
    async with asyncio.TaskGroup() as tasks:
        connection = tasks.create_task(permits(hosts))
        [item] = await waiting(house)
        await house.services.decisions.decide(item.id, "allow-always", "mona", option="session")
    assert connection.result() == HostAnswer(True, "", "session")
    assert house.services.rules.current == ()


async def test_a_denied_host_is_refused_with_the_persons_words(
    house: House, tmp_path: Path
) -> None:
    _, hosts = await hosts_of(house, tmp_path)
    async with asyncio.TaskGroup() as tasks:
        connection = tasks.create_task(permits(hosts))
        [item] = await waiting(house)
        await house.services.decisions.decide(item.id, "deny", "mona", "not today")
    assert connection.result() == HostAnswer(False, "mona denied it: not today")


async def test_what_nobody_decided_leaves_the_inbox_with_its_session(
    house: House, tmp_path: Path
) -> None:
    session, hosts = await hosts_of(house, tmp_path)
    async with asyncio.TaskGroup() as tasks:
        connection = tasks.create_task(permits(hosts))
        await waiting(house)
        await house.services.sessions.close(session, "me")
    assert connection.result().allowed is False
    assert await waiting(house, 0) == []


async def test_it_stays_asked_when_the_turn_ends_and_goes_with_a_lost_runtime(
    house: House, tmp_path: Path
) -> None:
    session, hosts = await hosts_of(house, tmp_path)
    hosts.seconds = 0.01
    assert (await permits(hosts)).allowed is None
    [item] = await waiting(house)
    receipt = await house.services.sessions.prompt(session, "hello", "me")
    await house.until_idle(session, receipt.seq)
    assert [one.id for one in await waiting(house)] == [item.id]
    house.agents[0].lost("The runtime is gone.")
    assert await waiting(house, 0) == []


async def test_the_command_line_shows_it_in_plain_words(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, hosts = await hosts_of(house, tmp_path)
    hosts.seconds = 0.01
    assert (await permits(hosts)).allowed is None
    [item] = await waiting(house)
    assert isinstance(item.asked, ApprovalAsked)
    draw(out(), item.asked.model_dump(mode="json"))
    shown = capsys.readouterr().out
    assert "Connect to files.example.org?" in shown
    assert "Address  https://files.example.org/" in shown
    assert "Always   would allow" in shown
