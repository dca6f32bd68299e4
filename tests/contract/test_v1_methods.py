"""Every address answers to the methods that it names, and says so of others."""

from tests.contract.guest import Guest


async def test_head_answers_wherever_get_does(guest: Guest) -> None:
    for path in ("/api/v1/status", "/api/v1/sessions", "/healthz", "/api/v1/openapi.json"):
        got, head = await guest.http.get(path), await guest.http.head(path)
        assert (head.status_code, head.content) == (got.status_code, b""), path
        assert head.headers["content-type"] == got.headers["content-type"]


async def test_head_of_a_stream_ends_at_once(guest: Guest) -> None:
    head = await guest.http.head("/api/v1/feed", timeout=5)
    assert head.status_code == 200
    assert head.headers["content-type"].startswith("text/event-stream")


async def test_a_wrong_method_is_told_every_right_one(guest: Guest) -> None:
    answer = await guest.http.put("/api/v1/sessions")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, POST")
    answer = await guest.http.post("/api/v1/rules/rul_1")
    assert (answer.status_code, answer.headers["allow"]) == (405, "DELETE")


async def test_the_order_of_rules_is_no_rule(guest: Guest) -> None:
    for method in ("GET", "POST", "DELETE"):
        answer = await guest.http.request(method, "/api/v1/rules/order")
        assert (answer.status_code, answer.headers["allow"]) == (405, "PUT"), method


async def test_a_body_of_another_kind_than_json_is_told_so(guest: Guest) -> None:
    for path in ("/api/v1/runs", "/api/v1/entry/install"):
        answer = await guest.http.post(path, data={"job": "sample"})
        assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type"), path
