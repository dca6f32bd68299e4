"""The work of an extension: a call of one of its tools, a question to its hooks, an event.

It knows the functions and what goes in and out of them, and nothing of how the host is reached.
"""

import asyncio
import base64
import contextvars
import inspect
import json
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, cast

from airboss.extension.answers import (
    Allow,
    Answer,
    Ask,
    Change,
    Context,
    Deny,
    Handling,
    Image,
    Notify,
    Result,
)
from airboss.extension.moments import Call, Moment, PromptSubmitted, ToolDone, ToolUse
from airboss.extension.parameters import Misfit, bound
from airboss.extension.place import KitPlace
from airboss.extension.registry import Listener, OfferedTool

MOST_RESULT = 1 << 20
# As base64.
MOST_IMAGES = 3 << 20
# Signs that JSON spells out are six times as long there; a message has 4 MiB.
_MOST_AS_JSON = (4 << 20) - (64 << 10)
_IMAGES = "binaryResultsForLlm"
_THREADS = 32
_ANSWERED = object()
# The first that somebody says counts before the others.
_HANDLINGS: tuple[Handling, ...] = ("abort", "skip", "retry")
_MAY_ANSWER: Mapping[str, tuple[type, ...]] = {
    "user_prompt_submitted": (Change, Context),
    "pre_tool_use": (Deny, Ask, Allow, Change, Context),
    "post_tool_use": (Result, Context),
    "post_tool_use_failure": (Context,),
    "session_start": (Context,),
    "session_end": (str,),
    "error_occurred": (str, Notify),
}


class KitThreads:
    """Where functions without `async` run: tools, hooks and events do not wait for each other."""

    def __init__(self) -> None:
        self.tools = ThreadPoolExecutor(_THREADS, "tool")
        self.hooks = ThreadPoolExecutor(_THREADS, "hook")
        self.events = ThreadPoolExecutor(_THREADS, "event")


class FunctionRunner:
    def __init__(self, place: KitPlace) -> None:
        self._place = place
        self._threads = KitThreads()

    async def call(self, tool: str, arguments: Any, call_id: str) -> Result:
        """Whatever happens in the tool, it comes to a result."""
        offer = self._place.registry.tools.get(tool)
        if offer is None:
            return Result(f"This extension has no tool {tool}.", "failure")
        try:
            given = _arguments(offer, arguments, Call(call_id, tool, self._place.session))
        except Misfit as misfit:
            return Result(f"{tool}: {misfit}", "failure")
        try:
            said = await _run(self._threads.tools, partial(offer.function, **given))
            return _bounded(tool, _result(said))
        except Exception as error:  # noqa: BLE001 - the border to others' code
            tell(error)
            return _bounded(tool, Result(message_of(error), "failure"))

    async def ask(self, kind: str, moment: Moment, answer: Callable[[list[Answer]], None]) -> None:
        """`answer` is called once with what the hooks say, in whatever thread: whoever waits for it
        is not to wait for the loop too."""
        tool = moment.tool if isinstance(moment, ToolUse) else None
        listening = self._place.registry.listening(kind, tool)
        if len(listening) != 1:
            answer(await self._ask_all(listening, moment))
            return
        (listener,) = listening

        def asked() -> Any:
            said = listener.function(moment)
            if inspect.isawaitable(said):
                return said
            answer(_checked(listener, said))
            return _ANSWERED

        is_slow = inspect.iscoroutinefunction(listener.function)
        function = partial(listener.function, moment) if is_slow else partial(asked)
        said = await _run(self._threads.hooks, function)
        if said is not _ANSWERED:
            answer(_checked(listener, said))

    async def _ask_all(self, listening: Sequence[Listener], moment: Moment) -> list[Answer]:
        """In order. Each one sees what those before it have changed."""
        answers: list[Answer] = []
        for listener in listening:
            # A hook that alters what it was given changes nothing by that, for the next one.
            given = deepcopy(moment)
            said = await _run(self._threads.hooks, partial(listener.function, given))
            new = _checked(listener, said)
            if any(isinstance(one, Change) for one in new):  # what was allowed was another call
                answers = [one for one in answers if not isinstance(one, Allow)]
            answers += new
            if any(isinstance(one, Deny) for one in new):
                break
            for one in new:
                moment = _changed(moment, one)
        return answers

    async def tell(self, function: Callable[[Any], Any], event: Any) -> None:
        try:
            await _run(self._threads.events, partial(function, event))
        except Exception as error:  # noqa: BLE001 - the border to others' code
            tell(error)


async def _run(threads: ThreadPoolExecutor, function: "partial[Any]") -> Any:
    """Raises an Exception, whatever the function raises: somebody waits for an answer."""
    if inspect.iscoroutinefunction(function):
        return await _awaited(function())
    context = contextvars.copy_context()

    def run() -> Any:
        return context.run(_called, function)

    said = await asyncio.get_running_loop().run_in_executor(threads, run)
    return await _awaited(said) if inspect.isawaitable(said) else said


def _called(function: "partial[Any]") -> Any:
    """In a thread. A future does not carry all of these: who waits for it would wait for ever."""
    try:
        return function()
    except StopIteration as stopped:
        raise RuntimeError("StopIteration: there was nothing more to take") from stopped
    except futures.CancelledError as error:
        raise _as_exception(error) from error
    except Exception:
        raise
    except BaseException as error:
        raise _as_exception(error) from error


async def _awaited(work: Awaitable[Any]) -> Any:
    try:
        return await work
    except Exception:
        raise
    except BaseException as error:
        task = asyncio.current_task()
        # It was withdrawn: nobody waits any more.
        if isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling()):
            raise
        raise _as_exception(error) from error


def _as_exception(error: BaseException) -> RuntimeError:
    is_cancelled = isinstance(error, asyncio.CancelledError | futures.CancelledError)
    why = "something that it waited for was cancelled" if is_cancelled else _text_of(error)
    return RuntimeError(f"{type(error).__name__}: {why}".removesuffix(": "))


def _arguments(offer: OfferedTool, arguments: Any, call: Call) -> dict[str, Any]:
    told = {offer.call: call} if offer.call else {}
    if offer.takes is not None:
        return {**offer.takes.read(arguments), **told}
    return bound(partial(offer.function, **told), arguments) | told


def _result(said: Any) -> Result:
    if isinstance(said, Result):
        return said
    if said is None or isinstance(said, str):
        return Result(said or "")
    try:
        return Result(json.dumps(said, ensure_ascii=False))
    except (TypeError, ValueError) as why:
        raise TypeError(f"a tool should return text, a Result, or JSON values: {why}") from None


def _bounded(tool: str, result: Result) -> Result:
    images = sum(4 * -(-len(one.data) // 3) for one in result.images)
    if images > MOST_IMAGES:
        said = f"{tool}: its images have {images:,} bytes as base64; {MOST_IMAGES:,} are the most."
        return Result(said, "failure")
    text = result.text
    size, most = len(text.encode("utf-8", "replace")), MOST_RESULT
    if size <= MOST_RESULT:
        spelled_out = json.dumps(text, ensure_ascii=False)
        size, most = len(spelled_out.encode("utf-8", "replace")), _MOST_AS_JSON - images
    if size <= most:
        return result
    return Result(f"{tool}: its result has {size:,} bytes; {most:,} are the most.", "failure")


def _checked(listener: Listener, said: Any) -> list[Answer]:
    kind = listener.kind
    given: list[Any] = [] if said is None else [said]
    if isinstance(said, Sequence) and not isinstance(said, str):
        given = list(cast("Sequence[Any]", said))
    for one in given:
        if not isinstance(one, _MAY_ANSWER[kind]):
            known = ", ".join(known.__name__ for known in _MAY_ANSWER[kind])
            name = type(one).__name__
            raise TypeError(f"hook.{kind} may return nothing or {known}, not {name}")
        if kind == "error_occurred" and isinstance(one, str) and one not in _HANDLINGS:
            raise ValueError(
                f"hook.{kind} may return {' or '.join(map(repr, _HANDLINGS))}, not {one!r}"
            )
        if isinstance(one, Change):
            _check_change(kind, one)
    return given


def _check_change(kind: str, change: Change) -> None:
    is_prompt = kind == "user_prompt_submitted"
    if (change.prompt is not None) != is_prompt:
        raise TypeError(f"hook.{kind} can only change the {'prompt' if is_prompt else 'arguments'}")


def _changed(moment: Moment, answer: Answer) -> Moment:
    match moment, answer:
        case PromptSubmitted(), Change(prompt=str(prompt)):
            return replace(moment, prompt=prompt)
        case ToolUse(), Change(arguments=arguments) if arguments is not None:
            return replace(moment, arguments=dict(arguments))
        case ToolDone(), Result():
            return replace(moment, result=answer)
        case _:
            return moment


def output_of(answers: Sequence[Answer]) -> dict[str, Any]:
    """As the host reads it: the last change counts, Deny before Ask before Allow."""
    output: dict[str, Any] = {}
    for one in answers:
        match one:
            case Change(prompt=str(prompt)):
                output["modifiedPrompt"] = prompt
            case Change(arguments=arguments):
                output["modifiedArgs"] = dict(arguments or {})
            case Result():
                # In place of a result that has images, it has only its own.
                output["modifiedResult"] = {_IMAGES: [], **wire_result(one)}
            case _:
                pass
    for decision, kind in (("deny", Deny), ("ask", Ask), ("allow", Allow)):
        said = [one.why for one in answers if isinstance(one, kind)]
        if said:
            output["permissionDecision"] = decision
            output["permissionDecisionReason"] = said[0]
            break
    texts = {
        "additionalContext": [one.text for one in answers if isinstance(one, Context)],
        "userNotification": [one.text for one in answers if isinstance(one, Notify)],
    }
    return output | {name: "\n\n".join(said) for name, said in texts.items() if said}


def text_output_of(kind: str, answers: Sequence[Answer]) -> dict[str, Any]:
    """Of the hooks that answer by a word or a text."""
    texts = [one for one in answers if isinstance(one, str)]
    if not texts:
        return {}
    if kind == "session_end":
        return {"sessionSummary": "\n\n".join(texts)}
    return {"errorHandling": next(one for one in _HANDLINGS if one in texts)}


def wire_result(result: Result) -> dict[str, Any]:
    said: dict[str, Any] = {"textResultForLlm": result.text, "resultType": result.type}
    return {**said, _IMAGES: [_wire_image(one) for one in result.images]} if result.images else said


def _wire_image(image: Image) -> dict[str, Any]:
    data = base64.b64encode(image.data).decode("ascii")
    return {"type": "image", "mimeType": image.mime_type, "data": data}


def message_of(error: Exception) -> str:
    """Its message, with its kind where the message alone says too little."""
    if isinstance(error, ExceptionGroup):
        group = cast("ExceptionGroup[Exception]", error)
        return f"{group.message}: {'; '.join(message_of(one) for one in group.exceptions)}"
    text = _text_of(error)
    is_bare = not text or isinstance(error, LookupError)
    return f"{type(error).__name__}: {text}".removesuffix(": ") if is_bare else text


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the border to others' code
        return ""


def tell(error: BaseException) -> None:
    """To the extension's log, from where its own code begins."""
    error.__traceback__ = _own(error.__traceback__)
    traceback.print_exception(error)


def _own(trace: TracebackType | None) -> TracebackType | None:
    kit = __name__.rpartition(".")[0]
    found = trace
    while found is not None:
        name = str(found.tb_frame.f_globals.get("__name__", ""))
        if not name.startswith((kit, "concurrent.futures", "asyncio")):
            return found
        found = found.tb_next
    return trace
