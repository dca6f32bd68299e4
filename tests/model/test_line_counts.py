"""Lines are counted before a text is cut, as far as it was read."""

from airboss.model.events import ToolResult, ToolStarted
from airboss.model.excerpt import Gapped, excerpt, json_of
from airboss.model.line_counts import lines_of_diff, lines_of_texts
from airboss.model.redaction import Redactor

REDACTOR = Redactor()
MOST = 4096
SECRET = "ghp_" + "0123456789abcdefghij0123456789abcdef"


def counted(arguments: object) -> dict[str, int] | None:
    return lines_of_texts(REDACTOR, arguments, json_of(REDACTOR, arguments, MOST))


def diff_of(lines: int, files: int = 1) -> str:
    body = "".join(f"-old {line}\n+new {line}\n+more\n" for line in range(lines))
    head = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n unchanged\n"
    return f"\n{head}{body}" * files


def test_each_text_of_arguments_that_are_cut_is_counted() -> None:
    long = "line\n" * 5_000
    assert counted({"path": "/a", "file_text": long, "old_str": "a\nb"}) == {
        "file_text": 5_000,
        "old_str": 2,
    }
    assert counted({"path": "/a", "file_text": f"{long}without an end"}) == {"file_text": 5_001}


def test_what_is_kept_whole_needs_no_count() -> None:
    assert counted({"path": "/a", "file_text": "a\nb\n"}) is None
    assert counted(None) is None
    assert counted("text\n" * 5_000) is None
    assert counted(["text\n" * 5_000]) is None


def test_what_was_never_read_is_not_counted() -> None:
    assert counted({"file_text": Gapped("a\n" * 3_000, 1_000_000, "b\n" * 3_000)}) is None


def test_however_many_arguments_there_are_few_are_counted_and_none_gives_a_secret_away() -> None:
    many = {f"{SECRET} {number} {'x' * 300}": "a\n" * 400 for number in range(9)}
    found = counted(many) or {}
    assert len(found) == len(many)
    assert SECRET not in str(found)
    assert max(map(len, found)) <= 256
    told = '"[5 characters left out here]"'
    assert len(lines_of_texts(REDACTOR, {str(n): "a\nb" for n in range(500)}, told) or {}) == 16


def test_a_diff_of_one_file_that_is_cut_is_counted() -> None:
    diff = diff_of(1_000)
    assert lines_of_diff(diff, excerpt(REDACTOR, diff, MOST)) == (2_000, 1_000)
    assert lines_of_diff(diff, diff) is None
    several = diff_of(1_000, files=2)
    assert lines_of_diff(several, excerpt(REDACTOR, several, MOST)) is None
    log = "no diff\n" * 1_000
    assert lines_of_diff(log, excerpt(REDACTOR, log, MOST)) is None


def test_events_of_earlier_versions_have_no_counts() -> None:
    started = '{"kind":"tool.started","block":"b","name":"create","arguments":"{}"}'
    assert ToolStarted.model_validate_json(started).lines is None
    result = ToolResult.model_validate_json('{"content":"Done."}')
    assert (result.added, result.removed) == (None, None)
