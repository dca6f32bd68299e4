"""What a person trusts: programs that may run, requests that count, and what ends both."""

import asyncio
import time
from pathlib import Path

import pytest

from airboss.entry.python_file import entry_of_output
from airboss.entry.violations import EntryUnparsed
from airboss.errors import Invalid, NotFound
from airboss.service.entry_files import run_program
from tests.service.repo import ME, PROGRAM, Repo, named, task_of, trusted, used


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path)


async def test_a_program_runs_only_when_it_is_trusted_as_it_is(repo: Repo) -> None:
    file = repo.write(PROGRAM, "airboss.py")
    async with repo.served() as entries:
        found = await used(entries)
        assert found.source == "built-in"
        assert found.problem == (
            f"{file} is a Python program, and nobody has trusted its current version. "
            f"Read it, then run `airboss trust {file}`. The built-in jobs are in use."
        )
        await trusted(entries, str(file))
        found = await used(entries)
        assert (found.path, found.trusted, found.problem) == (file, True, None)
        repo.write(f"{PROGRAM}\nopen('trace', 'w')\n", "airboss.py")
        changed = await used(entries)
        assert changed.digest == found.digest
        assert changed.problem is not None
        assert "nobody has trusted its current version" in changed.problem
        assert not (repo.root / "trace").exists()
    async with repo.served() as entries:
        again = await used(entries)
        assert (again.digest, again.path) == (found.digest, file)
        await trusted(entries, str(repo.root))
        assert (await used(entries)).problem is None
        assert (repo.root / "trace").exists()
        await entries.distrust(str(repo.root), ME)
        found = await used(entries)
        assert found.source == "built-in"
        assert await entries.files.trust.all() == []


async def test_an_untrusted_program_is_passed_over_for_the_next_entry(repo: Repo) -> None:
    repo.write(PROGRAM, "airboss.py")
    next_one = repo.write(named("next"), ".github/airboss.json")
    async with repo.served() as entries:
        found = await used(entries)
        assert (found.path, task_of(found)) == (next_one, "next")
        assert found.problem is not None
        assert "airboss trust" in found.problem


async def test_a_chosen_program_waits_for_trust_instead_of_preventing_the_start(
    repo: Repo,
) -> None:
    file = repo.write(PROGRAM, "jobs of ours.py")
    async with repo.served(entry=file) as entries:
        found = await used(entries)
        assert found.problem is not None
        assert f"airboss trust '{file}'" in found.problem
        await trusted(entries, str(file))
        assert (await used(entries)).path == file


async def test_a_program_that_does_not_end_keeps_nobody_waiting(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airboss.entry.python_file.SECONDS", 4.0)
    file = repo.write(PROGRAM, "airboss.py")
    async with repo.served() as entries:
        await trusted(entries, str(file))
        good = await used(entries)
        entries.patience_seconds = 0.1
        repo.write("import time\nwhile True: print('x' * 100000)\n", "airboss.py")
        await trusted(entries, str(file))
        began = time.monotonic()
        assert (await used(entries)).digest == good.digest
        assert time.monotonic() - began < 3.5
        entries.patience_seconds = 50
        late = await used(entries)
        assert late.problem is not None
        assert "The program did not end within 4 seconds." in late.problem
        assert late.digest == good.digest


async def test_a_program_ends_with_the_server_and_so_does_what_it_started(
    repo: Repo, tmp_path: Path
) -> None:
    note = tmp_path / "pid"
    child = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    program = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}])\n"
    file = repo.write(program, "airboss.py")
    async with repo.served() as entries:
        await used(entries)
        entries.patience_seconds = 0.1
        await trusted(entries, str(file))
        async with asyncio.timeout(40):
            while not (note.exists() and note.read_text(encoding="utf-8")):
                await used(entries)
                await asyncio.sleep(0.05)
    pid = int(note.read_text(encoding="utf-8"))
    async with asyncio.timeout(20):
        while _is_alive(pid):  # noqa: ASYNC110 - the system has no event for it
            await asyncio.sleep(0.02)


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


async def test_a_program_that_changed_since_it_was_weighed_is_not_run(repo: Repo) -> None:
    file = repo.write(PROGRAM, "airboss.py")
    with pytest.raises(EntryUnparsed, match="The file changed while it was read"):
        entry_of_output(*await run_program(file, "0" * 64))


async def test_only_a_trusted_file_may_widen_the_servers_policy(repo: Repo) -> None:
    file = repo.write(named("bold", permissions="approve-all"))
    async with repo.served() as entries:
        found = await used(entries)
        assert found.policy_for("bold") == "ask"
        assert found.ungranted == (
            'entry.permissions: "approve-all" is not granted: the server allows "ask", '
            "until a person trusts this file.",
        )
        await trusted(entries, str(file))
        found = await used(entries)
        assert (found.trusted, found.policy_for("bold"), found.ungranted) == (
            True,
            "approve-all",
            (),
        )
        repo.write(named("bold", permissions="approve-all", limits={"turns": 9}))
        found = await used(entries)
        assert (found.trusted, found.policy_for("bold")) == (False, "ask")
        listed = await entries.files.trust.all()
        assert [(told.row.path, told.row.who, told.current) for told in listed] == [
            (str(file), ME, False)
        ]


async def test_trust_that_is_taken_back_narrows_at_once_although_something_runs(
    repo: Repo,
) -> None:
    file = repo.write(named("bold", permissions="approve-all"))
    async with repo.served() as entries:
        await used(entries)
        await trusted(entries, str(file))
        assert (await used(entries)).policy_for("bold") == "approve-all"
        repo.busy = True
        await entries.distrust(str(file), ME)
        assert (await used(entries)).policy_for("bold") == "ask"


async def test_trust_is_of_the_real_file(repo: Repo) -> None:
    real = repo.write(named("real", permissions="approve-all"), "real.yaml")
    other = repo.write(named("other", permissions="approve-all"), "other.yaml")
    link = repo.root / "airboss.yaml"
    link.symlink_to(real)
    async with repo.served() as entries:
        await trusted(entries, str(link))
        assert (await used(entries)).trusted
        link.unlink()
        link.symlink_to(other)
        found = await used(entries)
        assert (task_of(found), found.trusted) == ("other", False)


@pytest.mark.parametrize("path", ["airboss.yaml", "", "/nowhere/airboss.yaml", "/nul\0.yaml"])
async def test_only_what_is_there_can_be_trusted(repo: Repo, path: str) -> None:
    repo.write("x", "notes.txt")
    async with repo.served() as entries:
        with pytest.raises(Invalid):
            await trusted(entries, path)
        for place in (repo.root, repo.root / "notes.txt"):
            with pytest.raises(Invalid):
                await trusted(entries, str(place))
        with pytest.raises((Invalid, NotFound)):
            await entries.distrust(path, ME)
