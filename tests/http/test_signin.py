"""A way in for browsers: the printed address, the code in its fragment, cookie and key for it."""

import asyncio
import time
from http.cookies import SimpleCookie
from pathlib import Path

import httpx2
import pytest

from airboss.http.refusals import WRONG_TOKEN_SECONDS, Guesses, RefusalExit
from airboss.service.sign_ins import SIGN_IN_SECONDS
from airboss.store.tokens import NamedTokens, new_token
from tests.http.door import Door, Open, opened
from tests.signing import Signed, signed_by

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


async def sign_in(door: Door, code: str, **headers: str) -> httpx2.Response:
    return await door.ask("/api/v1/signin", "POST", json={"code": code}, headers=headers)


async def signed_in(door: Door, name: str = "owner", **headers: str) -> Signed:
    door.access.refresh()
    return signed_by(await sign_in(door, door.access.new_code(name), **headers))


async def who(door: Door, headers: dict[str, str]) -> str:
    """The name that the server knows the caller by, or its word for why it does not."""
    answer = await door.ask("/api/v1/who", headers=headers)
    return answer.json()["who" if answer.status_code == 200 else "code"]


async def test_a_code_becomes_a_cookie_that_scripts_and_other_sites_never_get(door: Door) -> None:
    answer = await sign_in(door, door.access.new_code("owner"))
    set_cookie = answer.headers.get_list("set-cookie")
    assert len(set_cookie) == 1
    attributes = {part.strip().lower() for part in set_cookie[0].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} < attributes
    assert attributes & {"secure"} == set()
    assert f"max-age={SIGN_IN_SECONDS}" in attributes
    assert not [part for part in attributes if part.startswith("domain")]
    assert door.access.token not in set_cookie[0]
    assert list(SimpleCookie(set_cookie[0])) == [door.access.cookie_name]
    assert answer.json()["key"] not in set_cookie[0]
    assert answer.headers["cache-control"] == "no-store"


async def test_both_parts_get_in_by_their_name_streams_included(door: Door) -> None:
    signed = await signed_in(door)
    assert await who(door, signed.headers) == "owner"
    async with (
        door.client(headers=signed.headers) as client,
        client.stream("GET", "/api/v1/sessions/x/stream") as answer,
    ):
        assert await anext(answer.aiter_text())


async def state(door: Door, **headers: str) -> httpx2.Response:
    return await door.ask("/api/v1/signin", headers=headers)


async def test_whether_one_is_in_is_answered_to_everybody(door: Door) -> None:
    signed = await signed_in(door)
    for headers in (signed.headers, door.bearer):
        told = (await state(door, **headers)).json()
        assert (told["signed_in"], told["who"], told["role"]) == (True, "owner", "own")
        assert f"localhost:{door.port}" in told["hosts"]
        assert (told["code"], told["detail"]) == (None, None)
    stranger = await state(door)
    assert stranger.status_code == 200
    assert stranger.headers["cache-control"] == "no-store"
    told = stranger.json()
    assert told.pop("detail").startswith("A token is required")
    assert told.pop("code") == "token_needed"
    assert told.pop("hosts") == []
    assert told == {"signed_in": False, "who": None, "role": None}, "and is told nothing else"
    assert (await state(door, **signed.cookie_alone)).json()["code"] == "key_needed"


async def test_asking_whether_one_is_in_guesses_no_faster_than_anything_else(
    open_door: Open,
) -> None:
    noted: list[tuple[int, str]] = []
    gate = RefusalExit(Guesses(at_once=1))
    gate.witness = lambda _, status, code: noted.append((status, code))
    async with open_door(gate=gate) as door:
        began = time.monotonic()
        wrong = await state(door, Authorization="Bearer wrong")
        assert time.monotonic() - began >= WRONG_TOKEN_SECONDS
        assert (wrong.status_code, wrong.json()["code"]) == (200, "wrong_token")
        signed = await signed_in(door)
        await door.ask("/api/v1/signout", "POST", headers=signed.headers)
        ended = [asyncio.create_task(state(door, **signed.headers)) for _ in range(3)]
        await asyncio.wait(ended)
        assert sorted(one.result().status_code for one in ended) == [200, 429, 429]
        assert noted == [
            (401, "wrong_token"),
            *[(429, "too_many_guesses")] * 2,
            (401, "signed_out"),
        ]
        assert (await state(door)).json()["code"] == "token_needed"
        assert len(noted) == 4, "who shows nothing has guessed nothing"


async def test_asking_whether_one_is_in_is_for_our_own_pages(door: Door) -> None:
    assert (await state(door, Origin="http://evil.example")).status_code == 403
    opened_by_hand = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert (await state(door, **opened_by_hand)).status_code == 403
    assert (await door.ask("/api/v1/signin", "PUT", json={})).status_code == 401


async def test_neither_part_gets_in_without_the_other(door: Door) -> None:
    signed, other = await signed_in(door), await signed_in(door)
    assert await who(door, signed.cookie_alone) == "key_needed"
    assert await who(door, {"X-Airboss-Key": signed.key}) == "token_needed"
    assert await who(door, {**signed.cookie_alone, "X-Airboss-Key": other.key}) == "signed_out"
    assert await who(door, {**signed.cookie_alone, "X-Airboss-Key": new_token()}) == "signed_out"
    assert await who(door, {**signed.cookie_alone, "X-Airboss-Key": signed.cookie}) == "signed_out"
    assert await who(door, {**signed.cookie_alone, "X-Airboss-Key": ""}) == "key_needed"
    for shown in (signed.key, signed.cookie):
        assert await who(door, {"Authorization": f"Bearer {shown}"}) == "wrong_token"
    stop = await door.ask("/api/stop", "POST", headers=signed.cookie_alone)
    assert (stop.status_code, door.seen.calls) == (401, [])


async def test_a_cookie_without_its_key_says_how_to_sign_in_and_not_what_it_is_worth(
    door: Door,
) -> None:
    signed = await signed_in(door)
    real = await door.ask("/api/v1/who", headers=signed.cookie_alone)
    made_up = {"Cookie": f"{door.access.cookie_name}={new_token()}"}
    false = await door.ask("/api/v1/who", headers=made_up)
    assert "airboss link" in real.json()["detail"]
    assert {**real.json(), "request_id": ""} == {**false.json(), "request_id": ""}


async def test_a_page_that_has_keys_of_several_servers_shows_them_all(door: Door) -> None:
    signed = await signed_in(door)
    several = f"{new_token()}, {signed.key}"
    assert await who(door, {**signed.cookie_alone, "X-Airboss-Key": several}) == "owner"
    many = ",".join([*(new_token() for _ in range(4)), signed.key])
    assert await who(door, {**signed.cookie_alone, "X-Airboss-Key": many}) == "signed_out"


async def test_a_code_works_once(door: Door) -> None:
    code = door.access.new_code("owner")
    assert (await sign_in(door, code)).status_code == 200
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
        assert (await sign_in(other, code)).status_code == 200
        # Both are on one host, so a browser sends both the cookies of both.
        theirs, ours = await signed_in(other), await signed_in(door)
        assert theirs.cookie_name != ours.cookie_name
        cookies = f"{theirs.cookie_alone['Cookie']}; {ours.cookie_alone['Cookie']}"
        both = {"Cookie": cookies, "X-Airboss-Key": f"{theirs.key},{ours.key}"}
        assert (await who(door, both), await who(other, both)) == ("owner", "owner")
        assert await who(door, theirs.headers) == "token_needed"
        # What listens on another port gets the cookie; the key never reaches it.
        stolen = {"Cookie": cookies, "X-Airboss-Key": theirs.key}
        assert await who(door, stolen) == "signed_out"


async def test_a_neighbours_cookie_of_our_name_does_not_hide_ours(door: Door) -> None:
    ours = await signed_in(door)
    cookies = f"{ours.cookie_name}=planted; {ours.cookie_alone['Cookie']}"
    assert await who(door, {**ours.headers, "Cookie": cookies}) == "owner"


async def test_however_many_cookies_a_neighbour_plants_ours_is_found(door: Door) -> None:
    """A cookie for a longer path comes first, and signing in again would not push it aside."""
    ours = await signed_in(door)
    planted = "; ".join(f"{ours.cookie_name}=planted{number}" for number in range(180))
    cookies = f"{planted}; {ours.cookie_alone['Cookie']}"
    assert await who(door, {**ours.headers, "Cookie": cookies}) == "owner"
    assert await who(door, {**ours.headers, "Cookie": planted}) == "signed_out"


async def test_a_wrong_bearer_is_not_made_good_by_a_sign_in(door: Door) -> None:
    signed = await signed_in(door)
    assert await who(door, {**signed.headers, "Authorization": "Bearer wrong"}) == "wrong_token"
    assert await who(door, {**signed.headers, "Authorization": "Basic cHJveHk6eA=="}) == "owner"


async def test_the_sign_in_of_a_removed_token_is_out_at_once(door: Door) -> None:
    tokens = NamedTokens(door.folder)
    tokens.add("ann")
    signed = await signed_in(door, "ann")
    assert await who(door, signed.headers) == "ann"
    tokens.remove("ann")
    assert await who(door, signed.headers) == "signed_out"
    tokens.add("ann")
    assert await who(door, signed.headers) == "signed_out"
    assert door.sign_ins.seen_by("owner") == []


async def test_a_browser_can_ask_before_another_name_replaces_its_own(door: Door) -> None:
    NamedTokens(door.folder).add("ann")
    signed = await signed_in(door)
    code = door.access.new_code("ann")

    async def ask(code: str, headers: dict[str, str]) -> httpx2.Response:
        body = {"code": code, "replace": False}
        return await door.ask("/api/v1/signin", "POST", json=body, headers=headers)

    for _ in range(2):
        told = await ask(code, signed.headers)
        assert told.json() == {"key": None, "who": "ann", "instead_of": "owner"}
        assert "set-cookie" not in told.headers
        assert await who(door, signed.headers) == "owner"
    again = await ask(door.access.new_code("owner"), signed.headers)
    assert again.json()["who"] == "owner"
    assert await who(door, signed.headers) == "signed_out", "its own name needs no question"
    stranger = signed_by(await ask(code, {}))
    assert await who(door, stranger.headers) == "ann"
    assert (await ask(code, signed_by(again).headers)).json()["code"] == "wrong_code", "used"
    assert (await ask("wrong", {})).status_code == 401


async def test_a_sign_in_survives_a_restart_and_not_another_token(open_door: Open) -> None:
    async with open_door() as door:
        signed = await signed_in(door)
    async with open_door() as door:
        assert await who(door, signed.headers) == "owner"
    async with open_door(given="another-token-altogether") as door:
        assert await who(door, signed.headers) == "signed_out"


async def test_a_cookie_of_an_earlier_version_says_how_to_sign_in_again(door: Door) -> None:
    old = f"{door.access.cookie_name}=v1.owner.1800000000.1900000000.{'0' * 32}.{'0' * 64}"
    answer = await door.ask("/api/v1/who", headers={"Cookie": old, "X-Airboss-Key": new_token()})
    assert (answer.status_code, answer.json()["code"]) == (401, "sign_in_outdated")
    assert "airboss link" in answer.json()["detail"]
    # Beside a good one it does no harm.
    signed = await signed_in(door)
    both = {**signed.headers, "Cookie": f"{old}; {signed.cookie_alone['Cookie']}"}
    assert await who(door, both) == "owner"


async def test_what_an_earlier_version_signed_cookies_with_is_deleted(open_door: Open) -> None:
    async with open_door() as door:
        key = door.folder.path / "cookie-key"
        assert not key.exists()
    key.write_text("00" * 32, encoding="ascii")
    async with open_door():
        assert not key.exists()


async def test_a_wrong_key_is_answered_after_a_while(door: Door) -> None:
    signed = await signed_in(door)
    began = time.monotonic()
    assert await who(door, {**signed.headers, "X-Airboss-Key": new_token()}) == "signed_out"
    assert time.monotonic() - began >= 0.3


async def test_signing_out_ends_the_sign_in_and_takes_its_cookie_away(door: Door) -> None:
    signed, other = await signed_in(door), await signed_in(door)
    answer = await door.ask("/api/v1/signout", "POST", headers=signed.headers)
    assert answer.status_code == 204
    told = answer.headers["set-cookie"]
    assert told.startswith(f'{door.access.cookie_name}="";')
    assert "Max-Age=0" in told
    # Whoever kept a copy of both parts has nothing.
    assert await who(door, signed.headers) == "signed_out"
    assert await who(door, other.headers) == "owner"
    assert (await door.ask("/api/v1/signout", "POST")).status_code == 401
    assert (await door.ask("/api/v1/signout", "POST", headers=door.bearer)).status_code == 204


async def test_signing_in_again_ends_the_browsers_earlier_sign_in(door: Door) -> None:
    first = await signed_in(door)
    second = await signed_in(door, **first.headers)
    assert (await who(door, first.headers), await who(door, second.headers)) == (
        "signed_out",
        "owner",
    )


async def test_sign_ins_are_listed_with_who_and_from_where(door: Door) -> None:
    NamedTokens(door.folder).add("ann")
    mine = await signed_in(door, **{"User-Agent": FIREFOX})
    hers = await signed_in(door, "ann", **{"User-Agent": "a\x01b" + "c" * 500})
    before = int(time.time() * 1000)
    listed = (await door.ask("/api/v1/signins", headers=mine.headers)).json()["items"]
    assert [(one["name"], one["this"]) for one in listed] == [("ann", False), ("owner", True)]
    assert [one["device"] for one in listed] == [f"ab{'c' * 58}", "Firefox on Linux"]
    for one in listed:
        assert one["address"] == "127.0.0.1"
        assert abs(one["since"] - before) < 10_000
        assert one["until"] - one["since"] == SIGN_IN_SECONDS * 1000
        assert one["used_at"] >= one["since"]
    text = str(listed)
    assert not [part for part in (mine.key, mine.cookie, hers.key, hers.cookie) if part in text]
    own = (await door.ask("/api/v1/signins", headers=hers.headers)).json()["items"]
    assert [(one["name"], one["this"]) for one in own] == [("ann", True)]


async def test_a_sign_in_is_ended_from_elsewhere(door: Door) -> None:
    NamedTokens(door.folder).add("ann")
    mine, hers = await signed_in(door), await signed_in(door, "ann")
    ids = {one.name: one.id for one in door.sign_ins.seen_by("owner")}
    # Somebody else's is as good as not there.
    theft = await door.ask(f"/api/v1/signins/{ids['owner']}", "DELETE", headers=hers.headers)
    assert (theft.status_code, await who(door, mine.headers)) == (404, "owner")
    ended = await door.ask(f"/api/v1/signins/{ids['ann']}", "DELETE", headers=mine.headers)
    assert (ended.status_code, await who(door, hers.headers)) == (204, "signed_out")
    again = await door.ask(f"/api/v1/signins/{ids['ann']}", "DELETE", headers=mine.headers)
    assert again.status_code == 404


async def test_all_others_are_ended_or_all(door: Door) -> None:
    NamedTokens(door.folder).add("ann")
    mine, second = await signed_in(door), await signed_in(door)
    hers, her_second = await signed_in(door, "ann"), await signed_in(door, "ann")
    await door.ask("/api/v1/signins?others=true", "DELETE", headers=hers.headers)
    assert [await who(door, one.headers) for one in (hers, her_second, mine, second)] == [
        "ann",
        "signed_out",
        "owner",
        "owner",
    ]
    await door.ask("/api/v1/signins", "DELETE", headers=door.bearer)
    assert [await who(door, one.headers) for one in (hers, mine, second)] == ["signed_out"] * 3


async def test_a_link_lets_another_browser_in_as_oneself(door: Door) -> None:
    token = NamedTokens(door.folder).add("ben")
    bearer = {"Authorization": f"Bearer {token}"}
    answer = await door.ask("/api/v1/links", "POST", headers=bearer, json={})
    assert answer.status_code == 201
    url = answer.json()["url"]
    address, _, code = url.partition("/#code=")
    assert address == door.url
    assert await who(door, signed_by(await sign_in(door, code)).headers) == "ben"


async def test_a_link_that_a_sign_in_made_ends_with_it(door: Door) -> None:
    """Whoever had stolen a sign-in could else come back after it was ended, unlisted."""
    stolen, owners = await signed_in(door), await signed_in(door)
    made = [
        await door.ask("/api/v1/links", "POST", headers=one.headers, json={})
        for one in (stolen, owners)
    ]
    codes = [answer.json()["url"].partition("/#code=")[2] for answer in made]
    ended = await door.ask("/api/v1/signins?others=true", "DELETE", headers=owners.headers)
    assert ended.status_code == 204
    assert (await sign_in(door, codes[0])).json()["code"] == "wrong_code"
    assert (await sign_in(door, codes[1])).status_code == 200


async def test_the_code_of_a_removed_token_is_void(door: Door) -> None:
    tokens = NamedTokens(door.folder)
    tokens.add("cid")
    door.access.refresh()
    code = door.access.new_code("cid")
    tokens.remove("cid")
    assert (await sign_in(door, code)).status_code == 401


async def test_behind_a_proxy_the_cookie_is_secure_and_the_address_the_visitors(
    open_door: Open,
) -> None:
    proxied = {"Host": "portal.example", "Origin": "https://portal.example"}
    async with open_door(hosts=("portal.example",), trusted_proxy=True) as door:
        for forwarded in ("6.6.6.6, 192.0.2.7", "nonsense"):
            code = door.access.new_code("owner")
            answer = await sign_in(door, code, **proxied, **{"X-Forwarded-For": forwarded})
            assert "; Secure" in answer.headers["set-cookie"]
        found = [one.address for one in door.sign_ins.seen_by("owner")]
        assert sorted(found) == ["127.0.0.1", "192.0.2.7"]
    async with open_door() as door:
        await signed_in(door, **{"X-Forwarded-For": "192.0.2.8"})
        assert "192.0.2.8" not in str(door.sign_ins.seen_by("owner"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "body: Field required."),
        (b"{}", "code: Field required."),
        (b'{"code": ""}', "code: String should have at least 1 character."),
        (b'{"code": 1}', "code: Input should be a valid string."),
        (b"[]", "body: Input should be an object, with names and values."),
        (b"code=x", "body: Not valid JSON at character 1."),
    ],
)
async def test_what_is_not_a_code_is_refused_in_words(door: Door, body: bytes, said: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await door.ask("/api/v1/signin", "POST", content=body, headers=headers)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"] == said


async def test_a_form_of_another_page_cannot_sign_anybody_in(door: Door) -> None:
    code = door.access.new_code("owner")
    assert (await sign_in(door, code, Origin="http://evil.example")).status_code == 403
    plain = await door.ask(
        "/api/v1/signin",
        "POST",
        content=f'{{"code": "{code}"}}',
        headers={"Content-Type": "text/plain"},
    )
    assert plain.status_code == 415
    assert (await sign_in(door, code, Origin=door.url)).status_code == 200


async def test_without_a_token_everybody_is_signed_in_already(open_door: Open) -> None:
    async with open_door(no_token=True) as door:
        answer = await sign_in(door, "old")
        told = {"key": None, "who": "local", "instead_of": None}
        assert (answer.status_code, answer.json()) == (200, told)
        assert "set-cookie" not in answer.headers
        link = await door.ask("/api/v1/links", "POST", json={})
        assert link.json() == {"url": f"{door.url}/"}
        assert (await door.ask("/api/v1/signins")).json() == {"items": []}
        assert (await state(door)).json()["signed_in"] is True
        assert (await door.ask("/api/v1/signout", "POST")).status_code == 204
