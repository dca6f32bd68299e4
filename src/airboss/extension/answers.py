"""What tools and hooks answer: small frozen objects, checked when they are made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

ResultType: TypeAlias = Literal["success", "failure", "rejected", "denied"]
Handling: TypeAlias = Literal["retry", "skip", "abort"]


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool came to: the text that the agent reads, and how it went.

    `rejected` makes the agent stop its turn. From a hook, it takes the place of a tool's result.
    """

    text: str
    type: ResultType = "success"

    def __post_init__(self) -> None:
        _only_text("Result", self.text)
        if self.type not in get_args(ResultType):
            known = ", ".join(get_args(ResultType))
            raise ValueError(f"Result: the type is one of {known}, and not {self.type!r}")


@dataclass(frozen=True, slots=True)
class Deny:
    """The call is not made. The agent reads why."""

    why: str

    def __post_init__(self) -> None:
        _only_text("Deny", self.why)


@dataclass(frozen=True, slots=True)
class Ask:
    """A person decides about the call, and reads why."""

    why: str

    def __post_init__(self) -> None:
        _only_text("Ask", self.why)


@dataclass(frozen=True, slots=True)
class Allow:
    """Nobody needs to be asked about the call. It widens no rule and no policy that says no."""

    why: str = ""

    def __post_init__(self) -> None:
        _only_text("Allow", self.why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Another prompt, or other arguments: they take the place of all that were given."""

    prompt: str | None = None
    arguments: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if (self.prompt is None) == (self.arguments is None):
            raise TypeError("Change: give either prompt= or arguments=")
        if self.prompt is not None:
            _only_text("Change", self.prompt)
        elif not isinstance(self.arguments, Mapping):
            raise TypeError("Change: arguments= is a dict, by the names of the parameters")


@dataclass(frozen=True, slots=True)
class Context:
    """Something that the agent reads beside the rest, and people do not see as a message."""

    text: str

    def __post_init__(self) -> None:
        _only_text("Context", self.text)


@dataclass(frozen=True, slots=True)
class Notify:
    """A message to the people who watch the session."""

    text: str

    def __post_init__(self) -> None:
        _only_text("Notify", self.text)


Answer: TypeAlias = Result | Deny | Ask | Allow | Change | Context | Notify | str


def _only_text(name: str, given: object) -> None:
    if not isinstance(given, str):
        raise TypeError(f"{name}: the text is a str, and not {type(given).__name__}")
