"""The lines around a mistake: which they are, what is marked on them, how much of them is shown."""

from pathlib import Path

import pytest

from airboss.entry.excerpts import LONGEST_LINE, MOST_EXCERPTS, with_excerpts
from airboss.entry.load import check_content, check_file
from airboss.entry.violations import EntryInvalid, SourceLine, Violation
from airboss.model.redaction import MASK, Redactor

ENTRY = """\
models: {driving: m}
promptVariables: {}
tasks:

  plan:
    model: {category: drivin}
    prompt: ["Plan it.", 'Then: build it, $lost']
    requireUserInput: no
    colour: red
jobs: {}
grid: []
"""


def lines(violation: Violation) -> list[str]:
    """As a person sees them: the number, and what is marked in brackets."""
    return [
        f"{line.line}|{line.before}" + (f"[{line.marked}]{line.after}" if line.marked else "")
        for line in violation.excerpt
    ]


def checked(text: str) -> dict[str, Violation]:
    content = text.encode()
    found = check_content(Path("airboss.yaml"), content).violations
    return {said.where.split(".")[-1]: said for said in found}


def test_a_mistake_has_the_lines_around_it_and_is_marked() -> None:
    found = checked(ENTRY)
    assert lines(found["category"]) == [
        "5|  plan:",
        "6|    model: {category: [drivin]}",
        "7|    prompt: [\"Plan it.\", 'Then: build it, $lost']",
        "8|    requireUserInput: no",
    ]
    assert lines(found["prompt"])[2] == "7|    prompt: [\"Plan it.\", ['Then: build it, $lost']]"
    assert lines(found["requireUserInput"])[2] == "8|    requireUserInput: [no]"
    assert lines(found["colour"])[2] == "9|    [colour]: red"


def test_where_something_is_missing_nothing_that_is_there_is_marked() -> None:
    found = checked(ENTRY.replace("    requireUserInput: no\n", ""))["requireUserInput"]
    assert (found.line, found.is_around) == (6, True)
    assert lines(found)[1] == "6|    model: {category: drivin}"


def test_what_is_no_yaml_has_its_lines_too() -> None:
    with pytest.raises(EntryInvalid) as caught:
        check_content(Path("airboss.yaml"), b"a: 1\nb: c: d\ne: 2\n")
    assert lines(caught.value.violations[0]) == ["1|a: 1", "2|b: c[:] d", "3|e: 2"]


def test_a_python_file_has_the_lines_where_it_failed(tmp_path: Path) -> None:
    file = tmp_path / "airboss.py"
    file.write_text("def made():\n    return nothing\n\nentry = made()\n", encoding="utf-8")
    with pytest.raises(EntryInvalid) as caught:
        check_file(file, trusted=True)
    assert lines(caught.value.violations[0])[1] == "2|    [return nothing]"
    file.write_text("entry = {}\n", encoding="utf-8")
    assert not any(said.excerpt or said.line for said in check_file(file, trusted=True).violations)


def test_a_long_line_is_cut_around_its_mark() -> None:
    before, after = (", ".join(f"{sign}{n}: y" for n in range(500)) for sign in "ab")
    [line] = checked(f"models: {{{before}, driving: 5, {after}}}\n")["driving"].excerpt
    assert line.marked == "5"
    assert line.before.startswith("…")
    assert line.after.endswith("…")
    assert len(line.before + line.marked + line.after) <= LONGEST_LINE + 2


def test_a_long_text_that_is_marked_is_cut_itself() -> None:
    text = f"models: {{driving: m}}\ngrid: {'x' * 5000}\n"
    found = checked(text)["grid"]
    line = found.excerpt[-1]
    assert (line.before, line.marked, line.after) == ("grid: ", "x" * (LONGEST_LINE - 6), "…")


def test_only_the_first_of_very_many_have_lines() -> None:
    text = "grid: []\n" + "".join(f"x{number}: 1\n" for number in range(500))
    found = check_content(Path("a.yaml"), text.encode()).violations
    assert len(found) > 500
    having = sorted(said.line or 0 for said in found if said.excerpt)
    assert len(having) == MOST_EXCERPTS
    assert having[-1] < 60


def test_a_line_end_of_two_signs_is_one_wherever_a_piece_of_the_file_ends() -> None:
    for length in range(65533, 65538):
        text = "a" * length + "\r\nb: c\r\nd: e\r\n"
        [said] = with_excerpts([Violation("entry", "x", line=3, column=1)], text, "yaml")
        assert lines(said)[1:] == ["2|b: c", "3|[d]: e"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x85", "\u2028"])
def test_lines_are_counted_as_the_reader_of_the_file_does(end: str) -> None:
    found = checked(ENTRY.replace("\n", end))["category"]
    assert "6|    model: {category: [drivin]}" in lines(found)


def test_secrets_do_not_get_out_and_the_lines_stay_where_they_are() -> None:
    key = "-----BEGIN PRIVATE KEY-----\n  MIIEvQIBADANBgkqhkiG9w0BAQEF\n  -----END PRIVATE KEY-----"
    text = f"models:\n  driving: |\n  {key}\n  token: ghp_{'a' * 36}\ngrid: 5\n"
    secret = "correct-horse-battery-staple"
    text += f"{secret}: {{a: b}}\nextra: 1\n"
    where = [Violation("entry", "x", line=number, column=1) for number in range(1, 10)]
    found = with_excerpts(where, text, "yaml", Redactor((secret,)).places)
    said = repr(found)
    assert MASK in said
    for hidden in ("MIIEvQ", secret, "ghp_aaa"):
        assert hidden not in said
    assert lines(found[8])[-1] == "9|[extra]: 1"
    assert SourceLine(8, "", MASK, ": {a: b}") in found[7].excerpt
    assert SourceLine(8, f"{MASK}: {{a: b}}") in found[8].excerpt
    assert lines(found[3]) == [
        "2|  driving: |",
        f"3|  {MASK}",
        f"4|{MASK}",
        f"5|{MASK}",
        f"6|  token: {MASK}",
    ]


def test_a_secret_that_begins_far_before_what_is_shown_is_seen() -> None:
    key = f"-----BEGIN PRIVATE KEY-----{'M' * 9000}-----END PRIVATE KEY-----"
    said = Violation("entry", "x", line=1, column=5000)
    [line] = with_excerpts([said], f"a: {key}\n", "yaml", Redactor().places)[0].excerpt
    assert "MMM" not in line.before + line.marked + line.after


def test_a_huge_file_is_not_read_whole() -> None:
    looked: list[int] = []

    def secrets(text: str) -> list[tuple[int, int]]:
        looked.append(len(text))
        return []

    for text in ("x" * 8_000_000, "a: [b, c]\n" * 800_000):
        looked.clear()
        many = [Violation("entry", "x", line=1, column=place + 1) for place in range(1000)]
        with_excerpts(many, text, "yaml", secrets)
        assert 0 < sum(looked) < 10_000_000
        assert max(looked) < 50_000
