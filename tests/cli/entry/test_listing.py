"""`airboss entry`, `tasks` and `trust`: what the server uses, and what a person lets it do."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tests.cli.entry.test_entries import TEN_MISTAKES, VALID
from tests.portal import Portal

PROGRAM = """
from airboss.entry.build import ref
from airboss.entry.document import Entry, Job, Model, Task

build = Task(model=Model(category="driving"), prompt=("Build it.",), require_user_input=False)
entry = Entry(
    models={"driving": "rehearsal"},
    prompt_variables={},
    tasks={"build": build},
    jobs={"all": Job(work=ref("build"))},
    grid=(),
    permissions="approve-all",
)
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Portal]:
    """A server in a project that has an entry of its own."""
    portal = Portal(tmp_path)
    portal.work.mkdir()
    (portal.work / "airboss.yaml").write_text(VALID, encoding="utf-8")
    portal.start()
    yield portal
    portal.stop()


def until(say: Callable[[], str], wanted: str) -> str:
    """The server looks at the file now and then."""
    end = time.monotonic() + 10
    while wanted not in (said := say()):
        assert time.monotonic() < end, said
        time.sleep(0.1)
    return said


def test_the_entry_in_use_is_shown_with_its_tasks_and_jobs(project: Portal) -> None:
    done = project.run("entry")
    assert done.returncode == 0
    file = project.work / "airboss.yaml"
    assert done.stdout.startswith(f"Entry        file\nFile         {file} (not trusted)\nDigest")
    assert "\nbuild\tgpt-4.1\tread-only\tno\t\tBuild it.\n" in done.stdout
    assert done.stdout.endswith("\nall\tno\tbuild\n")
    assert done.stderr == (
        'note: entry.permissions: "approve-all" is not granted: the server allows "read-only", '
        "until a person trusts this file.\n"
    )
    told = json.loads(project.run("entry", "--json").stdout)
    assert (told["source"], told["path"]) == ("file", str(file))
    assert project.run("tasks").stdout == "build\tgpt-4.1\tread-only\tno\t\tBuild it.\n"
    (task,) = json.loads(project.run("tasks", "--json").stdout)["items"]
    assert task["name"] == "build"
    assert f"Entry        {file} (tasks: 1, jobs: 1)\n" in project.run("status").stdout


def test_a_problem_of_the_entry_is_said_with_every_mistake(project: Portal) -> None:
    (project.work / "airboss.yaml").write_text(TEN_MISTAKES, encoding="utf-8")
    said = until(lambda: project.run("entry").stderr, "problem: ")
    assert "has 10 errors, the first: line 1: entry.models.driving: Should exist." in said
    assert "The last valid version is in use." in said
    assert (
        'line 6: entry.tasks["design"].model.category: "codin" is not a valid model key. ' in said
    )
    assert "last valid version" in project.run("status").stdout


def test_trust_is_given_listed_and_taken_back(project: Portal) -> None:
    file = project.work / "airboss.yaml"
    assert project.run("trust", "--list").stderr == (
        "No files are trusted. Trust an entry with: airboss trust PATH\n"
    )
    done = project.run("trust", "airboss.yaml")
    assert (done.returncode, done.stdout) == (0, f"Trusted in its current form: {file}\n")
    assert project.run("tasks").stdout.split("\t")[2] == "approve-all"
    assert project.run("check").stderr == (
        "note: You trust this file as it is now, so its policy applies.\n"
    )
    file.write_text(f"{VALID}\n# changed\n", encoding="utf-8")
    cells = project.run("trust", "--list").stdout.split("\t")
    assert cells[:4] == [str(file), "file", "changed since", "owner"]
    assert "is not granted" in project.run("check").stderr
    assert project.run("trust", "--remove", "airboss.yaml").stdout == (
        f"No longer trusted: {file}\n"
    )
    done = project.run("trust", "--remove", str(file))
    said = f"error: There is no trusted file or folder {file}.\n"
    assert (done.returncode, done.stderr) == (2, said)
    assert json.loads(project.run("trust", "--list", "--json").stdout) == {"items": []}


def test_only_what_was_read_is_trusted_where_its_digest_is_given(project: Portal) -> None:
    file = project.work / "airboss.yaml"
    read = sha256(file.read_bytes()).hexdigest()
    file.write_text(f"{VALID}\n# changed\n", encoding="utf-8")
    done = project.run("trust", "airboss.yaml", "--digest", read)
    assert (done.returncode, done.stdout) == (2, "")
    assert "has changed since you reviewed it" in done.stderr
    file.write_text(VALID, encoding="utf-8")
    done = project.run("trust", "airboss.yaml", "--digest", sha256(file.read_bytes()).hexdigest())
    assert (done.returncode, done.stdout) == (0, f"Trusted in its current form: {file}\n")
    done = project.run("trust", "--list", "--digest", read)
    assert done.stderr == "error: --digest needs a path to trust.\n"


@pytest.mark.parametrize(
    "words", [[], ["a", "--list"], ["--list", "--remove", "a"]], ids=lambda words: " ".join(words)
)
def test_trust_wants_one_thing_at_a_time(nowhere: Portal, words: list[str]) -> None:
    done = nowhere.run("trust", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: Pass a path to trust, --list, or --remove PATH.\n"


def test_a_program_is_trusted_and_used_in_the_folder_where_it_lies(project: Portal) -> None:
    """Named like the package, it must not be taken for it, neither by the server nor by us."""
    (project.work / "airboss.yaml").unlink()
    program = project.work / "airboss.py"
    program.write_text(PROGRAM, encoding="utf-8")
    said = until(lambda: project.run("entry").stderr, "airboss trust")
    assert f"`airboss trust {program}`" in said
    assert project.run("check").returncode == 2
    assert project.run("trust", ".").stdout == f"Trusted in its current form: {program}\n"
    until(lambda: project.run("entry").stdout, f"{program} (trusted)")
    assert project.run("check").stdout == "airboss.py: no errors. Tasks: 1, jobs: 1.\n"
    installed = Path(sys.executable).with_name("airboss")
    done = subprocess.run(
        [installed, "tasks"],
        env=project.environ,
        cwd=project.work,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "build\trehearsal\tapprove-all\tno\t\tBuild it.\n", done.stderr
