"""Odd addresses on every route there is: an answer in words, never a failure of ours."""

import re
from collections.abc import AsyncGenerator

import httpx2
import pytest
from fastapi.routing import iter_route_contexts

from airboss.http.api import build_routes
from tests.crash.witness import start_session
from tests.portal import Portal
from tests.trials import share, trial

_PARAMETER = re.compile(r"\{[^}]*\}")
ODD = [
    "a%00.png",
    "%00",
    "ses_%00",
    "%0a",
    "a%0d%0aX-Forged:%201",
    "..%2f..%2ftoken",
    "..%5c..%5ctoken",
    "%2e%2e",
    "%2fetc%2fpasswd.png",
    "%c0%ae%c0%ae",
    "%ed%a0%80",
    "%ff.png",
    "%e2%80%ae.png",
    "%f0%9f%9a%80",
    f"{'a' * 255}.png",
    f"{'a' * 300}.png",
    f"{'a' * 5000}.png",
    f"{'%F0%9F%9A%80' * 100}.png",
    "-1",
    "9" * 400,
    "'%20OR%201=1--",
    "%25s%25n",
    "nan",
]
# So many of them in each place; every one comes in its turn.
TRIED = share(6, len(ODD))
# What stops the server, what follows something, and what examines the whole machine.
_NOT_ASKED = re.compile(r".*/(stop|feed|inbox/stream|audit/stream|audit/export|doctor|models)")


def odd_values(turn: int) -> list[str]:
    """The first of all, and some others."""
    return [ODD[0], *(ODD[(turn * TRIED + more) % len(ODD)] for more in range(1, TRIED))]


def asked(session: str) -> list[tuple[str, str]]:
    """Every route that has a parameter, with each odd value in each place; a real session's name
    goes where one is first, so that what lies behind it is reached."""
    found: set[tuple[str, str]] = set()
    for route in iter_route_contexts(build_routes(None).routes):
        path = str(route.path)
        if _NOT_ASKED.fullmatch(path) and "{" not in path:
            continue
        names = _PARAMETER.findall(path)
        for place in range(len(names)):
            for odd in odd_values(len(found)):
                values = iter(
                    odd if at == place else session if name == "{session}" else "x"
                    for at, name in enumerate(names)
                )
                filled = _PARAMETER.sub(lambda _, values=values: next(values), path)
                found.update((method, filled) for method in route.methods or ())
    return sorted(found)


@pytest.fixture
async def client(closed_portal: Portal) -> AsyncGenerator[httpx2.AsyncClient]:
    async with closed_portal.client() as client:
        yield client


@trial
async def test_an_odd_name_anywhere_is_answered_in_words(
    closed_portal: Portal, client: httpx2.AsyncClient
) -> None:
    session = await start_session(client, closed_portal.work)
    tried = asked(session)
    assert ("GET", f"/api/v1/sessions/{session}/images/a%00.png") in tried
    wrong: list[str] = []
    for method, path in tried:
        answer = await client.request(method, path)
        if answer.status_code >= 500:
            wrong.append(f"{answer.status_code} {method} {path[:120]}")
        assert "x-forged" not in answer.headers
    assert wrong == []
    assert "Traceback" not in closed_portal.log


async def test_an_image_of_an_odd_name_is_not_there(
    closed_portal: Portal, client: httpx2.AsyncClient
) -> None:
    session = await start_session(client, closed_portal.work)
    for odd in (*ODD, "a.png", ".png", "..png", "%2e%2e%2f%2e%2e%2ftoken.png"):
        answer = await client.get(f"/api/v1/sessions/{session}/images/{odd}")
        assert answer.status_code == 404, odd


@trial
async def test_an_odd_query_is_answered_in_words(client: httpx2.AsyncClient) -> None:
    for turn, route in enumerate(iter_route_contexts(build_routes(None).routes)):
        path = str(route.path)
        if "GET" not in (route.methods or ()) or "{" in path or _NOT_ASKED.fullmatch(path):
            continue
        for odd in odd_values(turn):
            keys = ("text", "cursor", "state", "model", "job", "name", "path", "q", odd)
            query = "&".join(f"{key}={odd}" for key in keys)
            answer = await client.get(f"{path}?{query}"[:8000])
            assert answer.status_code < 500, (path, odd)
    for odd in ODD:
        answer = await client.get(f"/api/v1/feed?follow={odd}:x")
        assert answer.status_code == 422, odd


@pytest.mark.parametrize("folder", ["", "assets/"])
async def test_an_odd_page_is_not_there(client: httpx2.AsyncClient, folder: str) -> None:
    for odd in ODD:
        answer = await client.get(f"/{folder}{odd}")
        assert answer.status_code == 404, odd
