"""Programs that are started in a cage that runs: their pipes, their walls, and their end."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.life import Caged, CageLife
from airboss.runtime.cage.plan import CageKind, CagePlan
from airboss.runtime.cage.programs import CagePrograms, ProgramNotStarted
from tests.runtime.conftest import running, soon

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("strong")]


@contextlib.asynccontextmanager
async def cage_of(
    folder: Path, command: tuple[str, ...] = ("sleep", "600"), kind: CageKind = "strong"
) -> AsyncGenerator[CagePrograms]:
    """A cage in which `command` runs in the place of a runtime."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    life = CageLife(CagePlan(kind, "default", CageProfile(), work, "k"), folder / "data")
    outer = await life.open(Caged(command))
    environ = {"PATH": os.environ["PATH"]}
    process = await asyncio.create_subprocess_exec(*outer, env=environ, start_new_session=True)
    try:
        assert await soon(lambda: life.programs is not None)
        assert life.programs is not None
        yield life.programs
    finally:
        process.kill()
        await process.wait()
        await life.close()
        await asyncio.sleep(0.05)  # what is read of pipes whose writers are gone


async def output(programs: CagePrograms, *words: str, **more: str) -> str:
    program = await programs.start(words, env=more)
    program.stdin.close()
    said = (await program.stdout.read()) + (await program.stderr.read())
    await program.wait()
    return said.decode()


@pytest.mark.parametrize("kind", ["strong", "narrow"])
async def test_a_program_has_pipes_and_an_exit_code(tmp_path: Path, kind: CageKind) -> None:
    async with cage_of(tmp_path, kind=kind) as programs:
        program = await programs.start(
            ["sh", "-c", 'read line; echo "$line $WORD"; pwd; echo oops >&2; exit 7'],
            env={"WORD": "there"},
        )
        program.stdin.write(b"hello\n")
        assert await program.stdout.readline() == b"hello there\n"
        assert await program.stdout.readline() == f"{tmp_path}/work\n".encode()
        assert await program.stderr.read() == b"oops\n"
        assert (await program.wait(), program.returncode) == (7, 7)


@pytest.mark.parametrize("kind", ["strong", "narrow"])
async def test_all_walls_hold_around_it(tmp_path: Path, kind: CageKind) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary", encoding="utf-8")
    async with cage_of(tmp_path, kind=kind) as programs:
        said = await output(programs, "sh", "-c", f"cat /proc/self/status; cat {secret}")
    assert "canary" not in said
    for wall in ("Seccomp:\t2", "NoNewPrivs:\t1", "CapEff:\t0000000000000000"):
        assert wall in said


async def test_it_is_in_the_namespaces_of_its_cage(tmp_path: Path) -> None:
    command = ("sh", "-c", "ls -l /proc/self/ns > said; mv said ns; sleep 600")
    async with cage_of(tmp_path, command) as programs:
        said = await output(programs, "ls", "-l", "/proc/self/ns")
        assert await soon((tmp_path / "work/ns").exists)
        known = (tmp_path / "work/ns").read_text("utf-8")
        outside = {name: os.readlink(f"/proc/self/ns/{name}") for name in ("net", "pid", "mnt")}
    for name, ours in outside.items():
        inside = next(line.split(" -> ")[1] for line in said.splitlines() if f"{name} ->" in line)
        assert inside in known
        assert inside != ours


async def test_with_its_end_its_group_ends_too(tmp_path: Path) -> None:
    async with cage_of(tmp_path) as programs:
        program = await programs.start(["sh", "-c", "sleep 6171 & sleep 6171"])
        assert await soon(lambda: len(running("sleep 6171")) >= 2)
        program.terminate()
        assert await program.wait() == -signal.SIGTERM
        assert await soon(lambda: not running("sleep 6171"))


async def test_what_cannot_be_run_is_said_in_words(tmp_path: Path) -> None:
    async with cage_of(tmp_path) as programs:
        with pytest.raises(ProgramNotStarted, match="nowhere cannot be run in the cage: No such"):
            await programs.start(["nowhere"])
        with pytest.raises(ProgramNotStarted, match="too long for a cage"):
            await programs.start(["true", "x" * 200_000])
        assert await output(programs, "echo", "still here") == "still here\n"


async def test_it_dies_with_its_cage(tmp_path: Path) -> None:
    async with cage_of(tmp_path) as programs:
        program = await programs.start(["sh", "-c", "setsid sleep 6172; true"])
        assert await soon(lambda: running("sleep 6172"))
    assert await program.wait() == -signal.SIGKILL
    assert await soon(lambda: not running("sleep 6172"))
    with pytest.raises(ProgramNotStarted, match="The cage has ended"):
        await programs.start(["true"])


LOOK = """
for pid in /proc/[0-9]*; do
  grep -q python $pid/comm || continue
  for file in environ maps mem fd/3 fd/0; do head -c1 $pid/$file >/dev/null && echo seen $file; done
  echo looked; kill -9 ${pid#/proc/}
done
"""


async def test_nothing_in_the_cage_looks_into_the_starter_and_without_it_nothing_starts(
    tmp_path: Path,
) -> None:
    async with cage_of(tmp_path) as programs:
        said = await output(programs, "bash", "-c", LOOK)
        assert "looked" in said
        assert "seen" not in said
        assert said.count("Permission denied") == 5
        assert await soon(lambda: not programs.is_open)
        with pytest.raises(ProgramNotStarted, match="something in it ended what starts"):
            await programs.start(["true"])


async def test_a_file_that_is_handed_in_cannot_be_changed_inside(tmp_path: Path) -> None:
    async with cage_of(tmp_path) as programs:
        path = programs.place.hand_in("check.sh", b"#!/bin/sh\necho checked\n")
        assert programs.place.hand_in("check.sh", b"#!/bin/sh\necho checked\n") == path
        spoil = f"echo echo spoilt > {path}; chmod 777 {path}; rm {path}; mv {path.parent} /tmp; "
        assert "checked" in (said := await output(programs, "sh", "-c", spoil + str(path)))
        assert said.count("Read-only file system") == 4
        assert programs.place.sees(tmp_path / "work/x")
        assert not programs.place.sees(tmp_path)
