"""A click, a typed address, a frame: what a browser opens by itself does nothing below /api."""

import pytest

from tests.http.door import Door, Open
from tests.http.test_signin import signed_in

# As browsers send them: a click on a link, an address that is typed or restored, a reload, a
# download, and everything that a page can show without a script.
OPENED = [
    "Sec-Fetch-Site: same-origin\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document",
    "Sec-Fetch-Site: same-origin\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: empty",
    "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document",
    "Sec-Fetch-Site: none\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\nSec-Fetch-User: ?1",
    "Sec-Fetch-Mode: navigate",
    "Sec-Fetch-Mode: cors\nSec-Fetch-Mode: navigate",
    *(
        f"Sec-Fetch-Site: same-origin\nSec-Fetch-Dest: {kind}"
        for kind in ("document", "iframe", "frame", "object", "embed", "image", "script", "style")
    ),
]
FETCHED = "Sec-Fetch-Site: same-origin\nSec-Fetch-Mode: cors\nSec-Fetch-Dest: empty"
ACTS = ("GET /api/stop", "POST /api/stop", "GET /api/copilot/session/x/query", "GET /api/v1/who")


def head(ask: str, *lines: str) -> str:
    return "\n".join([f"{ask} HTTP/1.1", "Host: 127.0.0.1:PORT", *(line for line in lines if line)])


@pytest.mark.parametrize("ask", ACTS)
async def test_what_a_browser_opens_is_refused_whatever_it_shows(door: Door, ask: str) -> None:
    signed = await signed_in(door)
    cookie = f"Cookie: {signed.cookie_alone['Cookie']}"
    both = f"{cookie}\nX-Airboss-Key: {signed.key}"
    for line in OPENED:
        for shown in ("", cookie, both, door.token_line()):
            assert await door.status(head(ask, line, shown)) == 403, (line, shown)
    assert door.seen.calls == []


@pytest.mark.parametrize("ask", ACTS)
async def test_it_is_refused_where_no_token_is_needed_too(open_door: Open, ask: str) -> None:
    async with open_door(no_token=True) as door:
        for line in [*OPENED, "Sec-Fetch-Site: none", "Sec-Fetch-Site: none\nCookie: a=b"]:
            assert await door.status(head(ask, line)) == 403, line
        assert door.seen.calls == []
        assert await door.status(head(ask, FETCHED)) == 200
        assert await door.status(head(ask)) == 200


async def test_a_cookie_that_nobodys_page_sends_is_refused(door: Door) -> None:
    signed = await signed_in(door)
    cookie = f"Cookie: {signed.cookie_alone['Cookie']}"
    own = "Sec-Fetch-Site: none\nSec-Fetch-Mode: cors\nSec-Fetch-Dest: empty"
    assert await door.status(head("GET /api/stop", own, cookie)) == 403
    # A browser from before those headers has its cookie only, and that is not enough.
    assert await door.status(head("GET /api/stop", cookie)) == 401
    assert door.seen.calls == []


async def test_pages_and_scripts_go_on_as_they_did(door: Door) -> None:
    signed = await signed_in(door)
    both = f"Cookie: {signed.cookie_alone['Cookie']}\nX-Airboss-Key: {signed.key}"
    assert await door.status(head("GET /api/stop", FETCHED, both)) == 200
    assert await door.status(head("GET /api/stop", door.token_line())) == 200
    node = "Sec-Fetch-Mode: cors"  # what a script's own `fetch` may say
    assert await door.status(head("GET /api/stop", node, door.token_line())) == 200
    assert door.seen.calls == ["stop"] * 3
    for path in ("/", "/test.html"):
        assert await door.status(head(f"GET {path}", OPENED[2])) == 200


CLICK = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


async def test_opened_in_a_browser_stop_says_where_the_real_one_is(door: Door) -> None:
    answer = await door.ask("/api/stop", headers={**CLICK, "Accept": BROWSER})
    assert answer.status_code == 403
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "does not stop the server" in answer.text
    assert "“Stop Server”" in answer.text
    assert 'href="/settings.html#about"' in answer.text
    assert "<code>airboss stop</code>" in answer.text
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert "<script" not in answer.text
    assert "style" not in answer.text
    assert answer.headers["cache-control"] == "no-store"


async def test_the_refusal_repeats_nothing_of_the_address(door: Door) -> None:
    path = "/api/%3Cscript%3Ealert(1)%3C/script%3E?x=%3Cb%3E"
    answer = await door.ask(path, headers={**CLICK, "Accept": BROWSER})
    assert (answer.status_code, "alert" in answer.text, "<b>" in answer.text) == (403, False, False)
    assert 'href="/"' in answer.text


async def test_who_does_not_read_pages_gets_the_usual_form(door: Door) -> None:
    answer = await door.ask("/api/v1/who", headers={**CLICK, "Accept": "*/*"})
    assert (answer.status_code, answer.json()["code"]) == (403, "not_a_page")
    seed = await door.ask("/api/stop", headers={**CLICK, "Accept": "application/json"})
    assert (seed.status_code, list(seed.json())) == (403, ["error"])
