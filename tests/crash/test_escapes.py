"""Commands that drop every mark: they end with their session, their runtime and their server."""

import contextlib
import os
import signal
import sys

import httpx2
import psutil
import pytest

from tests.crash import marks
from tests.crash.marks import is_over, soon
from tests.crash.witness import ask, start_session, until
from tests.portal import Portal
from tests.trials import sampled

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers"),
]

QUIET = "</dev/null >/dev/null 2>&1"
WAYS = {
    "cleared": f"true; env -i setsid SLEEP {QUIET} &",
    "forked-twice": f"true; env -i setsid sh -c 'setsid SLEEP {QUIET} & exit 0' {QUIET}",
}
ways = pytest.mark.parametrize("way", sampled(1, WAYS))


def running(words: str) -> list[int]:
    """The command itself, and not a shell that has its words."""
    found: list[int] = []
    for pid in marks.running(words):
        with contextlib.suppress(psutil.NoSuchProcess):
            if psutil.Process(pid).name() == "sleep":
                found.append(pid)
    return found


async def runtime_of(client: httpx2.AsyncClient) -> psutil.Process:
    return psutil.Process((await client.get("/api/v1/status")).json()["runtime"]["pid"])


async def processes_of(client: httpx2.AsyncClient) -> tuple[psutil.Process, psutil.Process]:
    """The runtime and its supervisor."""
    runtime = await runtime_of(client)
    supervisor = runtime.parent()
    assert supervisor is not None
    return runtime, supervisor


async def turn(client: httpx2.AsyncClient, session: str, text: str) -> None:
    receipt = await ask(client, session, text)
    await until(client, session, "session.idle", receipt["seq"])


def words_of(portal: Portal) -> str:
    """A command that no other test runs."""
    return f"sleep {portal.pid}.5"


def beginning(way: str, words: str) -> str:
    return f"shell {WAYS[way].replace('SLEEP', words)}"


async def escaped(portal: Portal, client: httpx2.AsyncClient, way: str, session: str) -> str:
    """The words of a command that runs without a parent and without a mark."""
    words = words_of(portal)
    await turn(client, session, beginning(way, words))
    assert soon(lambda: running(words))
    [pid] = running(words)
    assert psutil.Process(pid).environ().keys() <= {"PWD", "SHLVL", "_"}, "no mark is on it"
    return words


@ways
async def test_it_ends_with_an_abort_of_the_only_session(portal: Portal, way: str) -> None:
    words = words_of(portal)
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        await ask(client, session, f"{beginning(way, words)}\nsleep 60")
        assert soon(lambda: running(words))
        assert (await client.post(f"/api/v1/sessions/{session}/abort")).is_success
        assert running(words) == []
        await turn(client, session, "say that you are there")


@ways
async def test_it_ends_when_the_last_session_of_its_runtime_closes(
    portal: Portal, way: str
) -> None:
    async with portal.client() as client:
        first = await start_session(client, portal.work)
        other = await start_session(client, portal.work)
        words = await escaped(portal, client, way, first)
        assert (await client.post(f"/api/v1/sessions/{first}/close")).is_success
        assert running(words), "it could be the other one's"
        assert (await client.post(f"/api/v1/sessions/{other}/close")).is_success
        assert running(words) == []


@ways
async def test_it_ends_when_the_server_is_killed(portal: Portal, way: str) -> None:
    async with portal.client() as client:
        words = await escaped(portal, client, way, await start_session(client, portal.work))
        runtime, supervisor = await processes_of(client)
    portal.kill()
    assert soon(lambda: running(words) == [])
    assert soon(lambda: is_over(runtime) and is_over(supervisor))
    assert list((portal.data / "runtimes").iterdir()) == []


@ways
async def test_it_ends_when_the_runtime_is_killed(portal: Portal, way: str) -> None:
    async with portal.client() as client:
        words = await escaped(portal, client, way, await start_session(client, portal.work))
        (await runtime_of(client)).kill()
        assert soon(lambda: running(words) == [])
        await turn(client, await start_session(client, portal.work), "say that you are there")


@ways
async def test_it_ends_when_the_supervisor_is_killed_and_so_does_the_runtime(
    portal: Portal, way: str
) -> None:
    async with portal.client() as client:
        words = await escaped(portal, client, way, await start_session(client, portal.work))
        runtime, supervisor = await processes_of(client)
        assert supervisor.ppid() == portal.pid
        supervisor.kill()
        assert soon(lambda: is_over(runtime))
        assert soon(lambda: running(words) == [])
        await turn(client, await start_session(client, portal.work), "say that you are there")
        assert len(list((portal.data / "runtimes").iterdir())) == 1


@ways
async def test_it_ends_with_the_next_start_where_the_supervisor_could_do_nothing(
    portal: Portal, way: str
) -> None:
    async with portal.client() as client:
        words = await escaped(portal, client, way, await start_session(client, portal.work))
        runtime, supervisor = await processes_of(client)
    for pid in (portal.pid, supervisor.pid, runtime.pid):
        os.kill(pid, signal.SIGSTOP)
    portal.kill()
    # Where its process group is orphaned by this, the kernel wakes the supervisor, and it has ended
    # it already; else it is still there.
    portal.start()
    assert running(words) == []
    assert is_over(runtime)
    assert is_over(supervisor)
    assert list((portal.data / "runtimes").iterdir()) == []


async def test_a_note_of_another_process_ends_nobody(portal: Portal) -> None:
    notes = portal.data / "runtimes"
    portal.kill()
    notes.mkdir(exist_ok=True)
    boot = "00000000-0000-0000-0000-000000000000"
    us = os.getpid()
    began = 1
    (notes / "rtl_old.pids").write_text(f"{boot} {us} {began} {us} {began}\n", encoding="ascii")
    (notes / "rtl_torn.pids.part").write_text("7", encoding="ascii")
    (notes / "rtl_garbage.pids").write_bytes(b"\xff\x00 nothing")
    portal.start()
    assert list(notes.iterdir()) == []
