"""A session that goes on with another model, effort or policy, over v1."""

import asyncio
from typing import Any

from tests.contract.guest import Guest, Told
from tests.portal import Portal


async def change(guest: Guest, session: str, **asked: Any) -> tuple[int, Told]:
    answer = await guest.http.patch(f"/api/v1/sessions/{session}", json=asked)
    return answer.status_code, answer.json()


def of_kind(kind: str, events: list[Told]) -> list[Told]:
    return [told["event"] for told in events if told["event"]["kind"] == kind]


async def test_the_next_turn_is_another_models_with_the_same_history(guest: Guest) -> None:
    session = await guest.open(model="rehearsal")
    await guest.turn(session, "greet me")
    status, view = await change(guest, session, model="house/grand-model", title="Two models")
    assert (status, view["model"], view["title"]) == (200, "house/grand-model", "Two models")
    events = await guest.turn(session, "look around")
    [ended] = of_kind("turn.ended", events)
    assert (ended["outcome"], ended["models"]) == ("done", ["house/grand-model"])
    assert ended["usage"]["multiplier"] == 2.5
    assert of_kind("session.error", events) == []
    [changed] = of_kind("session.changed", await guest.events(session))
    assert changed == {
        "kind": "session.changed",
        "model": "house/grand-model",
        "who": view["who"],
    }


async def test_a_running_turn_is_not_changed_but_the_one_behind_it(guest: Guest) -> None:
    session = await guest.open(model="rehearsal")
    await guest.prompt(session, "tell the tale")
    await guest.follow_to(session, "message.started")
    assert (await change(guest, session, model="house/grand-model"))[0] == 200
    await guest.prompt(session, "greet me")
    await guest.until(session, "idle")
    first, second = of_kind("turn.ended", await guest.events(session))
    assert (first["models"], second["models"]) == (["rehearsal"], ["house/grand-model"])


async def test_what_cannot_be_is_refused_and_nothing_is_written(guest: Guest) -> None:
    session = await guest.open(model="rehearsal")
    for asked in (
        {"model": "nobody"},
        {"model": ""},
        {"reasoningEffort": "huge"},
        {"permissions": "everything"},
        {},
    ):
        status, told = await change(guest, session, **asked)
        assert status == 422, told
    assert (await change(guest, session, model="rehearsal"))[0] == 200, "it is so already"
    assert of_kind("session.changed", await guest.events(session)) == []
    await guest.do(session, "close")
    assert (await change(guest, session, model="house/grand-model"))[0] == 409


def make_room(guest: Guest) -> None:
    """A file that another test made there is refused before anybody is asked."""
    (guest.portal.work / "hello.txt").unlink(missing_ok=True)


async def test_narrower_permissions_hold_from_the_next_turn_on_and_wider_ones_need_own(
    approved: Guest,
) -> None:
    session = await approved.open()
    words = ("token", "add", "switching", "--role", "operate")
    made = await asyncio.to_thread(approved.portal.run, *words)
    bearer = {"Authorization": f"Bearer {made.stdout.split()[-1]}"}
    path = f"/api/v1/sessions/{session}"
    narrowed = await approved.http.patch(path, json={"permissions": "read-only"}, headers=bearer)
    assert (narrowed.status_code, narrowed.json()["policy"]) == (200, "read-only")
    make_room(approved)
    events = await approved.turn(session, "write it")
    [decided] = of_kind("permission.decided", events)
    assert (decided["allowed"], decided["by"]) == (False, "policy read-only")
    widened = await approved.http.patch(path, json={"permissions": "ask"}, headers=bearer)
    assert (widened.status_code, widened.json()["code"]) == (403, "role_needed")
    copied = await approved.http.post(f"{path}/fork", json={"permissions": "ask"}, headers=bearer)
    assert (copied.status_code, copied.json()["code"]) == (403, "role_needed")
    assert (await change(approved, session, permissions="approve-all"))[0] == 200
    events = await approved.turn(session, "write it")
    assert all(decided["allowed"] for decided in of_kind("permission.decided", events))


async def test_the_change_is_there_behind_a_killed_server(own_portal: Portal) -> None:
    async with Guest.of(own_portal) as guest:
        session = await guest.open(model="rehearsal")
        await guest.turn(session, "greet me")
        await asyncio.sleep(1)  # the runtime keeps what was said a moment later
        asked = {"reasoningEffort": "low", "permissions": "deny-all"}
        assert (await change(guest, session, model="house/grand-model", **asked))[0] == 200
        await asyncio.to_thread(own_portal.kill)
    await asyncio.to_thread(own_portal.start)
    async with Guest.of(own_portal) as guest:
        view = await guest.show(session)
        assert (view["state"], view["model"]) == ("interrupted", "house/grand-model")
        view = await guest.do(session, "resume")
        assert (view["policy"], view["reasoning_effort"]) == ("deny-all", "low")
        events = await guest.turn(session, "look around")
        [ended] = of_kind("turn.ended", events)
        assert ended["models"] == ["house/grand-model"]
        assert {one["by"] for one in of_kind("permission.decided", events)} == {"policy deny-all"}


async def test_a_session_goes_on_as_another_of_its_agents(guest: Guest) -> None:
    agents = {"reviewer": {"description": "Reviews.", "prompt": "You review."}}
    started = await guest.http.post("/api/v1/sessions", json={"agents": agents})
    session = started.json()["id"]
    await guest.turn(session, "greet me")
    for name in ("reviewer", ""):
        status, view = await change(guest, session, agent=name)
        assert (status, view.get("agent") or "") == (200, name)
        [ended] = of_kind("turn.ended", await guest.turn(session, "greet me"))
        assert ended["outcome"] == "done"
        setup = (await guest.http.get(f"/api/v1/sessions/{session}/setup")).json()
        assert (setup["setup"].get("agent") or "") == name
    for wrong in ("nobody", "x" * 65, 5):
        status, told = await change(guest, session, agent=wrong)
        assert status == 422, told
    assert (
        'no agent "nobody". It has: reviewer.'
        in (await change(guest, session, agent="nobody"))[1]["detail"]
    )
