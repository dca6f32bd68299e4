"""A command in a cage: what is there, how it ends, and what a flood does."""

import asyncio
import marshal
import os
import resource
import tempfile
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from airboss.cage_settings import CageProfile
from airboss.errors import CageUnavailable
from airboss.runtime.cage import life as life_module
from airboss.runtime.cage import watch
from airboss.runtime.cage.attempt import Attempted, attempt
from airboss.runtime.cage.autogroups import is_enabled
from airboss.runtime.cage.doors import CageDoors
from airboss.runtime.cage.group import CageGroup, make_group
from airboss.runtime.cage.plan import CageKind, CagePlan
from airboss.runtime.cage.system import system_facts
from airboss.runtime.cage.variables import WAY_OUT_PORT
from tests.runtime.cage.conftest import BOMB
from tests.runtime.conftest import running, soon

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("strong")]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


async def inside(
    work: Path,
    script: str,
    kind: CageKind = "strong",
    doors: CageDoors | None = None,
    **terms: Any,
) -> Attempted:
    plan = CagePlan(kind, "default", CageProfile(**terms), work, "k")
    return await attempt(plan, work.parent / "data", ("bash", "-c", script), doors=doors)


@pytest.mark.parametrize("kind", ["strong", "narrow"])
async def test_a_command_ends_as_it_would_elsewhere(work: Path, kind: CageKind) -> None:
    assert (await inside(work, "exit 7", kind)).code == 7
    assert (await inside(work, "kill -9 $$", kind)).code == 128 + 9
    ended = await inside(work, "echo out; echo err >&2; touch made", kind)
    assert (ended.output, ended.errors) == (b"out\n", b"err\n")
    assert (work / "made").exists()


@pytest.mark.parametrize("kind", ["strong", "narrow"])
async def test_the_kernel_ends_it_first_where_memory_runs_out(work: Path, kind: CageKind) -> None:
    script = "cat /proc/self/oom_score_adj; (echo 0 >/proc/self/oom_score_adj) 2>/dev/null; exit $?"
    ended = await inside(work, script, kind)
    assert ended.output == b"1000\n"
    assert ended.code, "who runs inside may take that back"


DEVICES = """
import os, pty
os.write(os.open("/dev/null", os.O_WRONLY), b"lost")
assert os.read(os.open("/dev/zero", os.O_RDWR), 2) == bytes(2)
assert len(os.read(os.open("/dev/urandom", os.O_RDONLY), 8)) == 8
_, terminal = pty.openpty()
os.write(terminal, b"typed")
open("/dev/shm/shared", "w").write("shared")
for name in ("null", "zero", "full", "random", "urandom", "tty"):
    path = f"/dev/{name}"
    was = os.stat(path)
    for change in (
        lambda: os.chmod(path, was.st_mode & 0o777),
        lambda: os.utime(path, (was.st_atime, was.st_mtime)),
    ):
        try:
            change()
        except OSError:
            continue
        print(name)
"""


def modes_of_devices() -> list[int]:
    return [Path("/dev", name).stat().st_mode for name in ("null", "zero", "full", "urandom")]


async def test_devices_are_used_and_not_changed(work: Path) -> None:
    before = modes_of_devices()
    command = (str(system_facts().python), "-c", DEVICES)
    plan = CagePlan("strong", "default", CageProfile(), work, "k")
    ended = await attempt(plan, work.parent / "data", command)
    assert (ended.code, ended.output, ended.errors) == (0, b"", b"")
    assert modes_of_devices() == before


async def test_without_a_control_group_it_is_nice_to_all_others(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_group(*_: object) -> None: ...

    monkeypatch.setattr(life_module, "make_group", no_group)
    ended = await inside(work, "nice")
    assert ended.output.strip() == b"%d" % min(19, os.nice(0) + 10), ended.errors


def own_autogroup() -> str:
    return Path("/proc/self/autogroup").read_text("ascii")


@pytest.mark.skipif(not is_enabled(), reason="this kernel has no groups of sessions")
async def test_its_sessions_are_nice_too_also_those_that_are_made_inside(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_group(*_: object) -> None: ...

    def other_group(_: str, terms: CageProfile) -> CageGroup | None:
        made = make_group("k", terms)
        if made is not None and made.cpu is not None:
            made.cpu.rmdir()
        return made and replace(made, cpu=None)

    said, before = "cat /proc/self/autogroup", own_autogroup()
    script = f"{said}; sleep 1; {said}; setsid bash -c 'sleep 1; {said}'"
    for without in (no_group, other_group):
        monkeypatch.setattr(life_module, "make_group", without)
        ended = await inside(work, script)
        nice = [line.split()[-1] for line in ended.output.decode().splitlines()]
        assert nice[1:] == ["10", "10"], ended.errors
    assert own_autogroup() == before


@pytest.fixture
def temporary(request: pytest.FixtureRequest) -> Generator[Path]:
    with tempfile.TemporaryDirectory(dir=request.param) as made:
        (Path(made) / "work").mkdir()
        yield Path(made) / "work"


@pytest.mark.parametrize("temporary", ["/tmp", "/var/tmp"], indirect=True)  # noqa: S108
async def test_a_folder_for_temporary_files_can_be_worked_in(temporary: Path) -> None:
    place, name = temporary.parents[1], temporary.parent.name
    ended = await inside(temporary, f"echo made > made; echo own > {place}/own-{name}; ls {place}")
    assert {*ended.output.decode().split()} == {name, f"own-{name}"}, ended.errors
    assert (temporary / "made").exists()
    assert not (place / f"own-{name}").exists()


@pytest.mark.parametrize("kind", ["strong", "narrow"])
async def test_folders_of_the_profile_are_there(work: Path, kind: CageKind) -> None:
    books, shelf = work.parent / "books", work.parent / "shelf"
    for folder in (books, shelf):
        folder.mkdir()
    (books / "one").write_text("read me", "utf-8")
    script = f"cat {books}/one; echo x > {shelf}/made; echo x > {books}/made || exit 3"
    ended = await inside(work, script, kind, read=(str(books),), write=(str(shelf),))
    assert (ended.code, ended.output) == (3, b"read me")
    assert (shelf / "made").exists()
    assert not (books / "made").exists()


async def test_only_variables_that_are_named_go_in(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAMED", "named")
    monkeypatch.setenv("OTHER", "other")
    ended = await inside(work, "echo $NAMED-$OTHER-$HOME-$USER", variables=("NAMED",))
    assert ended.output == b"named--/home/agent-agent\n"


async def test_a_server_of_its_own_can_be_reached_inside(work: Path) -> None:
    asked = 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:8000").status)'
    script = (
        "python3 -m http.server 8000 -b 127.0.0.1 2>/dev/null & "
        f"for _ in $(seq 100); do python3 -c '{asked}' && exit; sleep 0.1; done"
    )
    ended = await inside(work, script)
    assert ended.output == b"200\n", ended.errors


SUITE = """
import http.server, threading, unittest, urllib.request

class ServerTest(unittest.TestCase):
    def test_it_answers(self):
        here = ("127.0.0.1", 0)
        with http.server.HTTPServer(here, http.server.SimpleHTTPRequestHandler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_port}/test_it.py"
            self.assertIn(b"ServerTest", urllib.request.urlopen(url).read())
            server.shutdown()
"""


async def test_a_test_suite_with_a_server_of_its_own_passes_inside(work: Path) -> None:
    (work / "test_it.py").write_text(SUITE, "utf-8")
    ended = await inside(work, "python3 -m unittest -q")
    assert ended.code == 0, ended.errors
    assert b"Ran 1 test" in ended.errors


async def test_a_terminal_works_inside(work: Path) -> None:
    ended = await inside(work, 'python3 -c \'import pty; pty.spawn(["echo", "typed"])\'')
    assert b"typed" in ended.output, ended.errors


async def test_behind_a_door_somebody_answers(work: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"heard " + await reader.readline())
        await writer.drain()

    script = (
        f"exec 3<>/dev/tcp/127.0.0.1/{WAY_OUT_PORT}; echo hello >&3; cat <&3; echo $HTTPS_PROXY"
    )
    ended = await inside(work, script, doors=CageDoors(way_out=answer))
    assert ended.output == f"heard hello\nhttp://127.0.0.1:{WAY_OUT_PORT}\n".encode(), ended.errors


async def test_where_there_is_no_door_nobody_answers(work: Path) -> None:
    ended = await inside(work, f"exec 3<>/dev/tcp/127.0.0.1/{WAY_OUT_PORT}; echo $HTTPS_PROXY")
    assert ended.output == b"\n"
    assert b"refused" in ended.errors


async def test_a_flood_of_connections_is_cut_off(work: Path) -> None:
    held = 0

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal held
        held += 1
        await reader.read()

    flood = f"""python3 -c '
import socket, time
all = [socket.create_connection(("127.0.0.1", {WAY_OUT_PORT})) for _ in range(400)]
time.sleep(1)'"""
    await inside(work, flood, doors=CageDoors(way_out=hold))
    assert held == 128


async def test_a_daemon_ends_with_its_cage(work: Path) -> None:
    await inside(work, "setsid nohup sleep 612 >/dev/null 2>&1 & sleep 0.2")
    assert await soon(lambda: not running("sleep 612"), 2)


async def test_a_file_has_a_bound(work: Path) -> None:
    ended = await inside(work, "head -c 3M /dev/zero > big; ls -s --block-size=1M big", file_mb=1)
    assert ended.output == b"1 big\n"


async def test_a_crash_is_told_to_no_program_outside(work: Path) -> None:
    """Where the system has one for that, it gets a core of 0 bytes as well, but none of 1."""
    script = "python3 -c 'import resource as r; print(r.getrlimit(r.RLIMIT_CORE))'"
    assert (await inside(work, script)).output == b"(1, 1)\n"


@pytest.mark.parametrize("kind", ["strong", "narrow"])
async def test_no_process_goes_before_all_others_though_its_user_may(
    work: Path, kind: CageKind
) -> None:
    """Seen in what the warden is told: few users have such limits, and nobody can give them."""
    plan = CagePlan(kind, "default", CageProfile(), work, "k")
    life = life_module.CageLife(plan, work.parent / "data")
    await life.open(life_module.Caged(("true",)))
    config = (life.folders.doors / life_module.CONFIG).read_bytes()
    said = marshal.loads(config)  # noqa: S302 - of our own
    await life.close()
    assert {said["limits"][name] for name in ("RTPRIO", "NICE")} == {0}


async def test_descriptors_have_a_bound(work: Path) -> None:
    code = "import os\nwhile True: os.dup(0)"
    ended = await inside(work, f"python3 -c '{code}'")
    assert b"Too many open files" in ended.errors


# More than a program may have that is started with the usual soft limit.
ON_THEIR_WAY = """
import array, socket, time
pairs, sent = [], array.array("i", [0] * 200)
for _ in range(8):
    pairs.append(socket.socketpair())
    pairs[-1][0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, sent)])
open("filled", "w").close()
while True:
    time.sleep(1)
"""


async def test_descriptors_that_are_sent_in_one_cage_keep_no_other_from_its_start(
    work: Path, tmp_path: Path
) -> None:
    (work / "send.py").write_text(ON_THEIR_WAY, "utf-8")
    (tmp_path / "other").mkdir()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    sending = asyncio.create_task(inside(work, "exec python3 send.py"))
    try:
        assert await soon((work / "filled").exists)
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
        plan = CagePlan("strong", "default", CageProfile(), tmp_path / "other", "other")
        ended = await attempt(plan, tmp_path / "data", ("true",))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        sending.cancel()
        await asyncio.wait([sending])
    assert ended.code == 0, ended.errors


MEMORY = "python3 -c 'x = bytearray(1 << 30); import time; time.sleep(60)'"
# Not a bomb: as root, without a control group, nothing would bound that one soon enough.
CROWD = "for _ in $(seq 200); do sleep 60 & done; wait"


def no_group(_: str, __: CageProfile) -> None:
    return None


@pytest.mark.parametrize(("flood", "limit"), [(CROWD, "processes"), (MEMORY, "memory")])
async def test_the_watch_alone_ends_a_cage_that_is_over(
    work: Path, monkeypatch: pytest.MonkeyPatch, flood: str, limit: str
) -> None:
    monkeypatch.setattr(life_module, "make_group", no_group)
    ended = await inside(work, flood, memory_mb=300, processes=150)
    # An ordinary user's processes are bound by the kernel.
    is_bound = limit == "processes" and os.geteuid() != 0
    assert ended.limit == limit or is_bound
    assert ended.code


@pytest.mark.parametrize(("flood", "limit"), [(BOMB, "processes"), (MEMORY, "memory")])
@pytest.mark.usefixtures("group")
async def test_a_flood_ends_a_cage_with_a_control_group(work: Path, flood: str, limit: str) -> None:
    ended = await inside(work, flood, memory_mb=300, processes=150)
    assert ended.limit == limit
    assert ended.code


async def test_a_disk_that_is_nearly_full_ends_the_cage(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "LEAST_DISK_BYTES", 1 << 60)
    monkeypatch.setattr(watch, "_NO_DISK_BYTES", 1 << 60)
    assert (await inside(work, "sleep 30")).limit == "disk"


async def test_the_home_cannot_be_worked_in(work: Path) -> None:
    with pytest.raises(CageUnavailable, match="cannot be worked in from a cage: it is the home"):
        await inside(Path.home(), "true")


def become_a_link(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    folder.symlink_to("/srv")


async def test_a_folder_that_became_a_link_is_refused(work: Path) -> None:
    become_a_link(work)
    with pytest.raises(CageUnavailable, match="or became a link"):
        await inside(work, "true")


async def test_a_folder_of_the_profile_that_is_not_there_is_said(work: Path) -> None:
    with pytest.raises(CageUnavailable, match="hands in what is not there: /no/such/folder"):
        await inside(work, "true", read=("/no/such/folder",))


async def test_a_command_that_is_not_there_is_said(work: Path) -> None:
    plan = CagePlan("strong", "default", CageProfile(), work, "k")
    ended = await attempt(plan, work.parent / "data", ("no-such-program",))
    assert ended.code == 97
    assert b"no-such-program cannot be run: No such file or directory." in ended.errors
