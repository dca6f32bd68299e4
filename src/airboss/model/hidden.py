"""What cannot be seen in a text, and can make it lie. The only table of it: the terminal, approvals
and exports use it from here, the pages from `web/src/hidden.gen.ts`, which is written from it.

In it are all of Unicode's Default_Ignorable_Code_Point, Bidi_Control, Cc, Cf, Cs, Co, Zl and Zp,
all spaces but the usual one, and what fonts draw as nothing. Not in it are code points that Unicode
has not assigned inside its blocks: fonts draw a box for them.
"""

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]

HIDDEN: Final[Ranges] = (
    (0x0000, 0x001F),  # controls; callers decide about tabs and line ends
    (0x007F, 0x00A0),  # delete, more controls, the no-break space
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x0600, 0x0605),  # Arabic signs before numbers
    (0x061C, 0x061C),  # Arabic letter mark, which turns the direction
    (0x06DD, 0x06DD),
    (0x070F, 0x070F),
    (0x0890, 0x0891),
    (0x08E2, 0x08E2),
    (0x115F, 0x1160),  # Hangul fillers
    (0x1680, 0x1680),  # Ogham space
    (0x17B4, 0x17B5),  # Khmer vowels without ink
    (0x180B, 0x180F),  # Mongolian variation selectors and vowel separator
    (0x2000, 0x200F),  # spaces of all widths, zero among them; joiners; direction marks
    (0x2028, 0x202F),  # line and paragraph separator, direction, narrow no-break space
    (0x205F, 0x206F),  # mathematical space, word joiner, invisible operators, direction
    (0x2800, 0x2800),  # Braille without dots
    (0x2D7F, 0x2D7F),  # Tifinagh consonant joiner
    (0x3000, 0x3000),  # ideographic space
    (0x3164, 0x3164),  # Hangul filler
    (0xD800, 0xF8FF),  # halves of characters, private use
    (0xFDD0, 0xFDEF),  # no characters
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),  # byte order mark
    (0xFFA0, 0xFFA0),  # Hangul filler, half as wide
    (0xFFF0, 0xFFFC),  # ignorable, interlinear annotation, object replacement
    (0xFFFE, 0xFFFF),  # no characters
    (0x1107F, 0x1107F),  # Brahmi number joiner
    (0x110BD, 0x110BD),  # Kaithi signs before numbers
    (0x110CD, 0x110CD),
    (0x13430, 0x1343F),  # Egyptian joiners
    (0x13441, 0x13442),  # Egyptian blanks
    (0x16FE4, 0x16FE4),  # Khitan filler
    (0x1BCA0, 0x1BCA3),  # shorthand format controls
    (0x1D159, 0x1D159),  # a note without a head
    (0x1D173, 0x1D17A),  # musical beams and slurs
    (0x1FFFE, 0x1FFFF),  # no characters
    (0x2FFFE, 0x2FFFF),
    (0x3FFFE, 0x10FFFF),  # nothing assigned but tags, variation selectors and private use
)
# In prose a space of another width is a space, and private use is a font's own picture.
PROSE_SHOWS: Final[Ranges] = (
    (0x00A0, 0x00A0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xE000, 0xF8FF),
    (0xF0000, 0xFFFFD),
    (0x100000, 0x10FFFD),
)
# Blocks of pictures: there a joiner between two makes one of them, and a selector chooses its look.
PICTURES: Final[Ranges] = (
    (0x00A9, 0x00A9),
    (0x00AE, 0x00AE),
    (0x203C, 0x203C),
    (0x2049, 0x2049),
    (0x2122, 0x2122),
    (0x2139, 0x2139),
    (0x2190, 0x21FF),
    (0x2300, 0x23FF),
    (0x24C2, 0x24C2),
    (0x25A0, 0x27BF),
    (0x2900, 0x297F),
    (0x2B00, 0x2BFF),
    (0x3030, 0x3030),
    (0x303D, 0x303D),
    (0x3297, 0x3299),
    (0x1F000, 0x1FAFF),
)


def without(ranges: Iterable[tuple[int, int]], taken: Iterable[tuple[int, int]]) -> Ranges:
    """What of the first is not in the second."""
    left = list(ranges)
    for first, last in taken:
        parts = [((begin, min(end, first - 1)), (max(begin, last + 1), end)) for begin, end in left]
        left = [part for pair in parts for part in pair if part[0] <= part[1]]
    return tuple(left)


def class_of(ranges: Iterable[tuple[int, int]], escape: str = "\\U{:08x}") -> str:
    """The inside of a character class of a regular expression."""
    ends = ((escape.format(first), escape.format(last)) for first, last in ranges)
    return "".join(first if first == last else f"{first}-{last}" for first, last in ends)


_LINES: Final[Ranges] = ((0x09, 0x0A),)
_JOINERS: Final[Ranges] = ((0x200D, 0x200D), (0xFE0E, 0xFE0F))
# For prose, without what PROSE_SHOWS; joiners and selectors are looked at with their neighbours.
PROSE: Final = without(HIDDEN, (*PROSE_SHOWS, *_JOINERS))


def prose_pattern(escape: str = "\\U{:08x}") -> str:
    """What is marked in prose. The same for Python and, with its escape, for JavaScript."""
    hidden, pictures = class_of(without(PROSE, _LINES), escape), class_of(PICTURES, escape)
    joiner, text, picture = (escape.format(code) for code in (0x200D, 0xFE0E, 0xFE0F))
    return (
        f"[{hidden}]|(?<![{pictures}{picture}]){joiner}|{joiner}(?![{pictures}])"
        f"|(?<![{pictures}0-9#*])[{text}{picture}]"
    )


_WHOLE: Final = re.compile(f"[{class_of(HIDDEN)}]")
_IN_LINES: Final = re.compile(f"[{class_of(without(HIDDEN, _LINES))}]")
_IN_PROSE: Final = re.compile(prose_pattern())
_GAP: Final = " […] "
_MARK: Final = " (shortened)"
_SPACES: Final = re.compile(r"[\t\r\n]+")


def _mark(hit: re.Match[str]) -> str:
    return f"⟨U+{ord(hit[0]):04X}⟩"


def visible(text: str) -> str:
    """Each of them by its number, as the pages show them. Tabs and line ends stay."""
    return text if text.isascii() and text.isprintable() else _IN_LINES.sub(_mark, text)


def visible_line(text: str) -> str:
    """The same on one line."""
    return visible(_SPACES.sub(" ", text)).strip()


def visible_whole(text: str) -> str:
    """For a path, an address: tabs and line ends are marked as well, and nothing is trimmed."""
    return text if text.isascii() and text.isprintable() else _WHOLE.sub(_mark, text)


def visible_prose(text: str) -> str:
    """For what people and models write to be read: emoji stay whole, spaces of all widths stay."""
    return _IN_PROSE.sub(_mark, text.replace("\r\n", "\n"))


def shortened(line: str, length: int) -> str:
    """At most so long, with its beginning and its end, and marked where it is not all there is."""
    if len(line) <= length:
        return line
    left = length - len(_GAP) - len(_MARK)
    head = left * 2 // 3
    return f"{line[:head]}{_GAP}{line[head - left :]}{_MARK}"
