"""What cannot be seen: one table, the same everywhere, over all of Unicode."""

import json
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

from airboss.cli import screen
from airboss.harness.approvals import title_of
from airboss.model import hidden
from airboss.model.redaction import Redactor
from airboss.runtime.permission import permission_request
from airboss.service.export_pages import Html, Markdown
from airboss.service.transcript import Passage
from tests.trials import IS_WHOLE, trial

ROOT = Path(__file__).resolve().parents[2]
ALL = range(sys.maxunicode + 1)
_AT_ONCE = 4096
# Of the planes that have no character, or a font's own only, some of each.
TRIED = [code for code in ALL if IS_WHOLE or code < 0x30000 or code >> 16 == 0xE or code % 97 < 2]
# Unicode's own list (DerivedCoreProperties.txt, 17.0), which Python does not have.
DEFAULT_IGNORABLE = (
    *("00AD", "034F", "061C", "115F-1160", "17B4-17B5", "180B-180F", "200B-200F", "202A-202E"),
    *("2060-206F", "3164", "FE00-FE0F", "FEFF", "FFA0", "FFF0-FFF8", "1BCA0-1BCA3"),
    *("1D173-1D17A", "E0000-E0FFF"),
)
BIDI_CONTROL = ("061C", "200E-200F", "202A-202E", "2066-2069")
# Assigned as letters, signs or marks, and drawn as nothing.
BLANK = ("2800", "2D7F", "FFFC", "1107F", "13441-13442", "16FE4", "1D159")
CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Zs", "Zl", "Zp")


def codes(ranges: tuple[str, ...]) -> set[int]:
    ends = [[int(end, 16) for end in one.split("-")] for one in ranges]
    return {code for pair in ends for code in range(pair[0], pair[-1] + 1)}


def in_table() -> set[int]:
    return {code for first, last in hidden.HIDDEN for code in range(first, last + 1)}


def mark(code: int) -> str:
    return f"⟨U+{code:04X}⟩"


def test_the_table_has_all_that_unicode_calls_invisible_and_no_letter() -> None:
    by_category = {code for code in ALL if unicodedata.category(chr(code)) in CATEGORIES}
    no_characters = {code for code in ALL if code & 0xFFFE == 0xFFFE} | codes(("FDD0-FDEF",))
    needed = by_category | no_characters | codes((*DEFAULT_IGNORABLE, *BIDI_CONTROL, *BLANK))
    table = in_table()
    assert needed - {0x20} <= table
    unexplained = {code for code in table - needed if unicodedata.category(chr(code)) != "Cn"}
    assert unexplained == set()


def marked_by(show: Callable[[str], str], left_out: str = "") -> set[int]:
    """The code points that it shows by their number; all others must stay as they are."""
    found: set[int] = set()
    for start in range(0, len(TRIED), _AT_ONCE):
        tried = map(chr, TRIED[start : start + _AT_ONCE])
        points = [point for point in tried if point not in left_out]
        text = f"a{'ba'.join(points)}b"
        shown = show(text)
        marks = {int(number, 16) for number in re.findall("⟨U\\+([0-9A-F]+)⟩", shown)}
        assert shown == text.translate({code: mark(code) for code in marks})
        found |= marks
    return found


@trial
def test_every_definition_shows_every_code_point_alike() -> None:
    """In the terminal, in titles, in exports and on pages."""
    table = in_table() & set(TRIED)
    assert marked_by(hidden.visible_whole) == table
    assert marked_by(hidden.visible, "\t\n") == table - {0x09, 0x0A}
    assert marked_by(hidden.visible_line, "\t\r\n") == table - {0x09, 0x0A, 0x0D}
    assert marked_by(screen.visible_line, "\t\r\n") == table - {0x09, 0x0A, 0x0D}
    assert matched_by_javascript("HIDDEN") == in_table()


@trial
def test_prose_differs_only_where_a_reader_sees_it() -> None:
    """Alone, each code point that prose does not mark is a space, a font's own picture, or ink."""
    prose = marked_by(hidden.visible_prose)
    left = in_table() & set(TRIED) - prose - {0x09, 0x0A}
    assert {unicodedata.category(chr(code)) for code in left} == {"Zs", "Co"}
    assert prose <= in_table()
    assert codes((*DEFAULT_IGNORABLE, *BIDI_CONTROL, *BLANK)) <= prose
    assert marked_by(screen.visible) == prose
    assert matched_by_javascript("HIDDEN_IN_PROSE") & set(TRIED) == prose


def matched_by_javascript(name: str) -> set[int]:
    """By what the pages are built with."""
    generated = (ROOT / "web/src/hidden.gen.ts").read_text(encoding="utf-8")
    found = re.search(rf"export const {name} =\n  (\".*\");", generated)
    assert found
    source = json.loads(found[1])
    pattern = f"[{source}]" if name == "HIDDEN" else source
    script = """
        const one = new RegExp(process.argv[1], "u"), found = [];
        for (let code = 0; code <= 0x10ffff; code += 1)
            if (one.test(`a${String.fromCodePoint(code)}b`)) found.push(code);
        console.log(JSON.stringify(found));
    """
    done = subprocess.run(
        ["node", "-e", script, pattern], capture_output=True, text=True, check=True, timeout=50
    )
    return set(json.loads(done.stdout))


def test_titles_and_exports_use_the_table() -> None:
    for code in in_table() - {0x09, 0x0A, *range(0xD800, 0xE000)}:
        if code > 0xE000 and code % 97:
            continue  # of the large ranges some
        asked = permission_request(
            {"permissionRequest": {"kind": "custom-tool", "toolName": f"a{chr(code)}b"}}
        )
        assert title_of(asked, Redactor()) == f"Call a{mark(code)}b?"
        for page in (Markdown(), Html()):
            assert mark(code) in page.passage(Passage("tool", 0, "x", "", f"a{chr(code)}b"))


def test_emoji_stay_whole_in_prose_and_a_joiner_elsewhere_is_seen() -> None:
    for emoji in ("👩\u200d💻", "❤\ufe0f\u200d🔥", "👩🏽\u200d🚀", "✔\ufe0f", "1\ufe0f\u20e3"):
        assert hidden.visible_prose(emoji) == emoji
        assert hidden.visible(emoji) != emoji
    assert hidden.visible_prose("ad\u200dmin") == "ad⟨U+200D⟩min"
    assert hidden.visible_prose("./test\u200d.sh") == "./test⟨U+200D⟩.sh"
    assert hidden.visible_prose("x\ufe0fy") == "x⟨U+FE0F⟩y"
    assert hidden.visible_prose("a\u00a0b\u3000c") == "a\u00a0b\u3000c"
