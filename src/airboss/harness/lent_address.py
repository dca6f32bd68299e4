"""Where one session reaches one provider, for as long as the session is open."""

from collections.abc import Callable
from dataclasses import dataclass, field

from airboss.background import Background
from airboss.harness.providers import Upstream


@dataclass
class LentAddress:
    """An address of the proxy. `nonce` is what nobody else knows of it."""

    upstream: Upstream
    url: str
    nonce: str = field(repr=False)
    forget: Callable[[str], object] = field(repr=False)
    # What kept the last request from its whole answer.
    trouble: str | None = None
    # The requests that are on their way.
    calls: Background = field(default_factory=lambda: Background("proxy"), repr=False)

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
