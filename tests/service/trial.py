"""The tasks of the built-in entry on a repository, one after another, each as a task run."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from airboss.model.events import ToolStarted
from airboss.model.task_runs import Attempt, TaskRunView
from airboss.service.tasks import NewTaskRun
from tests.entry.repositories import Repository
from tests.service.house import ME, House, house_in

Step = dict[str, Any]
Doing = list[Step]

REVIEWS: Final = ("review-behaviour", "review-design", "review-tests")
# By what a script knows the prompts of tasks and the questions of their criteria.
PROMPTS: Final = {
    "plan": r"\APlan a change ",
    "implement": r"\ACarry out the plan ",
    "next-round": r"\AOpen the next round ",
    **{name: rf"(?s)\AYou review a change .*`\.airboss/{name}\.md`" for name in REVIEWS},
    "apply-reviews": r"\AThree reviews of the change ",
    "approve": r"\AYou have the last word ",
    "verify": r"\ASee whether the project ",
    "mend": r"\AChecks of this project fail",
    "commit": r"\ACommit the change ",
    "ask": r"\AAnswer a question ",
}
QUESTIONS: Final = {
    "implement": r"\ACompare `\.airboss/plan\.md` ",
    "next-round": r"\ADoes `\.airboss/rounds\.md` end ",
    "approve": r"\AIs the change ready ",
    "verify": r"\ADoes `\.airboss/checks\.md` say ",
    "commit": r"\ALook at `git status` ",
}
MODELS: Final = ("gpt-5-mini", "claude-sonnet-4.5", "gpt-5.2", "gemini-3-pro-preview")


@dataclass(frozen=True)
class Change:
    """What somebody wants of a repository, and how a scripted author does it."""

    request: str
    # What the author writes, and the command that shows that it works.
    edits: Mapping[str, tuple[str, str]]
    check: str
    message: str


# What scripted agents do


def shell(command: str) -> Step:
    return {"call": {"tool": "bash", "arguments": {"command": command, "description": "Work"}}}


def create(name: str, text: str) -> Step:
    return {"call": {"tool": "create", "arguments": {"path": f"{{cwd}}/{name}", "file_text": text}}}


def edit(name: str, old: str, new: str) -> Step:
    arguments = {"path": f"{{cwd}}/{name}", "old_str": old, "new_str": new}
    return {"call": {"tool": "edit", "arguments": arguments}}


def report(tool: str, argument: str) -> Step:
    return {"call": {"tool": tool, "arguments": {"argument": argument}}}


def no(reason: str) -> Doing:
    return [report("job_boolean_false", reason), {"say": "No."}]


def yes(reason: str) -> Doing:
    return [report("job_boolean_true", reason), {"say": "Yes."}]


NOTES: Final = shell("mkdir -p .airboss && echo '*' > .airboss/.gitignore")
NEXT_ROUND: Final = [
    shell(
        "cd .airboss && touch rounds.md && n=$(wc -l < rounds.md) && "
        "if [ $n -lt 4 ]; then echo Round $((n + 1)) >> rounds.md; rm -f review-*.md; fi"
    )
]


def checked(command: str) -> Doing:
    """Run it, and write down whether it passed."""
    return [
        NOTES,
        shell(
            f"if {command} > .airboss/output 2>&1; then said=passed; else said=failed; fi; "
            f"{{ echo '{command}:' $said; tail -5 .airboss/output; }} > .airboss/checks.md"
        ),
    ]


def reviewed(name: str, finding: str) -> Doing:
    document = f".airboss/{name}.md"
    return [create(document, finding), report("job_prepare_document", document)]


def work_on(change: Change) -> dict[str, Doing]:
    """A team that does its work, each task in the way that its prompt asks for."""
    plan = f"# Request\n\n{change.request}\n\n# Steps\n\n" + "".join(
        f"1. Change {name}; {change.check} passes.\n" for name in change.edits
    )
    return {
        "plan": [
            NOTES,
            create(".airboss/plan.md", plan),
            report("job_prepare_document", "{cwd}/.airboss/plan.md"),
        ],
        "implement": [
            shell("rm -f .airboss/rounds.md .airboss/applied.md .airboss/verdict.md"),
            *(edit(name, old, new) for name, (old, new) in change.edits.items()),
            shell(change.check),
        ],
        "next-round": NEXT_ROUND,
        **{name: reviewed(name, "Nothing was found.\n") for name in REVIEWS},
        "apply-reviews": [shell("echo Nothing to do. > .airboss/applied.md")],
        "approve": [shell("echo Ready. > .airboss/verdict.md")],
        "verify": checked(change.check),
        # The crudest way there is: the notes must stay out even so.
        "commit": [shell(f"git add --all && git commit --quiet --message '{change.message}'")],
    }


def rules(of: Mapping[str, str], doings: Mapping[str, Doing], **more: Any) -> list[dict[str, Any]]:
    """What is played at these prompts or questions."""
    return [{"when": of[name], "steps": steps, **more} for name, steps in doings.items()]


# A server on which they work


@dataclass
class Trial:
    """Task runs in one repository."""

    house: House
    repository: Repository
    told: list[TaskRunView] = field(default_factory=list[TaskRunView])

    async def run(self, task: str, text: str = "", *, skips: bool = True) -> TaskRunView:
        request = NewTaskRun(
            task, text, ME, cwd=str(self.repository.path), skips_availability=skips
        )
        tasks = self.house.services.tasks
        view = await tasks.start(request)
        async with asyncio.timeout(30), tasks.log.follow(view.id, 0) as follower:
            while not view.is_over:
                await follower.next(1)
                view = await tasks.show(view.id)
        self.told.append(view)
        return view

    async def succeed(self, *tasks: str, text: str = "") -> None:
        for task in tasks:
            view = await self.run(task, text)
            assert view.state == "succeeded", (task, view.reason)

    async def review(self) -> None:
        """As a job does it: all three at the same time."""
        async with asyncio.TaskGroup() as group:
            for name in REVIEWS:
                group.create_task(self.succeed(name))

    async def deliver(self, request: str) -> None:
        """The tasks of the job `deliver` in its order, when all goes well."""
        await self.succeed("plan", text=request)
        await self.succeed("implement", "next-round")
        await self.review()
        await self.succeed("apply-reviews", "approve", "verify", "commit")

    async def attempts(self, view: TaskRunView) -> tuple[Attempt, ...]:
        return (await self.house.services.tasks.story(view.id, view.seq)).attempts

    async def tools(self, view: TaskRunView) -> list[str]:
        """The tools that its sessions called, the job tools included."""
        sessions = dict.fromkeys(attempt.session for attempt in await self.attempts(view))
        stories = [await self.house.story(session) for session in sessions]
        return [
            event.name for story in stories for event in story if isinstance(event, ToolStarted)
        ]

    def note(self, name: str) -> str:
        return (self.repository.path / ".airboss" / name).read_text("utf-8")

    def is_open_anywhere(self) -> bool:
        return self.house.sessions.open_count()[0] > 0


@contextlib.asynccontextmanager
async def trial_in(
    folder: Path, repository: Repository, *scripted: dict[str, Any], **settings: Any
) -> AsyncGenerator[Trial]:
    """With a script four models are offered, else the rehearsal that everybody has."""
    if scripted:
        script = {"models": [{"id": model} for model in MODELS], "rules": [*scripted]}
        settings["rehearsal"] = folder / "script.yaml"
        settings["rehearsal"].write_text(json.dumps(script), encoding="utf-8")
    settings.setdefault("permissions", "approve-all")
    async with house_in(folder, **settings) as house:
        trial = Trial(house, repository)
        yield trial
        assert not trial.is_open_anywhere()
