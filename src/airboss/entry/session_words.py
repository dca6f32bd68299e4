"""What an entry and its tasks say about sessions, as all who say something about them do."""

from collections.abc import Mapping
from typing import Literal, cast

from airboss.cage_keys import CageKeys
from airboss.entry.cage_part import Cage
from airboss.entry.document import Agent, Command, Entry, Hook, Model, Section, SystemMessage, Task
from airboss.entry.part import Prompt
from airboss.session_keys import (
    NOTHING_SAID,
    AgentKeys,
    CommandKeys,
    ContextKeys,
    HookKeys,
    HookLists,
    SectionKeys,
    ServerKeys,
    SessionKeys,
    SystemMessageKeys,
    ToolKeys,
)


def keys_of(part: Entry | Task, entry: Entry | None = None) -> SessionKeys:
    """Of an entry that is finished: each text is one string. `entry` is the one that a task is
    in, which has the models that are named."""
    if all(getattr(part, name) is None for name in SessionKeys.model_fields):
        return NOTHING_SAID
    return SessionKeys(
        reasoning_effort=part.reasoning_effort,
        system_message=part.system_message and _message(part.system_message),
        instructions=part.instructions,
        tools=part.tools and ToolKeys(**dict(part.tools)),
        directories=part.directories,
        context=part.context and ContextKeys(**dict(part.context)),
        agents=None
        if part.agents is None
        else {name: _agent(agent, entry or part) for name, agent in part.agents.items()},
        commands=None
        if part.commands is None
        else {name: _command(command) for name, command in part.commands.items()},
        agent=part.agent,
        skills=part.skills,
        hooks=None if part.hooks is None else _hooks(part.hooks),
        account=part.account,
        identity=part.identity,
        cage=None if part.cage is None else _cage(part.cage),
        mcp_servers=None
        if part.mcp_servers is None
        else {name: ServerKeys(**dict(one)) for name, one in part.mcp_servers.items()},
    )


def _cage(cage: Cage | str) -> CageKeys:
    return CageKeys(profile=cage) if isinstance(cage, str) else CageKeys(**dict(cage))


def _hooks(hooks: Mapping[str, tuple[Hook, ...]]) -> HookLists:
    found = {name: tuple(HookKeys(**dict(hook)) for hook in hooks[name]) for name in hooks}
    return cast("HookLists", found)


def _agent(agent: Agent, entry: Entry | Task) -> AgentKeys:
    return AgentKeys(
        description=agent.description,
        prompt=_text(agent.prompt) or "",
        tools=agent.tools,
        model=agent.model and _model(agent.model, entry),
        reasoning_effort=agent.reasoning_effort,
        mcp_servers=agent.mcp_servers,
        skills=agent.skills,
    )


def _command(command: Command) -> CommandKeys:
    return CommandKeys(description=command.description, prompt=_text(command.prompt) or "")


def _model(model: Model, entry: Entry | Task) -> str:
    if model.category is not None and isinstance(entry, Entry):
        return entry.model_id(model.category)
    return model.name


def _text(prompt: Prompt | None) -> str | None:
    return None if prompt is None else "\n".join(prompt)


def _message(message: SystemMessage) -> SystemMessageKeys:
    sections: dict[str, SectionKeys | Literal["remove"]] | None = None
    if message.sections is not None:
        sections = {name: _section(section) for name, section in message.sections.items()}
    return SystemMessageKeys(
        append=_text(message.append),
        replace=_text(message.replace),
        sections=sections,
    )


def _section(section: Section | Literal["remove"]) -> SectionKeys | Literal["remove"]:
    if not isinstance(section, Section):
        return section
    return SectionKeys(
        replace=_text(section.replace),
        append=_text(section.append),
        prepend=_text(section.prepend),
    )
