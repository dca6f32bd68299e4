"""`airboss database check`: a line for each thing, and 1 where something has to be fixed."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from airboss.cli.database.checks import CHECKS, judged
from airboss.shared_database import examine, migrate
from airboss.store.postgres_facts import CONNECTIONS, SchemaRights
from tests.portal import Portal
from tests.postgres import Postgres

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def checked(portal: Portal, url: str, code: int = 0) -> dict[str, dict[str, Any]]:
    done = portal.run("database", "check", "--json", AIRBOSS_DATABASE=url)
    assert done.returncode == code, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert bool(told["failed"]) == bool(code)
    for check in told["checks"]:
        assert re.search(r"[^.?][.?]$", check["summary"])
        assert check["state"] == "ok" or check["remedy"]
    return {check["id"]: check for check in told["checks"]}


def test_an_empty_database_is_fit_and_says_what_is_still_to_be_made(
    nowhere: Portal, postgres_url: str
) -> None:
    found = checked(nowhere, postgres_url)
    assert list(found) == ["reach", *(name for name, _ in CHECKS)]
    assert {name for name, one in found.items() if one["state"] != "ok"} == {
        "rights",  # the tests' role may do everything
        "schema",
        "engine",
    }
    assert "airboss database migrate" in found["schema"]["remedy"]
    migrate(postgres_url)
    found = checked(nowhere, postgres_url)
    assert (found["schema"]["state"], found["engine"]["state"]) == ("ok", "ok")


def test_the_page_says_as_many_connections_as_the_check_counts_with() -> None:
    page = (Path(__file__).parents[3] / "docs" / "many-machines.md").read_text("utf-8")
    assert f"A server or a worker has up to {CONNECTIONS}, and" in page


def test_what_cannot_be_reached_is_said_without_the_password(
    nowhere: Portal, postgres: Postgres
) -> None:
    wrong = postgres.url().replace(postgres.password, "swordfish")
    found = checked(nowhere, wrong, 1)
    assert list(found) == ["reach"]
    assert "does not let Airboss in" in found["reach"]["summary"]
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        gone = f"postgresql://airboss:swordfish@127.0.0.1:{nobody.getsockname()[1]}/airboss"
        found = checked(nowhere, gone, 1)
    assert "cannot be reached" in found["reach"]["summary"]
    assert "accepting TCP/IP connections?" in found["reach"]["summary"]
    assert "pg_hba.conf" in found["reach"]["remedy"]
    assert "swordfish" not in str(found)


def test_a_role_without_rights_is_told_which_and_can_work_when_it_has_them(
    nowhere: Portal, postgres: Postgres
) -> None:
    name = postgres.new_database()
    postgres.execute("CREATE ROLE plain LOGIN PASSWORD 'plain'")
    try:
        url = f"postgresql://plain:plain@127.0.0.1:{postgres.port}/{name}"
        found = checked(nowhere, url, 1)
        assert found["rights"]["state"] == "fail"
        postgres.execute(found["rights"]["remedy"], name)
        assert checked(nowhere, url)["rights"]["state"] == "ok"
        done = nowhere.run("database", "migrate", AIRBOSS_DATABASE=url)
        assert done.returncode == 0, done.stderr
        found = checked(nowhere, url)
        # A busy machine may take its time.
        assert {found[name]["state"] for name in found.keys() - {"latency", "clock"}} == {"ok"}
        postgres.execute('ALTER ROLE "plain" CONNECTION LIMIT 5')
        assert checked(nowhere, url, 1)["connections"]["state"] == "fail"
        postgres.execute("ALTER TABLE airboss.events OWNER TO airboss", name)
        assert "lacks rights" in checked(nowhere, url, 1)["rights"]["summary"]
    finally:
        postgres.drop(name)
        postgres.execute("DROP ROLE plain")


def test_a_newer_schema_is_refused_unless_it_works_with_this_one(
    nowhere: Portal, postgres: Postgres
) -> None:
    name = postgres.new_database()
    url = postgres.url(name)
    migrate(url)
    postgres.execute("INSERT INTO airboss.migrations VALUES (99, 14)", name)
    assert "can use it" in checked(nowhere, url)["schema"]["summary"]
    postgres.execute("UPDATE airboss.migrations SET works_from = 99 WHERE number = 99", name)
    assert "Install the newer Airboss" in checked(nowhere, url, 1)["schema"]["remedy"]
    refused = nowhere.run("database", "migrate", AIRBOSS_DATABASE=url)
    assert refused.returncode == 1
    assert "written by a newer Airboss (schema 99" in refused.stderr
    postgres.drop(name)


def test_the_address_comes_from_the_settings_and_never_with_a_password_on_the_command_line(
    nowhere: Portal, postgres_url: str
) -> None:
    nameless = nowhere.run("database", "check")
    assert nameless.returncode == 2
    assert "--database postgresql://USER@HOST/DATABASE" in nameless.stderr
    refused = nowhere.run("database", "check", "--database", postgres_url)
    assert refused.returncode == 2
    assert "every process of this machine" in refused.stderr
    settings = nowhere.folder / "shared.toml"
    settings.write_text(f'database = "{postgres_url}"\n', encoding="utf-8")
    done = nowhere.run("database", "check", "--settings", str(settings))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ok\treach\t")


def test_each_trouble_is_judged_by_itself(postgres_url: str) -> None:
    good = examine(postgres_url)
    far = replace(good.facts, is_local=False, is_superuser=False)
    others = SchemaRights(may_create=True, may_write=True, owns_all=False, tables=3)
    cases = {
        "version": (replace(far, version=140011), "fail", "15 or newer"),
        "primary": (replace(far, is_standby=True), "fail", "target_session_attrs"),
        "tls": (far, "warn", "sslmode=verify-full"),
        "rights": (replace(far, schemas={"airboss": others}), "warn", "airboss database migrate"),
        "durability": (replace(far, unsafe=["fsync = off"]), "warn", "on"),
        "latency": (replace(far, round_trip_ms=80), "warn", "nearer"),
        "clock": (replace(far, ahead_ms=-1500), "warn", "NTP"),
        "connections": (replace(far, connections_free=13), "warn", "max_connections"),
    }
    for name, (facts, state, remedy) in cases.items():
        found = dict(judged(replace(good, facts=facts)))[name]
        assert (name, found.state) == (name, state)
        assert remedy in found.remedy
    safe = replace(far, is_encrypted=True, sslmode="verify-full")
    assert dict(judged(replace(good, facts=safe)))["tls"].state == "ok"
    lax = replace(far, is_encrypted=True, sslmode="require")
    assert dict(judged(replace(good, facts=lax)))["tls"].state == "warn"


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def pooled(postgres: Postgres, folder: Path, mode: str, dropped: str) -> Generator[str]:
    """The address of a real pooler in front of the server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    users, settings = folder / "users.txt", folder / "pgbouncer.ini"
    users.write_text(f'"airboss" "{postgres.password}"\n', encoding="utf-8")
    settings.write_text(
        f"[databases]\n* = host=127.0.0.1 port={postgres.port}\n[pgbouncer]\n"
        f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = plain\n"
        f"auth_file = {users}\npool_mode = {mode}\n"
        f"ignore_startup_parameters = extra_float_digits{dropped}\n",
        encoding="utf-8",
    )
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    for path in (folder, users, settings) if user else ():
        shutil.chown(path, "nobody")
    process = subprocess.Popen(
        [str(PGBOUNCER), "-q", *user, settings],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 20
        while not _is_open(port):
            assert time.monotonic() < until
            time.sleep(0.05)
        yield postgres.url(port=port)
    finally:
        process.terminate()
        process.wait()


@pytest.mark.skipif(not PGBOUNCER, reason="pgbouncer is not installed")
@pytest.mark.parametrize(
    ("mode", "dropped"),
    [("transaction", ""), ("transaction", ",options"), ("session", ",options")],
)
def test_a_pooler_that_lends_connections_or_drops_settings_is_refused(
    nowhere: Portal, postgres: Postgres, mode: str, dropped: str
) -> None:
    folder = Path("/tmp") / f"pooler-{os.getpid()}"  # noqa: S108 - its user has to come by
    folder.mkdir()
    try:
        with pooled(postgres, folder, mode, dropped) as url:
            assert checked(nowhere, url, 1)["pooler"]["state"] == "fail"
            refused = nowhere.run("serve", "--port", "0", AIRBOSS_DATABASE=url)
            assert refused.returncode == 2
            assert "A pooler stands between" in refused.stderr
    finally:
        shutil.rmtree(folder)
