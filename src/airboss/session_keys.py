"""What may be said about a session, wherever it is said: in settings, in an entry, in a request.

These are the keys of `[session]`, in snake_case. Files and requests write the same in camelCase.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Annotated, Any, Final, Literal, TypeAlias, cast, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictBool,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from airboss.cage_keys import CageKeys, named_profile
from airboss.keys import Address, Keys, PartName, be_free_of_nul

Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
ToolSearch: TypeAlias = Literal["auto", "on", "off"]
Instructions: TypeAlias = Literal["auto", "off"]
OnUnsafeRetry: TypeAlias = Literal["retry", "ask", "fail"]
SectionAction: TypeAlias = Literal["replace", "append", "prepend", "remove"]

# The parts of the runtime's own system message. `identity` is the group of the first ones: what is
# done to it is done to `tone` and `tool_efficiency` too.
SECTIONS: Final = (
    *("preamble", "identity", "tone", "tool_efficiency", "environment_context"),
    *("code_change_rules", "guidelines", "safety", "tool_instructions", "custom_instructions"),
    *("runtime_instructions", "last_instructions"),
)
# The runtime's own, where nobody says otherwise.
COMPACT_AT: Final = 0.8
BLOCK_AT: Final = 0.95
NOT_IN_ORDER: Final = f"Should be less than blockAt, which is {BLOCK_AT} unless it is said."
TOO_EARLY: Final = f"Should be more than compactAt, which is {COMPACT_AT} unless it is said."
NEVER: Final = "Should not be there: with `infinite: false` nothing is summarized."
ONE_OF_MESSAGE: Final = "Should have exactly one of append, replace and sections."
ONE_OF_SECTION: Final = "Should have exactly one of replace, append and prepend."

Text: TypeAlias = Annotated[str, Field(min_length=1, max_length=1_000_000)]


class SectionKeys(Keys):
    """What becomes of one section of the system message."""

    replace: Text | None = None
    append: Text | None = None
    prepend: Text | None = None

    @model_validator(mode="after")
    def be_one_thing(self) -> "SectionKeys":
        if len(self.said) != 1:
            raise ValueError(ONE_OF_SECTION)
        return self


SectionName: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": [*SECTIONS]})]


class SystemMessageKeys(Keys):
    """What the model is told before everything else: exactly one of the three. `append` adds to the
    usual text, `replace` takes its place, `sections` changes parts of it."""

    append: Text | None = None
    replace: Text | None = None
    sections: dict[SectionName, SectionKeys | Literal["remove"]] | None = None

    @model_validator(mode="after")
    def be_one_thing(self) -> "SystemMessageKeys":
        if len(self.said) != 1:
            raise ValueError(ONE_OF_MESSAGE)
        unknown = next((name for name in self.sections or () if name not in SECTIONS), None)
        if unknown is not None:
            raise ValueError(unknown_section(unknown))
        return self


def unknown_section(name: str) -> str:
    return f'"{name}" is not a section of the system message: {", ".join(SECTIONS)}.'


FolderWord: TypeAlias = Annotated[str, Field(min_length=1, max_length=4096)]
ToolWord: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
ToolWords: TypeAlias = Annotated[tuple[ToolWord, ...], Field(max_length=500)]


class ToolKeys(Keys):
    """Which tools there are: names, globs, groups such as `@read`, and `SERVER/TOOL`."""

    allow: ToolWords | None = None
    deny: ToolWords | None = None
    search: ToolSearch | None = None
    github: StrictBool | None = None


MOST_AGENTS: Final = 100
# Whoever the Copilot CLI is signed in as, and the home that all share who name none.
CLI_ACCOUNT: Final = "cli"
DEFAULT_IDENTITY: Final = "default"
MOST_FOLDERS: Final = 100


class AgentKeys(Keys):
    """An agent that the session's own may hand work to, or that the session itself is."""

    description: Text
    prompt: Text
    tools: ToolWords | None = None
    model: Annotated[str, Field(min_length=1, max_length=1000)] | None = None
    reasoning_effort: Effort | None = None
    mcp_servers: tuple[PartName, ...] | None = None
    skills: tuple[PartName, ...] | None = None


VARIABLE_PATTERN: Final = r"^[A-Za-z_][A-Za-z0-9_]{0,199}$"
VARIABLE: Final = re.compile(VARIABLE_PATTERN)
NAMED_VARIABLE: Final = re.compile(r"\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})", re.ASCII)
MOST_SERVERS: Final = 50
LONGEST_SECONDS: Final = 3600
NO_SERVER: Final = "Should have a command or a url. Write {} to name a server of the settings."
TWO_SERVERS: Final = "Should have either a command or a url."

VariableName: TypeAlias = Annotated[str, Field(pattern=VARIABLE_PATTERN)]
CommandWord: TypeAlias = Annotated[str, Field(max_length=4096), AfterValidator(be_free_of_nul)]
# It may name variables: `$NAME`, or `${NAME}`. A `$$` is a `$`.
VariableText: TypeAlias = Annotated[str, Field(max_length=4096), AfterValidator(be_free_of_nul)]


class ServerKeys(Keys):
    """An MCP server: a program that is started (`command`), or an address that is called (`url`).
    An empty one names a server that is described elsewhere. What lets one in (`headers`,
    `tokenVariable`, `clientId`) and `private` are for the settings only."""

    command: Annotated[tuple[CommandWord, ...], Field(min_length=1, max_length=200)] | None = None
    env: Annotated[dict[VariableName, VariableText], Field(max_length=200)] | None = None
    url: Address | None = None
    headers: Annotated[dict[str, VariableText], Field(max_length=50)] | None = None
    token_variable: VariableName | None = None
    # Who this server is where people sign in, if it cannot register itself there.
    client_id: Annotated[str, Field(pattern=r"^[\x21-\x7e]+$", max_length=500)] | None = None
    client_secret_variable: VariableName | None = None
    # Whether it may be on this machine or in this network.
    private: StrictBool | None = None
    # Whether it runs outside of the cage of a caged session; its calls are then asked for.
    on_host: StrictBool | None = None
    tools: ToolWords | None = None
    # So long a call may take.
    seconds: Annotated[float, Field(gt=0, le=LONGEST_SECONDS, strict=True)] | None = None

    @model_validator(mode="after")
    def be_one_kind(self) -> "ServerKeys":
        if mistake := mistake_in_server(self.said):
            raise ValueError(mistake)
        return self

    @property
    def variables(self) -> Iterator[tuple[str, str]]:
        """Each variable that it needs, and the place that names it."""
        for key, texts in (("env", self.env), ("headers", self.headers)):
            for name, text in (texts or {}).items():
                yield from ((variable, f"{key}.{name}") for variable in variables_in(text))
        if self.token_variable is not None:
            yield self.token_variable, "tokenVariable"
        if self.client_secret_variable is not None:
            yield self.client_secret_variable, "clientSecretVariable"

    @property
    def is_name(self) -> bool:
        """Whether it only names a server that is described elsewhere."""
        return not self.said


def variables_in(text: str) -> list[str]:
    return [found[1] or found[2] for found in NAMED_VARIABLE.finditer(text) if found[0] != "$$"]


def mistake_in_server(said: Collection[str]) -> str | None:
    """What is wrong with a server that says these, in snake_case."""
    if not said:
        return None
    if "command" in said and "url" in said:
        return TWO_SERVERS
    if "command" not in said and "url" not in said:
        return NO_SERVER
    kind, others = (
        ("command", ("headers", "token_variable", "client_id", "client_secret_variable", "private"))
        if "command" in said
        else ("url", ("env",))
    )
    if wrong := next((name for name in others if name in said), None):
        return f"Should not have {to_camel(wrong)}: it has a {kind}."
    if "client_id" in said and "token_variable" in said:
        return "Should not have clientId: nobody signs in where a token is set (tokenVariable)."
    if "client_secret_variable" in said and "client_id" not in said:
        return "Should have a clientId, whose secret clientSecretVariable names."
    return None


# Commands that have a meaning of their own, and those that are refused: no prompt is named so.
TAKEN_COMMANDS: Final = (
    *("compact", "context", "plan", "rename", "review", "security-review", "usage"),
    *("allow-all", "permissions", "add-dir", "cwd", "mcp", "plugin", "remote", "sandbox"),
    "reset-allowed-tools",
)
MOST_COMMANDS: Final = 100


def taken_command(name: str) -> str:
    return f'"{name}" is a command of its own already. Choose another name.'


class CommandKeys(Keys):
    """A prompt that people send by its name, behind a slash."""

    description: Text
    prompt: Text


Share: TypeAlias = Annotated[float, Field(gt=0, le=1, strict=True)]


class ContextKeys(Keys):
    """How long conversations may become. Shares are of what fits into the model's context."""

    infinite: StrictBool | None = None
    compact_at: Share | None = None
    block_at: Share | None = None

    @model_validator(mode="after")
    def be_in_order(self) -> "ContextKeys":
        if self.infinite is False and (self.compact_at or self.block_at):
            raise ValueError(f"{'compactAt' if self.compact_at else 'blockAt'}: {NEVER}")
        if self.compact_at and self.block_at and self.compact_at >= self.block_at:
            raise ValueError(f"compactAt: {NOT_IN_ORDER}")
        return self


# The first twelve are the runtime's own, the others are ours.
HookName: TypeAlias = Literal[
    "preToolUse",
    "preMcpToolCall",
    "postToolUse",
    "postToolUseFailure",
    "userPromptSubmitted",
    "userPromptTransformed",
    "sessionStart",
    "sessionEnd",
    "errorOccurred",
    "agentStop",
    "subagentStart",
    "subagentStop",
    "beforePromptBuild",
    "modelInput",
    "modelOutput",
    "agentEnd",
    "beforeCompaction",
    "afterCompaction",
    "beforeMessageWrite",
]
HOOKS: Final[tuple[HookName, ...]] = get_args(HookName)
# Those that are about the call of a tool.
TOOL_HOOKS: Final = HOOKS[:4]
HOOK_SECONDS: Final = 15.0
MOST_HOOK_SECONDS: Final = 600
MOST_HOOKS: Final = 50
ONE_OF_HOOK: Final = "Should have exactly one of command and python."
PYTHON_HOOK: Final = r"^[^:]+\.py:[A-Za-z_][A-Za-z0-9_]*$"
PYTHON_RULE: Final = "Should be FILE.py:FUNCTION, such as hooks.py:check."
NOT_OF_TOOL: Final = f"Is for hooks about tools only: {', '.join(TOOL_HOOKS)}."


class HookKeys(Keys):
    """A program that is asked at one moment of a session's life: a command, or a function in a
    Python file."""

    command: Annotated[tuple[CommandWord, ...], Field(min_length=1, max_length=100)] | None = None
    python: Annotated[str, Field(pattern=PYTHON_HOOK, max_length=4096)] | None = None
    tool: ToolWord | None = None
    seconds: Annotated[float, Field(gt=0, le=MOST_HOOK_SECONDS, strict=True)] | None = None
    sub_agents: StrictBool | None = None
    # Whether it runs outside of the cage of a caged session. For the settings only.
    on_host: StrictBool | None = None

    @model_validator(mode="after")
    def be_one_thing(self) -> "HookKeys":
        if (self.command is None) == (self.python is None):
            raise ValueError(ONE_OF_HOOK)
        return self


def _in_camel_case(hooks: object) -> object:
    """Settings write `pre_tool_use`."""
    if not isinstance(hooks, dict):
        return hooks
    said = [(to_camel(str(name)), hook) for name, hook in cast("dict[Any, Any]", hooks).items()]
    found = dict(said)
    if len(found) < len(said):
        twice = next(name for name, times in Counter(name for name, _ in said).items() if times > 1)
        raise ValueError(f"{twice} is there twice, in two spellings. Put all into one list.")
    return found


HookLists: TypeAlias = dict[HookName, Annotated[tuple[HookKeys, ...], Field(max_length=MOST_HOOKS)]]


class SessionKeys(Keys):
    """What is said about a session in one place."""

    reasoning_effort: Annotated[
        Effort | None, Field(description="How long the model thinks. It must offer this effort.")
    ] = None
    system_message: Annotated[
        SystemMessageKeys | None, Field(description="What the model is told first.")
    ] = None
    instructions: Annotated[
        Instructions | None,
        Field(description="`off`: AGENTS.md and the like are not read."),
    ] = None
    tools: Annotated[ToolKeys | None, Field(description="Which tools its agents have.")] = None
    directories: Annotated[
        tuple[FolderWord, ...] | None,
        Field(max_length=100, description="Folders that it may read beside its own, below a root."),
    ] = None
    context: Annotated[
        ContextKeys | None, Field(description="When a long conversation is summarized.")
    ] = None
    agents: Annotated[
        dict[PartName, AgentKeys] | None,
        Field(
            max_length=MOST_AGENTS, description="Agents by name, which its own may hand work to."
        ),
    ] = None
    commands: Annotated[
        dict[PartName, CommandKeys] | None,
        Field(max_length=MOST_COMMANDS, description="Prompts by name, sent with `/NAME`."),
    ] = None
    agent: Annotated[
        PartName | None, Field(description="The one of its agents that the session itself is.")
    ] = None
    skills: Annotated[
        tuple[FolderWord, ...] | None,
        Field(max_length=MOST_FOLDERS, description="Folders of skills, each as NAME/SKILL.md."),
    ] = None
    account: Annotated[
        PartName | None,
        Field(description="Whose Copilot it uses: an account of the settings, or `cli`."),
    ] = None
    identity: Annotated[
        PartName | None,
        Field(description="Whose home its runtime has. Sessions of others do not share it."),
    ] = None
    cage: Annotated[
        CageKeys | None,
        BeforeValidator(named_profile),
        Field(description="The cage that it works in: the name of a profile, or changes of one."),
    ] = None
    mcp_servers: Annotated[
        dict[PartName, ServerKeys] | None,
        Field(max_length=MOST_SERVERS, description="MCP servers by name, whose tools it has."),
    ] = None
    hooks: Annotated[
        HookLists | None,
        BeforeValidator(_in_camel_case),
        Field(description="Programs that are asked at moments of its life, by the hook's name."),
    ] = None

    @field_validator("commands")
    @classmethod
    def be_free(cls, commands: dict[str, CommandKeys] | None) -> dict[str, CommandKeys] | None:
        taken = next((name for name in commands or () if name in TAKEN_COMMANDS), None)
        if taken is not None:
            raise ValueError(taken_command(taken))
        return commands

    @classmethod
    def of(cls, other: "SessionKeys") -> "SessionKeys":
        """The keys alone, of something that says more."""
        return cls(**{name: getattr(other, name) for name in SessionKeys.model_fields})


class SessionSettings(SessionKeys):
    """What the settings say about every session, and what others may say about one."""

    # What an entry or a request may name as `$NAME`.
    variables: Annotated[tuple[VariableName, ...], Field(max_length=200)] | None = None


NOTHING_SAID: Final = SessionKeys()
NOTHING_SET: Final = SessionSettings()
