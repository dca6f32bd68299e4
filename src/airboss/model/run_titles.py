"""What a run is known by beside its job: a few words from its input."""

import re
from typing import Final

_LONGEST: Final = 72
_INPUT_START: Final = 240
_NUMBERED: Final = re.compile(r" \((\d{1,4})\)\Z")
_MARKS: Final = re.compile(r"\A(?:#{1,6}|[-*>]|\d+[.)])\s+")


def short_title(user_input: str) -> str:
    """The first line that says something, without what marks it as a heading or an item."""
    lines = (_MARKS.sub("", line.strip()) for line in user_input.splitlines())
    return clipped(next((line for line in lines if line), ""), _LONGEST)


def input_start(user_input: str) -> str:
    """The beginning of an input on one line, for lists."""
    return clipped(" ".join(user_input[: 4 * _INPUT_START].split()), _INPUT_START)


def title_again(title: str) -> str:
    """Of a run that repeats another: the same title, counted."""
    if not title:
        return ""
    numbered = _NUMBERED.search(title)
    if numbered is None:
        return f"{title} (2)"
    return f"{title[: numbered.start()]} ({int(numbered[1]) + 1})"


def clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
