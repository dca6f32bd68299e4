"""The repositories that built-in tasks are tried on are what they say."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.entry.repositories import (
    Repository,
    all_three,
    documents_only,
    node_project,
    python_project,
)


def test_all_three_are_clean_and_have_a_history_in_a_manner_of_their_own(tmp_path: Path) -> None:
    made = all_three(tmp_path)
    assert [repository.changes() for repository in made] == [[], [], []]
    assert [repository.messages()[0] for repository in made] == [
        "feat: keep books on a shelf",
        "Add a tally of words",
        "handbook: first pages",
    ]


@pytest.mark.parametrize(
    ("make", "code", "wrong"),
    [
        (python_project, "shelf/books.py", ("==", "!=")),
        (node_project, "src/tally.js", ("+ 1", "+ 2")),
    ],
)
def test_tests_pass_until_the_code_is_broken(
    make: Callable[[Path], Repository], code: str, wrong: tuple[str, str], tmp_path: Path
) -> None:
    repository = make(tmp_path)
    passed = repository.run_tests()
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert repository.changes() == []
    file = repository.path / code
    file.write_text(file.read_text("utf-8").replace(*wrong), encoding="utf-8")
    assert repository.run_tests().returncode != 0
    assert repository.changes() == [f" M {code}"]


def test_the_one_without_tests_has_a_script_that_parses(tmp_path: Path) -> None:
    repository = documents_only(tmp_path)
    with pytest.raises(ValueError, match="has no tests"):
        repository.run_tests()
    script = repository.path / "scripts/backup.sh"
    subprocess.run(("sh", "-n", str(script)), check=True, timeout=30)
    subprocess.run(
        (str(script), str(tmp_path / "kept")), cwd=repository.path, check=True, timeout=30
    )
    assert [path.name for path in tmp_path.glob("kept/*/*")] != []


def test_notes_of_agents_never_show_in_git(tmp_path: Path) -> None:
    """The file that the prompts ask for hides the whole folder, itself included."""
    repository = documents_only(tmp_path)
    notes = repository.path / ".airboss"
    notes.mkdir()
    (notes / ".gitignore").write_text("*\n", encoding="utf-8")
    (notes / "plan.md").write_text("A plan.\n", encoding="utf-8")
    assert repository.changes() == []
