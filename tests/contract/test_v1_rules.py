"""Rules over v1, against a real server: made, listed, put in order, removed, kept."""

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.guest import Guest, Told
from tests.portal import Portal


@pytest.fixture(scope="module")
def rules_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("rules"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
async def guest(rules_portal: Portal, anyio_backend: str) -> AsyncGenerator[Guest]:
    """With no rules left from the test before."""
    async with Guest.of(rules_portal) as guest:
        for kept in await listed(guest):
            assert (await guest.http.delete(f"/api/v1/rules/{kept['id']}")).status_code == 204
        yield guest


async def listed(guest: Guest) -> list[Told]:
    answer = await guest.http.get("/api/v1/rules")
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


async def add(guest: Guest, place: int | None = None, **rule: Any) -> Told:
    body = {"rule": rule} | ({} if place is None else {"place": place})
    answer = await guest.http.post("/api/v1/rules", json=body)
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"/api/v1/rules/{answer.json()['id']}"
    return answer.json()


def linked_folder(place: Path) -> Path:
    (place / "real").mkdir()
    (place / "link").symlink_to(place / "real")
    return (place / "link").resolve()


async def test_a_rule_is_kept_with_who_made_it_and_survives_a_restart(
    guest: Guest, rules_portal: Portal, tmp_path: Path
) -> None:
    real = linked_folder(tmp_path)
    path = f"{tmp_path}/link/*"
    made = await add(guest, verdict="allow", wish="read", path=path)
    assert made["id"].startswith("rul_")
    assert made["who"] == "owner"
    assert made["rule"]["path"] == f"{real}/*"
    first = await add(guest, 0, verdict="deny", command="rm *")
    assert await listed(guest) == [first, made]
    rules_portal.kill()
    rules_portal.start()
    async with Guest.of(rules_portal) as again:
        assert await listed(again) == [first, made]


async def test_rules_are_put_in_order_and_removed(guest: Guest) -> None:
    a, b, c = [await add(guest, verdict="deny", command=name) for name in "abc"]
    order = {"ids": [c["id"], a["id"], b["id"]]}
    answer = await guest.http.put("/api/v1/rules/order", json=order)
    assert (answer.status_code, answer.json()["items"]) == (200, [c, a, b])
    assert (await guest.http.delete(f"/api/v1/rules/{a['id']}")).status_code == 204
    assert await listed(guest) == [c, b]
    answer = await guest.http.put("/api/v1/rules/order", json=order)
    assert answer.status_code == 409
    assert answer.json()["detail"].startswith("The order must list every rule once.")


async def test_what_cannot_be_a_rule_is_refused_in_words(guest: Guest) -> None:
    for body, status in (
        ({"rule": {"verdict": "perhaps"}}, 422),
        ({"rule": {"verdict": "deny", "colour": "red"}}, 422),
        ({"rule": {"verdict": "deny"}, "place": -1}, 422),
        ({"rule": {"verdict": "allow"}}, 422),
        ({"rule": {"verdict": "allow", "wish": "read", "path": "../x"}}, 422),
    ):
        answer = await guest.http.post("/api/v1/rules", json=body)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
    gone = await guest.http.delete("/api/v1/rules/rul_x")
    assert (gone.status_code, gone.json()["detail"]) == (404, "There is no rule rul_x.")
    assert await listed(guest) == []
