"""Sessions over v1: start, list, show, ask, stop; and a problem in words for what is refused."""

import asyncio
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import SCRIPT
from tests.contract.guest import JSON, Guest, kinds, only
from tests.contract.stories import check_events
from tests.contract.usage import NO_LIMITS, NOTHING_USED
from tests.portal import Portal
from tests.trials import sampled

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


async def refused(guest: Guest, method: str, path: str, **sent: Any) -> tuple[int, str, str]:
    answer = await guest.http.request(method, f"/api/v1/{path}", **sent)
    told = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(told) == {"type", "title", "status", "code", "detail", "request_id", "retryable"}
    assert told["status"] == answer.status_code
    return answer.status_code, told["code"], told["detail"]


async def test_a_session_starts_and_its_place_is_told(guest: Guest) -> None:
    asked = {"model": "rehearsal", "cwd": str(guest.portal.work)}
    answer = await guest.http.post("/api/v1/sessions", json=asked)
    view = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"/api/v1/sessions/{view['id']}"
    assert re.fullmatch(r"ses_[0-9a-z]{26}", view["id"])
    assert view == {
        "id": view["id"],
        "state": "idle",
        "model": "rehearsal",
        "cwd": str(guest.portal.work),
        "policy": "read-only",
        "who": "owner",
        "created_at": view["created_at"],
        "updated_at": view["updated_at"],
        "seq": 2,
        "title": "",
        "pinned": False,
        "turn": None,
        "turns": 0,
        "queue": [],
        "models": [],
        "usage": NOTHING_USED,
        "spending": NOTHING_USED,
        "limits": NO_LIMITS,
        "granted": [],
        "allowances": [],
        "approval_seconds": None,
        "waiting_calls": [],
        "context": None,
        "compacting": False,
        "reasoning_effort": None,
        "own_policy": False,
        "error": None,
        "task": None,
        "run": None,
        "items": [],
        "asking": None,
        "account": None,
        "machine": None,
        "cage_profile": None,
        "cage": None,
        "egress": None,
        "agent": None,
        "own_agent": None,
        "instead_of": None,
        "mcp_servers": [],
        "mode": None,
        "plan_approved": None,
        "restart_number": 0,
        "forked_from": None,
        "runtime_copy": None,
    }
    assert await guest.show(view["id"]) == view


async def test_model_and_folder_may_be_left_out(guest: Guest) -> None:
    view = await guest.show(await guest.open())
    assert (view["model"], view["cwd"]) == ("rehearsal", str(guest.portal.work))


async def test_a_session_has_the_limits_that_it_was_given(guest: Guest) -> None:
    asked_for = {"cwd": str(guest.portal.work), "limits": {"tokens": 50_000, "idle_minutes": 2.5}}
    view = (await guest.http.post("/api/v1/sessions", json=asked_for)).json()
    assert view["limits"] == {**NO_LIMITS, "tokens": 50_000, "idle_minutes": 2.5}
    for wrong in ({"tokens": -1}, {"hours": 1}, {"turns": "many"}):
        answer = await guest.http.post("/api/v1/sessions", json={**asked_for, "limits": wrong})
        assert answer.status_code == 422


async def test_what_cannot_be_started_is_refused_in_words(guest: Guest, tmp_path: Path) -> None:
    async def start(**asked: Any) -> tuple[int, str]:
        content = json.dumps(asked)  # in ASCII: half a character is no UTF-8
        return (await refused(guest, "POST", "sessions", content=content, headers=JSON))[:2]

    assert await start(model="nope") == (422, "model_not_found")
    assert await start(model="") == (422, "model_not_found")
    assert await start(model="\ud800") == (422, "invalid")
    assert await start(cwd="here") == (422, "working_directory_not_absolute")
    assert await start(cwd="/nowhere/at/all") == (422, "working_directory_missing")
    assert await start(cwd=str(tmp_path)) == (422, "working_directory_not_allowed")
    assert await start(model="m" * 401) == (422, "invalid")
    assert await start(model=1) == (422, "invalid")
    assert await start(colour="red") == (422, "invalid")


async def test_who_mistyped_a_folder_is_told_which_one_was_meant(guest: Guest) -> None:
    (guest.portal.work / "harbor").mkdir(exist_ok=True)
    asked_for = {"cwd": str(guest.portal.work / "habor")}
    told = (await guest.http.post("/api/v1/sessions", json=asked_for)).json()
    meant = str(guest.portal.work / "harbor")
    assert told["suggestion"] == meant
    assert told["detail"] == f"The folder {asked_for['cwd']} does not exist. Did you mean {meant}?"


async def test_garbage_is_refused_and_never_repeated(guest: Guest) -> None:
    session = await guest.open()
    for body in (
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b'"text"',
        b'{"text": 7}',
        b'{"text": ""}',
        b'{"text": "x", "' + SECRET.encode() + b'": 1}',
        b"[" * 100_000,
        b'{"text": NaN}',
    ):
        for path in (f"sessions/{session}/prompts", "sessions"):
            status, code, detail = await refused(guest, "POST", path, content=body)
            assert status in (400, 422), (status, code)
            assert SECRET not in detail
    assert (await guest.show(session))["queue"] == []


async def test_a_huge_prompt_is_refused_and_a_large_one_is_not(guest: Guest) -> None:
    session = await guest.open()
    path = f"sessions/{session}/prompts"
    told = await refused(guest, "POST", path, json={"text": "x" * (4 * 1024 * 1024)})
    assert told[:2] == (413, "body_too_large")
    events = await guest.turn(session, "greet " + "x" * 300_000)
    assert only("turn.ended", events)[0]["outcome"] == "done"


async def test_what_is_not_there_is_not_found(guest: Guest) -> None:
    words = "There is no session ses_x."
    for method, path in (
        ("GET", ""),
        ("POST", "/abort"),
        ("POST", "/close"),
        ("POST", "/resume"),
        ("GET", "/events"),
        ("GET", "/stream"),
    ):
        told = await refused(guest, method, f"sessions/ses_x{path}")
        assert told == (404, "not_found", words), path
    told = await refused(guest, "POST", "sessions/ses_x/prompts", json={"text": "greet"})
    assert told == (404, "not_found", words)
    assert (await refused(guest, "GET", "nothing"))[:2] == (404, "not_found")
    assert (await refused(guest, "DELETE", "sessions"))[:2] == (405, "method_not_allowed")


# Asking.


async def test_a_prompt_is_on_disk_when_it_is_accepted(guest: Guest) -> None:
    session = await guest.open()
    receipt = await guest.prompt(session, "greet")
    assert set(receipt) == {"prompt", "seq", "redacted"}
    assert (receipt["seq"], receipt["redacted"]) == (3, 0)
    page = await guest.page(session, after=receipt["seq"] - 1, limit=1)
    assert page["items"][0]["event"] == {
        "kind": "prompt.accepted",
        "prompt": receipt["prompt"],
        "text": "greet",
        "who": "owner",
        "redacted": 0,
    }
    view = await guest.until(session, "idle")
    assert (view["title"], view["turns"], view["models"]) == ("greet", 1, ["rehearsal"])
    assert view["usage"]["requests"] == 1


async def test_a_secret_in_a_prompt_is_taken_out_and_the_answer_says_so(guest: Guest) -> None:
    session = await guest.open()
    receipt = await guest.prompt(session, f"use {SECRET} and {guest.portal.token}")
    assert receipt["redacted"] == 2
    await guest.until(session, "idle")
    events = json.dumps(await guest.events(session)) + json.dumps(await guest.show(session))
    assert SECRET not in events
    assert guest.portal.token not in events
    accepted = only("prompt.accepted", await guest.events(session))[0]
    assert (accepted["text"], accepted["redacted"]) == (
        "use [secret removed] and [secret removed]",
        2,
    )


async def test_half_a_character_is_no_text(guest: Guest) -> None:
    path = f"sessions/{await guest.open()}/prompts"
    told = await refused(guest, "POST", path, content=b'{"text": "\\ud83d"}', headers=JSON)
    assert told[:2] == (422, "invalid")


async def test_prompts_at_once_are_all_worked_on_one_after_another(guest: Guest) -> None:
    session = await guest.open()
    async with asyncio.TaskGroup() as group:
        for number in range(8):
            group.create_task(guest.prompt(session, f"number {number}"))
    view = await guest.until(session, "idle")
    events = await guest.events(session)
    check_events(events)
    assert view["turns"] == 8
    accepted = [event["prompt"] for event in only("prompt.accepted", events)]
    assert [event["prompt"] for event in only("turn.started", events)] == accepted


# Stopping.


@pytest.mark.timed
async def test_an_abort_is_idle_within_a_second_and_the_next_prompt_works(guest: Guest) -> None:
    session = await guest.open()
    await guest.prompt(session, "take your time")
    await guest.follow_to(session, "message.delta")
    began = time.monotonic()
    view = await guest.do(session, "abort")
    assert time.monotonic() - began < 1
    assert (view["state"], view["turn"], view["turns"]) == ("idle", None, 1)
    events = await guest.events(session)
    check_events(events)
    assert kinds(events)[-3:] == ["message.ended", "turn.ended", "session.idle"]
    assert only("message.ended", events)[0]["cut"] is True
    assert only("turn.ended", events)[0]["outcome"] == "aborted"
    again = await guest.turn(session, "greet")
    assert only("turn.ended", again)[0]["outcome"] == "done"


@pytest.mark.parametrize("wait", sampled(2, [0, 0.01, 0.002, 0.03]))
async def test_an_abort_right_behind_the_prompt_ends_it_too(guest: Guest, wait: float) -> None:
    session = await guest.open()
    for _ in range(4):
        await guest.prompt(session, "take your time")
        await asyncio.sleep(wait)
        await guest.do(session, "abort")
        await guest.until(session, "idle")
    events = await guest.events(session)
    check_events(events)
    assert [turn["outcome"] for turn in only("turn.ended", events)] == ["aborted"] * 4
    assert [turn.get("prompt") is None for turn in only("turn.started", events)] == [False] * 4


async def test_an_abort_lets_what_is_queued_come_next(guest: Guest) -> None:
    session = await guest.open()
    await guest.prompt(session, "take your time")
    await guest.prompt(session, "greet")
    await guest.follow_to(session, "message.delta")
    await guest.do(session, "abort")
    await guest.until(session, "idle")
    outcomes = [turn["outcome"] for turn in only("turn.ended", await guest.events(session))]
    assert outcomes == ["aborted", "done"]


async def test_an_abort_of_nothing_changes_nothing(guest: Guest) -> None:
    session = await guest.open()
    before = await guest.show(session)
    assert await guest.do(session, "abort") == before


async def test_closing_twice_is_as_good_as_once(guest: Guest) -> None:
    session = await guest.open()
    await guest.prompt(session, "take your time")
    await guest.prompt(session, "greet")
    async with asyncio.TaskGroup() as group:
        both = [group.create_task(guest.do(session, "close")) for _ in range(2)]
    first, second = both[0].result(), both[1].result()
    assert first == second == await guest.do(session, "close")
    assert (first["state"], first["queue"], first["turn"]) == ("closed", [], None)
    events = await guest.events(session)
    check_events(events)
    assert kinds(events).count("session.closed") == 1
    assert kinds(events).count("prompt.dropped") + kinds(events).count("turn.started") == 2
    for verb in ("abort", "resume"):
        told = await refused(guest, "POST", f"sessions/{session}/{verb}")
        assert told[:2] == (409, "conflict")
    told = await refused(guest, "POST", f"sessions/{session}/prompts", json={"text": "greet"})
    assert told == (409, "conflict", "The session is closed. Resume it, or start a new one.")


# Listing.


async def test_the_list_is_read_by_cursor_while_new_sessions_come(guest: Guest) -> None:
    made = [await guest.open() for _ in range(5)]
    first = await _list(guest, limit=2)
    assert [view["id"] for view in first["items"]] == [made[4], made[3]]
    new = await guest.open()
    second = await _list(guest, limit=2, cursor=first["next_cursor"])
    assert [view["id"] for view in second["items"]] == [made[2], made[1]]
    assert (await _list(guest, limit=1))["items"][0]["id"] == new
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await _list(guest, limit=3, **({"cursor": cursor} if cursor else {}))
        seen += [view["id"] for view in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert seen[:6] == [new, *reversed(made)]
    assert (await _list(guest, limit=200))["next_cursor"] is None


async def test_the_list_is_filtered_by_state(guest: Guest) -> None:
    closed, idle = await guest.open(), await guest.open()
    await guest.do(closed, "close")
    for states, expected in (
        (["closed"], {closed}),
        (["idle"], {idle}),
        (["closed", "idle"], {closed, idle}),
        (["interrupted"], set[str]()),
    ):
        page = await _list(guest, state=states, limit=200)
        assert {view["id"] for view in page["items"]} & {closed, idle} == expected
        assert {view["state"] for view in page["items"]} <= set(states)


async def test_a_cursor_that_is_not_ours_is_refused(guest: Guest) -> None:
    for cursor in ("x", "é", "????", "Og", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk6eA", "LTU6eA"):
        told = await refused(guest, "GET", "sessions", params={"cursor": cursor})
        assert told[:2] == (422, "invalid"), cursor
    for params in ({"limit": 0}, {"limit": 201}, {"state": "asleep"}, {"limit": "x"}):
        told = await refused(guest, "GET", "sessions", params=params)
        assert told[:2] == (422, "invalid")


async def _list(guest: Guest, **params: Any) -> dict[str, Any]:
    answer = await guest.http.get("/api/v1/sessions", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


# Bounds.


async def test_more_sessions_than_allowed_are_refused_until_one_closes(tmp_path: Path) -> None:
    portal = Portal(tmp_path, script=SCRIPT)
    portal.data.mkdir(parents=True)
    (portal.data / "settings.toml").write_text("max_sessions = 3\n", encoding="utf-8")
    portal.start()
    async with Guest.of(portal) as guest:
        async with asyncio.TaskGroup() as group:
            tried = [
                group.create_task(guest.http.post("/api/v1/sessions", json={})) for _ in range(9)
            ]
        answers = [task.result() for task in tried]
        assert sorted(answer.status_code for answer in answers) == [201] * 3 + [429] * 6
        told = next(answer.json() for answer in answers if answer.status_code == 429)
        assert (told["code"], told["retryable"]) == ("too_much", True)
        assert "max_sessions" in told["detail"]
        opened = next(answer.json()["id"] for answer in answers if answer.status_code == 201)
        await guest.do(opened, "close")
        await guest.open()
    portal.stop()
