"""A valid entry as it is run: its prompts expanded, its works simplified and numbered."""

from collections.abc import Mapping

from airboss.entry.document import Agent, Command, Entry, Job, Section, SystemMessage, Task
from airboss.entry.part import Prompt
from airboss.entry.violations import Loc
from airboss.entry.works import number, refs, simplify


def finished(entry: Entry, texts: Mapping[Loc, str]) -> Entry:
    def expanded(prompt: Prompt | None, *loc: str) -> Prompt | None:
        return None if prompt is None else (texts["tasks", *loc],)

    def task(name: str, given: Task) -> Task:
        changed: dict[str, object] = {"prompt": expanded(given.prompt, name, "prompt")}
        if before := given.availability:
            condition = expanded(before.condition, name, "availability", "condition")
            changed["availability"] = before.model_copy(update={"condition": condition})
        if after := given.criteria:
            action = after.failure_action
            loc = (name, "criteria", "failureAction", "additionalPrompt")
            more = {"additional_prompt": expanded(action.additional_prompt, *loc)}
            condition = expanded(after.condition, name, "criteria", "condition")
            changed["criteria"] = after.model_copy(
                update={"condition": condition, "failure_action": action.model_copy(update=more)}
            )
        if message := given.system_message:
            changed["system_message"] = _message(message, texts, ("tasks", name))
        if given.agents:
            changed["agents"] = _agents(given.agents, texts, ("tasks", name))
        if given.commands:
            changed["commands"] = _commands(given.commands, texts, ("tasks", name))
        return given.model_copy(update=changed)

    def job(given: Job) -> Job:
        work = number(simplify(given.work))
        needs = any(entry.tasks[ref.task_id].require_user_input for ref in refs(work))
        return given.model_copy(update={"work": work, "require_user_input": needs})

    message = entry.system_message
    return entry.model_copy(
        update={
            "system_message": message and _message(message, texts, ()),
            "agents": entry.agents and _agents(entry.agents, texts, ()),
            "commands": entry.commands and _commands(entry.commands, texts, ()),
            "tasks": {name: task(name, given) for name, given in entry.tasks.items()},
            "jobs": {name: job(given) for name, given in entry.jobs.items()},
        }
    )


def _message(message: SystemMessage, texts: Mapping[Loc, str], around: Loc) -> SystemMessage:
    """With its texts expanded."""
    loc = (*around, "systemMessage")
    changed: dict[str, object] = {
        name: (texts[*loc, name],) for name in ("append", "replace") if getattr(message, name)
    }
    if message.sections:
        changed["sections"] = {
            name: _section(section, texts, (*loc, "sections", name))
            for name, section in message.sections.items()
        }
    return message.model_copy(update=changed)


def _agents(agents: Mapping[str, Agent], texts: Mapping[Loc, str], around: Loc) -> dict[str, Agent]:
    return {
        name: agent.model_copy(update={"prompt": (texts[*around, "agents", name, "prompt"],)})
        for name, agent in agents.items()
    }


def _commands(
    commands: Mapping[str, Command], texts: Mapping[Loc, str], around: Loc
) -> dict[str, Command]:
    return {
        name: command.model_copy(update={"prompt": (texts[*around, "commands", name, "prompt"],)})
        for name, command in commands.items()
    }


def _section(section: Section | str, texts: Mapping[Loc, str], loc: Loc) -> Section | str:
    if not isinstance(section, Section):
        return section
    given = [name for name, text in section if text]
    return section.model_copy(update={name: (texts[*loc, name],) for name in given})
