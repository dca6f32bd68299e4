"""What about a session goes beyond what its server allows. Only some may ask for that: settings, a
file that a person trusts, a request of the role `own`."""

from collections.abc import Iterator
from typing import NamedTuple

from airboss.session_keys import SectionKeys, SessionKeys, SystemMessageKeys


class Wish(NamedTuple):
    """A wish that widens: its place, as files and requests write it, and what it comes to."""

    place: tuple[str, ...]
    what: str


def widening(keys: SessionKeys) -> Iterator[Wish]:
    """All in these keys that does not count where nobody may widen."""
    if keys.system_message is not None:
        for place, what in _of_message(keys.system_message):
            yield Wish(("systemMessage", *place), what)


def _of_message(keys: SystemMessageKeys) -> Iterator[Wish]:
    """Rules for safety are in the runtime's own text: to add to it is harmless, and no more."""
    if keys.replace is not None:
        yield Wish(("replace",), "to replace the system message")
    for name, section in (keys.sections or {}).items():
        if section_widens(section):
            done = "remove" if section == "remove" else "replace"
            yield Wish(("sections", name), f"to {done} the section {name} of the system message")


def section_widens(section: SectionKeys | str) -> bool:
    return not isinstance(section, SectionKeys) or section.replace is not None
