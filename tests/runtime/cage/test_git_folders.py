"""git in a cage: it works, and what it would run or believe later stays as it was."""

import asyncio
import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.errors import CageUnavailable
from airboss.runtime.cage.attempt import Attempted, attempt, run
from airboss.runtime.cage.git_folders import git_binds
from airboss.runtime.cage.life import Caged, CageLife
from airboss.runtime.cage.pins import Pin
from airboss.runtime.cage.plan import CagePlan
from airboss.runtime.cage.watch import in_words
from tests.runtime.conftest import soon
from tests.trials import sampled

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("strong")]


def git(folder: Path, *words: str) -> str:
    named = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    command = ["git", "-C", str(folder), *named, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "file").write_text("one\n", "utf-8")
    git(folder, "add", "file")
    git(folder, "commit", "-qm", "One")
    return folder


async def inside(folder: Path, script: str, data: Path | None = None) -> Attempted:
    plan = CagePlan("strong", "default", CageProfile(), folder, "k")
    return await attempt(plan, data or folder.parent / "data", ("bash", "-ec", script))


COMMIT = "echo two >> file; git commit -qam Two; git status --short; git log --format=%s"


async def test_a_repository_is_worked_in(origin: Path) -> None:
    ended = await inside(origin, COMMIT)
    assert (ended.code, ended.output) == (0, b"Two\nOne\n"), ended.errors
    assert git(origin, "log", "-1", "--format=%s") == "Two"


CLOSED = [
    "echo '[core] pager = evil' >> .git/config",
    "git config core.fsmonitor evil",
    "echo evil > .git/hooks/post-checkout",
    "mv .git .git.away",
    "rm -rf .git/hooks",
    "mkdir -p .git/modules/evil",
    "mkdir -p .git/remotes; echo URL: /evil > .git/remotes/origin",
    "mkdir -p .git/branches; echo /evil > .git/branches/origin",
    "rm .git/config.worktree && ln -s /etc/passwd .git/config.worktree",
    "mv .git/objects .git/objects.away",
    "echo /root/private/.git/objects > .git/objects/info/alternates",
    "echo ../evil > .git/commondir",
    "rm .git/commondir",
    "mv .git/worktrees .git/worktrees.away",
]


async def done_of(folder: Path, scripts: Sequence[str]) -> list[str]:
    """Those of them that nothing held back, each tried alone."""
    tries = [
        f"if bash -ec {shlex.quote(one)} >&2; then echo {number}; fi"
        for number, one in enumerate(scripts)
    ]
    ended = await inside(folder, "; ".join(tries))
    assert ended.code == 0, ended.errors
    return [scripts[int(number)] for number in ended.output.split()]


async def test_what_git_believes_is_closed(origin: Path) -> None:
    before = (origin / ".git/config").read_text("utf-8")
    assert await done_of(origin, CLOSED) == []
    assert (origin / ".git/config").read_text("utf-8") == before
    assert not (origin / ".git/hooks/post-checkout").exists()
    assert not (origin / ".git/objects/info/alternates").exists()
    assert git(origin, "status", "--short") == ""


@pytest.mark.parametrize("name", ["", "hooks", "config", "remotes"])
async def test_a_link_in_the_place_of_what_is_closed_is_refused(origin: Path, name: str) -> None:
    """Inside, anybody could put another file in the place of the link."""
    closed, away = origin / ".git" / name, origin.parent / "away"
    if closed.exists():
        closed.rename(away)
    closed.symlink_to(away)
    with pytest.raises(CageUnavailable, match=r"\.git.* in it is a link, which cannot be closed"):
        await inside(origin, "true")


def done_outside(folder: Path, script: str) -> None:
    subprocess.run(["bash", "-ec", script], cwd=folder, check=True)


REPLACED = [
    ("git config user.name Ann", "config"),
    ("mv .git/hooks .git/hooks.mine; mkdir .git/hooks", "hooks/made"),
    ("rmdir .git/worktrees", "worktrees/made"),
]


@pytest.mark.parametrize(("by_a_person", "place"), sampled(2, REPLACED))
async def test_a_closed_file_that_is_replaced_outside_ends_the_cage(
    origin: Path, by_a_person: str, place: str
) -> None:
    """The kernel takes a mount away with the file that it is on."""
    script = "touch ready; until mkdir -p .git/worktrees && echo evil >> .git/$0; do :; done"
    plan = CagePlan("strong", "default", CageProfile(), origin, "k")
    command = ("bash", "-c", f"{script} 2>&1 | tail -1; sleep 60", place)
    async with asyncio.TaskGroup() as group:
        trying = group.create_task(attempt(plan, origin.parent / "data", command))
        assert await soon((origin / "ready").exists)
        await asyncio.to_thread(done_outside, origin, by_a_person)
    ended = trying.result()
    assert (ended.limit, ended.code) == ("replaced", 137), ended
    assert "Read it before you use git there." in in_words("replaced", plan.terms)


async def test_who_only_works_in_it_replaces_nothing(origin: Path) -> None:
    """An agent inside, and a person outside."""
    script = f"{COMMIT}; git branch other; git checkout -q other; touch ready; "
    script += "until [ -e over ]; do sleep 0.05; done; sleep 0.6"
    plan = CagePlan("strong", "default", CageProfile(), origin, "k")
    async with asyncio.TaskGroup() as group:
        working = group.create_task(attempt(plan, origin.parent / "data", ("bash", "-ec", script)))
        assert await soon((origin / "ready").exists)
        git(origin, "commit", "-qm", "Three", "--allow-empty")
        git(origin, "branch", "third")
        git(origin, "pack-refs", "--all")
        (origin / "over").touch()
    ended = working.result()
    assert (ended.code, ended.limit) == (0, None), ended


def nothing(_: CageLife) -> tuple[Pin, ...]:
    return ()


async def mounted_by_a_link(
    origin: Path, private: Path, monkeypatch: pytest.MonkeyPatch, *, is_looked_at: bool
) -> Attempted:
    """Somebody puts a link there when all was looked at, and takes it away when bubblewrap has
    followed it and not mounted yet: this is what it has then."""
    plan = CagePlan("strong", "default", CageProfile(), origin, "k")
    life = CageLife(plan, origin.parent / "data")
    if not is_looked_at:
        monkeypatch.setattr(CageLife, "_mounted", nothing)
    outer = await life.open(Caged(("cat", str(origin / ".git/hooks/secret"))))
    options = life.folders.walls.read_text("utf-8").split("\0")
    options[options.index(str(origin / ".git/hooks"))] = str(private)  # the source, not the target
    life.folders.walls.write_text("\0".join(options), "utf-8")
    try:
        return await run(life, outer, os.environ)
    finally:
        await life.close()


@pytest.mark.parametrize("is_looked_at", [True, False])
async def test_a_link_that_comes_between_the_look_and_the_mount_leads_nowhere(
    origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_looked_at: bool
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "secret").write_text("a canary", "utf-8")
    ended = await mounted_by_a_link(origin, private, monkeypatch, is_looked_at=is_looked_at)
    if is_looked_at:
        assert b"The cage could not be closed" in ended.errors
        assert b"was replaced meanwhile. Try again." in ended.errors
        assert (ended.code, ended.output) == (97, b"")
    else:  # what that wall alone holds back
        assert b"canary" in ended.output


async def test_a_linked_worktree_is_worked_in(origin: Path) -> None:
    tree = origin.parent / "tree"
    git(origin, "worktree", "add", "-q", "-b", "other", str(tree))
    ended = await inside(tree, COMMIT)
    assert (ended.code, ended.output) == (0, b"Two\nOne\n"), ended.errors
    assert git(origin, "log", "-1", "--format=%s", "other") == "Two"
    config = origin / ".git/config"
    closed = await inside(tree, f"echo evil >> {config} || echo evil > .git || cat {origin}/file")
    assert closed.code
    assert "evil" not in config.read_text("utf-8") + (tree / ".git").read_text("utf-8")


async def test_a_shared_clone_is_worked_in_and_fetched_from(origin: Path) -> None:
    clone = origin.parent / "clone"
    git(origin.parent, "clone", "-q", "--shared", str(origin), str(clone))
    ended = await inside(clone, COMMIT)
    assert (ended.code, ended.output) == (0, b"Two\nOne\n"), ended.errors
    assert (await inside(clone, f"touch {origin}/.git/objects/made")).code
    git(origin, "fetch", "-q", str(clone), "main:theirs")
    assert git(origin, "log", "-1", "--format=%s", "theirs") == "Two"


def allowed(_: Path) -> str | None:
    return None


def sources(folder: Path) -> Sequence[Path]:
    return [bind.source for bind in git_binds(folder, allowed, folder.parent / "own")]


def test_a_folder_without_a_repository_has_nothing_of_it(tmp_path: Path) -> None:
    assert sources(tmp_path) == []


def test_a_repository_that_is_named_by_no_path_hands_nothing_in(tmp_path: Path) -> None:
    (tmp_path / ".git").write_bytes(b"gitdir: x\0y\n")
    assert sources(tmp_path) == []


def test_a_made_up_worktree_hands_nothing_in(origin: Path, tmp_path: Path) -> None:
    """An agent may write the file that says where its repository is."""
    folder, private = tmp_path / "folder", tmp_path / "private"
    folder.mkdir()
    (private / "worktrees/x").mkdir(parents=True)
    for target in (private, private / "worktrees/x", origin / ".git"):
        (folder / ".git").write_text(f"gitdir: {target}\n", "utf-8")
        assert sources(folder) == []
    (folder / ".git").unlink()
    (folder / ".git").symlink_to(private)
    assert sources(folder) == []


def test_a_worktree_that_names_another_common_folder_hands_nothing_in(origin: Path) -> None:
    tree = origin.parent / "tree"
    git(origin, "worktree", "add", "-q", "-b", "other", str(tree))
    assert origin / ".git" in sources(tree)
    (origin / ".git/worktrees/tree/commondir").write_text("/root/.ssh\n", "utf-8")
    assert sources(tree) == []


BOTH_SIDES = "echo gitdir: . > .git; echo .git > gitdir; echo ../.. > commondir"


async def test_an_agent_that_plays_both_sides_of_a_worktree_opens_no_folder_above(
    tmp_path: Path,
) -> None:
    """Its folder lies where git would keep what it notes of one."""
    above, secret = tmp_path / "project", tmp_path / "project/secrets/key"
    folder = above / "worktrees/feature"
    for made in (folder, secret.parent, above / "objects"):
        made.mkdir(parents=True)
    secret.write_text("a canary", "utf-8")
    assert (await inside(folder, BOTH_SIDES, tmp_path / "data")).code == 0
    for script in ("cat ../../secrets/key", "touch ../../objects/made"):
        again = await inside(folder, script, tmp_path / "data")
        assert again.code, "the folders above are open"
        assert again.output == b""
    assert list((above / "objects").iterdir()) == []
    assert not await asyncio.to_thread((folder / "config.worktree").exists)


@pytest.mark.parametrize("is_given", [True, False])
async def test_a_worktree_whose_other_side_a_cage_could_write_hands_nothing_in(
    tmp_path: Path, *, is_given: bool
) -> None:
    """By a profile now, or by the working folder of another cage before."""
    above, folder = tmp_path / "project", tmp_path / "work"
    other, secret = above / "worktrees/other", above / "key"
    for made in (folder, other):
        made.mkdir(parents=True)
    secret.write_text("a canary", "utf-8")
    sides = f"echo {folder}/.git > gitdir; echo ../.. > commondir"
    assert (await inside(other, sides, tmp_path / "before")).code == 0
    (folder / ".git").write_text(f"gitdir: {other}\n", "utf-8")
    terms = CageProfile(write=(str(other),) if is_given else ())
    data = tmp_path / ("another" if is_given else "before")
    plan = CagePlan("strong", "default", terms, folder, "k")
    ended = await attempt(plan, data, ("cat", str(secret)))
    assert ended.code, "the folder above is open"
    assert ended.output == b""


async def test_a_worktree_is_worked_in_after_a_cage_in_its_repository(origin: Path) -> None:
    """What git notes of worktrees was closed there. Not so where the repository came later."""
    tree, later = origin.parent / "tree", origin.parent / "later"
    git(origin, "worktree", "add", "-q", "-b", "other", str(tree))
    assert (await inside(origin, "true")).code == 0
    ended = await inside(tree, COMMIT)
    assert (ended.code, ended.output) == (0, b"Two\nOne\n"), ended.errors
    later.mkdir()
    assert (await inside(later, "git init -q; git commit -q --allow-empty -m One")).code == 0
    git(later, "worktree", "add", "-q", "-b", "third", str(origin.parent / "third"))
    assert (await inside(origin.parent / "third", "git status")).code


async def test_a_worktree_does_not_say_whose_objects_are_borrowed(origin: Path) -> None:
    tree, info = origin.parent / "tree", origin / ".git/objects/info"
    git(origin, "worktree", "add", "-q", "-b", "other", str(tree))
    for left in info.iterdir():
        left.unlink()
    info.rmdir()
    assert (await inside(tree, f"mkdir -p {info}; echo /evil > {info}/alternates")).code
    assert list(info.iterdir()) == []


async def test_a_repository_that_is_given_as_well_stays_closed(origin: Path) -> None:
    tree, config = origin.parent / "tree", origin / ".git/config"
    git(origin, "worktree", "add", "-q", "-b", "other", str(tree))
    plan = CagePlan("strong", "default", CageProfile(write=(str(origin),)), tree, "k")
    for script in ("true", f"echo evil >> {config}"):
        ended = await attempt(plan, origin.parent / "data", ("bash", "-ec", script))
    assert ended.code
    assert "evil" not in config.read_text("utf-8")


def test_borrowed_objects_that_may_not_be_handed_in_are_left_out(
    origin: Path, tmp_path: Path
) -> None:
    clone = origin.parent / "clone"
    git(origin.parent, "clone", "-q", "--shared", str(origin), str(clone))
    objects = origin / ".git/objects"
    assert objects in sources(clone)
    refused = git_binds(clone, lambda path: "no" if path == objects else None, tmp_path)
    assert objects not in [bind.source for bind in refused]
    alternates = clone / ".git/objects/info/alternates"
    alternates.write_text(f"{origin}\n/etc\n", "utf-8")
    assert {origin, Path("/etc")}.isdisjoint(sources(clone))


READS = "git cat-file -p {} || ls {}/.git/objects"


@pytest.mark.parametrize("later", ["work", "work/below"])
async def test_an_agent_borrows_nothing_for_a_later_cage(origin: Path, later: str) -> None:
    """It makes a repository that names the objects of another one, and works there again."""
    work, secret = origin.parent / "work", git(origin, "rev-parse", "HEAD:file")
    (work / "below").mkdir(parents=True)
    borrow = f"echo {origin}/.git/objects > .git/objects/info/alternates"
    first = await inside(work, f"cd {work.parent / later}; git init -q; {borrow}")
    assert first.code == 0, first.errors
    again = await attempt(
        CagePlan("strong", "default", CageProfile(), work.parent / later, "another"),
        origin.parent / "data",
        ("bash", "-c", READS.format(secret, origin)),
    )
    assert again.code, "it read what another repository keeps"
    assert again.output == b""


async def test_a_clone_borrows_where_no_cage_could_have_written_it(origin: Path) -> None:
    """Also one in which a cage was before, with that closed; and one beside a folder that is
    written."""
    clone, beside = origin.parent / "clone", origin.parent / "beside"
    beside.mkdir()
    await inside(beside, "true")
    git(origin.parent, "clone", "-q", "--shared", str(origin), str(clone))
    for _ in range(2):
        ended = await inside(clone, "git cat-file -p HEAD:file")
        assert (ended.code, ended.output) == (0, b"one\n"), ended.errors


async def test_worktrees_outside_are_seen_and_not_led_elsewhere(origin: Path) -> None:
    tree = origin.parent / "tree"
    git(origin, "worktree", "add", "-q", "-b", "other", str(tree))
    notes = ".git/worktrees/tree"
    scripts = (
        f"echo ../../../evil > {notes}/commondir",
        f"mv {notes} {notes}.away",
        f"echo evil > {notes}/config.worktree",
        f"echo evil > {notes}/HEAD",
        "git worktree remove --force tree",
    )
    assert await done_of(origin, scripts) == []
    seen = await inside(origin, "git worktree list")
    assert b"[other]" in seen.output, seen.errors
    assert git(tree, "status", "--short") == ""


async def test_a_worktree_that_is_made_inside_is_the_cages_own(origin: Path) -> None:
    """It is there in the next life of the cage. Outside, its branch is."""
    made = await inside(origin, "git worktree add -q -b new ./.trees/new; cd .trees/new; " + COMMIT)
    assert (made.code, made.output) == (0, b"Two\nOne\n"), made.errors
    again = await inside(origin, "cd .trees/new; git log -1 --format=%s; git worktree list")
    assert again.output.startswith(b"Two\n"), again.errors
    assert git(origin, "log", "-1", "--format=%s", "new") == "Two"
    assert ".trees" not in git(origin, "worktree", "list")


async def test_a_worktree_in_the_folder_is_worked_in_from_above(origin: Path) -> None:
    git(origin, "worktree", "add", "-q", "-b", "new", str(origin / ".trees/new"))
    ended = await inside(origin, "cd .trees/new; " + COMMIT)
    assert (ended.code, ended.output) == (0, b"Two\nOne\n"), ended.errors
    assert git(origin / ".trees/new", "log", "-1", "--format=%s") == "Two"
    notes = origin / ".git/worktrees/new"
    assert (await inside(origin, f"echo ../evil > {notes}/commondir || mv {notes} {notes}.x")).code
