"""The real runtime in a cage: turns, tools, death, resume, and what its walls and limits do."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from airboss.errors import CageUnavailable, RuntimesBusy, RuntimeUnavailable
from airboss.model.events import ToolEnded
from airboss.runtime import agent_runtime
from airboss.runtime.cage import doors
from airboss.runtime.cage.doors import CageDoors
from airboss.runtime.cage.folders import CageFolders
from airboss.runtime.cage.inside import landlock
from airboss.runtime.cage.plan import cage_key
from airboss.runtime.locate import Located
from airboss.runtime.signals import RuntimeLost
from tests.runtime.cage.yard import Yard, always, last_output, said
from tests.runtime.conftest import Listener, running, soon

ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("strong")]


async def test_a_turn_with_a_command_works_inside(yard: Yard, listener: Listener) -> None:
    session = await yard.session(listener)
    await said(session, listener, "shell id -un; pwd; echo made > made; ls /home; cat /proc/1/comm")
    output = last_output(yard.flight)
    assert output.splitlines()[:4] == ["agent", str(yard.flight.folder), "agent", "bwrap"]
    assert (yard.flight.folder / "made").read_text("utf-8") == "made\n"
    [opened] = yard.news
    assert opened.what == "opened"
    assert opened.has_landlock == (landlock.version() > 0)
    assert opened.has_git == (yard.flight.folder / ".git").exists()


async def test_the_process_that_is_watched_is_the_runtime_itself(
    yard: Yard, listener: Listener
) -> None:
    await yard.session(listener)
    process = psutil.Process(yard.pid)
    assert process.name() == "copilot-runtime"
    assert [parent.name() for parent in process.parents()[:2]] == ["bwrap", "bwrap"]


async def test_no_shell_sees_the_memory_or_the_pipes_of_the_runtime(
    yard: Yard, listener: Listener
) -> None:
    session = await yard.session(listener)
    look = "for f in environ maps mem fd/0 fd/1; do head -c1 /proc/2/$f; done; cat /proc/2/comm"
    await said(session, listener, f"shell {look}")
    output = last_output(yard.flight)
    assert output.count("Permission denied") == 5
    assert "copilot-runtime" in output


def readable(located: Located, _: Path) -> Path:
    return located.path


async def test_without_the_copy_that_cannot_be_read_a_shell_sees_them(
    yard: Yard, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wall taken away: what no other one holds."""
    monkeypatch.setattr(agent_runtime, "unreadable", readable)
    session = await yard.session(listener)
    look = "for f in environ maps fd/0 fd/1; do ls -L /proc/2/$f && echo seen; done"
    await said(session, listener, f"shell {look}")
    assert last_output(yard.flight).count("seen") == 4


DAEMON = "setsid nohup sh -c 'trap \"\" HUP INT TERM; sleep 611' >/dev/null 2>&1 &"


async def test_with_the_outer_process_everything_is_gone(yard: Yard, listener: Listener) -> None:
    session = await yard.session(listener)
    await said(session, listener, f"shell {DAEMON} sleep 0.2; echo started")
    inside = [yard.pid, *running("sleep 611")]
    assert len(inside) > 1
    outer = psutil.Process(yard.pid).parents()[1]
    outer.send_signal(signal.SIGKILL)
    await listener.until(RuntimeLost)
    assert await soon(lambda: not any(map(is_running, inside)), 2)
    assert not running("sleep 611")
    assert await soon(lambda: [news.what for news in yard.news] == ["opened", "closed"])


async def test_with_the_server_everything_is_gone(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "tests.runtime.cage.keeper", str(tmp_path))
    keeper = await asyncio.create_subprocess_exec(*command, stdout=PIPE, cwd=ROOT)
    assert keeper.stdout is not None
    pid = int(await keeper.stdout.readline())
    family = [pid, *(parent.pid for parent in psutil.Process(pid).parents()[:3])]
    assert keeper.pid not in family
    keeper.kill()
    await keeper.wait()
    assert await soon(lambda: not any(map(is_running, family)), 3)


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


async def test_a_session_goes_on_in_a_new_cage(yard: Yard, listener: Listener) -> None:
    first = await yard.session(listener)
    await said(first, listener, "shell echo kept > /tmp/kept; echo home > ~/kept")
    await asyncio.sleep(0.6)  # the runtime writes its history late
    os.kill(yard.pid, signal.SIGKILL)
    lost = await listener.until(RuntimeLost)
    assert "signal 9" in lost.reason
    listener.told.clear()
    again = await yard.session(listener, id=first.id, resume=True)
    await said(again, listener, "shell cat /tmp/kept ~/kept")
    assert last_output(yard.flight).splitlines()[:2] == ["kept", "home"]
    roles = [one["role"] for one in yard.flight.stage.requests[-1]["messages"]]
    assert roles.count("user") >= 2


async def test_two_cages_know_nothing_of_each_other(yard: Yard) -> None:
    one, two = Listener(), Listener()
    first = await yard.session(one, yard.key("one"))
    second = await yard.session(two, yard.key("two"))
    await said(first, one, "shell echo first > /tmp/mine; ls /tmp")
    await said(second, two, "shell ls /tmp/mine 2>/dev/null; echo nothing")
    assert last_output(yard.flight).splitlines()[0] == "nothing"
    assert len({state.pid for state in yard.pool.states}) == 2


async def test_the_state_is_in_the_folder_of_the_cage_and_nobody_elses(
    yard: Yard, listener: Listener
) -> None:
    session = await yard.session(listener)
    await said(session, listener, "say hello")
    folders = CageFolders.of(yard.data, cage_key("default", yard.flight.folder, "default", "chat"))
    assert oct(folders.root.stat().st_mode)[-3:] == "700"
    assert await soon(lambda: list(folders.state.rglob(f"*{session.id}*")))


async def test_there_are_only_so_many_cages_and_the_idlest_goes_first(yard: Yard) -> None:
    yard.pool.most, yard.pool.most_cages = 1, 2
    held = [await yard.session(Listener(), yard.key(name)) for name in ("one", "two")]
    with pytest.raises(RuntimesBusy, match="All 2 cages are in use"):
        await yard.session(Listener(), yard.key("three"))
    await held[0].close()
    await yard.session(Listener(), yard.key("three"))
    owners = {state.key for state in yard.pool.states}
    assert owners == {yard.key("two"), yard.key("three")}
    async with yard.pool.use(yard.pool.default) as free:  # counted apart
        assert (await free.status()).pid


async def test_in_the_folder_of_a_cage_there_is_no_other_one_with_other_terms(yard: Yard) -> None:
    held = await yard.session(Listener(), yard.key("run"))
    changed = yard.key("run", processes=100)
    with pytest.raises(CageUnavailable, match="Another session works in this cage"):
        await yard.session(Listener(), changed)
    with pytest.raises(CageUnavailable, match="as it was before it was changed"):
        await yard.pool.must_have_room(changed)
    await held.close()
    await yard.session(Listener(), changed)
    assert {state.key for state in yard.pool.states} == {changed}


async def test_a_cage_that_nobody_is_in_ends_soon(yard: Yard) -> None:
    yard.pool.cage_idle_seconds = 0.05
    session = await yard.session(Listener())
    await asyncio.sleep(0.2)
    assert len(yard.pool.states) == 1
    await session.close()
    assert await soon(lambda: not yard.pool.states)


def status_of(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text("utf-8")


async def test_a_narrow_cage_starts_the_same_runtime(yard: Yard) -> None:
    strong = yard.key("narrow")
    assert strong.cage is not None
    key = replace(strong, cage=replace(strong.cage, kind="narrow"))
    async with yard.pool.use(key) as runtime:
        pid = (await runtime.status()).pid
        assert pid is not None
        process = psutil.Process(pid)
        assert process.name() == "copilot-runtime"
        status = status_of(pid)
    assert "Seccomp:\t2" in status
    assert "NoNewPrivs:\t1" in status


async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def test_a_warden_that_fails_is_said_in_its_words(
    yard: Yard, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doors, "WAY_OUT_PORT", 80)  # where only root may listen
    yard.pool.plan = replace(yard.pool.plan, doors=always(CageDoors(way_out=hang_up)))
    with pytest.raises(RuntimeUnavailable, match="The cage could not be closed"):
        await yard.session(listener)
    assert yard.pool.states == ()


async def test_a_profile_that_hands_in_the_home_is_refused(yard: Yard, listener: Listener) -> None:
    with pytest.raises(CageUnavailable, match="it is the home folder"):
        await yard.session(listener, yard.key(read=("~",)))


async def test_ended_tools_are_told(yard: Yard, listener: Listener) -> None:
    session = await yard.session(listener)
    await said(session, listener, "shell false")
    assert listener.all(ToolEnded)
