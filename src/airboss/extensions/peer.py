"""The host's side of the protocol with one process: questions, answers, and who waits for which."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from airboss.background import Background
from airboss.errors import AirbossError
from airboss.extensions.child import Child

UNKNOWN_METHOD: Final = -32601
_REFUSED: Final = -32000
# Requests of one process that are under way at the same time.
_MOST_REQUESTS: Final = 256

# Answers what the process asks; raises `RpcRefusal` to say no.
Handle: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[object]]


class RpcRefusal(Exception):
    """What was asked cannot be had."""

    def __init__(self, words: str, code: int = _REFUSED) -> None:
        super().__init__(words)
        self.code = code


class RpcFailure(Exception):
    """The process answered that it failed."""


@dataclass
class Peer:
    """Talks with `child` about `session`. What it asks is answered by `handle`, each beside the
    others."""

    session: str
    child: Child
    handle: Handle
    beside: Background
    _number: int = 0
    _going: int = 0
    _waiting: dict[int, "asyncio.Future[Any]"] = field(
        default_factory=dict[int, "asyncio.Future[Any]"]
    )

    async def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Its answer; raises `RpcFailure` where it says that it failed, and never returns where it
        says nothing: whoever asks has a clock."""
        self._number += 1
        number, answer = self._number, asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        given = {"sessionId": self.session, **(params or {})}
        try:
            self.child.say({"jsonrpc": "2.0", "id": number, "method": method, "params": given})
            return await answer
        finally:
            self._waiting.pop(number, None)

    def tell(self, event: Mapping[str, Any], *, may_be_dropped: bool = False) -> None:
        params = {"sessionId": self.session, "event": event}
        said = {"jsonrpc": "2.0", "method": "session.event", "params": params}
        self.child.say(said, may_be_dropped=may_be_dropped)

    def hear(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if isinstance(method, str):
            self._asked(method, message)
            return
        number = message.get("id")
        answer = self._waiting.get(number) if isinstance(number, int) else None
        if answer is not None and not answer.done():
            if "error" in message:
                error = message["error"]
                told = cast("Any", error).get("message") if isinstance(error, dict) else error
                answer.set_exception(RpcFailure(str(told or "It gave no reason.")))
            else:
                answer.set_result(message.get("result"))

    def _asked(self, method: str, message: Mapping[str, Any]) -> None:
        number, given = message.get("id"), cast("object", message.get("params"))
        params = cast("Mapping[str, Any]", given if isinstance(given, dict) else {})
        if self.beside.is_closed:
            return
        if self._going >= _MOST_REQUESTS:
            self._refuse(number, "Too many requests are under way.", _REFUSED)
            return
        self._going += 1
        self.beside.start(self._answer(number, method, params), method)

    async def _answer(self, number: object, method: str, params: Mapping[str, Any]) -> None:
        try:
            result = await self.handle(method, params)
        except (RpcRefusal, AirbossError) as refused:
            self._refuse(number, str(refused), getattr(refused, "code", _REFUSED))
        except Exception:  # a fault of ours is logged, and it still waits for an answer
            self._refuse(number, "Airboss failed at this request.", _REFUSED)
            raise
        else:
            if number is not None:
                self.child.say({"jsonrpc": "2.0", "id": number, "result": result})
        finally:
            self._going -= 1

    def _refuse(self, number: object, words: str, code: object) -> None:
        if number is not None:
            error = {"code": code if isinstance(code, int) else _REFUSED, "message": words}
            self.child.say({"jsonrpc": "2.0", "id": number, "error": error})

    def give_up(self, reason: str) -> None:
        """The process is gone: whoever waits for its answers is told."""
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(RpcFailure(reason))
