"""The built-in tasks on repositories as people have them, with the real runtime in between."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.entry.repositories import (
    Repository,
    all_three,
    clone_of_ours,
    documents_only,
    node_project,
    python_project,
)
from tests.service.trial import (
    NEXT_ROUND,
    PROMPTS,
    QUESTIONS,
    REVIEWS,
    Change,
    Trial,
    checked,
    create,
    edit,
    no,
    reviewed,
    rules,
    shell,
    trial_in,
    work_on,
    yes,
)
from tests.trials import whole_only

Make = Callable[[Path], Repository]

ON_SHELVES = Change(
    "Let a shelf tell how many books it has.",
    {
        "shelf/books.py": (
            "    def by(self",
            "    def __len__(self) -> int:\n        return len(self.books)\n\n    def by(self",
        ),
        "tests/test_books.py": (
            "    def test_takes_a_book_once",
            "    def test_counts_its_books(self) -> None:\n"
            "        self.assertEqual(len(Shelf([EMMA])), 1)\n\n"
            "    def test_takes_a_book_once",
        ),
    },
    "make test",
    "feat: count the books on a shelf",
)
IN_TALLIES = Change(
    "Count words with an apostrophe as one.",
    {
        "src/tally.js": (r"/\p{L}+/gu", r"/\p{L}+(?:'\p{L}+)*/gu"),
        "test/tally.test.js": (
            'test("finds no words',
            'test("takes a word with an apostrophe as one", () => {\n'
            '  assert.deepEqual([...tally("don\'t")], [["don\'t", 1]])\n})\n\n'
            'test("finds no words',
        ),
    },
    "npm test --silent",
    "Count words with an apostrophe as one",
)
IN_A_HANDBOOK = Change(
    "Keep the scripts in the backup, too.",
    {"scripts/backup.sh": ("cp -R README.md pages", "cp -R README.md pages scripts")},
    "sh -n scripts/backup.sh",
    "backup: keep the scripts too",
)
IN_OUR_OWN_HOUSE = Change(
    "Say in the glossary what a shelf is.",
    {"GLOSSARY.md": ("| **sweep** |", "| **shelf** | where books stand | |\n| **sweep** |")},
    f"{sys.executable} -m pytest -q -p no:cacheprovider tests/house/test_docs.py",
    "Say what a shelf is",
)
EVERYWHERE = pytest.mark.parametrize(
    ("make", "change"),
    [
        pytest.param(python_project, ON_SHELVES, id="python"),
        pytest.param(node_project, IN_TALLIES, id="node", marks=whole_only),
        pytest.param(documents_only, IN_A_HANDBOOK, id="documents", marks=whole_only),
        pytest.param(clone_of_ours, IN_OUR_OWN_HOUSE, id="ours", marks=whole_only),
    ],
)


def made(make: Make, folder: Path) -> Repository:
    return make(folder / "work")


def everywhere(folder: Path) -> list[Repository]:
    return [*all_three(folder / "work"), clone_of_ours(folder / "work")]


# Rehearsed


@whole_only
async def test_deliver_can_be_rehearsed_anywhere_and_nothing_is_written(tmp_path: Path) -> None:
    repositories = everywhere(tmp_path)
    before = [(one.git("rev-parse", "HEAD"), one.changes()) for one in repositories]
    async with trial_in(tmp_path, repositories[0]) as trial, asyncio.TaskGroup() as group:
        for repository in repositories:
            there = Trial(trial.house, repository)
            group.create_task(there.deliver("Make it better."))
    assert [(one.git("rev-parse", "HEAD"), one.changes()) for one in repositories] == before
    assert not any((one.path / ".airboss").exists() for one in repositories)


async def test_the_sample_looks_around_anywhere_with_real_tools(tmp_path: Path) -> None:
    repositories = everywhere(tmp_path)

    async def look_around(there: Trial) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(there.succeed("sample-look"))
            group.create_task(there.succeed("sample-read"))
        await there.succeed("sample-decide", "sample-suggest")
        used = {view.task: await there.tools(view) for view in there.told}
        assert used == {
            "sample-look": ["view"],
            "sample-read": ["view"],
            "sample-decide": ["view", "job_boolean_true"],
            "sample-suggest": [],
        }
        assert there.repository.changes() == []

    async with (
        trial_in(tmp_path, repositories[0], permissions="read-only") as trial,
        asyncio.TaskGroup() as group,
    ):
        for repository in repositories:
            group.create_task(look_around(Trial(trial.house, repository)))


# With agents that do the work


@EVERYWHERE
async def test_deliver_goes_from_a_request_to_one_commit(
    make: Make, change: Change, tmp_path: Path
) -> None:
    repository = made(make, tmp_path)
    before = repository.messages()
    team = rules(PROMPTS, work_on(change))
    async with trial_in(tmp_path, repository, *team) as trial:
        await trial.deliver(change.request)
        assert {view.task: view.model for view in trial.told} == {
            "plan": "claude-sonnet-4.5",
            "implement": "gpt-5.2",
            "next-round": "gpt-5-mini",
            "review-behaviour": "claude-sonnet-4.5",
            "review-design": "gpt-5.2",
            "review-tests": "gemini-3-pro-preview",
            "apply-reviews": "gpt-5.2",
            "approve": "claude-sonnet-4.5",
            "verify": "gpt-5-mini",
            "commit": "gpt-5-mini",
        }
    assert trial.note("plan.md").startswith(f"# Request\n\n{change.request}\n")
    assert trial.note("checks.md").startswith(f"{change.check}: passed\n")
    assert repository.messages() == [*before, change.message]
    assert repository.changes() == []
    taken = repository.git("show", "--name-only", "--format=", "HEAD").split()
    assert sorted(taken) == sorted(change.edits)
    assert repository.git("ls-files", ".airboss") == ""
    if repository.test_command:
        assert repository.run_tests().returncode == 0


async def test_an_answer_is_given_from_reading_alone(tmp_path: Path) -> None:
    """Whatever the server allows: the task itself wants no more."""
    repository = made(python_project, tmp_path)
    curious = [
        {"call": {"tool": "grep", "arguments": {"pattern": "class Shelf"}}},
        create("hello.txt", "hi"),
        shell("touch hello.txt"),
        {"say": "It is in shelf/books.py."},
    ]
    async with trial_in(tmp_path, repository, *rules(PROMPTS, {"ask": curious})) as trial:
        await trial.succeed("ask", text="Where is the shelf?")
        assert await trial.tools(trial.told[0]) == ["grep", "create", "bash"]
    assert repository.changes() == []
    assert not (repository.path / "hello.txt").exists()


# When it does not go well


@whole_only
async def test_a_change_that_is_not_approved_has_another_round(tmp_path: Path) -> None:
    repository = made(python_project, tmp_path)
    first = {
        **{name: reviewed(name, "1. must: there is no test.\n") for name in REVIEWS},
        "apply-reviews": [shell("echo Declined. > .airboss/applied.md")],
        "approve": [shell("echo Not ready: write the test. > .airboss/verdict.md")],
    }
    team = [
        *rules(PROMPTS, first, times=1),
        *rules(QUESTIONS, {"approve": no("The test is missing.")}, times=1),
        *rules(PROMPTS, work_on(ON_SHELVES)),
    ]
    async with trial_in(tmp_path, repository, *team) as trial:
        await trial.succeed("plan", text=ON_SHELVES.request)
        await trial.succeed("implement", "next-round")
        await trial.review()
        assert "no test" in trial.note("review-tests.md")
        await trial.succeed("apply-reviews")
        view = await trial.run("approve")
        assert (view.state, view.reason) == (
            "failed",
            "criteria.condition does not hold: The test is missing.",
        )
        assert trial.note("verdict.md") == "Not ready: write the test.\n"
        await trial.succeed("next-round")
        assert not list((repository.path / ".airboss").glob("review-*.md"))
        await trial.review()
        await trial.succeed("apply-reviews", "approve")
    assert trial.note("rounds.md") == "Round 1\nRound 2\n"
    assert trial.note("review-tests.md") == "Nothing was found.\n"
    assert trial.note("verdict.md") == "Ready.\n"


@whole_only
async def test_there_is_no_fifth_round_and_the_reviews_stay_for_a_person(tmp_path: Path) -> None:
    repository = made(documents_only, tmp_path)
    notes = repository.path / ".airboss"
    notes.mkdir()
    (notes / "rounds.md").write_text("Round 1\nRound 2\nRound 3\n", encoding="utf-8")
    team = [
        *rules(PROMPTS, {"next-round": NEXT_ROUND}),
        *rules(QUESTIONS, {"next-round": yes("The fourth is open.")}, times=1),
        *rules(QUESTIONS, {"next-round": no("There were four already.")}),
    ]
    async with trial_in(tmp_path, repository, *team) as trial:
        await trial.succeed("next-round")
        (notes / "review-tests.md").write_text("1. must: none.\n", encoding="utf-8")
        view = await trial.run("next-round")
        assert (view.state, view.retries) == ("failed", 0)
    assert trial.note("rounds.md") == "Round 1\nRound 2\nRound 3\nRound 4\n"
    assert trial.note("review-tests.md") == "1. must: none.\n"


async def test_what_does_not_work_is_fixed_before_it_is_found_to_work(tmp_path: Path) -> None:
    repository = made(python_project, tmp_path)
    books = repository.path / "shelf/books.py"
    books.write_text(books.read_text("utf-8").replace("== author", "!= author"), encoding="utf-8")
    repair = {"mend": [edit("shelf/books.py", "!= author", "== author"), shell("make test")]}
    team = [
        *rules(PROMPTS, {"verify": checked("make test"), **repair}),
        *rules(QUESTIONS, {"verify": no("test_finds_by_author fails.")}, times=1),
    ]
    async with trial_in(tmp_path, repository, *team) as trial:
        view = await trial.run("verify")
        assert view.state == "failed"
        assert view.reason == "criteria.condition does not hold: test_finds_by_author fails."
        assert trial.note("checks.md").startswith("make test: failed\n")
        await trial.succeed("mend", "verify")
    assert trial.note("checks.md").startswith("make test: passed\n")
    assert repository.run_tests().returncode == 0
    assert repository.changes() == []


async def test_on_a_server_that_only_reads_nothing_is_built_and_the_author_is_told_why(
    tmp_path: Path,
) -> None:
    repository = made(python_project, tmp_path)
    team = [
        *rules(PROMPTS, work_on(ON_SHELVES)),
        *rules(QUESTIONS, {"implement": no("Writing was refused.")}),
    ]
    async with trial_in(tmp_path, repository, *team, permissions="read-only") as trial:
        view = await trial.run("implement")
        assert (view.state, view.retries) == ("failed", 2)
        assert view.reason == (
            "After 2 retries: criteria.condition does not hold: Writing was refused."
        )
        prompts = [one.text for one in await trial.attempts(view) if one.mission.kind == "prompt"]
        added = [
            "## You accidentally Stopped",
            "It is not done yet: Writing was refused.",
            "Go on from what is there; do not begin anew.",
        ]
        assert [text.splitlines()[-3:] == added for text in prompts] == [False, True, True]
    assert repository.changes() == []


async def test_a_task_out_of_its_turn_says_what_comes_before_it(tmp_path: Path) -> None:
    repository = made(python_project, tmp_path)
    async with trial_in(tmp_path, repository) as trial:
        view = await trial.run("commit", skips=False)
        assert (view.state, view.missions) == ("failed", 0)
        assert view.reason == "availability.previousTasks does not hold: No task ended before."
