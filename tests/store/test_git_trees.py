"""The files of a git folder are kept without trusting anything of its repository."""

import os
import shutil
from pathlib import Path

import pytest

from airboss.runtime.cage.git_folders import git_binds
from airboss.store import git_trees
from airboss.store.git_trees import NotInGit, NotKept, forget_trees, keep_tree
from airboss.store.tree_diffs import TreePlace, list_differences, write_diff
from tests.git_command import git


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    (work / "a.txt").write_text("one\ntwo\n")
    (work / "sub/b.txt").write_text("b\n")
    (work / ".gitignore").write_text("*.log\n")
    git(work, "init", "-q")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "First")
    return work


def named(folder: Path, tree: str) -> list[str]:
    return git(folder, "ls-tree", "-r", "--name-only", tree).split()


def test_tracked_and_new_files_are_in_it_and_ignored_ones_are_not(work: Path) -> None:
    (work / "new.txt").write_text("n\n")
    (work / "x.log").write_text("l\n")
    (work / "sub/b.txt").unlink()
    os.mkfifo(work / "pipe")
    (work / ".git/info/exclude").write_text("private\n")
    (work / "private").write_text("p")
    index = (work / ".git/index").read_bytes()
    kept = keep_tree(work, "run_1", "begin")
    assert named(work, kept.tree) == [".gitignore", "a.txt", "new.txt"]
    assert (work / ".git/index").read_bytes() == index
    assert named(work, "refs/airboss/runs/run_1/begin") == named(work, kept.tree)
    forget_trees(work, "run_1")
    assert git(work, "for-each-ref", "refs/airboss") == ""


def test_two_trees_are_compared_file_by_file(work: Path) -> None:
    before = keep_tree(work, "run_1", "begin")
    (work / "a.txt").write_text("one\nTWO\n")
    (work / "sub/b.txt").unlink()
    (work / "ä b.bin").write_bytes(b"\0\1")
    after = keep_tree(work, "run_1", "end")
    places = TreePlace(work, before.tree), TreePlace(work, after.tree)
    found = {one.path: (one.how, one.added, one.removed) for one in list_differences(*places)}
    assert found == {
        "a.txt": ("edited", 1, 1),
        "sub/b.txt": ("deleted", 0, 1),
        "ä b.bin": ("created", 0, 0),
    }
    assert "-two\n+TWO\n" in write_diff(*places, ["a.txt"])["a.txt"]
    below = keep_tree(work / "sub", "run_2", "begin")
    assert named(work, below.tree) == []


LEADS_ELSEWHERE = ("objects", "objects/{}", "refs", "refs/airboss", "logs", "packed-refs")


@pytest.mark.parametrize("part", LEADS_ELSEWHERE)
def test_nothing_is_written_through_a_link_in_the_repository(
    work: Path, tmp_path: Path, part: str
) -> None:
    tree = keep_tree(work, "run_1", "begin").tree
    forget_trees(work, "run_1")
    (work / "a.txt").write_text("hers\n")
    sub = git(work, "hash-object", "a.txt")[:2]
    elsewhere = tmp_path / "elsewhere"
    linked = work / ".git" / part.format(sub)
    if linked.is_dir():
        shutil.move(linked, elsewhere)
    else:
        elsewhere.mkdir()
    linked.symlink_to(elsewhere)
    before = sorted(elsewhere.rglob("*"))
    with pytest.raises(NotKept, match="is a link"):
        keep_tree(work, "run_1", "end")
    assert sorted(elsewhere.rglob("*")) == before
    assert tree


@pytest.mark.parametrize("how", ["commondir", "gitdir"])
def test_nothing_is_written_into_a_repository_that_does_not_know_the_folder(
    work: Path, tmp_path: Path, how: str
) -> None:
    other = tmp_path / "other"
    shutil.copytree(work, other)
    if how == "commondir":
        (work / ".git/commondir").write_text(f"{other}/.git\n")
    else:
        shutil.rmtree(work / ".git")
        (work / ".git").write_text(f"gitdir: {other}/.git\n")
    before = sorted((other / ".git").rglob("*"))
    with pytest.raises(NotKept, match=r"^Nothing is saved in this repository: \.git names "):
        keep_tree(work, "run_1", "end")
    forget_trees(work, "run_1")
    assert sorted((other / ".git").rglob("*")) == before


def test_a_repository_in_which_a_cage_worked_is_kept(work: Path, tmp_path: Path) -> None:
    git_binds(work, lambda _: None, tmp_path / "worktrees")
    assert (work / ".git/commondir").exists()
    assert "a.txt" in named(work, keep_tree(work, "run_1", "end").tree)


def test_a_linked_worktree_and_a_submodule_are_kept(work: Path, tmp_path: Path) -> None:
    git(work, "worktree", "add", "-q", str(tmp_path / "linked"))
    assert named(work, keep_tree(tmp_path / "linked", "run_1", "begin").tree)
    allowed = ("-c", "protocol.file.allow=always")
    git(work, *allowed, "submodule", "add", "-q", str(work), "part")
    (work / "part/new.txt").write_text("n\n")
    assert "new.txt" in named(work / "part", keep_tree(work / "part", "run_2", "begin").tree)
    forget_trees(tmp_path / "linked", "run_1")
    assert "run_1" not in git(work, "for-each-ref", "refs/airboss")


def test_no_program_that_the_repository_names_is_run(work: Path, tmp_path: Path) -> None:
    witness = tmp_path / "run"
    touch = f"touch {witness}"
    (work / ".gitattributes").write_text("* filter=evil diff=evil\n")
    for name, value in {
        "filter.evil.clean": f"{touch}; cat",
        "filter.evil.process": touch,
        "filter.evil.required": "true",
        "diff.evil.command": touch,
        "diff.evil.textconv": touch,
        "diff.external": touch,
        "core.fsmonitor": touch,
        "core.sshCommand": touch,
        "extensions.partialClone": "origin",
        "remote.origin.url": f"ext::sh -c {touch}",
        "remote.origin.promisor": "true",
        "protocol.ext.allow": "always",
    }.items():
        git(work, "config", name, value)
    for hook in ("reference-transaction", "post-index-change", "pre-auto-gc"):
        file = work / ".git/hooks" / hook
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{touch}\n")
        file.chmod(0o755)
    before = keep_tree(work, "run_1", "begin")
    (work / "a.txt").write_text("changed\n")
    after = keep_tree(work, "run_1", "end")
    places = TreePlace(work, before.tree), TreePlace(work, after.tree)
    assert [one.path for one in list_differences(*places)] == ["a.txt"]
    assert "+changed" in write_diff(*places, ["a.txt"])["a.txt"]
    forget_trees(work, "run_1")
    assert not witness.exists()


def test_what_lies_behind_a_link_is_not_read(work: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("secret\n")
    (work / "sub/b.txt").unlink()
    (work / "sub").rmdir()
    (work / "sub").symlink_to(outside)
    kept = keep_tree(work, "run_1", "begin")
    assert named(work, kept.tree) == [".gitignore", "a.txt", "sub"]
    assert git(work, "show", f"{kept.tree}:sub") == str(outside)


def test_what_is_too_large_is_left_out_and_what_is_too_much_is_refused(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_trees, "_LARGEST_FILE", 10)
    (work / "large.txt").write_text("x" * 11)
    assert keep_tree(work, "run_1", "begin").left_out == 1
    monkeypatch.setattr(git_trees, "_MOST_FILES", 2)
    for name in "123":
        (work / name).write_text(name)
    with pytest.raises(NotKept, match="files are new or changed"):
        keep_tree(work, "run_1", "end")
    monkeypatch.setattr(git_trees, "_SECONDS", -1.0)
    with pytest.raises(NotKept, match="longer than"):
        keep_tree(work, "run_1", "end")


def test_elsewhere_there_is_nothing_to_keep(tmp_path: Path) -> None:
    with pytest.raises(NotInGit):
        keep_tree(tmp_path, "run_1", "begin")
    forget_trees(tmp_path, "run_1")


@pytest.mark.parametrize("name", ["index", "sharedindex.0000"])
def test_what_is_no_index_is_not_read(work: Path, name: str) -> None:
    """An agent may have put it there: a link to a device would fill the disk."""
    (work / ".git" / name).unlink(missing_ok=True)
    (work / ".git" / name).symlink_to("/dev/zero")
    with pytest.raises(NotKept, match="index of git cannot be read"):
        keep_tree(work, "run_1", "begin")
    (work / ".git" / name).unlink()
    os.mkfifo(work / ".git" / name)
    with pytest.raises(NotKept, match="index of git cannot be read"):
        keep_tree(work, "run_1", "begin")
