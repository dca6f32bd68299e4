"""Where one session reaches one provider, for as long as the session is open."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias
from urllib.parse import urlsplit

from airboss.background import Background
from airboss.harness.providers import Upstream
from airboss.model.traces import TraceContext
from airboss.net.loopback import Receive, Scope, Send

AnswerHere: TypeAlias = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]


class CallPass(Protocol):
    """What lets a call in that a person or an account stands behind."""

    async def token(self) -> str | None: ...

    async def renewed(self, stale: str) -> str | None:
        """None where that is over; raises where it may work later."""
        ...


@dataclass
class LentAddress:
    """An address of the proxy. `nonce` is what nobody else knows of it."""

    upstream: Upstream
    url: str
    nonce: str = field(repr=False)
    forget: Callable[[str], object] = field(repr=False)
    # What kept the last request from its whole answer.
    trouble: str | None = None
    # It wants to know who calls, or does not know who does.
    wants_sign_in: bool = False
    # What lets us in there once a person has signed in, where one can.
    entry: CallPass | None = field(default=None, repr=False)
    # Why nothing is served here any more, though the session is open.
    ended: str | None = None
    # What the paths that are asked for begin with, wherever the provider is by now.
    path: str = field(init=False)
    # What the requests belong to: the runtime tells nobody.
    trace: Callable[[], TraceContext | None] = field(default=lambda: None, repr=False)
    # Answers in the place of an upstream that is no address.
    answer: AnswerHere | None = field(default=None, repr=False)
    # What is sent there, as far as it is passed on.
    checked: Callable[[Receive], Awaitable[bytes]] | None = field(default=None, repr=False)
    # The requests that are on their way.
    calls: Background = field(default_factory=lambda: Background("proxy"), repr=False)

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    def __post_init__(self) -> None:
        self.path = self.upstream.path

    def replace(self, upstream: Upstream) -> None:
        """Another key, or another address: from the next request on."""
        self.upstream, self.ended = upstream, None

    def end(self, why: str) -> None:
        """What is on its way is cut off, and says why; so does what follows."""
        self.ended = self.trouble = why
        self.calls.cancel()

    def asked_path(self, path: str) -> str:
        """Where a request for this path goes at the provider."""
        is_ours = path == self.path or path.startswith(f"{self.path}/")
        return self.upstream.path + path[len(self.path) :] if is_ours else path

    def give_back(self) -> None:
        """Nothing is served there any more, and what is on its way is cut off."""
        self.forget(self.nonce)
        self.calls.cancel()

    def in_our_words(self, message: str) -> str:
        """The runtime knows neither the provider's address nor what became of a request."""
        said = message.replace(self.url, self.upstream.base_url).replace(self.nonce, "…")
        if self.trouble is None or self.trouble in said:
            return said
        return f"{self.trouble} The agent runtime said: {said}"
