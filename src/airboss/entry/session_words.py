"""What an entry and its tasks say about sessions, as all who say something about them do."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from airboss.entry.document import Agent, Entry, Model, Section, SystemMessage, Task
from airboss.entry.part import Prompt
from airboss.entry.violations import At, Loc, Violation, at, wrong
from airboss.errors import Invalid
from airboss.fault_words import fault_words, told_faults
from airboss.session_keys import NOTHING_SAID, SessionKeys

# Behind these stands a name that people chose.
_NAMED: Final = frozenset({"agents", "commands", "mcp_servers", "hooks", "sections", "env"})
# As pydantic counts.
_COUNTED: Final = re.compile(r" items$")


class SessionWordsInvalid(Invalid):
    """What is said cannot be taken for what all say about sessions: it is too long, or too much.
    Each mistake has the steps that lead to it, as files write them."""

    def __init__(self, mistakes: tuple[tuple[Loc, str], ...]) -> None:
        self.mistakes = mistakes
        super().__init__("; ".join(f"{at(loc).where}: {why}" for loc, why in mistakes))


def keys_of(part: Entry | Task, entry: Entry | None = None) -> SessionKeys:
    """Of an entry that is finished: each text is one string. `entry` is the one that a task is
    in, which has the models that are named."""
    said = {name: getattr(part, name) for name in SessionKeys.model_fields}
    if all(value is None for value in said.values()):
        return NOTHING_SAID
    if part.system_message is not None:
        said["system_message"] = _message(part.system_message)
    if part.agents is not None:
        said["agents"] = {name: _agent(agent, entry or part) for name, agent in part.agents.items()}
    if part.commands is not None:
        said["commands"] = {
            name: {**dict(command), "prompt": _text(command.prompt)}
            for name, command in part.commands.items()
        }
    if part.hooks is not None:
        said["hooks"] = {name: [dict(hook) for hook in part.hooks[name]] for name in part.hooks}
    if part.mcp_servers is not None:
        said["mcp_servers"] = {name: dict(one) for name, one in part.mcp_servers.items()}
    for name in ("tools", "context", "cage"):
        if said[name] is not None and not isinstance(said[name], str):
            said[name] = dict(said[name])
    try:
        return SessionKeys.model_validate(said)
    except ValidationError as error:
        raise SessionWordsInvalid(tuple(_mistakes(error))) from None


def misfits(entry: Entry, root: At) -> Iterator[Violation]:
    """What no rule about a single part finds, in an entry that is finished."""
    parts = [(entry, root)]
    tasks = ((task, root.field("tasks").key(name)) for name, task in entry.tasks.items())
    for part, place in (*parts, *tasks):
        try:
            keys_of(part, entry)
        except SessionWordsInvalid as invalid:
            for loc, why in invalid.mistakes:
                yield wrong(_below(place, loc), why)


def _below(place: At, loc: Loc) -> At:
    for step in loc:
        place = place.item(step) if isinstance(step, int) else place.field(step)
    return place


def _mistakes(error: ValidationError) -> Iterator[tuple[Loc, str]]:
    for fault in told_faults(error.errors(include_url=False, include_input=False)):
        said = fault_words(fault)
        _, is_rule, rule = said.partition(" should ")
        why = f"Should {_COUNTED.sub(' of them', rule)}" if is_rule else said
        yield tuple(_steps(fault["loc"])), f"{why.rstrip('.')}."


def _steps(loc: tuple[int | str, ...]) -> Iterator[int | str]:
    before: int | str = ""
    for step in loc:
        if not (isinstance(step, str) and "[" in step):  # a kind, which is in no file
            yield step if isinstance(step, int) or before in _NAMED else to_camel(step)
        before = step


def _agent(agent: Agent, entry: Entry | Task) -> dict[str, Any]:
    model = agent.model and _model(agent.model, entry)
    return {**dict(agent), "prompt": _text(agent.prompt), "model": model}


def _model(model: Model, entry: Entry | Task) -> str:
    if model.category is not None and isinstance(entry, Entry):
        return entry.model_id(model.category)
    return model.name


def _text(prompt: Prompt | None) -> str | None:
    return None if prompt is None else "\n".join(prompt)


def _message(message: SystemMessage) -> dict[str, Any]:
    sections: Mapping[str, Any] | None = None
    if message.sections is not None:
        sections = {name: _section(section) for name, section in message.sections.items()}
    return {
        "append": _text(message.append),
        "replace": _text(message.replace),
        "sections": sections,
    }


def _section(section: Section | str) -> dict[str, Any] | str:
    if not isinstance(section, Section):
        return section
    return {name: _text(text) for name, text in section}
