"""Two agents want the same file: one asks a person, the other says for whom it waits. On the real
runtime, which lets one call at a time at a file."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.model.events import ToolEnded
from airboss.model.gate_events import ToolGoing, ToolWaiting
from airboss.model.inbox_events import ApprovalAsked, InboxItem
from airboss.model.views import SessionView
from tests.service.house import ME, House, house_in

SCRIPT = """
rules:
  - when: "first edit"
    steps:
      - call: {tool: edit, arguments: {path: "{cwd}/tally.py", old_str: "a", new_str: "b"}}
      - say: "Done."
  - when: "second edit"
    steps:
      - call: {tool: edit, arguments: {path: "{cwd}/./tally.py", old_str: "x", new_str: "y"}}
      - say: "Done."
  - when: "other file"
    steps:
      - call: {tool: create, arguments: {path: "{cwd}/other.py", file_text: "x"}}
      - say: "Done."
  - when: "command"
    steps:
      - call: {tool: bash, arguments: {command: "rm {cwd}/tally.py", description: "remove it"}}
      - say: "Done."
  - when: "both edits"
    steps:
      - calls:
          - {tool: edit, arguments: {path: "{cwd}/tally.py", old_str: "a", new_str: "b"}}
          - {tool: edit, arguments: {path: "{cwd}/tally.py", old_str: "x", new_str: "y"}}
      - say: "Done."
"""


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT, "utf-8")
    async with house_in(tmp_path, permissions="ask", rehearsal=script) as house:
        (house.work / "tally.py").write_text("a\nx\n", "utf-8")
        yield house


async def asked_to(house: House, text: str) -> str:
    session = await house.start()
    await house.sessions.prompt(session.id, text, ME)
    return session.id


async def shown(house: House, session: str, *, items: int, calls: int) -> SessionView:
    """When so much waits for a person there, and so many calls for another's approval."""
    async with asyncio.timeout(20), house.sessions.follow(session, 0) as follower:
        view = await house.sessions.show(session)
        while (len(view.items), len(view.waiting_calls)) != (items, calls):
            await follower.next(1)
            view = await house.sessions.show(session)
    return view


async def first_item(house: House, text: str) -> InboxItem:
    return (await shown(house, await asked_to(house, text), items=1, calls=0)).items[0]


async def test_a_call_behind_anothers_approval_says_which_until_that_is_decided(
    house: House,
) -> None:
    item = await first_item(house, "first edit")
    assert isinstance(item.asked, ApprovalAsked)
    second = await asked_to(house, "second edit")
    [call] = (await shown(house, second, items=0, calls=1)).waiting_calls
    assert (call.item, call.session, call.title) == (item.id, item.session, item.asked.title)
    assert call.session_title == "first edit"
    for text in ("other file", "command"):  # these wait for nobody
        await first_item(house, text)
    third = await asked_to(house, "second edit")
    [behind] = (await shown(house, third, items=0, calls=1)).waiting_calls
    assert behind.item == item.id

    await house.services.decisions.decide(item.id, "allow-once", "ada")
    await house.until(item.session, "idle", turns=1)
    # One of the two has the file now, and the other waits for what that one asks.
    async with asyncio.timeout(20):
        while True:
            views = [await house.sessions.show(session) for session in (second, third)]
            asking = [view for view in views if view.items]
            behind = [view for view in views if view.waiting_calls]
            if len(asking) == len(behind) == 1 and asking != behind:
                break
            await asyncio.sleep(0.05)
    [asks], [waits] = asking, behind
    assert waits.waiting_calls[0].item == asks.items[0].id
    assert "-x" in str(asks.items[0].asked), "by the file as it is now"

    await house.services.decisions.decide(asks.items[0].id, "deny", "ada")
    last = (await shown(house, waits.id, items=1, calls=0)).items[0]
    await house.services.decisions.decide(last.id, "allow-once", "ada")
    await house.until(waits.id, "idle", turns=1)
    assert (house.work / "tally.py").read_text("utf-8") == "b\ny\n"
    said = await house.story(waits.id)
    kinds = [type(one) for one in said if isinstance(one, ToolWaiting | ToolGoing | ToolEnded)]
    assert kinds == [ToolWaiting, ToolGoing, ToolWaiting, ToolGoing, ToolEnded]


async def test_it_waits_no_longer_when_either_of_them_is_stopped(house: House) -> None:
    item = await first_item(house, "first edit")
    second = await asked_to(house, "second edit")
    await shown(house, second, items=0, calls=1)
    view = await house.sessions.abort(second)
    assert (view.state, view.waiting_calls) == ("idle", ())
    await house.sessions.prompt(second, "second edit", ME)
    await shown(house, second, items=0, calls=1)
    await house.sessions.close(item.session, ME)
    await shown(house, second, items=1, calls=0)


async def test_two_calls_of_one_session_wait_for_each_other_as_well(house: House) -> None:
    session = await asked_to(house, "both edits")
    view = await shown(house, session, items=1, calls=1)
    assert view.waiting_calls[0].item == view.items[0].id
    await house.services.decisions.decide(view.items[0].id, "deny", "ada")
    view = await shown(house, session, items=1, calls=0)
    house.kill_runtime()
    view = await house.until(session, "interrupted")
    assert (len(view.items), view.waiting_calls) == (1, ())
