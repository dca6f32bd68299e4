"""A run in the terminal folds as it does on the server and on the page: by the same stories."""

from typing import Any

import pytest

from airboss.cli.heard import Record
from airboss.cli.run.story import Story
from tests.model.stories import all_stories, bare, read

RUNS = [name for name in all_stories() if read(name)["kind"] == "run"]


def story_of(name: str, times: int = 1) -> tuple[Story, dict[str, Any]]:
    told = read(name)
    story = Story(told["stream"])
    for one in told["events"] * times:
        story.hear(Record(one["seq"], one["at"], one["event"]))
    return story, told["expected"]


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("name", RUNS)
def test_a_story_comes_to_what_the_server_says(name: str, times: int) -> None:
    story, expected = story_of(name, times)
    assert (story.state, story.waits_for, story.reason) == (
        expected["state"],
        expected.get("waits_for"),
        expected.get("reason"),
    )
    assert (story.job, story.attempt, story.restarts) == (
        *(expected["job"], expected["attempt"]),
        expected["restarts"],
    )
    assert story.is_ending == ("ending" in expected)
    assert bare(story.usage.model_dump(mode="json")) == expected["usage"]
    works = [one for work in story.works.values() for one in (*work.earlier, work)]
    found = {work.task_run: bare(work.record.model_dump(mode="json")) for work in works}
    assert found == {work["task_run"]: work for work in expected["works"]}


@pytest.mark.parametrize("name", RUNS)
def test_what_the_server_tells_at_once_is_the_same(name: str) -> None:
    heard, expected = story_of(name)
    told = Story.of({**expected, "id": heard.id, "new": {"of": "a newer server"}})
    assert (told.state, told.usage, told.counts) == (heard.state, heard.usage, heard.counts)
    assert {path: work.record for path, work in told.works.items()} == {
        path: work.record for path, work in heard.works.items()
    }


def test_what_was_cut_off_and_what_was_retried_count() -> None:
    story, _ = story_of("run")
    assert (story.usage.requests, round(story.usage.cost, 2)) == (5, 1.09)
    assert [work.attempt for work in story.works.values() if work.attempt] == ["attempt 2 of 3"]


def test_words_of_a_newer_server_are_passed_over() -> None:
    story, expected = story_of("run")
    last = read("run")["events"][-1]
    told = [
        {"kind": "run.work.dreaming", "path": "0"},
        {"kind": "run.work.stopped"},
        {"kind": "run.resumed", "reason": "A new server.", "planet": "Mars"},
    ]
    for number, event in enumerate(told, start=1):
        story.hear(Record(last["seq"] + number, last["at"], event))
    assert (story.state, story.restarts) == (expected["state"], expected["restarts"] + 1)


@pytest.mark.parametrize("name", [name for name in all_stories() if read(name)["kind"] == "task"])
def test_what_a_task_says_of_itself_folds_as_on_the_server(name: str) -> None:
    told = read(name)
    story = Story("run_1")
    begun = {"work": 0, "path": "0", "task": "it", "task_run": told["stream"]}
    story.hear(Record(1, 0, {"kind": "run.work.started", **begun}, "run_1"))
    for one in told["events"]:
        work = story.hear_task(Record(one["seq"], one["at"], one["event"], told["stream"]))
        assert work is not None
    expected = told["expected"]
    (work,) = story.works.values()
    assert work.decision == expected.get("doing", "")
    assert bare(work.usage.model_dump(mode="json")) == expected.get("usage", {})
