"""What a session is, in full: made once, when it is opened, and given whole to every resume.

Nothing secret is in it: it is written down with the session, and shown.
"""

from pydantic import Field

from airboss.cage_settings import CageProfile
from airboss.model.tool_lists import ToolList, allowed_by, server_allows, words_about
from airboss.model.words import Frozen, Words
from airboss.session_keys import (
    DEFAULT_IDENTITY,
    HOOK_SECONDS,
    Effort,
    HookName,
    Instructions,
    SectionAction,
    ToolSearch,
)


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
    # Of these MCP servers no more than the tools that are named, by their names there.
    of_servers: dict[Words, tuple[Words, ...]] = Field(default_factory=dict)

    @property
    def is_limited(self) -> bool:
        return bool(self.lists or self.of_servers)

    def allows(self, tool: str) -> bool:
        return allowed_by(self.lists, tool) and server_allows(self.of_servers, tool)

    def words_about(self, server: str) -> list[str]:
        """What is said about the tools of one server, by their names there."""
        return [*words_about(self.lists, server), *self.of_servers.get(server, ())]


class AgentSetup(Frozen):
    """An agent that work may be handed to. What is left out is as of the session's own agent."""

    description: Words
    prompt: Words
    # As people write them; no more than the session has.
    tools: tuple[Words, ...] | None = None
    model: Words | None = None
    reasoning_effort: Effort | None = None
    # Of the session's servers, by name.
    mcp_servers: tuple[Words, ...] | None = None
    # Those that it has read when it begins, by name.
    skills: tuple[Words, ...] = ()


class ServerSetup(Frozen):
    """An MCP server: a program that is started, or an address that is called. Values that are
    secret are in the variables that these texts name (`$NAME`)."""

    command: tuple[Words, ...] | None = None
    env: dict[Words, Words] = Field(default_factory=dict)
    url: Words | None = None
    headers: dict[Words, Words] = Field(default_factory=dict)
    # The one that holds the token with which it is called.
    token_variable: Words | None = None
    # Who we are where people sign in, and the variable with the secret of that.
    client_id: Words | None = None
    client_secret_variable: Words | None = None
    # Whether it may be on this machine or in this network.
    private: bool = False
    # So long a call may take; without it as long as the runtime waits.
    seconds: float | None = None
    # Whether it runs outside of the session's cage.
    on_host: bool = False
    # Files of an entry that it runs: they must still be what a person trusted.
    scripts: tuple[Words, ...] = ()

    @property
    def must_sign_in(self) -> bool:
        """Whether only a person can let the agents in, if it wants to know who calls."""
        return self.url is not None and not self.headers and self.token_variable is None


class CommandSetup(Frozen):
    """A prompt that people send by its name."""

    description: Words
    prompt: Words


class ContextSetup(Frozen):
    """When a conversation is summarized beside the work, and when the work waits for that; as
    shares of what fits into the model's context. What is left out is the runtime's own."""

    infinite: bool | None = None
    compact_at: float | None = None
    block_at: float | None = None


class HookSetup(Frozen):
    """A program that is asked at one moment: a command, or a function in a Python file."""

    hook: HookName
    command: tuple[Words, ...] = ()
    # The path of the file and the function, as in hooks.py:check.
    python: Words | None = None
    # Only for calls of these tools.
    tool: Words | None = None
    seconds: float = HOOK_SECONDS
    # Also for sub-agents; left out, hooks about tools are, and others are not.
    sub_agents: bool | None = None
    # Whether it runs outside of the session's cage.
    on_host: bool = False
    # Where it was said.
    place: Words = ""
    # The files that it names, with their digests: it runs only as long as they are so.
    files: dict[Words, Words] = Field(default_factory=dict)
    # Whether it is of an entry, and must still be what a person trusted.
    needs_trust: bool = False


class CageSetup(Frozen):
    """The cage that a session works in: the profile by its name, and what of it holds."""

    profile: Words
    terms: CageProfile


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
    agents: dict[Words, AgentSetup] = Field(default_factory=dict)
    commands: dict[Words, CommandSetup] = Field(default_factory=dict)
    # The one of its agents that the session is.
    agent: Words | None = None
    # Real paths of folders with skills, which are read like the working directory.
    skills: tuple[Words, ...] = ()
    # Whether these are of an entry, and must still be what a person trusted.
    skills_need_trust: bool = False
    # Whose Copilot it uses, by name; without one, the settings' accounts in their order.
    account: Words | None = None
    # Whose home its runtime has.
    identity: Words = DEFAULT_IDENTITY
    # What it works in. A session enters or leaves one only as a fork of another session.
    cage: CageSetup | None = None
    mcp_servers: dict[Words, ServerSetup] = Field(default_factory=dict)
    # In the order in which they are asked.
    hooks: tuple[HookSetup, ...] = ()

    @property
    def beside(self) -> tuple[str, ...]:
        """The folders that are read like the working directory."""
        return (*self.directories, *self.skills)


USUAL = Setup()
