"""The two decorators: `tool` and `hook`."""

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, overload

from airboss.extension.answers import Allow, Ask, Change, Context, Deny, Handling, Notify, Result
from airboss.extension.moments import (
    ErrorOccurred,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    ToolDone,
    ToolFailed,
    ToolUse,
)
from airboss.extension.place import here
from airboss.extension.registry import Listener, listened_tools, made_offer

_Given = TypeVar("_Given")
_Said = TypeVar("_Said")
_Answers: TypeAlias = _Said | Sequence[_Said] | None
# A function with or without `async`, which answers nothing, one thing, or several.
_Asked: TypeAlias = Callable[[_Given], _Answers[_Said] | Awaitable[_Answers[_Said]]]

_OnPrompt: TypeAlias = _Asked[PromptSubmitted, Change | Context]
_OnUse: TypeAlias = _Asked[ToolUse, Deny | Ask | Allow | Change | Context]
_OnDone: TypeAlias = _Asked[ToolDone, Result | Context]
_OnFailed: TypeAlias = _Asked[ToolFailed, Context]
_OnStart: TypeAlias = _Asked[SessionStarted, Context]
_OnEnd: TypeAlias = _Asked[SessionEnded, str]
_OnError: TypeAlias = _Asked[ErrorOccurred, Handling | Notify]

_Tool = TypeVar("_Tool", bound=Callable[..., Any])
_Prompt = TypeVar("_Prompt", bound=_OnPrompt)
_Use = TypeVar("_Use", bound=_OnUse)
_Done = TypeVar("_Done", bound=_OnDone)
_Failed = TypeVar("_Failed", bound=_OnFailed)
_Start = TypeVar("_Start", bound=_OnStart)
_End = TypeVar("_End", bound=_OnEnd)
_Error = TypeVar("_Error", bound=_OnError)


@overload
def tool(function: _Tool, /) -> _Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    seconds: float = 600,
    repeatable: bool = False,
) -> Callable[[_Tool], _Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    seconds: float = 600,
    repeatable: bool = False,
) -> Callable[..., Any]:
    """Offers a function to the agent as a tool.

    The agent reads the docstring and the parameters; `parameters=` takes a JSON Schema instead of
    the signature. A call may take `seconds`. With `repeatable=True` it is made again if the
    extension ended during it.
    """

    def offer(function: Callable[..., Any]) -> Callable[..., Any]:
        made = made_offer(function, name, description, parameters, seconds, repeatable)
        here().registry.offer(made)
        return function

    return offer if function is None else offer(function)


class HookDecorators:
    """A decorator for each moment at which an extension is asked."""

    def user_prompt_submitted(self, function: _Prompt, /) -> _Prompt:
        """A prompt reaches the agent: `Change(prompt=…)`, `Context(…)`."""
        return _listen("user_prompt_submitted", function)

    @overload
    def pre_tool_use(self, function: _Use, /) -> _Use: ...
    @overload
    def pre_tool_use(
        self, /, *, tools: Collection[str] | None = None
    ) -> Callable[[_Use], _Use]: ...
    def pre_tool_use(
        self, function: Callable[..., Any] | None = None, /, *, tools: Collection[str] | None = None
    ) -> Callable[..., Any]:
        """A tool is about to be called: `Deny`, `Ask`, `Allow`, `Change(arguments=…)`, `Context`.
        Failing or late, it is a no."""
        return _about_tools("pre_tool_use", function, tools)

    @overload
    def post_tool_use(self, function: _Done, /) -> _Done: ...
    @overload
    def post_tool_use(
        self, /, *, tools: Collection[str] | None = None
    ) -> Callable[[_Done], _Done]: ...
    def post_tool_use(
        self, function: Callable[..., Any] | None = None, /, *, tools: Collection[str] | None = None
    ) -> Callable[..., Any]:
        """A tool has worked: `Result` takes the place of its result, `Context` stands beside it."""
        return _about_tools("post_tool_use", function, tools)

    @overload
    def post_tool_use_failure(self, function: _Failed, /) -> _Failed: ...
    @overload
    def post_tool_use_failure(
        self, /, *, tools: Collection[str] | None = None
    ) -> Callable[[_Failed], _Failed]: ...
    def post_tool_use_failure(
        self, function: Callable[..., Any] | None = None, /, *, tools: Collection[str] | None = None
    ) -> Callable[..., Any]:
        """A tool has failed: `Context`. A failure cannot be replaced."""
        return _about_tools("post_tool_use_failure", function, tools)

    def session_start(self, function: _Start, /) -> _Start:
        """With the first prompt, and after a resume: `Context`."""
        return _listen("session_start", function)

    def session_end(self, function: _End, /) -> _End:
        """The session is left: a summary as text."""
        return _listen("session_end", function)

    def error_occurred(self, function: _Error, /) -> _Error:
        """Something has failed: `"retry"`, `"skip"`, `"abort"`, `Notify(…)`."""
        return _listen("error_occurred", function)


hook = HookDecorators()


def _listen(kind: str, function: _Tool, tools: frozenset[str] | None = None) -> _Tool:
    if not callable(function):
        raise TypeError(f"hook.{kind}: put it above a function, without brackets")
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        raise TypeError(f"hook.{kind}: its function takes one object, and nothing more") from None
    here().registry.listen(Listener(kind, function, tools))
    return function


def _about_tools(
    kind: str, function: Callable[..., Any] | None, tools: Collection[str] | None
) -> Callable[..., Any]:
    listened = listened_tools(kind, tools)
    if function is not None and not callable(function):
        names = [function] if isinstance(function, str) else function
        raise TypeError(f"hook.{kind}: give the names of tools as tools={names!r}")
    if function is not None:
        return _listen(kind, function, listened)

    def listen(function: Callable[..., Any]) -> Callable[..., Any]:
        return _listen(kind, function, listened)

    return listen
