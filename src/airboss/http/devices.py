"""A browser by the name that people know it by, from what it says about itself."""

import re
from typing import Final

# The first that is found counts: most of them claim to be one of the others, too.
_BROWSERS: Final = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser": "Samsung Internet",
    "Firefox": "Firefox",
    "FxiOS": "Firefox",
    "CriOS": "Chrome",
    "Chrome": "Chrome",
    "Safari": "Safari",
}
_SYSTEMS: Final = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "CrOS": "ChromeOS",
    "Mac OS X": "macOS",
    "Linux": "Linux",
}
_LONGEST: Final = 60


def device(agent: str) -> str:
    """Such as “Firefox on Linux”; whatever else it calls itself, cut short."""
    browser = _first(_BROWSERS, agent)
    system = _first(_SYSTEMS, agent)
    if browser:
        return f"{browser} on {system}" if system else browser
    said = re.sub(r"[^ -~]", "", agent).strip()
    return said[:_LONGEST] or "unknown"


def _first(names: dict[str, str], agent: str) -> str | None:
    return next((name for mark, name in names.items() if mark in agent), None)
