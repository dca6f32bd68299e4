"""The kit for extensions of Airboss: tools and hooks for agents, in Python.

It uses the standard library only. Importing it registers nothing and starts nothing.
"""

from airboss.extension.answers import (
    Allow,
    Ask,
    Change,
    Context,
    Deny,
    Image,
    Notify,
    Result,
)
from airboss.extension.moments import (
    Call,
    ErrorOccurred,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    ToolDone,
    ToolFailed,
    ToolUse,
)
from airboss.extension.offering import hook, tool
from airboss.extension.place import HostError
from airboss.extension.session import Event, Session, session

# Of the kit alone, by semantic versioning: tests/extension/test_surface.py holds its surface still.
__version__ = "1.1.0"

__all__ = [
    "Allow",
    "Ask",
    "Call",
    "Change",
    "Context",
    "Deny",
    "ErrorOccurred",
    "Event",
    "HostError",
    "Image",
    "Notify",
    "PromptSubmitted",
    "Result",
    "Session",
    "SessionEnded",
    "SessionStarted",
    "ToolDone",
    "ToolFailed",
    "ToolUse",
    "__version__",
    "hook",
    "session",
    "tool",
]
