"""The agent's messages on their way into the log, where a hook is asked before each is written.

A message is held until its hook has answered: not a word of it is seen before. What comes meanwhile
waits behind it, so that the order stays as it was.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from airboss.harness.hooks import SessionHooks
from airboss.model.events import (
    Event,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    SubAgentSaid,
)
from airboss.model.excerpt import Redacting, excerpt
from airboss.runtime.signals import Signal

_NOT_WRITTEN = "[A hook kept this message from being written: {}]"


@dataclass
class MessageWriting:
    """`hear` is given what is to be written, in order. `most` characters of a message are."""

    hooks: SessionHooks | None
    redactor: Redacting
    hear: Callable[[Event | Signal], None]
    most: int
    _held: "deque[Event | Signal]" = field(default_factory=deque["Event | Signal"])
    _is_asking: bool = False

    def say(self, said: Event | Signal) -> None:
        if self.hooks is None or not self.hooks.has("beforeMessageWrite"):
            self.hear(said)
        elif not isinstance(said, MessageStarted | MessageDelta):  # its end has all of it
            self._held.append(said)
            self._go_on()

    def _go_on(self) -> None:
        while self._held and not self._is_asking:
            said = self._held[0]
            is_message = isinstance(said, MessageEnded | SubAgentSaid)
            if is_message and self.hooks and not self.hooks.beside.is_closed:
                self._is_asking = True
                self.hooks.beside.start(self._ask(said, self.hooks), "beforeMessageWrite")
            else:
                self._held.popleft()
                self._write(said)

    async def _ask(self, said: MessageEnded | SubAgentSaid, hooks: SessionHooks) -> None:
        written: MessageEnded | SubAgentSaid = said
        try:
            agent = said.parent if isinstance(said, SubAgentSaid) else None
            given = {"role": "assistant", "text": said.text, "agentId": agent}
            found = await hooks.ask("beforeMessageWrite", given, agent=agent)
            text = str(found.given["text"])
            if found.no is not None:
                text = _NOT_WRITTEN.format(found.no)
            if text != said.text:
                clean = excerpt(self.redactor, text, self.most)
                written = said.model_copy(update={"text": clean})
        finally:
            self._held.popleft()
            self._is_asking = False
            self._write(written)
            self._go_on()

    def _write(self, said: Event | Signal) -> None:
        if isinstance(said, MessageEnded):
            self.hear(MessageStarted(block=said.block))
            if said.text:
                self.hear(MessageDelta(block=said.block, offset=0, text=said.text))
        self.hear(said)
