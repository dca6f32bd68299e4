"""What an entry and its tasks say about sessions, as all who say something about them do."""

from typing import Literal

from airboss.entry.document import Entry, Prompt, Section, SystemMessage, Task
from airboss.session_keys import (
    NOTHING_SAID,
    ContextKeys,
    SectionKeys,
    SessionKeys,
    SystemMessageKeys,
    ToolKeys,
)


def keys_of(part: Entry | Task) -> SessionKeys:
    """Of an entry that is finished: each text is one string."""
    if all(getattr(part, name) is None for name in SessionKeys.model_fields):
        return NOTHING_SAID
    return SessionKeys(
        reasoning_effort=part.reasoning_effort,
        system_message=part.system_message and _message(part.system_message),
        instructions=part.instructions,
        tools=part.tools and ToolKeys(**dict(part.tools)),
        directories=part.directories,
        context=part.context and ContextKeys(**dict(part.context)),
    )


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
