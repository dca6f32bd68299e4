"""The rules of an entry, in their order, with their exact words. The first broken one is raised."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final, TypeAlias, cast

from airboss.entry.advice import WORK, existing, pair
from airboss.entry.agent_rules import agent_violations
from airboss.entry.cage_rules import cage_violations
from airboss.entry.document import DRIVING, Entry
from airboss.entry.finished import finished
from airboss.entry.hook_rules import hook_violations
from airboss.entry.prompts import (
    RUNTIME_VARIABLES,
    USER_INPUT,
    Expander,
    lines_of,
    variables_in,
)
from airboss.entry.server_rules import server_violations, unknown_servers
from airboss.entry.session_words import misfits
from airboss.entry.shape import MAX_PARTS, measure, plain_data, read_shape
from airboss.entry.tools import JOB_TOOLS
from airboss.entry.violations import (
    ROOT,
    At,
    EntryInvalid,
    Hints,
    Loc,
    Remedy,
    Violation,
    Writing,
    asked,
    quoted,
    use,
    wrong,
)
from airboss.entry.works import GROUPS, Raw, is_empty_raw, walk_raw
from airboss.model.tool_lists import KNOWN as KNOWN_TOOLS
from airboss.model.tool_lists import mistake_in, mistake_in_agents
from airboss.model.tool_table import GROUPS as GROUPS_OF_TOOLS
from airboss.session_keys import NEVER, NOT_IN_ORDER, SECTIONS

MistakeOf: TypeAlias = Callable[[str, Sequence[str]], str | None]

_NOTHING: Final[Raw] = {}
_PLURALS: Final = {
    "a valid model key": "models",
    "a valid job name": "jobs",
    "a valid task name": "tasks",
    "an available tool": "tools",
    "a section of the system message": "sections",
}
_TOOL_WORDS: Final = (
    f"The groups are: {', '.join(GROUPS_OF_TOOLS)}. The tools are: {', '.join(KNOWN_TOOLS)}."
)
_SECTIONS: Final[Raw] = dict.fromkeys(SECTIONS)


def validate_entry(data: object, prefix: str = "") -> Entry:
    """The entry, with prompts expanded, works simplified and numbered; or its first violation."""
    examined = _Examined(data, prefix)
    for violation in examined.violations():
        raise EntryInvalid([violation])
    return examined.finished


@dataclass(frozen=True)
class Checked:
    """What an examination found: the finished entry, or every violation."""

    entry: Entry | None
    violations: tuple[Violation, ...]


def check_entry(
    data: object, prefix: str = "", *, most_parts: int = MAX_PARTS, writing: Writing = "yaml"
) -> Checked:
    """Every violation at once, in the order of the rules, or the finished entry."""
    try:
        examined = _Examined(data, prefix, most_parts, writing)
    except EntryInvalid as refused:
        return Checked(None, refused.violations)
    found = tuple(examined.violations())
    return Checked(None if found else examined.finished, found)


class _Examined:
    """An entry under examination: first its shape, then the rules."""

    def __init__(
        self,
        data: object,
        prefix: str,
        most_parts: int = MAX_PARTS,
        writing: Writing = "yaml",
    ) -> None:
        seen = measure(data, prefix, most_parts)
        hints = Hints(writing=writing)
        raw = data if seen.is_plain else plain_data(data)
        self._entry, self._faults = read_shape(raw, prefix, hints, has_null=seen.has_null)
        # Where Python gave more than JSON has, the rules read what it became.
        is_odd = self._entry is not None and not seen.is_plain
        read = self._entry.to_wire() if self._entry and is_odd else fields(raw)
        broken = [fault.loc for fault in self._faults]
        unsure = {loc[1] for loc in broken if len(loc) > 1 and loc[0] == "jobs"}
        self._root = At(prefix + ROOT)
        self._rules = _Rules(read, prefix, hints, unsure)

    def violations(self) -> Iterator[Violation]:
        is_clean = True
        for violation in chain(self._faults, self._rules.violations()):
            is_clean = False
            yield violation
        if is_clean:
            yield from misfits(self.finished, self._root)

    @cached_property
    def finished(self) -> Entry:
        if self._entry is None:
            raise ValueError("Only an entry without a violation can be finished.")
        return finished(self._entry, self._rules.texts)


def fields(value: object) -> Raw:
    return cast("Raw", value) if isinstance(value, Mapping) else _NOTHING


def known(value: object) -> Raw | None:
    """Named parts, or none where nobody can say which names there are."""
    return cast("Raw", value) if isinstance(value, Mapping) else None


def elements(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()


def records(value: object) -> Iterator[tuple[str, Raw]]:
    """The named parts of a part, but for those that are none."""
    for name, part in fields(value).items():
        if isinstance(cast("object", name), str) and isinstance(part, Mapping):
            yield name, cast("Raw", part)


class _Rules:
    """Reads an entry as a file has it. What has the wrong shape is unknown, and breaks no rule.

    `unsure` names the jobs with such parts: whether they need input cannot be computed.
    """

    def __init__(self, entry: Raw, prefix: str, hints: Hints, unsure: set[str | int]) -> None:
        self._entry = entry
        self._unsure = unsure
        self._root = At(prefix + ROOT)
        self._hints = hints
        self._models = known(entry.get("models"))
        self._tasks = known(entry.get("tasks"))
        self._jobs = known(entry.get("jobs"))
        parts = [entry, *map(fields, fields(entry.get("tasks")).values())]
        self._servers = [str(name) for part in parts for name in fields(part.get("mcpServers"))]
        self._expander = Expander(known(entry.get("promptVariables")), hints)

    @property
    def texts(self) -> Mapping[Loc, str]:
        """Every prompt that was expanded, by its place."""
        return self._expander.texts

    def violations(self) -> Iterator[Violation]:
        yield from self._driving()
        for index, row in enumerate(elements(self._entry.get("grid"))):
            yield from self._row(fields(row), self._root.field("grid").item(index))
        for name, task in records(self._tasks):
            yield from self._task(task, self._root.field("tasks").key(name))
        for name, job in records(self._jobs):
            place = self._root.field("jobs").key(name)
            needs: set[bool | None] = {None} if name in self._unsure else set()
            yield from self._works(job.get("work"), place.field("work"), needs)
            yield from self._needs(job.get("requireUserInput"), needs, place)
        yield from self._session(self._entry, self._root)

    def _driving(self) -> Iterator[Violation]:
        if self._models is not None and DRIVING not in self._models:
            yield self._undriven(self._models)
        driving = fields(self._models).get(DRIVING)
        retries = self._root.field("drivingSessionRetries").item(0).field("modelId")
        for first in elements(self._entry.get("drivingSessionRetries"))[:1]:
            given = fields(first).get("modelId")
            driving = fields(driving).get("id", driving)
            if isinstance(driving, str) and isinstance(given, str) and given != driving:
                advice = "The first retry is on the driving model:"
                example = self._pair("modelId", driving)
                reason = f'Should be "{driving}".'
                yield wrong(retries, reason, None, advice, example, use(driving))

    def _undriven(self, models: Raw) -> Violation:
        place = self._root.field("models").field(DRIVING)
        near = self._hints.nearest(DRIVING, (str(name) for name in models))
        if near is not None:
            advice = f"Rename {quoted(near)} to {DRIVING}."
            remedy = Remedy(advice[:-1], DRIVING, "name", loc=("models", near))
            return wrong(place, "Should exist.", None, advice, remedy=remedy)
        example = self._pair(DRIVING, "gpt-5-mini")
        return wrong(place, "Should exist.", None, "Add it, for example:", example)

    def _pair(self, name: str, value: object) -> str:
        return pair(name, value, self._hints.writing)

    def _name(self, value: object, names: Raw | None, place: At, what: str) -> Iterator[Violation]:
        if isinstance(value, str) and names is not None and value not in names:
            near = self._hints.nearest(value, names)
            yield wrong(
                place,
                f'"{value}" is not {what}.',
                asked(near),
                existing(_PLURALS[what], names),
                remedy=use(near) if near is not None else None,
            )

    def _model(self, value: object, place: At) -> Iterator[Violation]:
        category = fields(value).get("category")
        yield from self._name(category, self._models, place.field("category"), "a valid model key")

    def _row(self, row: Raw, place: At) -> Iterator[Violation]:
        for index, cell in enumerate(elements(row.get("jobs"))):
            spot = place.field("jobs").item(index).field("jobName")
            yield from self._name(fields(cell).get("jobName"), self._jobs, spot, "a valid job name")

    def _task(self, task: Raw, place: At) -> Iterator[Violation]:
        yield from self._model(task.get("model"), place.field("model"))
        yield from self._prompt(task, place)
        before, spot = fields(task.get("availability")), place.field("availability")
        for index, name in enumerate(elements(before.get("previousTasks"))):
            item = spot.field("previousTasks").item(index)
            yield from self._name(name, self._tasks, item, "a valid task name")
        yield from self._condition(before, spot)
        after, spot = fields(task.get("criteria")), place.field("criteria")
        tools: Raw = dict.fromkeys(JOB_TOOLS)
        for index, name in enumerate(elements(after.get("toolExecuted"))):
            item = spot.field("toolExecuted").item(index)
            yield from self._name(name, tools, item, "an available tool")
        yield from self._condition(after, spot)
        action, spot = fields(after.get("failureAction")), spot.field("failureAction")
        more = lines_of(action.get("additionalPrompt"))
        if more is not None:
            yield from self._expander.expand(more, spot.field("additionalPrompt"))[1]
        yield from self._session(task, place)

    def _session(self, part: Raw, place: At) -> Iterator[Violation]:
        """What an entry or a task says about its sessions."""
        message, spot = fields(part.get("systemMessage")), place.field("systemMessage")
        yield from self._told(message, ("append", "replace"), spot)
        sections = fields(message.get("sections"))
        for name in sections:
            at = spot.field("sections").field(str(name))
            yield from self._name(name, _SECTIONS, at, "a section of the system message")
            yield from self._told(fields(sections[name]), ("replace", "append", "prepend"), at)

        tools, spot = fields(part.get("tools")), place.field("tools")
        for key in ("allow", "deny"):
            yield from self._tool_words(tools.get(key), spot.field(key))
        yield from agent_violations(part, place, self._told, self._model, self._agents_tools)
        yield from server_violations(part, place)
        yield from unknown_servers(part.get("agents"), place, self._servers)
        yield from cage_violations(part.get("cage"), place.field("cage"))
        yield from hook_violations(part.get("hooks"), place.field("hooks"), self._hints)

        context = fields(part.get("context"))
        early, late = context.get("compactAt"), context.get("blockAt")
        if isinstance(early, int | float) and isinstance(late, int | float) and early >= late:
            yield wrong(place.field("context").field("compactAt"), NOT_IN_ORDER)
        for key in ("compactAt", "blockAt") if context.get("infinite") is False else ():
            if key in context:
                yield wrong(place.field("context").field(key), NEVER)
        for index, name in enumerate(elements(part.get("directories"))):
            if name == "":
                at = place.field("directories").item(index)
                yield wrong(at, "Should not be empty.", None, "Name a folder, or leave it out.")

    def _agents_tools(self, words: object, place: At) -> Iterator[Violation]:
        yield from self._tool_words(words, place, mistake_in_agents)

    def _tool_words(
        self, words: object, place: At, mistake_of: MistakeOf = mistake_in
    ) -> Iterator[Violation]:
        for index, word in enumerate(elements(words)):
            mistake = mistake_of(word, self._servers) if isinstance(word, str) else None
            if mistake:
                names = [*GROUPS_OF_TOOLS] if str(word).startswith("@") else [*KNOWN_TOOLS]
                near = asked(self._hints.nearest(str(word), names))
                yield wrong(place.item(index), mistake, near, _TOOL_WORDS)

    def _told(self, part: Raw, names: Sequence[str], place: At) -> Iterator[Violation]:
        for name in names:
            lines = lines_of(part.get(name))
            if lines is None:
                continue
            text, found = self._expander.expand(lines, place.field(name))
            yield from found
            for unknown in [one for one in RUNTIME_VARIABLES if one in variables_in(text or "")]:
                said = f"Should not use ${unknown}: it has a value in prompts only."
                yield wrong(place.field(name), said, None, "Write it into the prompt of the task.")

    def _prompt(self, task: Raw, place: At) -> Iterator[Violation]:
        lines = lines_of(task.get("prompt"))
        if lines is None:
            return
        text, found = self._expander.expand(lines, place.field("prompt"))
        yield from found
        required = task.get("requireUserInput")
        if text is None or not isinstance(required, bool):
            return
        if required != (USER_INPUT in variables_in(text)):
            use, state = ("use", "true") if required else ("not use", "false")
            reason = f"Prompt should {use} ${USER_INPUT} when requireUserInput is {state}."
            other = f"put ${USER_INPUT} into" if required else f"take ${USER_INPUT} out of"
            advice = f"Either {other} the prompt, or write this:"
            example = self._pair("requireUserInput", not required)
            remedy = _set_input(needed=not required)
            yield wrong(place.field("requireUserInput"), reason, None, advice, example, remedy)

    def _condition(self, part: Raw, place: At) -> Iterator[Violation]:
        lines = lines_of(part.get("condition"))
        if lines is not None:
            yield from self._expander.expand(lines, place.field("condition"), boolean=True)[1]

    def _works(self, value: object, place: At, needs: set[bool | None]) -> Iterator[Violation]:
        """Also collects whether the tasks need a person's input; none where that is unknown."""
        for work, spot in walk_raw(value, place):
            kind = work.get("kind")
            if kind == "Ref":
                yield from self._ref(work, spot)
                needs.add(self._need(work.get("taskId")))
            elif kind in GROUPS and is_empty_raw(work):
                yield wrong(
                    spot.field("works"),
                    "should have at least one element.",
                    None,
                    "Add a work, or leave the group out. For example:",
                    self._pair("works", [{**WORK, "taskId": self._any_task()}]),
                )

    def _any_task(self) -> str:
        return next(iter(self._tasks or ()), str(WORK["taskId"]))

    def _need(self, name: object) -> bool | None:
        task = self._tasks.get(name) if self._tasks and isinstance(name, str) else None
        required = fields(task).get("requireUserInput")
        return required if isinstance(required, bool) else None

    def _needs(self, given: object, needs: set[bool | None], place: At) -> Iterator[Violation]:
        computed = True in needs
        if isinstance(given, bool) and given != computed and (computed or None not in needs):
            said = f"Should be {_js(computed)} but is {_js(given)}."
            advice = "Leave it out: it follows from the tasks of the job. Or write this:"
            example = self._pair("requireUserInput", computed)
            remedy = _set_input(needed=computed)
            yield wrong(place.field("requireUserInput"), said, None, advice, example, remedy)

    def _ref(self, ref: Raw, place: At) -> Iterator[Violation]:
        name = ref.get("taskId")
        yield from self._name(name, self._tasks, place.field("taskId"), "a valid task name")
        override = place.field("modelOverride")
        yield from self._model(ref.get("modelOverride"), override)
        task = self._tasks.get(name) if self._tasks and isinstance(name, str) else None
        if isinstance(task, Mapping) and "model" not in task and "modelOverride" not in ref:
            said = f'must be defined because task "{name}" has no specified model.'
            advice = f"Add it here, or give the task {quoted(str(name))} a `model`. For example:"
            category = next(iter(self._models or ()), DRIVING)
            value = {"category": category}
            remedy = Remedy("Add modelOverride", value, "add")
            yield wrong(override, said, None, advice, self._pair("modelOverride", value), remedy)


def _set_input(*, needed: bool) -> Remedy:
    return Remedy(f"Set requireUserInput to {_js(needed)}", needed)


def _js(value: bool) -> str:
    return "true" if value else "false"
