"""Makes words of others safe to show: nothing hidden, nothing that turns the line around."""

import unicodedata
from typing import Final

# Control, format (bidirectional and invisible ones among them), surrogates, private use.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_BLANK: Final = "(nothing)"


def plain_line(text: str, length: int) -> str:
    """One line of at most `length` characters; what cannot be seen becomes `?`."""
    shown = " ".join(plain(text).split()) or _BLANK
    return shown if len(shown) <= length else shown[: length - 1] + "…"


def plain(text: str) -> str:
    """The same with its lines."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "?" if unicodedata.category(letter) in _UNSEEN and letter not in "\n\t" else letter
        for letter in text
    )
