"""What is too long to show is asked of nobody; what an earlier version cut is asked again."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from airboss.harness.pending_items import PendingItems
from airboss.model.events import PermissionDecided
from airboss.model.ids import SessionId, new_item_id
from airboss.model.inbox_events import (
    ApprovalAsked,
    Asked,
    InboxItem,
    ItemSettled,
    Subject,
)
from airboss.runtime.hooks import ToolUse
from airboss.runtime.permission import PermissionRequest, permission_request
from airboss.service.export import Exports
from tests.service.house import House, house_in
from tests.service.test_inbox import waiting

CUT = 64_000
LONG = "echo " + "x" * CUT + "; touch PWN"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    async with house_in(tmp_path, permissions="ask", approval_seconds=20) as house:
        yield house


@dataclass
class Asking:
    """One session, whose items are asked of people."""

    house: House
    session: SessionId
    pending: PendingItems

    async def commit(self, asked: Asked) -> None:
        """In the session's stream alone, as earlier versions did."""
        talk = await self.house.sessions._talk(self.session)  # pyright: ignore[reportPrivateUsage]
        await talk._state.writer.commit(asked)  # pyright: ignore[reportPrivateUsage]

    async def decided(self) -> list[PermissionDecided]:
        await self.house.services.log.last_view(self.session)
        story = await self.house.story(self.session)
        return [event for event in story if isinstance(event, PermissionDecided)]


async def asking_in(house: House) -> Asking:
    session = await house.start()
    talk = await house.sessions._talk(session.id)  # pyright: ignore[reportPrivateUsage]
    return Asking(house, session.id, talk.pending)


def shell(command: str, **request: Any) -> PermissionRequest:
    asked = {"kind": "shell", "fullCommandText": command, "toolCallId": "call_1", **request}
    return permission_request({"requestId": "req_1", "permissionRequest": asked})


async def test_what_is_too_long_is_refused_with_a_reason_and_asked_of_nobody(house: House) -> None:
    asking = await asking_in(house)
    answer = await asking.pending.decide(shell("x" * 2_000_000))
    assert not answer.allowed
    assert answer.reason.startswith("Nobody was asked: ")
    (told,) = await asking.decided()
    assert (told.allowed, told.by, told.reason) == (False, "size", answer.reason)
    assert (await house.services.inbox.show()).items == ()


async def test_a_check_of_the_gate_cannot_ask_for_more_than_is_shown_either(house: House) -> None:
    asking = await asking_in(house)
    use = ToolUse(tool="deploy", arguments={"text": "x" * 2_000_000})
    assert await asking.pending.permit(use, "It costs money.") is False
    (told,) = await asking.decided()
    assert (told.allowed, told.by) == (False, "size")
    assert (await house.services.inbox.show()).items == ()


def cut_item(session: SessionId, asked: PermissionRequest) -> InboxItem:
    """As an earlier version wrote it."""
    cut = ApprovalAsked(
        item=new_item_id(),
        request="req_0",
        call=asked.call,
        wish="shell",
        title="Run echo xxx…",
        description="",
        severity="high",
        subject=Subject(command=(asked.command or "")[:CUT]),
        fingerprint="",
    )
    return InboxItem(id=cut.item, session=session, asked=cut, asked_at=0)


async def test_what_an_earlier_version_showed_a_part_of_is_asked_again_whole(house: House) -> None:
    asking = await asking_in(house)
    asked = shell(LONG)
    old = cut_item(asking.session, asked)
    await asking.commit(old.asked)
    asking.pending.keep([old])
    async with asyncio.TaskGroup() as group:
        deciding = group.create_task(asking.pending.decide(asked))
        (item,) = await waiting(house)
        assert isinstance(item.asked, ApprovalAsked)
        assert item.id != old.id
        assert item.asked.subject.command == LONG
        await house.services.decisions.decide(item.id, "allow-once", "ada")
    assert deciding.result().allowed
    story = await house.story(asking.session)
    exports = Exports(house.services.log)
    view = await house.sessions.show(asking.session)
    for form in ("markdown", "html", "jsonl"):
        assert LONG in "".join([piece async for piece in exports.write(view, form)])
    settled = {one.item: one.outcome for one in story if isinstance(one, ItemSettled)}
    assert settled == {old.id: "cancelled", item.id: "allow-once"}


async def test_what_an_earlier_version_cut_and_is_too_long_waits_no_longer(house: House) -> None:
    asking = await asking_in(house)
    asked = shell("x" * 2_000_000)
    old = cut_item(asking.session, asked)
    await asking.commit(old.asked)
    asking.pending.keep([old])
    assert not (await asking.pending.decide(asked)).allowed
    await house.services.log.last_view(asking.session)
    assert (await house.sessions.show(asking.session)).items == ()
