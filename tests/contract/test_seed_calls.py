"""Seed 001's calls, one by one, against a real server with the real runtime."""

from pathlib import Path

import pytest

from tests.contract.guest import Guest
from tests.contract.stories import check_callbacks

BOTH = pytest.mark.parametrize("method", ["GET", "POST"])


@BOTH
async def test_test_says_hello(guest: Guest, method: str) -> None:
    assert await guest.seed("test", method=method) == {"message": "Hello, world!"}


@BOTH
async def test_config_names_the_servers_folder_where_there_is_no_repository(
    guest: Guest, method: str
) -> None:
    told = await guest.seed("config", method=method)
    assert told == {"repoRoot": str(guest.portal.work)}


@BOTH
async def test_models_are_told_by_name_id_and_multiplier(guest: Guest, method: str) -> None:
    assert await guest.seed("copilot/models", method=method) == {
        "models": [
            {"name": "Rehearsal", "id": "rehearsal", "multiplier": 0},
            {"name": "Grand model", "id": "house/grand-model", "multiplier": 2.5},
        ]
    }


@BOTH
async def test_every_call_of_a_session_answers_to_both_methods(guest: Guest, method: str) -> None:
    told = await guest.seed("copilot/session/start/rehearsal", method=method)
    session = f"copilot/session/{told['sessionId']}"
    assert await guest.seed(f"{session}/query", "greet", method=method) == {}
    first = await guest.seed(f"{session}/live", method=method)
    assert first["callback"] == "onAgentStart"
    assert await guest.seed(f"{session}/stop", method=method) == {"result": "Closed"}


@pytest.mark.parametrize(
    "path", ["", "nothing", "copilot", "copilot/session/x/nothing", "copilot/session/x/live/y"]
)
async def test_an_unknown_path_is_404_in_the_seeds_words(guest: Guest, path: str) -> None:
    for method in ("GET", "POST"):
        answer = await guest.http.request(method, f"/api/{path}")
        assert (answer.status_code, answer.json()) == (404, {"error": "Unknown API endpoint"})
        assert answer.headers["content-type"] == "application/json"


async def test_installing_an_entry_is_unknown_outside_of_test_mode(guest: Guest) -> None:
    answer = await guest.http.post("/api/copilot/test/installJobsEntry", content="entry.json")
    assert (answer.status_code, answer.json()) == (404, {"error": "Unknown API endpoint"})


# session/start


async def test_a_session_starts_in_the_folder_of_the_trimmed_body(guest: Guest) -> None:
    folder = guest.portal.work / "with space"
    folder.mkdir()
    session = await guest.start(folder=f" \t{folder}\r\n")
    view = await guest.show(session)
    assert (view["cwd"], view["model"], view["state"]) == (str(folder), "rehearsal", "idle")


@pytest.mark.parametrize("body", ["", " \n\t "])
async def test_an_empty_body_means_the_repositorys_root(guest: Guest, body: str) -> None:
    view = await guest.show(await guest.start(folder=body))
    assert view["cwd"] == (await guest.seed("config"))["repoRoot"]


@pytest.mark.parametrize(
    "written", ["house/grand-model", "house%2Fgrand-model", "house%2fgrand%2Dmodel"]
)
async def test_a_model_id_may_have_slashes_and_be_percent_encoded(
    guest: Guest, written: str
) -> None:
    session = await guest.start(written)
    assert (await guest.show(session))["model"] == "house/grand-model"
    await guest.query(session, "greet")
    check_callbacks(await guest.hear(session))


@pytest.mark.parametrize(
    "model", ["", "nope", "rehearsal/", "Rehearsal", "rehearsal%20", "house", "%00", "%F0%9F%9B%AB"]
)
async def test_a_model_that_is_not_listed_is_not_found(guest: Guest, model: str) -> None:
    told = await guest.seed(f"copilot/session/start/{model}", str(guest.portal.work))
    assert told == {"error": "ModelIdNotFound"}


async def test_the_checks_come_in_order_model_absolute_exists_allowed(
    guest: Guest, tmp_path: Path
) -> None:
    async def error(model: str, folder: str) -> str:
        return (await guest.seed(f"copilot/session/start/{model}", folder))["error"]

    missing, outside = tmp_path / "missing", tmp_path
    assert await error("nope", "not/absolute") == "ModelIdNotFound"
    assert await error("nope", str(outside)) == "ModelIdNotFound"
    assert await error("rehearsal", "not/absolute") == "WorkingDirectoryNotAbsolutePath"
    assert await error("rehearsal", "~") == "WorkingDirectoryNotAbsolutePath"
    assert await error("rehearsal", str(missing)) == "WorkingDirectoryNotExists"
    assert await error("rehearsal", str(outside)) == "WorkingDirectoryNotAllowed"


async def test_a_file_counts_as_a_folder_that_does_not_exist(guest: Guest) -> None:
    file = guest.portal.work / "file.txt"
    file.write_text("text", encoding="utf-8")
    for path in (file, file / "below", guest.portal.work / ("long" * 100), "/nul\0byte"):
        told = await guest.seed("copilot/session/start/rehearsal", str(path))
        assert told == {"error": "WorkingDirectoryNotExists"}


async def test_a_folder_outside_of_the_roots_is_refused_in_words(
    guest: Guest, tmp_path: Path
) -> None:
    link = guest.portal.work / "way out"
    link.symlink_to(tmp_path)
    roundabout = guest.portal.work / ".." / ".."
    for path in (tmp_path, link, roundabout, guest.portal.folder):
        told = await guest.seed("copilot/session/start/rehearsal", str(path))
        assert told["error"] == "WorkingDirectoryNotAllowed"
        assert str(guest.portal.work) in told["message"]
        assert "--root" in told["message"]
        assert list(told) == ["error", "message"]


async def test_a_link_that_stays_below_the_roots_is_followed(guest: Guest) -> None:
    real = guest.portal.work / "real"
    real.mkdir()
    link = guest.portal.work / "link"
    link.symlink_to(real)
    assert (await guest.show(await guest.start(folder=str(link))))["cwd"] == str(real)


async def test_a_body_that_is_no_text_is_refused(guest: Guest) -> None:
    answer = await guest.http.post("/api/copilot/session/start/rehearsal", content=b"\xff\xfe")
    assert answer.status_code == 422
    assert answer.json() == {"error": "The body must be UTF-8 text."}


# session/query and session/stop


async def test_unknown_and_stopped_sessions_are_not_found(guest: Guest) -> None:
    missing = {"error": "SessionNotFound"}
    stopped = await guest.start()
    assert await guest.stop(stopped) == {"result": "Closed"}
    for session in ("ses_never", stopped, "%2e%2e"):
        assert await guest.seed(f"copilot/session/{session}/query", "greet") == missing
        assert await guest.seed(f"copilot/session/{session}/stop") == missing


async def test_a_query_answers_before_the_agent_does(guest: Guest) -> None:
    session = await guest.start()
    await guest.query(session, "take your time")
    assert (await guest.until(session, "working"))["turns"] == 0
    await guest.stop(session)


async def test_a_second_query_waits_behind_the_first(guest: Guest) -> None:
    session = await guest.start()
    for text in ("tell the tale", "greet", "what else"):
        await guest.query(session, text)
    heard = [told for _ in range(3) for told in await guest.hear(session)]
    check_callbacks(heard)
    ends = [told["completeContent"] for told in heard if told["callback"] == "onEndMessage"]
    assert ends == [
        "Once upon a time there was a ship, and the ship had a captain; the captain had a bird, "
        "the bird had an opinion on everything, and it was always the same.",
        "Hello, captain. Ünïcödé 🛫 too.",
        "Rehearsed: “what else”",
    ]


@pytest.mark.parametrize("body", ["", " \n"])
async def test_an_empty_query_is_refused_in_words(guest: Guest, body: str) -> None:
    session = await guest.start()
    told = await guest.seed(f"copilot/session/{session}/query", body)
    assert told == {"error": "InvalidQuery", "message": "The message must not be empty."}
    assert (await guest.show(session))["state"] == "idle"


async def test_a_query_of_many_lines_reaches_the_model_as_it_is(guest: Guest) -> None:
    session = await guest.start()
    await guest.query(session, "  one\ntwo \N{AIRPLANE}\n")
    end = next(t for t in await guest.hear(session) if t["callback"] == "onEndMessage")
    assert end["completeContent"] == "Rehearsed: “one two \N{AIRPLANE}”"


async def test_a_folder_that_left_is_noticed_by_the_next_query(guest: Guest) -> None:
    folder = guest.portal.work / "leaves soon"
    folder.mkdir()
    session = await guest.start(folder=str(folder))
    folder.rmdir()
    told = await guest.seed(f"copilot/session/{session}/query", "greet")
    assert told == {"error": "WorkingDirectoryNotExists"}
    folder.symlink_to(guest.portal.folder)
    told = await guest.seed(f"copilot/session/{session}/query", "greet")
    assert told["error"] == "WorkingDirectoryNotAllowed"


async def test_stopping_ends_the_running_turn_and_closes_what_is_open(guest: Guest) -> None:
    session = await guest.start()
    await guest.query(session, "take your time")
    await guest.query(session, "greet")
    first = await guest.hear(session, "onMessage")
    assert await guest.stop(session) == {"result": "Closed"}
    heard = first + await guest.hear(session, "SessionClosed")
    check_callbacks(heard)
    assert [told.get("callback") for told in heard[-4:]] == [
        "onEndMessage",
        "onAgentEnd",
        "onIdle",
        None,
    ]
    assert sum(told.get("callback") == "onAgentStart" for told in heard) == 1


async def test_two_who_stop_the_same_session_both_hear_that_it_is_closed_or_gone(
    guest: Guest,
) -> None:
    session = await guest.start()
    assert await guest.stop(session) == {"result": "Closed"}
    assert await guest.stop(session) == {"error": "SessionNotFound"}
