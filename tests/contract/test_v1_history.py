"""What there was: lists with filters, and sessions that are deleted for good."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest

from tests.contract.guest import Told
from tests.contract.job_guest import JobGuest, entry_of, job_portal_in, ref
from tests.contract.test_v1_sessions import refused
from tests.portal import Portal

JOBS: dict[str, Any] = {"yes": ref("yes"), "Größe": ref("yes"), "slow": ref("slow")}


@pytest.fixture(scope="module")
def job_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = job_portal_in(tmp_path_factory.mktemp("history"))
    portal.start()
    asyncio.run(install(portal))
    yield portal
    portal.stop()


async def install(portal: Portal) -> None:
    async with JobGuest.of(portal) as guest:
        await guest.install(entry_of(JOBS))


@pytest.fixture
async def guest(job_portal: Portal, anyio_backend: str) -> AsyncGenerator[JobGuest]:
    async with JobGuest.of(job_portal) as guest:
        yield guest


async def listed(guest: JobGuest, what: str, **query: Any) -> list[str]:
    answer = await guest.http.get(f"/api/v1/{what}", params={"limit": 200, **query})
    assert answer.status_code == 200, answer.text
    return [view["id"] for view in answer.json()["items"]]


async def talk(guest: JobGuest, text: str, model: str = "driver", folder: str = "") -> Told:
    """A session with one turn behind it, closed."""
    cwd = guest.portal.work / folder
    cwd.mkdir(exist_ok=True)
    session = await guest.open(model=model, cwd=str(cwd))
    await guest.turn(session, text)
    return await guest.do(session, "close")


async def ended(guest: JobGuest, job: str) -> Told:
    return await guest.over((await guest.run(job))["id"])


# Lists.


async def test_sessions_are_found_by_model_title_and_folder(guest: JobGuest) -> None:
    one = await talk(guest, "Tell of the ÄRGER in the engine room")
    two = await talk(guest, "Something else", model="other", folder="Deck 5%")
    assert await listed(guest, "sessions", model="other") == [two["id"]]
    assert await listed(guest, "sessions", text="ärger in") == [one["id"]]
    assert await listed(guest, "sessions", text="deck 5%") == [two["id"]]
    assert await listed(guest, "sessions", text=two["id"].upper()) == [two["id"]]
    for nothing in ("deck 5_", "d%k", "\x00", "'"):
        assert await listed(guest, "sessions", text=nothing) == [], nothing
    assert await listed(guest, "sessions", text="ärger", model="other") == []


async def test_sessions_are_found_by_time_and_by_whom_they_work_for(guest: JobGuest) -> None:
    first = await talk(guest, "The first one")
    await asyncio.sleep(0.01)
    run = await ended(guest, "yes")
    second = await talk(guest, "The second one")
    [of_task] = [one["id"] for one in await guest.sessions_of(run["works"][0]["task_run"])]
    since = await listed(guest, "sessions", since=run["created_at"])
    assert since == [second["id"], of_task]
    until = await listed(guest, "sessions", until=run["created_at"])
    assert (until[0], second["id"] in until) == (first["id"], False)
    at = second["created_at"]
    assert await listed(guest, "sessions", since=at, until=at + 1) == [second["id"]]
    assert await listed(guest, "sessions", since=at, until=at) == []
    assert await listed(guest, "sessions", since=run["created_at"], of="task") == [of_task]
    persons = await listed(guest, "sessions", since=run["created_at"], of="person")
    assert persons == [second["id"]]
    assert await listed(guest, "sessions", since=run["created_at"], state="idle") == []


async def test_runs_are_found_by_time_and_name(guest: JobGuest) -> None:
    first = await ended(guest, "Größe")
    await asyncio.sleep(0.01)
    second = await ended(guest, "yes")
    assert await listed(guest, "runs", since=second["created_at"]) == [second["id"]]
    assert first["id"] in await listed(guest, "runs", until=second["created_at"])
    assert await listed(guest, "runs", text="GRÖSSE") == [first["id"]]
    assert await listed(guest, "runs", text=second["id"][:29]) == [second["id"]]
    assert second["id"] in await listed(guest, "runs", text="work", job="yes", state="succeeded")
    assert await listed(guest, "runs", text="größe", job="yes") == []


async def test_a_cursor_stays_true_behind_filters_while_new_ones_come(guest: JobGuest) -> None:
    mine = [(await talk(guest, f"Cursor number {number}"))["id"] for number in range(3)]
    query: dict[str, Any] = {"limit": 2, "text": "cursor number"}
    first = (await guest.http.get("/api/v1/sessions", params=query)).json()
    new = (await talk(guest, "Cursor number 4"))["id"]
    query["cursor"] = first["next_cursor"]
    second = (await guest.http.get("/api/v1/sessions", params=query)).json()
    assert [view["id"] for view in first["items"] + second["items"]] == mine[::-1]
    assert second["next_cursor"] is None
    assert (await listed(guest, "sessions", text="cursor number"))[0] == new


async def test_filters_that_make_no_sense_are_refused_in_words(guest: JobGuest) -> None:
    for what in ("sessions", "runs"):
        for wrong in ("since=-1", "until=soon", "text=", "text=" + "x" * 401, f"since={2**60}"):
            assert (await refused(guest, "GET", f"{what}?{wrong}"))[:2] == (422, "invalid"), wrong
    assert (await refused(guest, "GET", "sessions?of=nobody"))[:2] == (422, "invalid")


# Deleting.


async def test_a_closed_session_is_deleted_for_good(guest: JobGuest) -> None:
    session = (await talk(guest, "Forget about me"))["id"]
    kept = guest.portal.data / "copilot-home" / "session-state"
    assert "Forget about me" in (kept / session / "events.jsonl").read_text("utf-8")
    answer = await guest.http.delete(f"/api/v1/sessions/{session}")
    assert (answer.status_code, answer.content) == (204, b"")
    for path in ("", "/events", "/stream"):
        assert (await refused(guest, "GET", f"sessions/{session}{path}"))[0] == 404
    assert await listed(guest, "sessions", text="forget about") == []
    assert not (kept / session).exists()
    assert (await refused(guest, "DELETE", f"sessions/{session}"))[0] == 404
    assert (await refused(guest, "POST", f"sessions/{session}/resume"))[0] == 404


async def test_an_open_session_is_not_deleted(guest: JobGuest) -> None:
    session = await guest.open(model="driver", cwd=str(guest.portal.work))
    told = await refused(guest, "DELETE", f"sessions/{session}")
    assert told == (409, "conflict", "The session is open. Close it first.")
    assert (await guest.show(session))["state"] == "idle"
    await guest.do(session, "close")


async def test_a_session_of_a_run_goes_with_the_run_only(guest: JobGuest) -> None:
    run = await ended(guest, "yes")
    [session] = await guest.sessions_of(run["works"][0]["task_run"])
    told = await refused(guest, "DELETE", f"sessions/{session['id']}")
    assert told == (
        409,
        "conflict",
        f"The session belongs to the run {run['id']}. Delete the run to delete it too.",
    )
    assert (await guest.show(session["id"]))["state"] == "closed"
    assert (await guest.http.delete(f"/api/v1/runs/{run['id']}")).status_code == 204
    assert (await refused(guest, "GET", f"sessions/{session['id']}"))[0] == 404


async def test_a_session_that_nobody_resumes_can_be_deleted(guest: JobGuest) -> None:
    session = await guest.open(model="driver", cwd=str(guest.portal.work))
    await guest.turn(session, "Say no")
    await asyncio.to_thread(guest.portal.stop)
    await asyncio.to_thread(guest.portal.start)
    async with JobGuest.of(guest.portal) as again:
        await install(guest.portal)
        assert (await again.show(session))["state"] == "interrupted"
        assert (await again.http.delete(f"/api/v1/sessions/{session}")).status_code == 204
        assert (await refused(again, "GET", f"sessions/{session}"))[0] == 404


# Looking for what was said.


async def found(guest: JobGuest, text: str, **query: Any) -> list[Told]:
    answer = await guest.http.get("/api/v1/search", params={"text": text, **query})
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


async def test_what_was_said_in_a_session_is_found_with_its_place(guest: JobGuest) -> None:
    session = await talk(guest, "Where is the xylophone of the captain? " + "x " * 300)
    [hit] = await found(guest, "xyloph CAPTAIN")
    assert hit["snippet"]["hit"].lower() == "xylophone"
    assert hit["snippet"]["before"] == "Where is the "
    assert hit["snippet"]["after"].startswith(" of the captain? x x")
    assert hit["snippet"]["after"].endswith("…")
    assert (hit["kind"], hit["of"], hit["name"]) == ("prompt.accepted", "session", session["title"])
    assert (hit["stream"], hit["session"]) == (session["id"], session["id"])
    assert (hit["run"], hit["task_run"]) == (None, None)
    [event] = [told for told in await guest.events(session["id"]) if told["seq"] == hit["seq"]]
    assert (event["at"], event["event"]["kind"]) == (hit["at"], "prompt.accepted")
    assert (await found(guest, "No"))[0]["kind"] == "message.ended"
    assert (await guest.http.delete(f"/api/v1/sessions/{session['id']}")).status_code == 204
    assert await found(guest, "xylophone") == []


async def test_what_a_run_did_is_found_and_says_whose_it_is(guest: JobGuest) -> None:
    run = await ended(guest, "yes")
    mine = [
        hit for hit in await found(guest, "job_boolean_true", limit=100) if hit["run"] == run["id"]
    ]
    assert {"tool.started"} <= {hit["kind"] for hit in mine}
    assert {hit["task_run"] for hit in mine} == {run["works"][0]["task_run"]}
    decided = [hit for hit in await found(guest, "succeeded", limit=100) if hit["of"] == "task"]
    assert decided[0]["stream"] == run["works"][0]["task_run"]
    assert (decided[0]["name"], decided[0]["run"]) == ("yes", run["id"])


async def test_a_hit_has_the_run_that_a_list_shows_it_with_and_is_filtered_like_that(
    guest: JobGuest,
) -> None:
    run = await ended(guest, "yes")
    await guest.http.patch(f"/api/v1/runs/{run['id']}", json={"tags": ["found again"]})
    mine = await found(guest, "job_boolean_true", tag="found again", limit=100)
    assert {hit["owner"]["run"]["id"] for hit in mine} == {run["id"]}
    assert {(hit["owner"]["session"], hit["owner"]["task_run"]) for hit in mine} == {(None, None)}
    [decided] = [
        hit for hit in await found(guest, "task succeeded", limit=1) if hit["of"] == "task"
    ]
    assert (decided["work"], decided["execution"]) == (run["works"][0]["work"], 1)
    assert await found(guest, "job_boolean_true", tag="found again", of="session") == []
    assert await found(guest, "job_boolean_true", job="slow", state="succeeded") == []
    assert (await refused(guest, "GET", "search?text=a&state=asleep"))[:2] == (422, "invalid")


async def test_runs_can_be_filtered_by_every_job_and_tag_that_they_have(guest: JobGuest) -> None:
    run = await ended(guest, "Größe")
    await guest.http.patch(f"/api/v1/runs/{run['id']}", json={"tags": ["b", "A"]})
    await guest.install(entry_of({"other": ref("yes")}))
    try:
        known = (await guest.http.get("/api/v1/run-filters")).json()
        assert "Größe" in known["jobs"]
        assert "other" not in known["jobs"]
        assert [tag for tag in known["tags"] if tag in ("A", "b")] == ["A", "b"]
    finally:
        await install(guest.portal)


async def test_hits_come_page_by_page_newest_first(guest: JobGuest) -> None:
    for number in range(5):
        await talk(guest, f"Zanzibar {number}")
    told: list[str] = []
    cursor: str | None = None
    while True:
        query = {"text": "zanzibar", "limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await guest.http.get("/api/v1/search", params=query)).json()
        told += [hit["name"] for hit in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert told == [f"Zanzibar {number}" for number in (4, 3, 2, 1, 0)]


async def test_words_that_mean_something_to_the_index_are_only_words(guest: JobGuest) -> None:
    for text in ('"', "* OR a", "a AND", "NEAR(a b)", "text:a", "a'; --", "^a", "-a", "a\x00b"):
        answer = await guest.http.get("/api/v1/search", params={"text": text})
        assert answer.status_code in (200, 422), text
    assert await refused(guest, "GET", "search?text=%2A%20%22") == (
        422,
        "invalid",
        "Enter a word or a number to search for.",
    )
    for wrong in ("", "text=", "text=" + "x" * 401, "text=a&cursor=x", "text=a&limit=101"):
        assert (await refused(guest, "GET", f"search?{wrong}"))[:2] == (422, "invalid"), wrong
