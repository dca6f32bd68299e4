"""The real server's door: who gets in, by token, name and origin, on every route there is."""

import asyncio
import json
import socket

import httpx2
import pytest

from airboss.http.api import build_routes
from tests.crash.witness import ask, start_session, until
from tests.http.walk import addresses, every_route_needs_the_token
from tests.portal import Portal

pytestmark = pytest.mark.anyio

ROUTES = build_routes(None).routes
FOREIGN = (
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost.evil.example"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
)


def stranger(portal: Portal) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=portal.url, timeout=10)


async def test_every_route_of_the_real_app_needs_the_token(closed_portal: Portal) -> None:
    tried = addresses(ROUTES)
    for address in (
        ("GET", "/api/v1/sessions/x/stream"),
        ("GET", "/api/copilot/session/x/live"),
        ("POST", "/api/copilot/session/x/live"),
        ("GET", "/api/stop"),
        ("POST", "/api/stop"),
        ("GET", "/metrics"),
        ("GET", "/readyz"),
        ("GET", "/api/v1/openapi.json"),
        ("GET", "/api/v1/rules"),
        ("POST", "/api/v1/rules"),
        ("PUT", "/api/v1/rules/order"),
        ("DELETE", "/api/v1/rules/x"),
    ):
        assert address in tried
    token = closed_portal.token
    assert await every_route_needs_the_token(closed_portal.url, ROUTES, token) == len(tried)
    assert closed_portal.is_running


async def test_a_session_that_exists_is_no_more_open_than_one_that_does_not(
    closed_portal: Portal,
) -> None:
    async with closed_portal.client() as client:
        session = await start_session(client, closed_portal.work)
        await ask(client, session, "hello")
        await until(client, session, "session.idle")
    async with stranger(closed_portal) as client:
        for method, path in addresses(ROUTES):
            if "/x" in path:
                real = await client.request(method, path.replace("/x", f"/{session}"))
                made_up = await client.request(method, path)
                assert real.status_code == made_up.status_code == 401
                assert _without_id(real) == _without_id(made_up)


def _without_id(answer: httpx2.Response) -> str:
    if "problem" in answer.headers["content-type"]:
        return str({**answer.json(), "request_id": ""})
    return answer.text


async def test_a_foreign_name_is_misdirected_on_every_route_with_the_token_too(
    closed_portal: Portal,
) -> None:
    port = closed_portal.url.rpartition(":")[2]
    names = ("evil.example", f"evil.example:{port}", "127.0.0.1", "localhost", "", "localhost:1")
    async with closed_portal.client() as client:
        for method, path in [*addresses(ROUTES), ("GET", "/healthz"), ("GET", "/")]:
            answer = await client.request(method, path, headers={"Host": names[0]})
            assert answer.status_code == 421, f"{method} {path}"
        for name in names:
            answer = await client.get("/api/stop", headers={"Host": name})
            assert answer.status_code == 421, name
    assert closed_portal.is_running


async def test_a_foreign_page_is_refused_on_every_route_with_the_token_too(
    closed_portal: Portal,
) -> None:
    async with closed_portal.client() as client:
        for method, path in addresses(ROUTES):
            for headers in FOREIGN[::3]:
                answer = await client.request(method, path, headers=headers)
                assert answer.status_code == 403, f"{method} {path} {headers}"
        for headers in FOREIGN:
            assert (await client.get("/api/stop", headers=headers)).status_code == 403
            assert (await client.post("/api/stop", headers=headers)).status_code == 403
    assert closed_portal.is_running


async def test_a_page_of_ours_and_an_address_typed_by_hand_are_no_strangers(
    closed_portal: Portal,
) -> None:
    async with closed_portal.client() as client:
        for headers in (
            {"Origin": closed_portal.url, "Sec-Fetch-Site": "same-origin"},
            {"Sec-Fetch-Site": "none"},
            {},
        ):
            answer = await client.get("/api/test", headers=headers)
            assert answer.json() == {"message": "Hello, world!"}


def has_two_families() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


both_families = pytest.mark.skipif(not has_two_families(), reason="This machine has no IPv6.")


@both_families
async def test_localhost_is_ours_in_both_families(closed_portal: Portal) -> None:
    """Whoever else listened there would be shown the token by those who asked for `localhost`."""
    port = int(closed_portal.url.rpartition(":")[2])
    headers = {"Authorization": f"Bearer {closed_portal.token}"}
    with socket.socket(socket.AF_INET6) as squatter, pytest.raises(OSError, match="in use"):
        squatter.bind(("::1", port))
    async with httpx2.AsyncClient(base_url=f"http://[::1]:{port}", headers=headers) as client:
        assert (await client.get("/api/test")).json() == {"message": "Hello, world!"}


@both_families
async def test_a_server_does_not_start_beside_somebody_who_has_half_of_localhost(
    closed_portal: Portal,
) -> None:
    data = closed_portal.folder / "other-data"
    with socket.socket(socket.AF_INET6) as squatter:
        squatter.bind(("::1", 0))
        squatter.listen()
        port = str(squatter.getsockname()[1])
        asked = ("serve", "--port", port, "--data", str(data))
        told = await asyncio.to_thread(closed_portal.run, *asked)
    assert told.returncode == 2
    assert f"Cannot listen on port {port} of ::1" in told.stderr


async def test_nobody_listens_beyond_loopback(closed_portal: Portal) -> None:
    port = int(closed_portal.url.rpartition(":")[2])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing; tells our own address
        except OSError:
            pytest.skip("This machine has no address beyond loopback.")
        own = probe.getsockname()[0]
    if own.startswith("127."):
        pytest.skip("This machine has no address beyond loopback.")
    with pytest.raises(OSError), socket.create_connection((own, port), timeout=2):  # noqa: PT011
        pass


@pytest.mark.parametrize(
    ("options", "token", "words"),
    [
        (("--host", "0.0.0.0"), None, "AIRBOSS_TOKEN"),  # noqa: S104
        (("--host", "::"), None, "AIRBOSS_TOKEN"),
        (("--host", "0.0.0.0"), "a-token-that-was-chosen", "tls_certificate"),  # noqa: S104
        (("--host", "0.0.0.0", "--no-token"), None, "only on loopback"),  # noqa: S104
        (("--trusted-proxy", "--no-token"), None, "only on loopback"),
    ],
)
async def test_others_are_let_near_only_after_somebody_decided_how(
    closed_portal: Portal, options: tuple[str, ...], token: str | None, words: str
) -> None:
    data = closed_portal.folder / "other-data"
    environ = {"AIRBOSS_TOKEN": token} if token else {}
    asked = ("serve", "--port", "0", "--data", str(data), *options)
    told = await asyncio.to_thread(closed_portal.run, *asked, **environ)
    assert told.returncode == 2
    assert words in told.stderr
    assert "Traceback" not in told.stderr


async def test_a_wrong_token_waits_and_the_right_one_does_not(closed_portal: Portal) -> None:
    loop = asyncio.get_running_loop()
    async with stranger(closed_portal) as client, closed_portal.client() as owner:
        await owner.get("/api/test")
        wrong = {"Authorization": f"Bearer {closed_portal.token[:-1]}_"}
        waited: list[float] = []
        for _ in range(5):
            began = loop.time()
            guesses = [asyncio.create_task(client.get("/api/test", headers=wrong)) for _ in "12345"]
            await asyncio.sleep(0.02)
            assert (await owner.get("/api/test")).status_code == 200
            waited.append(loop.time() - began)
            assert {(await guess).status_code for guess in guesses} == {401}
            assert loop.time() - began >= 0.3
            if waited[-1] < 0.25:
                break
        # Who had to wait with them would do so each time; a busy machine is slow now and then.
        assert min(waited) < 0.25, waited


async def test_a_preflight_gets_no_leave(closed_portal: Portal) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    async with closed_portal.client() as client:
        answer = await client.options("/api/v1/sessions", headers=asked)
    assert answer.status_code in (401, 403)
    assert not [name for name in answer.headers if name.startswith("access-control-")]


async def test_a_refusal_of_v1_is_a_problem_and_the_portals_an_error(
    closed_portal: Portal,
) -> None:
    async with stranger(closed_portal) as client:
        answer = await client.get("/api/v1/sessions")
        assert answer.headers["content-type"] == "application/problem+json"
        assert json.loads(answer.text)["code"] == "token_needed"
        assert set((await client.get("/api/stop")).json()) == {"error"}
