"""Sign-ins and a server that is killed: what was begun holds, what was ended stays ended."""

import sqlite3
from pathlib import Path

import httpx2

from tests.portal import Portal
from tests.signing import Signed, sign_in_anew


def code_for(portal: Portal, signed: Signed) -> str:
    answer = httpx2.get(f"{portal.url}/api/v1/status", headers=signed.headers, timeout=10)
    return "in" if answer.status_code == 200 else str(answer.json()["code"])


def test_a_kill_neither_ends_a_sign_in_nor_brings_one_back(tmp_path: Path) -> None:
    portal = Portal(tmp_path)
    portal.start()
    try:
        stays, leaves = (sign_in_anew(portal.url, portal.token) for _ in range(2))
        out = httpx2.post(f"{portal.url}/api/v1/signout", headers=leaves.headers)
        assert out.status_code == 204
        portal.kill()
        portal.start()
        assert (code_for(portal, stays), code_for(portal, leaves)) == ("in", "signed_out")
        portal.run("token", "signout", "--all")
        portal.kill()
        portal.start()
        assert code_for(portal, stays) == "signed_out"
    finally:
        portal.stop()


def test_the_database_of_an_earlier_version_gets_its_table(tmp_path: Path) -> None:
    portal = Portal(tmp_path)
    portal.start()
    portal.stop()
    database = sqlite3.connect(portal.data / "airboss.sqlite")
    with database:
        database.execute("DROP TABLE sign_ins")
        database.execute("DELETE FROM migrations WHERE number >= 8")
    database.close()
    (portal.data / "cookie-key").write_text("00" * 32, encoding="ascii")
    portal.start()
    try:
        assert code_for(portal, sign_in_anew(portal.url, portal.token)) == "in"
        assert not (portal.data / "cookie-key").exists()
    finally:
        portal.stop()
