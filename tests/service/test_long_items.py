"""What is too long to show is asked of nobody; what an earlier version cut is asked again."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from airboss.harness.pending_items import PendingItems
from airboss.model.events import PermissionDecided
from airboss.model.ids import new_item_id
from airboss.model.inbox_events import (
    ApprovalAsked,
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


async def pending_in(house: House) -> PendingItems:
    session = await house.start()
    talk = await house.sessions._talk(session.id)  # pyright: ignore[reportPrivateUsage]
    return talk.pending


def shell(command: str, **request: Any) -> PermissionRequest:
    asked = {"kind": "shell", "fullCommandText": command, "toolCallId": "call_1", **request}
    return permission_request({"requestId": "req_1", "permissionRequest": asked})


async def decided(house: House, pending: PendingItems) -> list[PermissionDecided]:
    await pending.writer.settle()
    story = await house.story(pending.session)
    return [event for event in story if isinstance(event, PermissionDecided)]


async def test_what_is_too_long_is_refused_with_a_reason_and_asked_of_nobody(house: House) -> None:
    pending = await pending_in(house)
    answer = await pending.decide(shell("x" * 2_000_000))
    assert not answer.allowed
    assert answer.reason.startswith("Nobody was asked: ")
    (told,) = await decided(house, pending)
    assert (told.allowed, told.by, told.reason) == (False, "size", answer.reason)
    assert (await house.services.inbox.show()).items == ()


async def test_a_check_of_the_gate_cannot_ask_for_more_than_is_shown_either(house: House) -> None:
    pending = await pending_in(house)
    use = ToolUse(tool="deploy", arguments={"text": "x" * 2_000_000})
    assert await pending.permit(use, "It costs money.") is False
    (told,) = await decided(house, pending)
    assert (told.allowed, told.by) == (False, "size")
    assert (await house.services.inbox.show()).items == ()


def cut_item(pending: PendingItems, asked: PermissionRequest) -> InboxItem:
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
    return InboxItem(id=cut.item, session=pending.session, asked=cut, asked_at=0)


async def test_what_an_earlier_version_showed_a_part_of_is_asked_again_whole(house: House) -> None:
    pending = await pending_in(house)
    asked = shell(LONG)
    old = cut_item(pending, asked)
    await pending.writer.commit(old.asked)
    pending.keep([old])
    async with asyncio.TaskGroup() as group:
        deciding = group.create_task(pending.decide(asked))
        (item,) = await waiting(house)
        assert isinstance(item.asked, ApprovalAsked)
        assert item.id != old.id
        assert item.asked.subject.command == LONG
        await house.services.decisions.decide(item.id, "allow-once", "ada")
    assert deciding.result().allowed
    story = await house.story(pending.session)
    exports = Exports(house.services.log)
    view = await house.sessions.show(pending.session)
    for form in ("markdown", "html", "jsonl"):
        assert LONG in "".join([piece async for piece in exports.write(view, form)])
    settled = {one.item: one.outcome for one in story if isinstance(one, ItemSettled)}
    assert settled == {old.id: "cancelled", item.id: "allow-once"}


async def test_what_an_earlier_version_cut_and_is_too_long_waits_no_longer(house: House) -> None:
    pending = await pending_in(house)
    asked = shell("x" * 2_000_000)
    old = cut_item(pending, asked)
    await pending.writer.commit(old.asked)
    pending.keep([old])
    assert not (await pending.decide(asked)).allowed
    await pending.writer.settle()
    assert (await house.sessions.show(pending.session)).items == ()
