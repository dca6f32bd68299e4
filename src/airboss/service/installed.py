"""The entry in use: where it came from, whether it is trusted, and what it allows and offers."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from airboss.model.cage_bounds import ServerCages
from airboss.model.policies import granted_policy
from airboss.settings import Policy, Settings

if TYPE_CHECKING:
    from airboss.entry.document import Entry, Job, Task
    from airboss.entry.part import Part
    from airboss.entry.violations import Violation
    from airboss.service.entry_files import FileReading

Source = Literal["built-in", "file", "test", "api"]
P = TypeVar("P", bound="Part")
_LONGEST_ABOUT = 200
_LONGEST_PROMPT = 4_000


@dataclass(frozen=True)
class TaskSummary:
    """What a person asks first of a task. `model` is where it runs when no job says otherwise."""

    name: str
    about: str
    model: str
    permissions: str
    require_user_input: bool
    criteria: str
    description: str | None
    prompt: str


@dataclass(frozen=True)
class Installed:
    """One entry, finished and never changed: a new one takes its place. `problem` says in words
    what somebody should know, such as that the file holds something else by now."""

    entry: "Entry"
    digest: str
    source: Source
    server: Settings
    loaded_at: int
    path: Path | None = None
    file_digest: str = ""
    trusted: bool = False
    problem: str | None = None
    # Of the file that should be used and cannot be: how many mistakes there are, the first of them.
    mistaken_path: Path | None = None
    mistakes: int = 0
    violations: "tuple[Violation, ...]" = ()
    # Of the built-in one: the models that there were to choose from.
    on_models: tuple[str, ...] = ()

    def with_notes(self, notes: Sequence[str]) -> "Installed":
        """The same, and nothing else is wrong with it."""
        said = " ".join(notes) or None
        return replace(self, problem=said, mistaken_path=None, mistakes=0, violations=())

    def with_mistakes(self, reading: "FileReading") -> "Installed":
        """The same, beside a file that should be used and cannot be."""
        path = reading.path if reading.violations else None
        return replace(
            self, mistaken_path=path, mistakes=reading.mistakes, violations=reading.violations
        )

    def is_left_without_file(self, files: Sequence[Path]) -> bool:
        """What a program gave counts only as long as that program is trusted, gone or not."""
        if self.path is None or self.path in files:
            return False
        return self.trusted or self.path.suffix.lower() != ".py"

    def is_shown_otherwise(self, other: "Installed") -> bool:
        mine = self.digest, self.problem, self.trusted
        return mine != (other.digest, other.problem, other.trusted)

    def policy_for(self, task_name: str) -> Policy:
        """What holds for a task: the narrowest of all, unless this very file is trusted."""
        task = self.entry.tasks[task_name]
        requested = self.entry.permissions
        return granted_policy(
            self.server.permissions,
            requested,
            task.permissions,
            trusted=self.trusted,
            offers_cage=ServerCages.of(self.server).are_offered,
        )

    @cached_property
    def ungranted(self) -> tuple[str, ...]:
        """The requests that do not count, in words."""
        from airboss.entry.bounds import ungranted
        from airboss.entry.violations import without_halves

        if self.trusted:
            return ()
        server = self.server
        wished = ungranted(
            self.entry,
            server.permissions,
            session=server.session,
            cages=ServerCages.of(server),
        )
        return tuple(without_halves(str(request)) for request in wished)

    @property
    def shown_path(self) -> str | None:
        return _as_text(self.path)

    @property
    def shown_mistaken_path(self) -> str | None:
        return _as_text(self.mistaken_path)

    @cached_property
    def body(self) -> str:
        """As it is kept: JSON, in the order that people gave it."""
        body = _head(self.entry).model_dump_json(exclude_none=True)
        for field, parts in _parts(self.entry):
            said = (
                f"{_dumped(name)}:{part.model_dump_json(exclude_none=True)}" for name, part in parts
            )
            body = body.replace(f'"{field}":{{}}', f'"{field}":{{{",".join(said)}}}', 1)
        return body

    @cached_property
    def charts(self) -> dict[str, Any]:
        """The flow chart of every job, as JSON has it."""
        from airboss.entry.chart import generate_chart_nodes

        return {
            name: generate_chart_nodes(job.work).to_wire() for name, job in self.entry.jobs.items()
        }

    @cached_property
    def jobs_wire(self) -> dict[str, Any]:
        """Seed 001's list of jobs: the grid, the jobs, and their charts."""
        wire = self.entry.to_wire()
        return {"grid": wire["grid"], "jobs": wire["jobs"], "chart": self.charts}

    @cached_property
    def tasks(self) -> tuple[TaskSummary, ...]:
        return tuple(self._summary(name, task) for name, task in self.entry.tasks.items())

    def _summary(self, name: str, task: "Task") -> TaskSummary:
        from airboss.entry.document import DRIVING

        model = self.entry.model_id(DRIVING)
        if task.model:
            category = task.model.category
            model = self.entry.model_id(category) if category else task.model.id or model
        return TaskSummary(
            name=name,
            about=_first_line(task.description or "") or _first_line(task.prompt[0]),
            model=model,
            permissions=self.policy_for(name),
            require_user_input=task.require_user_input,
            criteria=_criteria(task),
            description=task.description,
            prompt=_beginning(task.prompt),
        )


def _as_text(path: Path | None) -> str | None:
    from airboss.entry.violations import without_halves

    return without_halves(str(path)) if path else None


# Task by task and job by job: to write ten thousand at once would hold the event loop up.


def _head(entry: "Entry") -> "Entry":
    return entry.model_copy(update={"tasks": {}, "jobs": {}})


def _parts(entry: "Entry") -> "Iterator[tuple[str, Iterable[tuple[str, Task | Job]]]]":
    yield "tasks", entry.tasks.items()
    yield "jobs", entry.jobs.items()


def _dumped(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of_entry(entry: "Entry") -> str:
    """The same for the same content, in whatever order and format somebody wrote it."""
    fields = {name: [_dumped(part)] for name, part in _head(entry).to_wire().items()}
    for field, parts in _parts(entry):
        said = [f"{_dumped(name)}:{_dumped(part.to_wire())}" for name, part in sorted(parts)]
        fields[field] = ["{", ",".join(said), "}"]
    whole = sha256()
    for number, name in enumerate(sorted(fields)):
        begin = "," if number else "{"
        whole.update("".join((begin, _dumped(name), ":", *fields[name])).encode())
    whole.update(b"}")
    return whole.hexdigest()


def redacted(entry: "Entry", clean: Callable[[str], str]) -> "Entry":
    """The same where there is nothing to clean."""
    head = _cleaned(_head(entry), clean)
    parts = {
        field: {clean(name): _cleaned(part, clean) for name, part in found}
        for field, found in _parts(entry)
    }
    return head.model_copy(update=parts)


def _cleaned(part: P, clean: Callable[[str], str]) -> P:
    body = part.model_dump_json(exclude_none=True)
    cleaned = clean(body)
    return part if cleaned == body else type(part).model_validate_json(cleaned)


def _first_line(prompt: str) -> str:
    line = next((line.strip() for line in prompt.splitlines() if line.strip()), "")
    return line if len(line) <= _LONGEST_ABOUT else f"{line[: _LONGEST_ABOUT - 1]}…"


def _beginning(prompt: Sequence[str]) -> str:
    text = "\n".join(prompt)
    return text if len(text) <= _LONGEST_PROMPT else f"{text[: _LONGEST_PROMPT - 1]}…"


def _criteria(task: "Task") -> str:
    """In a few words; empty where there are none."""
    after = task.criteria
    if after is None:
        return ""
    parts = [f"{tool} is called" for tool in after.tool_executed or ()]
    if after.condition:
        parts.append("a condition is met")
    times = after.failure_action.retry_times
    again = (
        "" if not times else f"; otherwise up to {times} more {'time' if times == 1 else 'times'}"
    )
    return f"{' and '.join(parts) or 'none'}{again}"
