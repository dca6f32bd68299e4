"""Tools of our own that a session offers to its agent, in our words and in the SDK's."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

if TYPE_CHECKING:
    from copilot import Tool, ToolInvocation, ToolResult


@dataclass(frozen=True)
class ToolRefusal:
    """The call was wrong: the agent is told why, and it counts as failed. `rejected` ends the turn
    as well."""

    reason: str
    kind: Literal["failure", "rejected", "denied"] = "failure"


@dataclass(frozen=True)
class ToolImage:
    """For the model to look at: `data` is base64."""

    mime: str
    data: str = field(repr=False)


@dataclass(frozen=True)
class ToolPictures:
    """A result of more than words."""

    text: str
    images: tuple[ToolImage, ...]


# What came of a call.
ToolSaid: TypeAlias = str | ToolPictures | ToolRefusal
# Called on the event loop with what the agent gave; returns at once.
Handle: TypeAlias = Callable[[Mapping[str, Any]], str | ToolRefusal]


@dataclass(frozen=True)
class ToolOffer:
    """A tool that is harmless by itself: nobody is asked for permission, unless it `asks`.
    `parameters` is a JSON schema, which the runtime shows to the model and does not enforce."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    # Without one it is answered from outside, however long that takes (`SessionWish.answer`); such
    # a call outlives this process, and is there again when its session is resumed.
    handle: Handle | None
    # Stands in the place of the runtime's own tool of that name.
    replaces: bool = False
    asks: bool = False


@dataclass(frozen=True, slots=True)
class OutsideCall:
    """A call of a tool that is answered from outside. It is made `again` where it was under way
    when its session was cut off: it may have taken effect."""

    request_id: str
    call: str | None
    tool: str
    arguments: Mapping[str, Any]
    again: bool = False


AnswerCall: TypeAlias = Callable[[OutsideCall], Awaitable[ToolSaid]]


def outside_call(data: Mapping[str, Any], *, again: bool = False) -> OutsideCall:
    """Read the data of an `external_tool.requested` event; what is missing or odd stays empty."""
    given = data.get("arguments")
    return OutsideCall(
        request_id=str(data.get("requestId") or ""),
        call=data.get("toolCallId"),
        tool=str(data.get("toolName") or ""),
        arguments=cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else {},
        again=again,
    )


def sdk_tools(offers: Iterable[ToolOffer]) -> "list[Tool]":
    from copilot import Tool

    return [
        Tool(
            name=offer.name,
            description=offer.description,
            parameters=dict(offer.parameters),
            handler=offer.handle and _handler(offer.handle),
            skip_permission=not offer.asks,
            overrides_built_in_tool=offer.replaces,
        )
        for offer in offers
    ]


def _handler(handle: Handle) -> "Callable[[ToolInvocation], ToolResult]":
    from copilot import ToolResult

    def answer(call: "ToolInvocation") -> ToolResult:
        given: object = call.arguments
        said = handle(cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else {})
        if isinstance(said, ToolRefusal):
            return ToolResult(said.reason, result_type=said.kind, error=said.reason)
        return ToolResult(said)

    return answer
