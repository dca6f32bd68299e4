"""`airboss init`: a first entry that fits the repository, has no mistakes, replaces nothing."""

import json
from pathlib import Path

import pytest

from airboss.cli.entry.first_entry import JOB, entry_text
from airboss.cli.entry.projects import projects_in
from airboss.entry.load import check_text
from tests.portal import Portal

PROJECTS: list[tuple[dict[str, str], list[str]]] = [
    ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, ["python -m pytest"]),
    ({"requirements.txt": "pytest==8\n", "uv.lock": ""}, ["uv run pytest"]),
    ({"tests/conftest.py": "", "poetry.lock": ""}, ["poetry run pytest"]),
    ({"setup.py": "from setuptools import setup\n"}, ["python -m unittest"]),
    ({"package.json": '{"scripts": {"test": "vitest run"}}'}, ["npm test"]),
    ({"package.json": '{"scripts": {"test": "jest"}}', "yarn.lock": ""}, ["yarn test"]),
    ({"package.json": '{"scripts": {"test": "echo no test specified"}}'}, []),
    ({"package.json": "{broken"}, []),
    ({"package.json": '{"scripts": []}'}, []),
    ({"Cargo.toml": ""}, ["cargo test"]),
    ({"go.mod": "module x\n"}, ["go test ./..."]),
    ({"Makefile": "all: x\ntest: all\n\tgo\n"}, ["make test"]),
    ({"Makefile": "check:\n\tgo\n"}, ["make check"]),
    ({"Makefile": "test := 1\nall:\n"}, []),
    ({"go.mod": "", "Makefile": "test:\n"}, ["go test ./...", "make test"]),
    ({}, []),
]


@pytest.mark.parametrize(("files", "commands"), PROJECTS)
def test_the_entry_fits_the_repository_and_has_no_mistakes(
    tmp_path: Path, files: dict[str, str], commands: list[str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = projects_in(tmp_path)
    assert [project.command for project in found] == commands
    text = entry_text(found)
    checked = check_text(text, "yaml")
    assert checked.violations == ()
    assert checked.entry is not None
    assert [*checked.entry.jobs] == [JOB]
    how = f"`{commands[0]}`" if commands else "Find the command"
    assert all(how in task.prompt[0] for task in checked.entry.tasks.values())
    assert max(map(len, text.splitlines())) <= 120


def test_a_cage_is_offered_and_had_by_removing_one_sign() -> None:
    text = entry_text([])
    entry = check_text(text, "yaml").entry
    assert entry is not None
    assert entry.permissions is None
    checked = check_text(text.replace("# permissions: caged", "permissions: caged"), "yaml")
    assert checked.violations == ()
    assert checked.entry is not None
    assert checked.entry.permissions == "caged"


def test_a_folder_full_of_traps_is_only_looked_at(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("[" * 100_000, encoding="utf-8")
    (tmp_path / "Makefile").mkdir()
    (tmp_path / "pyproject.toml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "setup.cfg").write_bytes(b"\xff\x00pytest\n" + b"x" * 1_000_000)
    assert [project.command for project in projects_in(tmp_path)] == ["python -m pytest"]


def test_the_first_entry_is_written_and_then_never_overwritten(nowhere: Portal) -> None:
    (nowhere.folder / ".git").mkdir()
    nowhere.work.mkdir()
    (nowhere.folder / "go.mod").write_text("module x\n", encoding="utf-8")
    done = nowhere.run("init")
    file = nowhere.folder / "airboss.yaml"
    assert done.stdout == (
        f"Created {file}\nThis looks like Go: the job fix-tests runs `go test ./...` and fixes "
        "failing tests.\n"
    )
    assert "airboss rehearse fix-tests" in done.stderr
    assert nowhere.run("check").stdout.endswith("no errors. Tasks: 2, jobs: 1.\n")
    file.write_text("mine", encoding="utf-8")
    for words, said in (((), f"mv {file} {file}.old"), (("--force",), "has no --force")):
        done = nowhere.run("init", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert "never overwrites a file" in done.stderr
    assert file.read_text(encoding="utf-8") == "mine"
    file.unlink()
    file.symlink_to(nowhere.folder / "gone.yaml")
    assert nowhere.run("init").returncode == 2
    assert not (nowhere.folder / "gone.yaml").exists()
    done = nowhere.run("init", "nothing-there")
    assert (done.returncode, "does not exist." in done.stderr) == (2, True)


def test_the_first_job_can_be_rehearsed_at_once(
    tmp_path: Path, quick_python: dict[str, str]
) -> None:
    portal = Portal(tmp_path, extra_environ={"GH_TOKEN": "none", **quick_python})
    portal.work.mkdir()
    (portal.work / "Cargo.toml").write_text("", encoding="utf-8")
    said = json.loads(portal.run("init", str(portal.work), "--json").stdout)
    assert said == {
        "file": str(portal.work / "airboss.yaml"),
        "job": JOB,
        "command": "cargo test",
    }
    done = portal.run("rehearse", said["job"], "--entry", said["file"], "--cwd", str(portal.work))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "run-tests" in done.stdout
