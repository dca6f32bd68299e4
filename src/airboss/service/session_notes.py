"""What people note about a session: its name, and that it is to be found at the top."""

from typing import Final

from airboss.errors import Invalid
from airboss.model.events import SessionPinned, SessionRenamed
from airboss.model.hidden import visible_line
from airboss.model.redaction import Redactor

LONGEST_NAME: Final = 200


def noted(
    title: str | None, pinned: bool | None, who: str, redactor: Redactor
) -> list[SessionRenamed | SessionPinned]:
    """As events; refused where nothing is said, or a name that nobody could read."""
    said: list[SessionRenamed | SessionPinned] = []
    if title is not None:
        name = " ".join(visible_line(redactor.text(title)).split())[:LONGEST_NAME]
        if not name:
            raise Invalid("The name must not be empty.")
        said.append(SessionRenamed(title=name, who=who))
    if pinned is not None:
        said.append(SessionPinned(pinned=pinned, who=who))
    if not said:
        raise Invalid(
            "Send `title`, `pinned`, `model`, `reasoningEffort`, `permissions` or `agent`."
        )
    return said
