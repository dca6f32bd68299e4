"""What may be said about a session, wherever it is said: in settings, in an entry, in a request.

These are the keys of `[session]`, in snake_case. Files and requests write the same in camelCase.
"""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator
from pydantic.alias_generators import to_camel

Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
ToolSearch: TypeAlias = Literal["auto", "on", "off"]
Instructions: TypeAlias = Literal["auto", "off"]
SectionAction: TypeAlias = Literal["replace", "append", "prepend", "remove"]

# The parts of the runtime's own system message. `identity` is the group of the first ones: what is
# done to it is done to `tone` and `tool_efficiency` too.
SECTIONS: Final = (
    "preamble",
    "identity",
    "tone",
    "tool_efficiency",
    "environment_context",
    "code_change_rules",
    "guidelines",
    "safety",
    "tool_instructions",
    "custom_instructions",
    "runtime_instructions",
    "last_instructions",
)
# The runtime's own, where nobody says otherwise.
COMPACT_AT: Final = 0.8
BLOCK_AT: Final = 0.95
NOT_IN_ORDER: Final = f"Should be less than blockAt, which is {BLOCK_AT} unless it is said."
ONE_OF_MESSAGE: Final = "Should have exactly one of append, replace and sections."
ONE_OF_SECTION: Final = "Should have exactly one of replace, append and prepend."

Text: TypeAlias = Annotated[str, Field(min_length=1, max_length=1_000_000)]


class Keys(BaseModel):
    """Any part of what is said. What is left out is decided elsewhere."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )

    @property
    def said(self) -> tuple[str, ...]:
        """The names of what is said here."""
        return tuple(name for name, value in self if value is not None)


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


Share: TypeAlias = Annotated[float, Field(gt=0, le=1, strict=True)]


class ContextKeys(Keys):
    """How long conversations may become. Shares are of what fits into the model's context."""

    infinite: StrictBool | None = None
    compact_at: Share | None = None
    block_at: Share | None = None

    @model_validator(mode="after")
    def be_in_order(self) -> "ContextKeys":
        if self.compact_at and self.block_at and self.compact_at >= self.block_at:
            raise ValueError(NOT_IN_ORDER)
        return self


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

    @classmethod
    def of(cls, other: "SessionKeys") -> "SessionKeys":
        """The keys alone, of something that says more."""
        return cls(**{name: getattr(other, name) for name in SessionKeys.model_fields})


NOTHING_SAID: Final = SessionKeys()
