"""What a page says behind its reader's back: to its console, and to its content policy."""

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import ConsoleMessage, Page

_NOTE_VIOLATIONS = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


@dataclass
class Quiet:
    """Listens to a page from before its first line."""

    page: Page
    said: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.page.add_init_script(_NOTE_VIOLATIONS)
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.said.append(f"{message.text} {message.location['url']}")

    def check(self, *, but: str = "nothing is let pass") -> None:
        """Nothing was complained of, nothing was blocked, and nobody else was asked."""
        complaints = [text for text in self.said if but not in text]
        assert complaints == [], complaints
        violations: Any = self.page.evaluate("window.violations")
        assert violations == [], violations
        origin = self.page.evaluate("location.origin")
        ours = (f"{origin}/", f"blob:{origin}/")  # the second is what the page has already
        assert [url for url in self.asked if not url.startswith(ours)] == []
