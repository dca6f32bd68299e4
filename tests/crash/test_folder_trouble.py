"""What stands in the way of a start or of a request: said in words, with 2, and without a trace."""

import asyncio
import os
import resource
import shutil
import socket
import sqlite3
import stat
import subprocess
import time
from collections.abc import Callable, Generator
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.crash.conftest import MakePortal
from tests.crash.witness import ask, read_all, show, start_session, until
from tests.portal import SCRIPT, Portal

pytestmark = pytest.mark.anyio

QUICK_SECONDS = 5


async def refused(portal: Portal, *options: str) -> str:
    """What a start that is refused says. It ends by itself with 2, leaving no server behind."""
    portal.work.mkdir(parents=True, exist_ok=True)
    script = portal.folder / "script.yaml"
    if not script.exists():
        script.write_text(SCRIPT, "utf-8")
    log = portal.folder / "refused.log"
    log.unlink(missing_ok=True)
    words = ["serve", "--port", "0", "--rehearsal", str(script), *options]
    process = portal.launch(words, log)
    code = await asyncio.to_thread(process.wait, QUICK_SECONDS)
    said = log.read_text("utf-8")
    assert code == 2, said
    assert said.startswith("error: ")
    assert "Traceback" not in said
    return said


async def test_a_second_server_on_the_folder_is_told_who_has_it(portal: Portal) -> None:
    said = await refused(portal)
    assert f"process id {portal.pid} at {portal.url}" in said
    async with portal.client() as client:
        assert (await client.get("/api/test")).json() == {"message": "Hello, world!"}
    portal.kill()
    portal.start()


async def test_a_port_that_somebody_has_is_named(make_portal: MakePortal) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = await refused(make_portal(), "--port", str(port))
    assert f"Cannot listen on port {port} of 127.0.0.1" in said
    assert "--port" in said


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("port = [", "Could not read"),
        ("prot = 8888", "prot"),
        ('permissions = "all"', "permissions"),
        ('[[providers]]\nname = "x"', "providers.0.base_url"),
        ("host = 3\x00", "Could not read"),
    ],
)
async def test_settings_that_cannot_be_used_are_named_with_their_place(
    make_portal: MakePortal, settings: str, words: str
) -> None:
    portal = make_portal()
    portal.data.mkdir()
    (portal.data / "settings.toml").write_text(settings, "utf-8")
    said = await refused(portal)
    assert "settings.toml" in said
    assert words in said


@pytest.mark.parametrize("script", ["rules: [{when: '(', steps: [{say: a}]}]", "rules: {", "\0"])
async def test_a_script_that_cannot_be_played_is_named_with_its_place(
    make_portal: MakePortal, script: str
) -> None:
    portal = make_portal()
    (portal.folder / "script.yaml").write_text(script, "utf-8")
    assert "script.yaml" in await refused(portal)


async def test_a_certificate_that_is_none_is_named(make_portal: MakePortal) -> None:
    portal = make_portal()
    file = portal.folder / "no.pem"
    file.write_text("no certificate", "utf-8")
    said = await refused(portal, "--tls-certificate", str(file), "--tls-key", str(file))
    assert f"Cannot use {file}" in said


async def test_a_folder_of_a_newer_version_is_left_alone(portal: Portal) -> None:
    portal.stop()
    with sqlite3.connect(portal.data / "airboss.sqlite") as connection:
        connection.execute("INSERT INTO migrations (number) VALUES (1000)")
    connection.close()
    assert "newer Airboss" in await refused(portal)


async def test_a_damaged_database_is_not_overwritten(make_portal: MakePortal) -> None:
    portal = make_portal()
    portal.data.mkdir()
    database = portal.data / "airboss.sqlite"
    database.write_bytes(b"this was a database once" * 100)
    assert "not a database" in await refused(portal)
    assert database.read_bytes() == b"this was a database once" * 100


async def test_a_file_in_place_of_the_folder_is_named(make_portal: MakePortal) -> None:
    portal = make_portal()
    portal.data.write_text("a file", "utf-8")
    assert str(portal.data) in await refused(portal)


def mount(target: Path, *options: str) -> None:
    target.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *options, str(target)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("This needs the right to mount a file system.")


@pytest.fixture
def small_disk(make_portal: MakePortal) -> Generator[Portal]:
    """A portal whose data lies on a disk of six megabytes."""
    portal = make_portal("--permissions", "approve-all")
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("This needs the right to mount a file system.")
    mount(portal.data, "-t", "tmpfs", "-o", "size=6m", "none")
    yield portal
    portal.stop()
    subprocess.run(["umount", "--lazy", str(portal.data)], check=True)


def fill(folder: Path) -> Path:
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (65536, 512, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return ballast


async def test_a_full_disk_refuses_a_start_in_words(small_disk: Portal) -> None:
    fill(small_disk.data)
    said = await refused(small_disk)
    assert "No space left" in said
    assert "--data" in said


async def test_a_read_only_disk_refuses_a_start_in_words(small_disk: Portal) -> None:
    small_disk.start()
    small_disk.stop()
    mount(small_disk.data, "-o", "remount,ro")
    assert "Read-only file system" in await refused(small_disk)


async def trouble_and_recovery(
    portal: Portal, client: httpx2.AsyncClient, session: str, relieve: Callable[[], None]
) -> None:
    """While it lasts requests are refused and reading works; afterwards all is as before."""
    before = await read_all(client, session)
    asked = {"text": "say something"}
    until_refused = time.monotonic() + QUICK_SECONDS
    accepted: list[int] = []
    while True:
        answer = await client.post(f"/api/v1/sessions/{session}/prompts", json=asked)
        if answer.status_code != 202:
            break
        accepted.append(answer.json()["seq"])
        assert time.monotonic() < until_refused
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (503, "store_unavailable")
    assert problem["retryable"]
    assert "space" in problem["detail"]
    seed = await client.post(f"/api/copilot/session/{session}/query", content=b"say it")
    assert seed.status_code == 503
    assert "space" in seed.json()["error"]
    starting = {"model": "rehearsal", "cwd": str(portal.work)}
    assert (await client.post("/api/v1/sessions", json=starting)).status_code == 503
    assert (await read_all(client, session))[: len(before)] == before
    assert (await client.get("/readyz")).status_code == 503
    assert (await client.get("/healthz")).status_code == 200

    relieve()
    end = time.monotonic() + QUICK_SECONDS
    while True:
        answer = await client.post(f"/api/v1/sessions/{session}/prompts", json=asked)
        if answer.status_code == 202:
            break
        assert answer.status_code == 503, answer.text
        assert time.monotonic() < end, "it recovers by itself"
        await asyncio.sleep(0.1)
    await until(client, session, "turn.ended", answer.json()["seq"])
    events = [recorded["event"] for recorded in await read_all(client, session)]
    prompts = [event["prompt"] for event in events if event["kind"] == "prompt.accepted"]
    turns = [event["prompt"] for event in events if event["kind"] == "turn.started"]
    assert turns == prompts[: len(turns)], "what was refused was not worked on"
    assert (await show(client, session))["state"] in ("idle", "working")
    assert (await client.get("/readyz")).status_code == 200


async def test_a_disk_that_fills_up_while_serving_refuses_requests_until_there_is_space(
    small_disk: Portal,
) -> None:
    small_disk.start()
    async with small_disk.client() as client:
        session = await start_session(client, small_disk.work)
        receipt = await ask(client, session, "say hello")
        await until(client, session, "session.idle", receipt["seq"])
        ballast = fill(small_disk.data)
        await trouble_and_recovery(small_disk, client, session, ballast.unlink)
    assert "Traceback" not in small_disk.log, small_disk.log


async def test_a_limit_on_files_is_like_a_full_disk(portal: Portal) -> None:
    """Needs no right to mount: the server may not make any file larger than they are."""
    server = psutil.Process(portal.pid)
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        receipt = await ask(client, session, "say hello")
        await until(client, session, "session.idle", receipt["seq"])
        before = server.rlimit(resource.RLIMIT_FSIZE)
        server.rlimit(resource.RLIMIT_FSIZE, (4096, before[1]))

        def relieve() -> None:
            server.rlimit(resource.RLIMIT_FSIZE, before)

        await trouble_and_recovery(portal, client, session, relieve)
    assert "Traceback" not in portal.log, portal.log


async def test_what_people_say_to_agents_is_for_the_owners_eyes(portal: Portal) -> None:
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        receipt = await ask(client, session, "say hello")
        await until(client, session, "session.idle", receipt["seq"])
    assert stat.S_IMODE(portal.data.stat().st_mode) == 0o700
    assert stat.S_IMODE((portal.data / "copilot-home").stat().st_mode) == 0o700
    files = [file for file in portal.data.iterdir() if file.is_file() and file.name != "lock"]
    open_ones = {file.name for file in files if stat.S_IMODE(file.stat().st_mode) & 0o077}
    assert open_ones == set()
