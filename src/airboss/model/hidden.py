"""What cannot be seen in a text, and can make it lie."""

import re
from typing import Final

# Controls, halves of characters, what has no ink, and what turns the direction of what follows: it
# could drive a terminal or change what a reader believes. Tabs and line ends stay.
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Each of them by its number, as the pages show them."""
    return _HIDDEN.sub(lambda hit: f"⟨U+{ord(hit[0]):04X}⟩", text)
