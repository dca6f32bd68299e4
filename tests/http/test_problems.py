"""Every error has a status, a code and words; none is HTML, none shows a stack."""

import logging

import pytest

from airboss import errors
from airboss.http.problems import status_of
from tests.http.door import Door

WORDS = "The words of the error."
STATUS = {
    "sign_in_failed": 424,
    "signed_out": 401,
    "not_found": 404,
    "invalid": 422,
    "invalid_answer": 422,
    "body_too_large": 413,
    "model_not_found": 422,
    "working_directory_not_absolute": 422,
    "working_directory_missing": 422,
    "working_directory_not_allowed": 422,
    "no_worker_fits": 422,
    "conflict": 409,
    "cage_refused": 409,
    "too_much": 429,
    "session_gone": 410,
    "store_unavailable": 503,
    "store_away": 503,
    "runtime_missing": 503,
    "runtime_unavailable": 503,
    "runtimes_busy": 503,
    "cage_unavailable": 503,
    "not_signed_in": 503,
    "data_folder_taken": 503,
    "settings_invalid": 500,
}


async def test_each_error_is_a_problem_under_v1(door: Door) -> None:
    async with door.client(headers=door.bearer) as client:
        for code, status in STATUS.items():
            answer = await client.get(f"/api/v1/fail/{code}")
            assert answer.headers["content-type"] == "application/problem+json"
            told = answer.json()
            assert told.pop("title")
            assert told == {
                "type": "about:blank",
                "status": status,
                "code": code,
                "detail": "There is no session ses_1." if code == "not_found" else WORDS,
                "request_id": answer.headers["x-request-id"],
                "retryable": status in (429, 503),
            }
            assert answer.status_code == status
            assert ("retry-after" in answer.headers) == (status in (429, 503))


async def test_seed_001_hears_an_error_in_words(door: Door) -> None:
    async with door.client(headers=door.bearer) as client:
        for code, status in STATUS.items():
            if code != "not_found":
                answer = await client.get(f"/api/fail/{code}")
                assert (answer.status_code, answer.json()) == (status, {"error": WORDS})
                assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/api/nothing", "/api", "/api/", "/api/stop/", "/api/v2/x"])
async def test_an_unknown_endpoint_of_seed_001_is_called_so(door: Door, path: str) -> None:
    for method in ("GET", "POST"):
        answer = await door.ask(path, method, headers=door.bearer)
        assert (answer.status_code, answer.json()) == (404, {"error": "Unknown API endpoint"})


async def test_an_unknown_address_of_v1_is_a_problem(door: Door) -> None:
    answer = await door.ask("/api/v1/nothing", headers=door.bearer)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert answer.json()["detail"] == "Nothing was found at this address."


async def test_a_method_that_is_not_offered_is_said_so_and_not_unknown(door: Door) -> None:
    answer = await door.ask("/api/v1/prompts", headers=door.bearer)
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert answer.headers["allow"] == "POST"
    seed = await door.ask("/api/stop", "DELETE", headers=door.bearer)
    assert (seed.status_code, list(seed.json())) == (405, ["error"])


async def test_a_body_that_is_not_valid_is_not_repeated(door: Door) -> None:
    async with door.client(headers=door.bearer) as client:
        answer = await client.post("/api/v1/prompts", json={"text": "a", "count": "my-secret"})
        assert answer.status_code == 422
        assert answer.json()["code"] == "invalid"
        assert answer.json()["detail"].startswith("count: ")
        assert "my-secret" not in answer.text
        missing = await client.post("/api/v1/prompts", json={})
        assert missing.json()["detail"] == "text: Field required."
        broken = await client.post(
            "/api/v1/prompts", content=b"{", headers={"Content-Type": "application/json"}
        )
        assert (broken.status_code, broken.json()["code"]) == (422, "invalid")


async def test_what_nobody_foresaw_is_told_to_our_log_only(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    answer = await door.ask("/api/v1/fail/nonsense", headers=door.bearer)
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal_error"
    assert "RuntimeError" not in answer.text
    assert WORDS not in answer.text
    failures = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [record.name for record in failures] == ["airboss.http"]
    assert answer.json()["request_id"] in failures[0].getMessage()
    assert failures[0].exc_info
    seed = await door.ask("/api/fail/nonsense", headers=door.bearer)
    assert (seed.status_code, list(seed.json())) == (500, ["error"])


async def test_the_perimeters_own_refusals_have_the_form_of_their_place(door: Door) -> None:
    for path in ("/api/v1/who", "/metrics", "/readyz"):
        told = (await door.ask(path)).json()
        assert (told["status"], told["code"], told["retryable"]) == (401, "token_needed", False)
        assert told["request_id"].startswith("req_")
    seed = await door.ask("/api/stop")
    assert (seed.status_code, list(seed.json())) == (401, ["error"])
    assert seed.headers["www-authenticate"] == "Bearer"
    page = await door.ask("/", headers={"Host": "evil.example"})
    assert page.status_code == 421
    assert page.headers["content-type"] == "text/plain; charset=utf-8"


def test_every_error_of_the_house_has_a_status() -> None:
    def kinds(kind: type[errors.AirbossError]) -> set[str]:
        ours = [child for child in kind.__subclasses__() if child.__module__ == errors.__name__]
        return {kind.code}.union(*(kinds(child) for child in ours))

    # Who has which role is said with it, so it has words of its own.
    assert kinds(errors.AirbossError) - {"airboss_error", "role_needed"} == set(STATUS)
    assert status_of(errors.AirbossError("x")) == 500
