"""Secrets in our own processes, and agents of the same ordinary user who look for them."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from platformdirs import user_cache_path

from tests.crash.marks import is_over, running, soon
from tests.crash.witness import ask, start_session, until
from tests.portal import Portal
from tests.security.conftest import SETTINGS, made_up

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux can close a process"),
]

INTRUDER = Path(__file__).with_name("intruder.py")
SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "^shell "
    steps:
      - call: {tool: bash, arguments: {description: "run it", command: 'shell() { "$@"; }; {last}'}}
      - say: "Done."
"""
NOWHERE = "http://127.0.0.1:9"
# A user without rights, who has the files of this one: what an ordinary user is on a machine.
ORDINARY = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")
SECRETS = {
    "AIRBOSS_TOKEN": made_up("portal-"),
    "COPILOT_GITHUB_TOKEN": made_up("gho_"),
    "HOUSE_LLM": made_up("house-llm-"),
}


def as_ordinary_user() -> tuple[str, ...]:
    if os.geteuid() != 0:
        return ()
    tried = shutil.which("unshare") and subprocess.run([*ORDINARY, "true"], check=False)
    if not tried or tried.returncode:
        pytest.skip("root cannot become an ordinary user here: no user namespaces")
    return ORDINARY


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[Portal]:
    nowhere = dict.fromkeys(("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL"), NOWHERE)
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(user_cache_path())}
    portal = Portal(
        tmp_path,
        ("--permissions", "approve-all"),
        SCRIPT,
        {**SECRETS, **nowhere, **home},
        prefix=as_ordinary_user(),
    )
    portal.data.mkdir()
    (portal.data / "settings.toml").write_text(SETTINGS.replace("ADDRESS", NOWHERE), "utf-8")
    portal.start()
    yield portal
    portal.stop()


def client_of(portal: Portal) -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {SECRETS['AIRBOSS_TOKEN']}"}
    return httpx2.AsyncClient(base_url=portal.url, headers=headers, timeout=30)


async def runtime_of(client: httpx2.AsyncClient) -> psutil.Process:
    return psutil.Process((await client.get("/api/v1/status")).json()["runtime"]["pid"])


async def done(client: httpx2.AsyncClient, session: str, command: str) -> None:
    receipt = await ask(client, session, f"shell {command}")
    await until(client, session, "session.idle", receipt["seq"])


async def test_an_agents_shell_finds_no_secret_in_server_and_runtime(portal: Portal) -> None:
    out = portal.work / "found.json"
    async with client_of(portal) as client:
        session = await start_session(client, portal.work)
        runtime = await runtime_of(client)
        pids = {"server": portal.pid, "supervisor": runtime.ppid(), "runtime": runtime.pid}
        words = " ".join(str(pid) for pid in pids.values())
        await done(client, session, f"{sys.executable} {INTRUDER} {out} {words}")
    found: dict[str, Any] = json.loads(out.read_text("utf-8"))
    assert {"environ", "mem", "fd/1", "cwd"} <= set(found["open"]["ourselves"]), "it can look"
    assert session in found["environments"], "what agents start shows its mark"
    assert [name for name, secret in SECRETS.items() if secret in found["environments"]] == []
    assert {who: ways for who, pid in pids.items() if (ways := found["open"][str(pid)])} == {}


# It goes on until it is killed, because it is told where the server is.
WATCH = """
export AIRBOSS_URL={url}
AIRBOSS_TOKEN=$(cat given) {python} -P -m airboss watch {session} >/dev/null 2>&1 &
for turn in $(seq 50); do cat /proc/$!/environ >/dev/null 2>&1 || break; sleep 0.1; done
{python} {intruder} found.json $!
kill $! && touch watched
"""


async def test_a_command_of_ours_that_was_given_the_token_does_not_show_it(portal: Portal) -> None:
    (portal.work / "given").write_text(SECRETS["AIRBOSS_TOKEN"], "utf-8")
    async with client_of(portal) as client:
        session = await start_session(client, portal.work)
        watch = WATCH.format(
            url=portal.url, python=sys.executable, session=session, intruder=INTRUDER
        )
        (portal.work / "watch.sh").write_text(watch, "utf-8")
        await done(client, session, "sh watch.sh")
    found: dict[str, Any] = json.loads((portal.work / "found.json").read_text("utf-8"))
    assert (portal.work / "watched").exists(), "it ran to the end"
    assert len(found["open"]) == 2
    assert [] in found["open"].values()
    assert SECRETS["AIRBOSS_TOKEN"] not in found["environments"]


async def test_what_agents_left_is_swept_though_the_runtime_itself_shows_no_mark(
    portal: Portal,
) -> None:
    words = f"sleep {portal.pid}.25"
    async with client_of(portal) as client:
        session = await start_session(client, portal.work)
        await done(client, session, f"true; setsid nohup {words} >/dev/null 2>&1 &")
        assert soon(lambda: running(words))
        assert (await client.post(f"/api/v1/sessions/{session}/close")).is_success
        assert running(words) == []
        again = await start_session(client, portal.work)
        await done(client, again, f"true; env -i setsid {words} >/dev/null 2>&1 &")
        runtime = await runtime_of(client)
        supervisor = runtime.parent()
    assert supervisor is not None
    for pid in (portal.pid, supervisor.pid, runtime.pid):
        os.kill(pid, signal.SIGSTOP)
    portal.kill()
    assert running(words), "nobody is there to end it"
    portal.start()
    assert running(words) == []
    assert is_over(runtime)


async def test_a_runtime_that_cannot_be_read_ends_with_its_supervisor_too(portal: Portal) -> None:
    async with client_of(portal) as client:
        await start_session(client, portal.work)
        runtime = await runtime_of(client)
        os.kill(runtime.ppid(), signal.SIGKILL)
        assert soon(lambda: is_over(runtime))
        again = await start_session(client, portal.work)
        await done(client, again, "true")


async def test_the_doctor_says_that_nobody_looks_in(portal: Portal) -> None:
    told = json.loads(portal.run("doctor", "--json").stdout)["checks"]
    states = {check["id"]: check["state"] for check in told}
    assert (states["memory"], states["server.memory"]) == ("ok", "ok")
    assert "as root" not in portal.log


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a server as root")
def test_as_root_the_start_and_the_doctor_say_that_agents_can_read_everything(
    tmp_path: Path,
) -> None:
    portal = Portal(tmp_path)
    portal.start()
    try:
        assert "runs as root: agents can read the memory" in portal.log
        told = json.loads(portal.run("doctor", "--json").stdout)["checks"]
        found = {check["id"]: check for check in told}
        for name in ("memory", "server.memory"):
            assert found[name]["state"] == "warn"
            assert "runs as root" in found[name]["summary"]
            assert "ordinary user" in found[name]["remedy"]
    finally:
        portal.stop()
