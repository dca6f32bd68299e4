"""What a session is, in full: made once, when it is opened, and given whole to every resume.

Nothing secret is in it: it is written down with the session, and shown.
"""

from pydantic import Field

from airboss.model.tool_lists import ToolList
from airboss.model.words import Frozen, Words
from airboss.session_keys import Effort, Instructions, SectionAction, ToolSearch


class SectionChange(Frozen):
    """What becomes of one section of the runtime's system message."""

    action: SectionAction
    text: Words | None = None


class SystemMessageSetup(Frozen):
    """What is put in the place of the runtime's own text or of sections of it, and what is added
    behind it."""

    replace: Words | None = None
    sections: dict[Words, SectionChange] = Field(default_factory=dict)
    append: Words | None = None


class ToolSetup(Frozen):
    """Which tools the agents have: those that every list allows. Sub-agents have no others."""

    lists: tuple[ToolList, ...] = ()
    # Whether tools are looked for instead of all being told at once; `auto`: where there are many.
    search: ToolSearch = "auto"
    # Whether GitHub's own MCP server is there, for models of Copilot.
    github: bool = False


class ContextSetup(Frozen):
    """When a conversation is summarized beside the work, and when the work waits for that; as
    shares of what fits into the model's context. What is left out is the runtime's own."""

    infinite: bool | None = None
    compact_at: float | None = None
    block_at: float | None = None


class Setup(Frozen):
    """The description of one session. What is left out is as the runtime has it."""

    reasoning_effort: Effort | None = None
    system_message: SystemMessageSetup | None = None
    # Whether the instructions of the folder are read: AGENTS.md and the like.
    instructions: Instructions = "auto"
    tools: ToolSetup = ToolSetup()
    # Real paths, which are read like the working directory.
    directories: tuple[Words, ...] = ()
    context: ContextSetup = ContextSetup()


USUAL = Setup()
