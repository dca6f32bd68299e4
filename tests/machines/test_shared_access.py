"""Two servers on one database let in the same people: a token, a code or a sign-in of one of them
holds on the other, and is gone there when it is gone."""

from collections.abc import Generator

import httpx2
import psycopg
import pytest

from tests.databases import with_tables
from tests.machines.story import Fleet, Machine
from tests.postgres import Postgres

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def servers(
    postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Generator[tuple[Fleet, Machine, Machine]]:
    name = with_tables(postgres)
    fleet = Fleet(tmp_path_factory.mktemp("access"), postgres.url(name), lease=30)
    try:
        here, there = fleet.machine("here"), fleet.machine("there")
        for one in (here, there):
            one.serve()
        yield fleet, here, there
    finally:
        fleet.end()
        postgres.drop(name)


def asked(
    machine: Machine, token: str, path: str = "/api/v1/signins", method: str = "GET"
) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx2.request(method, f"{machine.portal.url}{path}", headers=headers, timeout=30)


def made(machine: Machine, *words: str) -> str:
    done = machine.portal.run("token", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_token_holds_on_all_servers_and_is_gone_on_all_of_them(
    servers: tuple[Fleet, Machine, Machine],
) -> None:
    fleet, here, there = servers
    token = made(here, "add", "ann", "--role", "view")
    for one in (here, there):
        fleet.until(lambda one=one: asked(one, token).is_success)
        assert asked(one, token, "/api/v1/stop", "POST").status_code == 403
    assert "ann" in made(there, "list")
    made(there, "change", "ann", "--role", "operate")
    assert "operate" in made(here, "list")
    made(there, "remove", "ann")
    for one in (here, there):
        fleet.until(lambda one=one: asked(one, token).status_code == 401)
    again = there.portal.run("token", "remove", "ann")
    assert again.returncode != 0
    assert "ann" in again.stderr
    # The audit log has each change once, whichever server told it.

    def told() -> list[str]:
        said = [event for event in fleet.events("audit") if event["kind"] == "audit.token.changed"]
        return [event["change"] for event in said]

    fleet.until(lambda: len(told()) >= 3)
    assert sorted(told()) == ["added", "changed", "removed"]
    assert not (here.portal.data / "tokens.json").exists()


def test_the_owner_of_one_server_is_the_owner_of_all(
    servers: tuple[Fleet, Machine, Machine],
) -> None:
    fleet, here, there = servers
    for one, other in ((here, there), (there, here)):
        fleet.until(lambda one=one, other=other: asked(other, one.portal.token).is_success)


def test_a_browser_that_signs_in_at_one_server_is_in_at_all_until_it_is_signed_out(
    servers: tuple[Fleet, Machine, Machine],
) -> None:
    fleet, here, there = servers
    link = asked(here, here.portal.token, "/api/v1/links", "POST").json()["url"]
    code = str(link).rpartition("=")[2]
    signed = httpx2.post(f"{there.portal.url}/api/v1/signin", json={"code": code}, timeout=30)
    assert signed.is_success, signed.text
    late = httpx2.post(f"{here.portal.url}/api/v1/signin", json={"code": code}, timeout=30)
    assert late.status_code == 401, "a code is good for one browser, wherever it comes"
    [(name, cookie)] = signed.cookies.items()
    shown = {"Cookie": f"{name}={cookie}", "X-Airboss-Key": signed.json()["key"]}

    def sees(one: Machine) -> httpx2.Response:
        return httpx2.get(f"{one.portal.url}/api/v1/signins", headers=shown, timeout=30)

    for one in (there, here):
        fleet.until(lambda one=one: sees(one).is_success)
    [own] = [one["id"] for one in sees(here).json()["items"] if one["this"]]
    assert asked(here, here.portal.token, f"/api/v1/signins/{own}", "DELETE").is_success
    assert sees(here).status_code == 401
    fleet.until(lambda: sees(there).status_code == 401)


def test_nothing_in_the_database_lets_anybody_in(
    servers: tuple[Fleet, Machine, Machine],
) -> None:
    fleet, here, there = servers
    token = made(here, "add", "ben")
    link = asked(here, here.portal.token, "/api/v1/links", "POST").json()["url"]
    secrets = [token, here.portal.token, there.portal.token, link.rpartition("=")[2]]
    with psycopg.connect(fleet.url, options="-c search_path=airboss") as connection:
        for table in ("tokens", "codes", "keys", "sign_ins", "token_changes", "events", "settings"):
            rows = connection.execute(f"TABLE {table}".encode()).fetchall()
            for secret in secrets:
                assert all(secret not in str(row) for row in rows), table
    made(here, "remove", "ben")
