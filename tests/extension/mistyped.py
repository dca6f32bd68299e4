"""What type checkers refuse in an extension: each line to be ignored here is an error there, and
`make check` fails when it is none any more. Nobody runs this."""

from airboss.extension import (
    Context,
    Deny,
    Notify,
    PromptSubmitted,
    Result,
    SessionEnded,
    SessionStarted,
    ToolUse,
    hook,
    session,
    tool,
)


@hook.session_start  # pyright: ignore[reportArgumentType, reportUntypedFunctionDecorator]
def deny_a_start(start: SessionStarted) -> Deny:
    return Deny("it cannot")


@hook.pre_tool_use(tools=["bash"])  # pyright: ignore[reportArgumentType, reportUntypedFunctionDecorator]
def notify_before(use: ToolUse) -> Notify:
    return Notify("it cannot")


@hook.user_prompt_submitted  # pyright: ignore[reportArgumentType, reportUntypedFunctionDecorator]
def other_moment(use: ToolUse) -> None: ...


@hook.session_end  # pyright: ignore[reportArgumentType, reportUntypedFunctionDecorator]
async def context_at_the_end(end: SessionEnded) -> Context:
    return Context("it cannot")


@hook.user_prompt_submitted
def right(given: PromptSubmitted) -> list[Context] | None:
    given.prompt = "frozen"  # pyright: ignore[reportAttributeAccessIssue]
    return [Context(7)]  # pyright: ignore[reportArgumentType]


@tool(times=3)  # pyright: ignore[reportCallIssue, reportUntypedFunctionDecorator]
async def misuse() -> Result:
    """Misuses the session."""
    await session.log("x", level="loud")  # pyright: ignore[reportArgumentType]
    await session.send(prompt=["x"])  # pyright: ignore[reportArgumentType]
    return Result("x", "splendid")  # pyright: ignore[reportArgumentType]


def decorated_functions_keep_their_types(given: PromptSubmitted) -> str:
    return right(given)  # pyright: ignore[reportReturnType]
