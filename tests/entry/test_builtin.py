"""The entry that Airboss brings along: valid, useful on any models, and its jobs come to an end."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from airboss.entry.bounds import ungranted
from airboss.entry.builtin import FILE, PREFERRED, REVIEWERS, builtin_entry
from airboss.entry.chart import generate_chart_nodes
from airboss.entry.document import Alt, Job, Loop, Par, Ref, Seq, Task, Work
from airboss.entry.load import check_file
from airboss.entry.prompts import REPORTED_FALSE_REASON, USER_INPUT, variables_in
from airboss.entry.tools import BOOLEAN_TOOLS, BOOLEAN_TRUE, JOB_TOOLS
from airboss.entry.works import refs
from airboss.entry.yaml_text import parse_yaml
from airboss.model.cage_bounds import ServerCages
from airboss.runtime.rehearsal import builtin_script
from airboss.runtime.rehearsal.conversation import RehearsedConversation
from airboss.runtime.rehearsal.player import FilledCall, matching, play

ENTRY = builtin_entry()
PAGE = (Path(__file__).parents[2] / "docs/built-in-entry.md").read_text("utf-8")
READING = {"sample", "ask", "three-opinions"}


def prompts(task: Task) -> Iterator[str]:
    """Every text that a task may send."""
    yield task.prompt[0]
    if task.availability and task.availability.condition:
        yield task.availability.condition[0]
    if task.criteria:
        yield from task.criteria.condition or ()
        yield from task.criteria.failure_action.additional_prompt or ()


def conditions(task: Task) -> Iterator[str]:
    yield from (task.availability and task.availability.condition) or ()
    yield from (task.criteria and task.criteria.condition) or ()


# The file


def test_nothing_is_wrong_with_the_file_and_it_is_read_once() -> None:
    assert check_file(FILE).violations == ()
    assert builtin_entry() is builtin_entry()
    assert builtin_entry(["a"]) is builtin_entry(("a",))


def test_it_wishes_for_no_more_than_any_server_allows() -> None:
    assert list(ungranted(ENTRY, "read-only")) == []


def test_where_a_cage_holds_all_that_do_more_than_read_work_in_one() -> None:
    caged = builtin_entry(["a"], is_caged=True)
    policies = {name: task.permissions for name, task in caged.tasks.items()}
    read = {name for name, task in ENTRY.tasks.items() if task.permissions == "read-only"}
    assert {name for name, policy in policies.items() if policy == "read-only"} == read
    assert {policies[name] for name in policies.keys() - read} == {"caged"}
    assert list(ungranted(caged, "ask", cages=ServerCages())) == []
    assert {task.permissions for task in builtin_entry(["a"]).tasks.values()} == {None, "read-only"}


def test_every_task_is_part_of_a_job_and_every_job_has_one_button() -> None:
    used = {ref.task_id for job in ENTRY.jobs.values() for ref in refs(job.work)}
    assert used == set(ENTRY.tasks)
    shown = [cell.job_name for row in ENTRY.grid for cell in row.jobs if cell]
    assert sorted(shown) == sorted(ENTRY.jobs)


def test_a_line_of_a_prompt_is_whole() -> None:
    """In `[…]` YAML takes a comma for the end of a line."""
    data: Any = parse_yaml(FILE.read_text("utf-8"), "").data
    lines: list[str] = [line for lines in data["promptVariables"].values() for line in lines]
    for task in data["tasks"].values():
        criteria = task.get("criteria", {})
        failure = criteria.get("failureAction", {})
        lines += [*task["prompt"], *task.get("availability", {}).get("condition", ())]
        lines += [*criteria.get("condition", ()), *failure.get("additionalPrompt", ())]
    assert len(lines) > 100
    assert [line for line in lines if not re.match(r"[A-Z$1-9]|---$", line)] == []
    assert [line for line in lines if not re.search(r"([.?;:]|\$[a-z-]+|---|It has)$", line)] == []


@pytest.mark.parametrize("name", ENTRY.tasks)
def test_a_prompt_names_the_tools_that_its_criteria_need(name: str) -> None:
    task = ENTRY.tasks[name]
    wanted = (task.criteria and task.criteria.tool_executed) or ()
    assert [tool for tool in wanted if tool not in task.prompt[0]] == []
    for text in conditions(task):
        assert all(tool in text for tool in BOOLEAN_TOOLS)
    named = {tool for tool in JOB_TOOLS if tool in task.prompt[0]}
    assert named == set(wanted), "what is called for nothing would only confuse"


@pytest.mark.parametrize("name", ENTRY.tasks)
def test_a_retry_says_what_was_missing(name: str) -> None:
    criteria = ENTRY.tasks[name].criteria
    if criteria and criteria.condition and criteria.failure_action.retry_times:
        (added,) = criteria.failure_action.additional_prompt or ("",)
        assert REPORTED_FALSE_REASON in variables_in(added)


def test_who_asks_for_input_puts_it_apart() -> None:
    asking = {name for name, task in ENTRY.tasks.items() if task.require_user_input}
    assert asking == {"plan", "reproduce", "write-tests", "ask"}
    texts = [text for task in ENTRY.tasks.values() for text in prompts(task)]
    assert {text for text in texts if USER_INPUT in variables_in(text)} == {
        text for text in texts if f"---\n${USER_INPUT}\n---" in text
    }


# What tasks hand to each other


def notes_in(text: str) -> set[str]:
    return set(re.findall(r"`\.airboss/([\w*.-]+)`", text))


def test_whoever_first_writes_notes_keeps_them_out_of_git() -> None:
    starts = ("plan", "next-round", "review-design", "verify", "reproduce")
    assert [
        name for name in starts if "`.airboss/.gitignore`" not in ENTRY.tasks[name].prompt[0]
    ] == []


def test_every_note_that_is_read_is_written_by_somebody() -> None:
    named = {
        note for task in ENTRY.tasks.values() for text in prompts(task) for note in notes_in(text)
    }
    written = {
        note
        for task in ENTRY.tasks.values()
        for line in task.prompt[0].splitlines()
        if "Write" in line or "rounds.md` has" in line
        for note in notes_in(line)
    }
    assert named - written == {".gitignore", "review-*.md"}
    assert {note for note in written if f"`{note}`" not in PAGE} == set()


def test_reviewers_write_different_files() -> None:
    kinds = ("behaviour", "design", "tests")
    for kind in kinds:
        others = {f"review-{other}.md" for other in kinds} - {f"review-{kind}.md"}
        assert notes_in(ENTRY.tasks[f"review-{kind}"].prompt[0]) & others == set()


# Permissions


@pytest.mark.parametrize("job", ENTRY.jobs)
def test_a_job_reads_only_or_works(job: str) -> None:
    tasks = [ENTRY.tasks[ref.task_id] for ref in refs(ENTRY.jobs[job].work)]
    reads = {task.permissions == "read-only" for task in tasks}
    assert reads == {job in READING}


def test_who_may_only_read_is_not_asked_to_write_or_run() -> None:
    for task in ENTRY.tasks.values():
        if task.permissions == "read-only":
            assert "Only read." in task.prompt[0]
            assert not any(word in text for text in prompts(task) for word in (".airboss", "git "))


# Models


def test_models_are_named_by_category_and_the_file_has_the_first_wishes() -> None:
    assert ENTRY.models == {category: preferred[0] for category, preferred in PREFERRED.items()}
    named = [task.model for task in ENTRY.tasks.values()]
    named += [ref.model_override for job in ENTRY.jobs.values() for ref in refs(job.work)]
    assert {model.id for model in named if model} == {None}
    assert all(task.model for task in ENTRY.tasks.values())
    assert {model.category for model in named if model} == set(ENTRY.models)


MANY = ["auto", "claude-opus-4.6", "claude-sonnet-4.6", "gpt-4.1", "gpt-5.4-mini", "gpt-5.4"]


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (
            [preferred[0] for preferred in PREFERRED.values()],
            [preferred[0] for preferred in PREFERRED.values()],
        ),
        (["rehearsal"], ["rehearsal"] * 6),
        (["auto"], ["auto"] * 6),
        (
            [*MANY, "gemini-3.1-pro-preview"],
            ["gpt-4.1", *["claude-sonnet-4.6", "gpt-5.4"] * 2, "gemini-3.1-pro-preview"],
        ),
        (
            MANY,
            ["gpt-4.1", *["claude-sonnet-4.6", "gpt-5.4"] * 2, "claude-opus-4.6"],
        ),
        (
            ["home/qwen", "home/llama", "work/gpt-5.2"],
            [
                "home/qwen",
                "work/gpt-5.2",
                "work/gpt-5.2",
                "home/qwen",
                "work/gpt-5.2",
                "home/llama",
            ],
        ),
        (["a", "b"], ["a", "a", "a", "a", "b", "a"]),
    ],
)
def test_each_category_gets_a_model_that_is_offered(offered: list[str], chosen: list[str]) -> None:
    assert builtin_entry(offered).models == dict(zip(PREFERRED, chosen, strict=True))


@pytest.mark.parametrize("count", range(1, 8))
def test_reviewers_are_different_while_there_are_models(count: int) -> None:
    offered = [*MANY, "gemini-3.1-pro-preview"][1:][:count]
    entry = builtin_entry(offered)
    assert len({entry.model_id(reviewer) for reviewer in REVIEWERS}) == min(3, len(offered))
    assert builtin_entry(offered[::-1]).models.keys() == entry.models.keys()


def test_but_for_its_models_the_entry_is_the_same() -> None:
    mapped = builtin_entry(["rehearsal"])
    assert mapped.model_copy(update={"models": ENTRY.models}) == ENTRY
    assert ENTRY.models["coding"] == "gpt-5.2", "the shipped one is left alone"


# How jobs go


@dataclass
class Walk:
    """Goes through a job as the semantics say; `answer` tells how a task ends each time."""

    answer: Callable[[str, int], bool] = lambda _task, _time: True
    told: list[str] = field(default_factory=list[str])

    def job(self, name: str) -> bool:
        return self.go(ENTRY.jobs[name].work, frozenset())[0]

    def go(self, work: Work, last: frozenset[str]) -> tuple[bool, frozenset[str]]:
        """The outcome, and which tasks may have ended last."""
        match work:
            case Ref():
                return self.ref(work.task_id, last)
            case Seq():
                return self.seq(work.works, last)
            case Par():
                ends = [self.go(part, last) for part in work.works]
                return all(end[0] for end in ends), frozenset[str]().union(
                    *(end[1] for end in ends)
                )
            case Loop():
                return self.loop(work, last)
            case Alt(condition=condition, true_work=yes, false_work=no):
                outcome, last = self.go(condition, last)
                branch = yes if outcome else no
                return self.go(branch, last) if branch else (True, last)

    def ref(self, name: str, last: frozenset[str]) -> tuple[bool, frozenset[str]]:
        assert len(self.told) < 100, "it never ends"
        task = ENTRY.tasks[name]
        before = task.availability and task.availability.previous_tasks
        assert not before or last & {*before}, f"{name} may not follow {set(last)}"
        self.told.append(name)
        return self.answer(name, self.told.count(name)), frozenset({name})

    def seq(self, works: Sequence[Work], last: frozenset[str]) -> tuple[bool, frozenset[str]]:
        for part in works:
            outcome, last = self.go(part, last)
            if not outcome:
                return False, last
        return True, last

    def loop(self, work: Loop, last: frozenset[str]) -> tuple[bool, frozenset[str]]:
        while True:
            if work.pre_condition:
                outcome, last = self.go(work.pre_condition[1], last)
                if outcome != work.pre_condition[0]:
                    return True, last
            outcome, last = self.go(work.body, last)
            if not outcome or not work.post_condition:
                return outcome, last
            outcome, last = self.go(work.post_condition[1], last)
            if outcome != work.post_condition[0]:
                return True, last


REVIEWS = ["review-behaviour", "review-design", "review-tests"]
ROUND = ["next-round", *REVIEWS, "apply-reviews", "approve"]


@pytest.mark.parametrize("job", ENTRY.jobs)
def test_a_job_ends_well_when_every_answer_is_yes(job: str) -> None:
    assert Walk().job(job)


@pytest.mark.parametrize("job", ENTRY.jobs)
def test_a_job_fails_when_no_task_succeeds_and_nothing_is_committed(job: str) -> None:
    walk = Walk(lambda _task, _time: False)
    assert not walk.job(job)
    assert "commit" not in walk.told


def test_deliver_goes_from_the_request_to_the_commit() -> None:
    walk = Walk()
    assert walk.job("deliver")
    assert walk.told == ["plan", "implement", *ROUND, "verify", "commit"]


def test_a_change_that_is_not_approved_goes_round_again() -> None:
    walk = Walk(lambda task, time: task != "approve" or time == 3)
    assert walk.job("deliver")
    assert walk.told == ["plan", "implement", *ROUND * 3, "verify", "commit"]


def test_a_change_that_is_never_approved_is_not_committed() -> None:
    walk = Walk(lambda task, time: task != "approve" and (task != "next-round" or time <= 4))
    assert not walk.job("build-plan")
    assert walk.told == ["implement", *ROUND * 4, "next-round"]


def test_what_does_not_work_is_fixed_before_it_is_committed() -> None:
    walk = Walk(lambda task, time: task != "verify" or time == 3)
    assert walk.job("build-plan")
    assert walk.told[-6:] == ["verify", "mend", "verify", "mend", "verify", "commit"]


def test_what_cannot_be_fixed_is_not_committed() -> None:
    walk = Walk(lambda task, _: task not in ("verify", "mend"))
    assert not walk.job("deliver")
    assert walk.told[-2:] == ["verify", "mend"]


def test_one_missing_review_stops_the_job_after_the_others() -> None:
    walk = Walk(lambda task, _: task != "review-behaviour")
    assert not walk.job("review")
    assert walk.told == REVIEWS


@pytest.mark.parametrize("job", [name for name in ENTRY.jobs if "Loop" in repr(ENTRY.jobs[name])])
def test_a_job_with_a_loop_has_a_limit_of_time(job: str) -> None:
    limits = ENTRY.jobs[job].limits
    assert limits
    assert limits.minutes


HANDED_OVER = ("next-round", "approve", "verify", "mend", "reproduce")


@pytest.mark.parametrize("name", HANDED_OVER)
def test_who_takes_over_after_a_crash_finds_the_answer_in_the_notes(name: str) -> None:
    """A condition goes to the session that did the work, but to a fresh one if that crashed."""
    criteria = ENTRY.tasks[name].criteria
    assert criteria
    assert criteria.run_condition_in_same_session is not False
    assert "`.airboss/" in (criteria.condition or ("",))[0]


# Charts


def node(number: int, hint: object, label: str | None, *arrows: tuple[Any, ...]) -> dict[str, Any]:
    drawn: dict[str, Any] = {"id": number, "hint": hint}
    if label:
        drawn["label"] = label
    lines = [
        {"to": to, "loopBack": "back" in more, **({"label": more[0]} if more else {})}
        for to, *more in arrows
    ]
    return {**drawn, "arrows": lines} if lines else drawn


def drawn(job: str) -> list[dict[str, Any]]:
    return generate_chart_nodes(ENTRY.jobs[job].work).to_wire()["nodes"]


def test_the_chart_of_deliver() -> None:
    assert drawn("deliver") == [
        node(0, ["TaskNode", 0], "plan", (1,)),
        node(1, ["TaskNode", 1], "implement", (2,)),
        node(2, ["TaskNode", 3], "next-round", (3,)),
        node(3, "ParBegin", None, (4,), (5,), (6,)),
        node(4, ["TaskNode", 4], "review-behaviour", (7,)),
        node(5, ["TaskNode", 5], "review-design", (7,)),
        node(6, ["TaskNode", 6], "review-tests", (7,)),
        node(7, "ParEnd", None, (8,)),
        node(8, ["TaskNode", 7], "apply-reviews", (9,)),
        node(9, ["CondNode", 2], "approve", (2, "false", "back"), (10, "true")),
        node(10, "LoopEnd", None, (11,)),
        node(11, ["CondNode", 8], "verify", (15, "true"), (12, "false")),
        node(12, ["TaskNode", 10], "mend", (13,)),
        node(13, ["CondNode", 9], "verify", (12, "false", "back"), (14, "true")),
        node(14, "LoopEnd", None, (15,)),
        node(15, "AltEnd", None, (16,)),
        node(16, ["TaskNode", 11], "commit"),
    ]


def test_the_chart_of_the_sample() -> None:
    assert drawn("sample") == [
        node(0, "ParBegin", None, (1,), (2,)),
        node(1, ["TaskNode", 0], "sample-look", (3,)),
        node(2, ["TaskNode", 1], "sample-read", (3,)),
        node(3, "ParEnd", None, (4,)),
        node(4, ["CondNode", 2], "sample-decide", (5, "true"), (6, "false")),
        node(5, ["TaskNode", 3], "sample-suggest", (6,)),
        node(6, "AltEnd", None),
    ]


# In rehearsal


def rehearsed(text: str) -> tuple[FilledCall, ...]:
    """What the built-in script calls first when it is sent this."""
    script, said = builtin_script(), RehearsedConversation("turn", text, "/w", 0)
    number = matching(script, said, "rehearsal", ())
    return play(None if number is None else script.rules[number], said).calls


@pytest.mark.parametrize("name", ENTRY.tasks)
def test_a_rehearsal_without_a_script_goes_the_happy_way(name: str) -> None:
    task = ENTRY.tasks[name]
    for text in conditions(task):
        assert rehearsed(text) == (FilledCall(BOOLEAN_TRUE, {"argument": "rehearsed"}),)
    wanted = (task.criteria and task.criteria.tool_executed) or ()
    if not name.startswith("sample"):
        assert [call.tool for call in rehearsed(task.prompt[0])] == [*wanted]


def test_a_rehearsal_of_the_sample_uses_real_tools() -> None:
    def path_of(name: str) -> list[Any]:
        calls = rehearsed(ENTRY.tasks[name].prompt[0])
        assert {call.tool for call in calls} <= {"view"}
        return [call.arguments["path"] for call in calls]

    assert path_of("sample-look") == ["/w"]
    assert path_of("sample-read") == ["/w/README.md"]
    assert path_of("sample-decide") == ["/w"]
    assert path_of("sample-suggest") == []


# Its page


def test_the_page_names_every_job_and_task_and_category() -> None:
    names = (*ENTRY.jobs, *ENTRY.tasks, *ENTRY.models)
    assert [name for name in names if f"`{name}`" not in PAGE] == []


@pytest.mark.parametrize("kind", ["jobs", "tasks"])
def test_every_job_and_task_says_what_it_is_for_and_the_page_says_the_same(kind: str) -> None:
    """In a sentence that fits on the button of a job."""
    parts: dict[str, Job] | dict[str, Task] = getattr(ENTRY, kind)
    page = " ".join(PAGE.split())
    for name, part in parts.items():
        said = part.description
        assert said, name
        assert (said[-1], "\n" in said, len(said) <= 120) == (".", False, True), name
        assert f"- `{name}`: {said}" in page, name


def test_the_page_says_what_each_job_needs() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| ([\w ]+) \|$", PAGE, re.MULTILINE))
    said = {job: rows[job] for job in ENTRY.jobs}
    assert {job for job, needs in said.items() if needs == "reads"} == READING
    assert set(said.values()) == {"reads", "writes and runs commands", "runs git"}
