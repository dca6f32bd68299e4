"""The entry in use: found, followed, kept; real files and a real store."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from airboss.errors import Conflict, NotFound, SettingsInvalid
from airboss.model.redaction import MASK
from airboss.service.entry_checks import EntryChecks
from tests.service.repo import ENTRY, Repo, named, task_of, trusted, used


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path)


# Where it is found.


async def test_without_a_file_the_built_in_entry_is_used(repo: Repo) -> None:
    async with repo.served() as entries:
        found = await used(entries)
        assert (found.source, found.path, found.trusted, found.problem) == (
            "built-in",
            None,
            False,
            None,
        )
        assert found.entry.tasks
        assert await entries.by_digest(found.digest) == found.entry


async def test_the_built_in_entry_takes_the_models_that_there_are_when_something_is_to_run(
    repo: Repo,
) -> None:
    offered: list[str] = []

    async def ask() -> None:
        offered.append("house/only-model")

    async with repo.served() as entries:
        entries.known_models, entries.ask_for_models = lambda: offered, ask
        before = await used(entries)
        assert "gpt-5.2" in before.entry.models.values()
        assert offered == []
        found = await entries.to_run()
        assert found is not None
        assert set(found.entry.models.values()) == {"house/only-model"}
        assert await used(entries) == found
        assert await entries.by_digest(before.digest) == before.entry
        offered.append("house/other-model")
        assert len(set((await used(entries)).entry.models.values())) == 2
        repo.write(named("own"))
        assert (await used(entries)).source == "file"
        offered.clear()
        own = await entries.to_run()
        assert own is not None
        assert (own.source, own.entry.models["driving"], offered) == ("file", "m", [])


@pytest.mark.parametrize(
    "name", ["airboss.yaml", "airboss.yml", "airboss.json", ".github/airboss.yaml"]
)
async def test_the_projects_own_entry_is_found(repo: Repo, name: str) -> None:
    file = repo.write(named("own"), name)
    async with repo.served() as entries:
        found = await used(entries)
        assert (found.source, found.path, found.problem) == ("file", file, None)
        assert task_of(found) == "own"


async def test_of_two_the_first_counts_and_the_other_is_mentioned(repo: Repo) -> None:
    first, other = repo.write(named("first")), repo.write(named("other"), "airboss.json")
    async with repo.served() as entries:
        found = await used(entries)
        assert (found.path, task_of(found)) == (first, "first")
        assert found.problem == (
            f"There are several entries. The first one is used; ignored: {other}."
        )


async def test_the_file_that_was_chosen_goes_before_the_projects_own(repo: Repo) -> None:
    repo.write(named("own"))
    chosen = repo.write(named("chosen"), "elsewhere/jobs.json")
    async with repo.served(entry=chosen) as entries:
        found = await used(entries)
        assert (found.path, task_of(found), found.problem) == (chosen, "chosen", None)


@pytest.mark.parametrize("text", [None, "", "a: b: c", "models: {}", "\0\1\2"])
async def test_a_chosen_file_that_cannot_be_used_is_refused_at_the_start(
    repo: Repo, text: str | None
) -> None:
    chosen = repo.root / "jobs.yaml"
    if text is not None:
        repo.write(text, "jobs.yaml")
    with pytest.raises(SettingsInvalid) as refused:
        async with repo.served(entry=chosen):
            pass
    assert str(chosen) in str(refused.value)


async def test_in_test_mode_nothing_is_loaded_at_the_start(repo: Repo) -> None:
    repo.write(named("own"))
    async with repo.served(test=True) as entries:
        assert await entries.current() is None


# What is no entry.


def make_directory(file: Path) -> None:
    file.mkdir()


def make_pipe(file: Path) -> None:
    os.mkfifo(file)


def make_device(file: Path) -> None:
    file.symlink_to("/dev/zero")


def make_lost_link(file: Path) -> None:
    file.symlink_to(file.parent / "nowhere")


def make_circle(file: Path) -> None:
    file.symlink_to(file)


def make_huge(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate(65 * 1024 * 1024)


def make_garbage(file: Path) -> None:
    file.write_bytes(os.urandom(4096))


@pytest.mark.parametrize(
    "make",
    [
        make_directory,
        make_pipe,
        make_device,
        make_lost_link,
        make_circle,
        make_huge,
        make_garbage,
    ],
    ids=lambda make: make.__name__,
)
async def test_what_is_no_entry_does_not_prevent_the_start(repo: Repo, make: Any) -> None:
    repo.root.mkdir()
    file = repo.root / "airboss.yaml"
    make(file)
    async with repo.served() as entries:
        async with asyncio.timeout(10):
            found = await used(entries)
        assert found.source == "built-in"
        assert found.problem is not None
        assert found.problem.startswith(f"The entry cannot be used: {file}: ")
        assert found.problem.endswith("The built-in jobs are in use.")


async def test_a_file_with_mistakes_is_told_with_all_of_them(repo: Repo) -> None:
    file = repo.write("models: {}\npromptVariables: {}\ntasks: {}\njobs: {}\n")
    async with repo.served() as entries:
        found = await used(entries)
        assert found.source == "built-in"
        assert found.problem == (
            f"The entry {file} has 2 errors, the first: line 1: entry.grid: Should exist. "
            "The built-in jobs are in use."
        )
        assert [str(told) for told in found.violations] == [
            "entry.grid: Should exist.",
            "entry.models.driving: Should exist.",
        ]


async def test_lines_are_shown_of_the_projects_own_entry_and_of_no_other_file(
    repo: Repo, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A link, or a file that somebody only checks, would show what is nobody's business."""
    text = "models: {}\npassword: plain-words\n"
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "private.yaml"
    elsewhere.write_text(text, encoding="utf-8")
    file = repo.write(text)
    async with repo.served() as entries:
        assert "plain-words" in repr((await used(entries)).violations)
        other = file.with_name("other.yaml")
        other.write_text(text, encoding="utf-8")
        checks = EntryChecks(entries)
        assert "plain-words" in repr(await checks.check_path(str(file)))
        checked = await checks.check_path(str(other))
        assert checked.mistakes == len(checked.violations) > 2
        assert "plain-words" not in repr(checked)
    file.unlink()
    file.symlink_to(elsewhere)
    async with repo.served() as entries:
        linked = await used(entries)
        assert linked.mistakes > 2
        assert "plain-words" not in repr((linked.violations, linked.problem))


# Following the file.


async def test_a_changed_file_is_taken_up_and_a_bad_one_is_not(repo: Repo) -> None:
    file = repo.write(named("first"))
    async with repo.served() as entries:
        first = await used(entries)
        repo.write(named("second"))
        second = await used(entries)
        assert (task_of(second), second.problem) == ("second", None)
        assert second.digest != first.digest
        repo.write("models: {driving: m}")
        third = await used(entries)
        assert task_of(third) == "second"
        assert third.problem is not None
        assert f"The entry {file} has 4 errors" in third.problem
        assert third.problem.endswith("The last valid version is in use.")
        assert len(third.violations) == 4
        repo.write(named("fourth"))
        fourth = await used(entries)
        assert (task_of(fourth), fourth.problem, fourth.violations) == ("fourth", None, ())
        assert await entries.by_digest(first.digest) == first.entry


async def test_a_file_that_vanished_leaves_what_it_held(repo: Repo) -> None:
    file = repo.write(named("first"))
    async with repo.served() as entries:
        await used(entries)
        file.unlink()
        found = await used(entries)
        assert (task_of(found), found.source) == ("first", "file")
        assert found.problem == (
            f"The entry {file} no longer exists. The last valid version is in use."
        )
        assert await used(entries) is found
        repo.write(named("second"), "airboss.yml")
        renamed = await used(entries)
        assert (task_of(renamed), renamed.problem) == ("second", None)


async def test_a_file_that_appears_takes_the_place_of_the_built_in_entry(repo: Repo) -> None:
    async with repo.served() as entries:
        assert (await used(entries)).source == "built-in"
        repo.write(named("own"))
        assert (await used(entries)).source == "file"


async def test_the_file_is_looked_at_only_now_and_then(repo: Repo) -> None:
    repo.write(named("first"))
    async with repo.served() as entries:
        entries.look_seconds = 60.0
        await used(entries)
        repo.write(named("second"))
        assert task_of(await used(entries)) == "first"


async def test_nothing_changes_while_something_of_it_runs(repo: Repo) -> None:
    repo.write(named("first"))
    async with repo.served() as entries:
        first = await used(entries)
        repo.busy = True
        repo.write(named("second"))
        busy = await used(entries)
        assert (busy.digest, task_of(busy)) == (first.digest, "first")
        assert busy.problem == (
            "The entry file has changed. The new version is used once nothing is running."
        )
        repo.busy = False
        free = await used(entries)
        assert (task_of(free), free.problem) == ("second", None)


async def test_what_somebody_trusts_meanwhile_is_no_change_of_the_file(repo: Repo) -> None:
    file = repo.write(named("first"))
    async with repo.served() as entries:
        await used(entries)
        repo.busy = True
        await trusted(entries, str(file))
        assert (await used(entries)).problem is None
        repo.write(named("second"))
        assert "has changed" in ((await used(entries)).problem or "")


async def test_many_who_ask_at_once_get_the_same(repo: Repo) -> None:
    repo.write(named("first"))
    async with repo.served() as entries:
        repo.write(named("second"))
        async with asyncio.TaskGroup() as group:
            asking = [group.create_task(used(entries)) for _ in range(50)]
        assert {task_of(task.result()) for task in asking} == {"second"}


# After a restart.


async def test_a_restart_with_a_bad_file_uses_what_was_last_good(repo: Repo) -> None:
    file = repo.write(named("good"))
    async with repo.served() as entries:
        good = await used(entries)
    for text in ("garbage: [", "", None):
        file.write_text(text, encoding="utf-8") if text is not None else file.unlink()
        chosen = file if text is None else None  # a file that is gone is still the one chosen
        async with repo.served(entry=chosen) as entries:
            found = await used(entries)
            assert (found.digest, found.entry, found.source) == (good.digest, good.entry, "file")
            assert found.problem is not None
            assert found.problem.endswith("The last valid version is in use.")


async def test_an_entry_that_was_used_is_found_by_its_digest_after_a_restart(repo: Repo) -> None:
    repo.write(named("old", limits={"turns": 3, "minutes": 1.5}))
    async with repo.served() as entries:
        old = await used(entries)
    repo.write(named("new"))
    async with repo.served() as entries:
        assert task_of(await used(entries)) == "new"
        assert await entries.by_digest(old.digest) == old.entry
        with pytest.raises(NotFound):
            await entries.by_digest("0" * 64)


async def test_the_digest_is_of_the_content_and_not_of_how_it_is_written(repo: Repo) -> None:
    repo.write(named("same"))
    async with repo.served() as entries:
        first = await used(entries)
        turned = dict(reversed(json.loads(named("same")).items()))
        repo.write(f"# a remark\n{yaml.safe_dump(turned, sort_keys=False)}")
        second = await used(entries)
        assert second is not first
        assert second.digest == first.digest


# Installing another, and what is kept.


async def test_an_installed_entry_stays_until_the_server_ends(repo: Repo) -> None:
    repo.write(named("own"))
    async with repo.served() as entries:
        desk = EntryChecks(entries)
        made = await desk.install_request(f'{{"entry": {named("given")}}}'.encode())
        assert (made.source, made.path, task_of(made)) == ("api", None, "given")
        repo.write(named("changed"))
        assert task_of(await used(entries)) == "given"
        repo.busy = True
        with pytest.raises(Conflict):
            await desk.install_path(str(repo.root / "airboss.yaml"))
        repo.busy = False
        assert task_of(await desk.install_path(str(repo.root / "airboss.yaml"))) == "changed"
    async with repo.served() as entries:
        assert (await used(entries)).source == "file"


async def test_secrets_leave_an_entry_before_it_is_used_or_kept(repo: Repo) -> None:
    secret = "correct-horse-battery-staple"
    repo.secrets = (secret,)
    made = json.loads(named("safe"))
    made["tasks"]["safe"]["prompt"].append(f"The key is {secret}.")
    repo.write(json.dumps(made))
    async with repo.served() as entries:
        found = await used(entries)
        kept = await entries.store.load(found.digest)
        assert kept is not None
        assert secret not in kept
        assert f"The key is {MASK}." in found.entry.tasks["safe"].prompt[0]
        made["tasks"][secret] = {}
        repo.write(json.dumps(made))
        broken = await used(entries)
        assert secret not in repr(broken.violations) + str(broken.problem)


async def test_the_tasks_are_told_in_a_few_words(repo: Repo) -> None:
    repo.write(json.dumps(ENTRY))
    async with repo.served() as entries:
        (task,) = (await used(entries)).tasks
        assert (task.name, task.model, task.permissions, task.require_user_input) == (
            "build",
            "n",
            "ask",
            True,
        )
        assert task.about == "Build $user-input."
        assert task.criteria == "job_boolean_true is called; otherwise up to 2 more times"


async def test_a_name_that_is_no_text_does_not_prevent_the_start(repo: Repo) -> None:
    if sys.platform == "darwin":
        pytest.skip("its names are always text")
    repo.root.mkdir()
    folder = repo.root / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    file = folder / "airboss.yaml"
    file.write_text(named("odd"), encoding="utf-8")
    async with repo.served(entry=file) as entries:
        found = await used(entries)
        assert task_of(found) == "odd"
        assert found.shown_path is not None
        found.shown_path.encode()
        file.write_text("", encoding="utf-8")
        broken = await used(entries)
        assert broken.problem is not None
        broken.problem.encode()
