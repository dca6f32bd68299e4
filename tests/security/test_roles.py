"""Who may do what: every route for every role, and what a role is worth once it changes."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from fastapi.routing import iter_route_contexts

from airboss.http.api import build_routes
from airboss.http.roles import may_call, needed_by
from airboss.model.roles import ROLES, Role
from tests.contract.asking import SCRIPT, AskedGuest, refusal
from tests.portal import Portal
from tests.signing import sign_in_anew

_PARAMETER = re.compile(r"\{[^}]*\}")
# They end the server, or every sign-in: tried by themselves.
_LAST = ("/api/stop", "/api/v1/stop")


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    folder = tmp_path_factory.mktemp("roles")
    options = ("--permissions", "ask", "--test", "--test-folder", str(folder / "fixtures"))
    portal = Portal(folder, options, SCRIPT)
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture(scope="module")
def tokens(portal: Portal) -> dict[Role, str]:
    """One of each role."""
    return {role: add(portal, f"a-{role}", "--role", role) for role in ROLES}


def add(portal: Portal, name: str, *options: str) -> str:
    made = portal.run("token", "add", name, *options)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@asynccontextmanager
async def somebody(portal: Portal, token: str) -> AsyncGenerator[AskedGuest]:
    async with httpx2.AsyncClient(base_url=portal.url, headers=bearer(token), timeout=30) as http:
        yield AskedGuest(http, portal)


def every_route() -> list[tuple[str, str, str | None]]:
    """Method, path with made-up values, and the role that it needs."""
    return [
        (method, _PARAMETER.sub("x", str(route.path)), needed_by(str(route.path), route.endpoint))
        for route in iter_route_contexts(build_routes(None).routes)
        if route.path and route.endpoint
        for method in sorted((route.methods or set()) - {"HEAD"})
    ]


def test_every_route_says_which_role_it_needs() -> None:
    silent = [(method, path) for method, path, needed in every_route() if needed is None]
    assert silent == []
    assert len(every_route()) > 100


def test_what_the_table_names_is_there() -> None:
    from airboss.http import roles

    names = {
        str(getattr(route.endpoint, "__name__", ""))
        for route in iter_route_contexts(build_routes(None).routes)
    }
    table = {*roles.NEEDED_V1, *roles.NEEDED_BESIDE, *roles.MORE_NEEDED}
    assert table - names == set()


@pytest.mark.parametrize("role", ROLES)
async def test_every_route_answers_every_role_as_the_table_says(
    portal: Portal, tokens: dict[Role, str], role: Role
) -> None:
    tried = [one for one in every_route() if one[1] not in _LAST or role != "own"]
    wrong: list[str] = []
    async with httpx2.AsyncClient(
        base_url=portal.url, headers=bearer(tokens[role]), timeout=30
    ) as client:
        for method, path, needed in tried:
            # A body that no route takes: what is let through does nothing.
            body = None if method == "GET" else {"nonsense": 1}
            async with client.stream(method, path, json=body) as answer:
                refused = answer.status_code == 403
                if refused is may_call(role, needed) or answer.status_code >= 500:
                    wrong.append(f"{method} {path}: {answer.status_code}")
                if refused:
                    told = (await answer.aread()).decode()
                    assert f"needs the role {needed}" in told
                    assert f"a-{role} has {role}" in told
                    assert f"airboss token add NAME --role {needed}" in told
    assert wrong == []


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[" * 20_000, b'{"model": 1}'])
async def test_a_role_is_checked_before_the_body_is_read(
    portal: Portal, tokens: dict[Role, str], body: bytes
) -> None:
    wrong: list[str] = []
    headers = {**bearer(tokens["view"]), "Content-Type": "application/json"}
    async with httpx2.AsyncClient(base_url=portal.url, headers=headers, timeout=30) as client:
        for method, path, needed in every_route():
            if method == "GET" or may_call("view", needed):
                continue
            answer = await client.request(method, path, content=body)
            if answer.status_code != 403:
                wrong.append(f"{method} {path}: {answer.status_code}")
    assert wrong == []


async def test_a_refused_role_has_a_code_and_is_logged(
    portal: Portal, tokens: dict[Role, str]
) -> None:
    async with somebody(portal, tokens["decide"]) as guest:
        answer = await guest.http.post("/api/v1/stop")
        assert refusal(answer)[:2] == (403, "role_needed")
        seed = await guest.http.post("/api/stop")
        assert (seed.status_code, list(seed.json())) == (403, ["error"])
    assert "Refused POST /api/v1/stop from 127.0.0.1" in portal.log
    assert portal.is_running


@pytest.mark.parametrize("role", ROLES)
async def test_status_says_who_asks_and_what_they_may(
    portal: Portal, tokens: dict[Role, str], role: Role
) -> None:
    async with somebody(portal, tokens[role]) as guest:
        told = (await guest.http.get("/api/v1/status")).json()
        assert (told["who"], told["role"]) == (f"a-{role}", role)
    shown = await asyncio.to_thread(portal.run, "status", AIRBOSS_TOKEN=tokens[role])
    assert f"a-{role} (role {role})" in shown.stdout


async def test_the_owner_owns(portal: Portal) -> None:
    async with portal.client() as client:
        told = (await client.get("/api/v1/status")).json()
        assert (told["who"], told["role"]) == ("owner", "own")


async def test_without_any_token_everybody_owns(tmp_path_factory: pytest.TempPathFactory) -> None:
    portal = Portal(tmp_path_factory.mktemp("tokenless"), ("--no-token",))
    portal.start()
    try:
        async with httpx2.AsyncClient(base_url=portal.url, timeout=30) as client:
            told = (await client.get("/api/v1/status")).json()
            assert (told["who"], told["role"]) == ("local", "own")
            stopped = await client.post("/api/v1/stop")
            assert stopped.status_code == 202
    finally:
        portal.stop()


async def test_a_decision_that_writes_a_rule_needs_the_role_own(
    portal: Portal, tokens: dict[Role, str]
) -> None:
    async with somebody(portal, tokens["decide"]) as guest, portal.client() as owner:
        item = await guest.ask("touch it")
        answer = await guest.say(item["id"], "decision", choice="allow-always")
        status, code, words = refusal(answer)
        assert (status, code) == (403, "role_needed")
        assert "because it writes a rule" in words
        assert (await owner.get("/api/v1/rules")).json() == {"items": []}
        assert item in await guest.waiting(), "it was not decided"
        assert (await guest.say(item["id"], "decision", choice="allow-once")).status_code == 200
        await guest.do(item["session"], "close")


async def test_to_trust_what_an_agent_wrote_needs_the_role_own(
    portal: Portal, tokens: dict[Role, str]
) -> None:
    folder = portal.work / ".github" / "extensions" / "fresh"
    folder.mkdir(parents=True)
    (folder / "extension.py").write_text("raise SystemExit\n", "utf-8")
    async with somebody(portal, tokens["decide"]) as guest:
        item = await guest.ask("reload them")
        assert item["asked"]["wish"] == "extension"
        answer = await guest.say(item["id"], "decision", choice="allow-once")
        status, code, words = refusal(answer)
        assert (status, code) == (403, "role_needed")
        assert "because it lets an extension run" in words
        assert (await guest.say(item["id"], "decision", choice="deny")).status_code == 200
        await guest.do(item["session"], "close")


async def test_an_operator_does_not_approve(portal: Portal, tokens: dict[Role, str]) -> None:
    async with somebody(portal, tokens["operate"]) as guest:
        item = await guest.ask("touch it")
        for verb, body in (("decision", {"choice": "deny"}), ("answer", {"answer": "x"})):
            assert refusal(await guest.say(item["id"], verb, **body))[1] == "role_needed"
        assert refusal(await guest.say(item["id"], "decline"))[1] == "role_needed"
        await guest.do(item["session"], "close")


async def test_a_seed_query_that_answers_needs_the_role_decide(
    portal: Portal, tokens: dict[Role, str]
) -> None:
    async with somebody(portal, tokens["operate"]) as guest:
        item = await guest.ask("what name")
        query = f"/api/copilot/session/{item['session']}/query"
        answer = await guest.http.post(query, content="Ada")
        assert answer.status_code == 403
        assert "because it answers the agent's question" in answer.json()["error"]
        assert item in await guest.waiting(), "it was not answered"
        async with somebody(portal, tokens["decide"]) as person:
            assert (await person.http.post(query, content="Ada")).json() == {}
        await guest.until(item["session"], "idle")
        assert (await guest.http.post(query, content="hello")).json() == {}
        await guest.do(item["session"], "close")


async def test_a_role_that_changes_counts_at_once_for_browsers_too(portal: Portal) -> None:
    token = add(portal, "mover", "--role", "own")
    signed = await asyncio.to_thread(sign_in_anew, portal.url, token)
    async with httpx2.AsyncClient(base_url=portal.url, timeout=30) as client:
        for headers in (bearer(token), signed.headers):
            for role in ("own", "view"):
                done = await asyncio.to_thread(
                    portal.run, "token", "change", "mover", "--role", role
                )
                assert done.stderr == f"The token mover has the role {role} and never expires.\n"
                asked = await client.get("/api/v1/trust/look?path=/nowhere", headers=headers)
                assert (asked.status_code == 403) is (role == "view")
                status = await client.get("/api/v1/status", headers=headers)
                assert status.json()["role"] == role


async def test_everything_open_ends_within_two_seconds_of_the_end_date(portal: Portal) -> None:
    end = time.time() + 4
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end))
    token = add(portal, "short", "--role", "view", "--until", moment)
    signed = await asyncio.to_thread(sign_in_anew, portal.url, token)
    async with httpx2.AsyncClient(base_url=portal.url, timeout=30) as client:

        async def read(headers: dict[str, str]) -> float:
            async with client.stream("GET", "/api/v1/feed", headers=headers) as answer:
                assert answer.status_code == 200
                async for _ in answer.aiter_raw():
                    pass
            return time.time()

        reading = [
            asyncio.create_task(read(headers)) for headers in (bearer(token), signed.headers)
        ]
        done, _ = await asyncio.wait(reading)
        assert all(int(end) - 0.1 <= one.result() <= int(end) + 2.0 for one in done)
        late = await client.get("/api/v1/status", headers=bearer(token))
        assert refusal(late)[:2] == (401, "token_ended")
        browser = await client.get("/api/v1/status", headers=signed.headers)
        assert browser.status_code == 401
    done = await asyncio.to_thread(portal.run, "status", AIRBOSS_TOKEN=token)
    assert (done.returncode, "This token has expired" in done.stderr) == (2, True)
    told = await asyncio.to_thread(portal.run, "token", "list")
    assert re.search(r"short\tview\t.*\texpired ", told.stdout)


async def test_a_sign_in_lasts_no_longer_than_its_token(portal: Portal) -> None:
    token = add(portal, "week", "--role", "view", "--until", "7d")
    signed = await asyncio.to_thread(sign_in_anew, portal.url, token)
    async with httpx2.AsyncClient(base_url=portal.url, headers=signed.headers) as client:
        (mine,) = (await client.get("/api/v1/signins")).json()["items"]
    assert abs(mine["until"] / 1000 - time.time() - 7 * 86400) < 60


async def test_only_owners_see_and_end_the_sign_ins_of_others(
    portal: Portal, tokens: dict[Role, str]
) -> None:
    await asyncio.to_thread(sign_in_anew, portal.url, tokens["view"])
    async with (
        somebody(portal, tokens["own"]) as owner,
        somebody(portal, tokens["decide"]) as other,
    ):
        seen = (await owner.http.get("/api/v1/signins")).json()["items"]
        (theirs,) = [one for one in seen if one["name"] == "a-view"]
        assert (await other.http.get("/api/v1/signins")).json() == {"items": []}
        address = f"/api/v1/signins/{theirs['id']}"
        assert (await other.http.delete(address)).status_code == 404
        assert (await owner.http.delete(address)).status_code == 204


def test_the_command_line_says_in_words_what_one_may_not_do(
    portal: Portal, tokens: dict[Role, str]
) -> None:
    done = portal.run("stop", "--yes", AIRBOSS_TOKEN=tokens["view"])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: This needs the role own; a-view has view. Ask the owner to do it, or to create "
        "a token: `airboss token add NAME --role own`.\n"
    )
    assert portal.is_running


@pytest.mark.parametrize(
    "words", [("--role", "king"), ("--until", "soon"), ("--until", "2001-01-01"), ("--until", "0")]
)
def test_a_role_or_an_end_that_cannot_be_is_refused(portal: Portal, words: tuple[str, ...]) -> None:
    done = portal.run("token", "add", "nobody", *words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "nobody" not in portal.run("token", "list").stdout
