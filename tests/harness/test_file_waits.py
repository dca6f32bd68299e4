"""Which calls are taken to wait for another's approval, in every order of what is heard."""

import json

import pytest

from airboss.harness.file_waits import FileWaits
from airboss.harness.turn import Request
from airboss.log.log import EventLog
from airboss.model.events import ToolStarted
from airboss.model.ids import ItemId
from airboss.model.inbox_events import ApprovalAsked, Subject
from tests.harness.desk import Slot
from tests.harness.states import state_in, story


def edit(block: str, path: object = "tally.py", tool: str = "edit") -> ToolStarted:
    return ToolStarted(block=block, name=tool, arguments=json.dumps({"path": path}))


def approval(call: str, path: str = "/work/tally.py", kind: str = "write") -> ApprovalAsked:
    return ApprovalAsked(
        item=ItemId(f"itm_{call}"),
        request="r",
        call=call,
        wish=kind,
        title="Change it?",
        description="",
        severity="low",
        subject=Subject(path=path),
        fingerprint="f",
    )


async def waits(log: EventLog, session: str) -> list[str]:
    said = [event.model_dump() for event in await story(log, session)]
    told = [one for one in said if one["kind"] in ("tool.waiting", "tool.going")]
    return [f"{one['block']} {one.get('item') or 'goes on'}" for one in told]


async def test_it_does_not_matter_which_of_them_was_heard_first(log: EventLog) -> None:
    files = FileWaits()
    one = (await state_in(log, session="ses_1")).writer
    two = (await state_in(log, session="ses_2")).writer
    files.begin(one, edit("a"))
    files.begin(two, edit("b", "/work/sub/../tally.py"))
    files.asked(one, approval("a"))
    files.begin(two, edit("c", tool="create"))
    files.settled(approval("a"))
    files.asked(two, approval("b"))
    files.end(two, "c")
    files.settled(approval("b"))
    assert await waits(log, "ses_1") == ["a itm_b", "a goes on"]
    seen = ["b itm_a", "c itm_a", "b goes on", "c goes on", "c itm_b"]
    assert await waits(log, "ses_2") == seen


@pytest.mark.parametrize(
    "call",
    [
        edit("b", "other.py"),
        edit("b", tool="view"),
        edit("b", 7),
        edit("b", ""),
        ToolStarted(block="b", name="edit", arguments="{cut"),
        ToolStarted(block="b", name="edit", arguments="[]"),
    ],
)
async def test_what_wants_no_file_or_another_waits_for_nobody(
    log: EventLog, call: ToolStarted
) -> None:
    files = FileWaits()
    one = (await state_in(log, session="ses_1")).writer
    two = (await state_in(log, session="ses_2")).writer
    files.asked(one, approval("a"))
    files.begin(two, call)
    assert await waits(log, "ses_2") == []


async def test_only_an_approval_of_an_edit_holds_a_file(log: EventLog) -> None:
    files = FileWaits()
    one = (await state_in(log, session="ses_1")).writer
    files.asked(one, approval("a", kind="read"))
    files.asked(one, approval("b", path=""))
    files.begin(one, edit("c"))
    files.end(one)
    files.asked(one, approval("d"))
    assert await waits(log, "ses_1") == []


async def test_whoever_works_for_a_job_is_told_what_its_agent_waits_for(log: EventLog) -> None:
    asker = (await state_in(log, session="ses_1")).writer
    state = await state_in(log, session="ses_2")
    slot = Slot()
    state.begin_turn(None, Request(pause=slot))
    state.watch.start()
    for block in ("b", "c"):
        state.files.begin(state.writer, edit(block), state.wait_behind)
    state.files.asked(asker, approval("a"))
    behind = "the approval “Change it?” in the session “ses_1”"
    assert slot.said == [behind, behind]
    state.watch.lap()
    assert state.watch.lap() == 0, "a person is waited for"
    state.files.end(state.writer, "b")
    assert slot.said[2:] == [behind], "the other one still waits"
    state.files.settled(approval("a"))
    assert slot.said[3:] == ["goes on by itself"]
