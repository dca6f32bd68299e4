"""A browser's way in: the printed address, the code in its fragment, the cookie for it."""

import time
from http.cookies import SimpleCookie
from pathlib import Path

import httpx2
import pytest

from airboss.service.access import COOKIE_SECONDS
from airboss.store.tokens import NamedTokens
from tests.http.door import Door, Open, opened


async def sign_in(door: Door, code: str, **headers: str) -> httpx2.Response:
    return await door.ask("/api/v1/signin", "POST", json={"code": code}, headers=headers)


async def cookie_of(door: Door, name: str = "owner") -> dict[str, str]:
    door.access.refresh()
    answer = await sign_in(door, door.access.new_code(name))
    pair = answer.headers["set-cookie"].partition(";")[0]
    return {"Cookie": f"other=1; {pair}; more=2"}


async def who(door: Door, headers: dict[str, str]) -> str | int:
    answer = await door.ask("/api/v1/who", headers=headers)
    return answer.json()["who"] if answer.status_code == 200 else answer.status_code


async def test_a_code_becomes_a_cookie_that_scripts_and_other_sites_never_get(door: Door) -> None:
    answer = await sign_in(door, door.access.new_code("owner"))
    assert (answer.status_code, answer.content) == (204, b"")
    set_cookie = answer.headers.get_list("set-cookie")
    assert len(set_cookie) == 1
    attributes = {part.strip().lower() for part in set_cookie[0].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} < attributes
    assert attributes & {"secure"} == set()
    assert f"max-age={COOKIE_SECONDS}" in attributes
    assert not [part for part in attributes if part.startswith("domain")]
    assert door.access.token not in set_cookie[0]
    assert list(SimpleCookie(set_cookie[0])) == [door.access.cookie_name]


async def test_the_cookie_gets_in_by_its_name_streams_included(door: Door) -> None:
    cookie = await cookie_of(door)
    assert await who(door, cookie) == "owner"
    async with (
        door.client(headers=cookie) as client,
        client.stream("GET", "/api/v1/sessions/x/stream") as answer,
    ):
        assert await anext(answer.aiter_text())


async def test_a_code_works_once(door: Door) -> None:
    code = door.access.new_code("owner")
    assert (await sign_in(door, code)).status_code == 204
    began = time.monotonic()
    again = await sign_in(door, code)
    assert time.monotonic() - began >= 0.3
    assert again.status_code == 401
    assert again.json()["code"] == "wrong_code"
    assert "set-cookie" not in again.headers


async def test_a_code_of_another_server_is_wrong(door: Door, tmp_path: Path) -> None:
    async with opened(tmp_path / "other") as other:
        code = other.access.new_code("owner")
        assert (await sign_in(door, code)).status_code == 401
        assert (await sign_in(other, code)).status_code == 204
        # Both are on one host, so a browser sends both the cookies of both.
        theirs, ours = await cookie_of(other), await cookie_of(door)
        assert other.access.cookie_name != door.access.cookie_name
        both = {"Cookie": f"{theirs['Cookie']}; {ours['Cookie']}"}
        assert (await who(door, both), await who(other, both)) == ("owner", "owner")
        assert (await who(door, theirs), await who(other, ours)) == (401, 401)


async def test_a_neighbours_cookie_of_our_name_does_not_hide_ours(door: Door) -> None:
    ours = await cookie_of(door)
    planted = {"Cookie": f"{door.access.cookie_name}=planted; {ours['Cookie']}"}
    assert await who(door, planted) == "owner"


async def test_a_wrong_bearer_is_not_made_good_by_a_cookie(door: Door) -> None:
    cookie = await cookie_of(door)
    assert await who(door, {**cookie, "Authorization": "Bearer wrong"}) == 401
    assert await who(door, {**cookie, "Authorization": "Basic cHJveHk6eA=="}) == "owner"


async def test_the_cookie_of_a_removed_token_is_out_at_once(door: Door) -> None:
    tokens = NamedTokens(door.folder)
    tokens.add("ann")
    cookie = await cookie_of(door, "ann")
    assert await who(door, cookie) == "ann"
    tokens.remove("ann")
    assert await who(door, cookie) == 401
    tokens.add("ann")
    assert await who(door, cookie) == 401


async def test_a_cookie_survives_a_restart(open_door: Open) -> None:
    async with open_door() as door:
        cookie = await cookie_of(door)
    async with open_door() as door:
        assert await who(door, cookie) == "owner"
    async with open_door(given="another-token-altogether") as door:
        assert await who(door, cookie) == 401


async def test_a_tampered_cookie_is_a_wrong_token(door: Door) -> None:
    cookie = await cookie_of(door)
    began = time.monotonic()
    assert await who(door, {"Cookie": cookie["Cookie"].replace("owner", "ownes")}) == 401
    assert time.monotonic() - began >= 0.3


async def test_signing_out_takes_the_cookie_away(door: Door) -> None:
    cookie = await cookie_of(door)
    answer = await door.ask("/api/v1/signout", "POST", headers=cookie)
    assert answer.status_code == 204
    told = answer.headers["set-cookie"]
    assert told.startswith(f'{door.access.cookie_name}="";')
    assert "Max-Age=0" in told
    assert (await door.ask("/api/v1/signout", "POST")).status_code == 401


async def test_a_link_lets_another_browser_in_as_oneself(door: Door) -> None:
    token = NamedTokens(door.folder).add("ben")
    bearer = {"Authorization": f"Bearer {token}"}
    answer = await door.ask("/api/v1/links", "POST", headers=bearer, json={})
    assert answer.status_code == 201
    url = answer.json()["url"]
    address, _, code = url.partition("/#code=")
    assert address == door.url
    signed_in = await sign_in(door, code)
    pair = signed_in.headers["set-cookie"].partition(";")[0]
    assert await who(door, {"Cookie": pair}) == "ben"


async def test_the_code_of_a_removed_token_is_void(door: Door) -> None:
    tokens = NamedTokens(door.folder)
    tokens.add("cid")
    door.access.refresh()
    code = door.access.new_code("cid")
    tokens.remove("cid")
    assert (await sign_in(door, code)).status_code == 401


async def test_behind_tls_the_cookie_is_secure(open_door: Open) -> None:
    async with open_door(hosts=("portal.example",), trusted_proxy=True) as door:
        code = door.access.new_code("owner")
        answer = await sign_in(door, code, Host="portal.example", Origin="https://portal.example")
        assert "; Secure" in answer.headers["set-cookie"]


@pytest.mark.parametrize("body", [b"", b"{}", b'{"code": ""}', b'{"code": 1}', b"[]", b"code=x"])
async def test_what_is_not_a_code_is_refused_in_words(door: Door, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await door.ask("/api/v1/signin", "POST", content=body, headers=headers)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"].startswith("body")


async def test_a_form_of_another_page_cannot_sign_anybody_in(door: Door) -> None:
    code = door.access.new_code("owner")
    assert (await sign_in(door, code, Origin="http://evil.example")).status_code == 403
    plain = await door.ask(
        "/api/v1/signin",
        "POST",
        content=f'{{"code": "{code}"}}',
        headers={"Content-Type": "text/plain"},
    )
    assert plain.status_code == 422
    assert (await sign_in(door, code, Origin=door.url)).status_code == 204


async def test_without_a_token_everybody_is_signed_in_already(open_door: Open) -> None:
    async with open_door(no_token=True) as door:
        assert (await sign_in(door, "old")).status_code == 204
        link = await door.ask("/api/v1/links", "POST", json={})
        assert link.json() == {"url": f"{door.url}/"}
