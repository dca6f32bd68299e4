"""The one call that a runtime in a cage makes over a connection: who it is, at GitHub.

The runtime hands all others over by its own wire. Every shell beside it may call here too: they
learn what the account's page says, and nothing more is served.
"""

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from airboss.harness.lent_account import USER_PATH, UserAnswer, word_in

if TYPE_CHECKING:
    from airboss.harness.providers import RawHeaders
    from airboss.harness.proxy import ProviderProxy

_HEAD_SECONDS: Final = 10.0
_MOST_AT_ONCE: Final = 16
_REASONS: Final = {200: "OK", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"}


@dataclass
class UserDoor:
    """Serves the connections of one cage, each with one call."""

    proxy: "ProviderProxy"
    _served: int = field(default=0, init=False)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._served += 1
        try:
            if self._served <= _MOST_AT_ONCE:
                async with asyncio.timeout(_HEAD_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                writer.write(_written(await self._answer(head)))
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass
        finally:
            self._served -= 1
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, head: bytes) -> UserAnswer:
        line, *lines = head.decode("latin-1").strip().split("\r\n")
        if line.split(" ")[:2] != ["GET", USER_PATH]:
            return _said(404, "There is nothing else behind this door.")
        headers: RawHeaders = []
        for text in lines:
            name, colon, value = text.partition(":")
            if colon and name.strip() == name and name:
                headers.append((name.lower().encode("latin-1"), value.strip().encode("latin-1")))
        word = word_in(headers)
        if not word:
            return _said(401, "This door is for the agent runtime.")
        return await self.proxy.user(word, headers)


def _said(status: int, message: str) -> UserAnswer:
    return UserAnswer(status, json.dumps({"message": message}).encode())


def _written(answer: UserAnswer) -> bytes:
    head = (
        f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Answer')}",
        "content-type: application/json",
        f"content-length: {len(answer.body)}",
        "connection: close",
    )
    return "\r\n".join((*head, "", "")).encode() + answer.body
