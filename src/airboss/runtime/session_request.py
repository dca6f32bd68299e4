"""What a session on the runtime is to be, in our words."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from airboss.model.events import Event
from airboss.model.excerpt import MOST_CHARACTERS, Redacting
from airboss.model.setup import USUAL, Setup
from airboss.runtime.auto_switch import DecideSwitch
from airboss.runtime.hooks import MoreHooks, ToolGate
from airboss.runtime.mcp_servers import READY_SECONDS, Server
from airboss.runtime.named_models import ServiceModel
from airboss.runtime.permission import Decide
from airboss.runtime.pool_key import PoolKey
from airboss.runtime.signals import Signal
from airboss.runtime.tools import AnswerCall, ToolOffer

RenewToken: TypeAlias = Callable[[], Awaitable[tuple[str, int]]]
Hear: TypeAlias = Callable[[Event | Signal], None]
Overhear: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, str]], None]


def nobody_listens(_raw: Mapping[str, Any], _steering: Mapping[str, str]) -> None:
    """To the runtime's own events, in most sessions."""


@dataclass(frozen=True)
class SessionRequest:
    """What a session is to be. `id` is also the mark on all that its agent starts.

    `hear` is called on the event loop, in order, and returns at once. `provider` is one's own model
    service in the SDK's words, whose model is shown images or not (`vision`); without it the models
    are Copilot's, for `github_token` or for the signed-in user.
    """

    id: str
    cwd: Path
    model: str
    hear: Hear
    decide: Decide
    redactor: Redacting
    provider: Mapping[str, Any] | None = None
    vision: bool = True
    # Where agents have models at other providers: all that are not Copilot's, its own one first.
    named: tuple[ServiceModel, ...] = ()
    github_token: str | None = None
    # In its place: asks for the account's next token, and for how long that is good.
    renew_token: RenewToken | None = None
    # Beside the runtime's own. These and `setup` are forgotten on a resume, and given anew.
    tools: tuple[ToolOffer, ...] = ()
    # For those of them that are answered from outside.
    answer: AnswerCall | None = None
    # Whether a turn goes on where its model is at its limit; without it such a turn fails.
    switch: DecideSwitch | None = None
    gate: ToolGate | None = None  # what every call of a tool passes; it too is given anew
    hooks: MoreHooks | None = None  # and what it asks beside that
    # Hears the runtime's own events, with our names of what was put into the running turn.
    overhear: Overhear | None = None
    resume: bool = False
    # The process that it goes to; without it the usual one.
    place: PoolKey | None = None
    # On a resume: what was asked for when it was cut off is asked again, and that turn goes on.
    goes_on: bool = False
    setup: Setup = USUAL
    # What its agents are told about us, behind the runtime's own text.
    own_words: str | None = None
    # The MCP servers of the setup, with what they are started and called with.
    servers: Mapping[str, Server] = field(default_factory=dict[str, Server])
    quiet_limit: float = 60.0
    # The first request waits so long for those of them that are starting.
    server_wait: float = READY_SECONDS
    # Of each block so many characters are told.
    most: int = MOST_CHARACTERS

    def runtime_model(self, model: str) -> str:
        """What the runtime calls a model of the session's own service."""
        is_named = self.named and self.provider is not None
        return f"{self.named[0].service}/{model}" if is_named else model
