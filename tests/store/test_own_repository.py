"""An agent made the repository: nothing is read or written for it but in its own folder."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from airboss.store.git_trees import NotKept, forget_trees, keep_tree
from airboss.store.tree_diffs import TreePlace, list_differences
from tests.git_command import git

CANARY = "the canary\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("one\n")
    return work


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A repository that is none of the agent's business, with a file that git does not have yet."""
    victim = tmp_path / "victim"
    (victim / "files").mkdir(parents=True)
    git(victim, "init", "-q")
    git(victim, "commit", "-q", "--allow-empty", "-m", "First")
    (victim / "files/key").write_text(CANARY)
    return victim


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


def names_a_work_tree(work: Path, victim: Path) -> None:
    git(work, "init", "-q")
    git(work, "config", "core.worktree", str(victim / "files"))


def names_a_work_tree_in_another_file(work: Path, victim: Path) -> None:
    git(work, "init", "-q", "--separate-git-dir=store", ".")
    git(work, "config", "core.worktree", str(victim / "files"))


def names_the_folder_above(work: Path, victim: Path) -> None:
    git(work, "init", "-q")
    git(work, "config", "core.worktree", str(victim.parent))


def is_a_work_tree_of_its_own_making(work: Path, victim: Path) -> None:
    own = work / "made/worktrees/x"
    own.mkdir(parents=True)
    (work / ".git").write_text("gitdir: made/worktrees/x\n")
    (own / "gitdir").write_text(f"{work}/.git\n")
    (own / "commondir").write_text(f"{victim}/.git\n")
    (own / "HEAD").write_text("ref: refs/heads/none\n")


def is_a_submodule_of_its_own_making(work: Path, victim: Path) -> None:
    own = work / "made"
    own.mkdir()
    (work / ".git").write_text("gitdir: made\n")
    (own / "config").write_text(f"[core]\n\tworktree = {work}\n")
    (own / "commondir").write_text(f"{victim}/.git\n")
    (own / "HEAD").write_text("ref: refs/heads/none\n")


def names_another_repository_as_git_reads_it(work: Path, victim: Path) -> None:
    """Git ends a line at either sign of its end."""
    git(work, "init", "-q")
    (work / ".git/it").symlink_to(victim / ".git")
    (work / ".git/it\r").symlink_to(work / ".git")
    (work / ".git/commondir").write_bytes(b"it\r")


TRICKS = (
    names_a_work_tree,
    names_a_work_tree_in_another_file,
    names_the_folder_above,
    is_a_work_tree_of_its_own_making,
    is_a_submodule_of_its_own_making,
    names_another_repository_as_git_reads_it,
)


@pytest.mark.parametrize("trick", TRICKS)
def test_a_repository_that_leads_elsewhere_is_neither_read_nor_written(
    work: Path, victim: Path, trick: Callable[[Path, Path], None]
) -> None:
    trick(work, victim)
    before = everything(work), everything(victim)
    with pytest.raises(NotKept, match=r"^Nothing is saved in this repository: "):
        keep_tree(work, "run_1", "begin")
    forget_trees(work, "run_1")
    assert (everything(work), everything(victim)) == before


@pytest.mark.parametrize("trick", TRICKS)
def test_trees_are_not_compared_in_a_repository_that_leads_elsewhere(
    work: Path, victim: Path, trick: Callable[[Path, Path], None]
) -> None:
    git(victim, "add", "-A")
    known = git(victim, "write-tree").strip()
    empty = git(victim, "hash-object", "-t", "tree", "/dev/null").strip()
    trick(work, victim)
    with pytest.raises(NotKept, match=r"^Nothing is read from this repository: "):
        list_differences(TreePlace(work, empty), TreePlace(work, known))


def test_no_line_is_added_to_a_file_that_a_log_of_git_leads_to(work: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    profile.write_text(CANARY)
    git(work, "init", "-q")
    git(work, "config", "user.name", "a; touch found #")
    git(work, "symbolic-ref", "HEAD", "refs/airboss/runs/run_1/end")
    (work / ".git/logs").mkdir()
    (work / ".git/logs/HEAD").symlink_to(profile)
    with pytest.raises(NotKept, match="HEAD in its repository is a link"):
        keep_tree(work, "run_1", "end")
    forget_trees(work, "run_1")
    assert profile.read_text() == CANARY
    (work / ".git/logs/HEAD").unlink()
    (work / ".git/logs/HEAD").touch()
    keep_tree(work, "run_1", "end")
    assert " Airboss <airboss@localhost> " in (work / ".git/logs/HEAD").read_text()


def test_a_name_of_ours_that_leads_to_another_name_is_replaced(work: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    git(work, "init", "-q")
    (work / ".git/worktrees").mkdir()
    (work / ".git/worktrees/x").symlink_to(elsewhere)
    ours = work / ".git/refs/airboss/runs/run_1/end"
    ours.parent.mkdir(parents=True)
    ours.write_text("ref: worktrees/x/refs/bisect/made\n")
    kept = keep_tree(work, "run_1", "end")
    assert ours.read_text().strip() == kept.tree
    assert everything(elsewhere) == {}


def test_another_repositorys_index_is_not_read(work: Path, victim: Path) -> None:
    git(victim, "add", "-A")
    git(victim, "update-index", "--skip-worktree", "files/key")
    git(work, "init", "-q")
    (work / ".git/index").symlink_to(victim / ".git/index")
    with pytest.raises(NotKept, match="index of git cannot be read"):
        keep_tree(work, "run_1", "begin")


@pytest.mark.parametrize("link", ["info", "info/exclude"])
def test_ignored_names_are_not_read_from_behind_a_link(
    work: Path, tmp_path: Path, link: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "exclude").write_text("guessed\n")
    (work / "guessed").write_text("g\n")
    git(work, "init", "-q")
    shutil.rmtree(work / ".git/info", ignore_errors=True)
    (work / ".git" / link).parent.mkdir(exist_ok=True)
    (work / ".git" / link).symlink_to(outside if link == "info" else outside / "exclude")
    tree = keep_tree(work, "run_1", "begin").tree
    assert git(work, "ls-tree", "--name-only", tree).split() == ["a.txt", "guessed"]
