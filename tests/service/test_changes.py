"""Diffs as the runtime's tools say them, also those of several files, and where one says none."""

import json
from typing import Any

from airboss.model.events import ToolEnded, ToolResult, ToolStarted
from airboss.service.changes import Book, FileChange

CWD = "/work/here"
PATCH = """
diff --git a/work/here/made.py b/work/here/made.py
create file mode 100644
index 0000000..0000000
--- a/dev/null
+++ b/work/here/made.py
@@ -1,0 +1,2 @@
+one
++two
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ b/dev/null
@@ -1,1 +0,0 @@
--- a comment of SQL
"""


def told(*calls: tuple[str, dict[str, Any], str | None]) -> list[FileChange]:
    book = Book(CWD)
    for name, given, diff in calls:
        started = ToolStarted(block="b", name=name, arguments=json.dumps(given))
        result = ToolResult(content="Done.", detailed_content=diff)
        book.hear(started)
        book.hear(ToolEnded(block="b", text="Done.", result=result))
    return book.view().files


def test_a_patch_tells_of_several_files() -> None:
    made, gone = told(("apply_patch", {"input": "…"}, PATCH))
    assert (made.path, made.how, made.added, made.removed) == ("made.py", "created", 2, 0)
    assert made.diff == "--- /dev/null\n+++ b/made.py\n@@ -1,0 +1,2 @@\n+one\n++two\n"
    assert (gone.path, gone.how, gone.added, gone.removed) == ("gone.py", "deleted", 0, 1)
    assert gone.diff.endswith("+++ /dev/null\n@@ -1,1 +0,0 @@\n--- a comment of SQL\n")


def test_without_a_diff_what_the_tool_was_given_is_told() -> None:
    [file] = told(
        ("create", {"path": f"{CWD}/a", "file_text": "x\ny"}, None),
        ("edit", {"path": "a", "old_str": "x", "new_str": "z"}, None),
    )
    assert (file.path, file.how, file.added, file.removed) == ("a", "created", 3, 1)
    assert file.diff == "--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+x\n+y\n@@ … @@\n-x\n+z\n"


def test_what_is_deleted_and_made_again_is_made() -> None:
    path = {"path": "/elsewhere/b"}
    deleted = "diff --git a/elsewhere/b b/elsewhere/b\n+++ b/dev/null\n@@ -1 +0,0 @@\n-x\n"
    [file] = told(("apply_patch", path, f"\n{deleted}"))
    assert (file.path, file.how) == ("/elsewhere/b", "deleted")
    [file] = told(("apply_patch", path, deleted), ("create", {**path, "file_text": "y"}, None))
    assert (file.how, file.added, file.removed) == ("created", 1, 1)


def test_arguments_that_are_no_object_and_other_tools_tell_nothing() -> None:
    assert told(("view", {"path": "a"}, PATCH), ("edit", {}, None)) == []


def test_lines_that_the_log_does_not_keep_are_counted_where_they_were_before() -> None:
    kept = "a\n\n[9,000 characters left out here]\n\nb\n"
    started = ToolStarted(
        block="b",
        name="create",
        arguments=json.dumps({"path": "a", "file_text": kept}),
        lines={"file_text": 3_000},
    )
    hunk = f"@@ -1,9 +1,9 @@\n+{kept}"
    result = ToolResult(
        content="Done.",
        detailed_content=f"\ndiff --git a/e b/e\n--- a/e\n+++ b/e\n{hunk}",
        added=700,
        removed=30,
    )
    book = Book(CWD)
    book.hear(started)
    book.hear(ToolEnded(block="b", text="Done.", result=ToolResult(content="Done.")))
    book.hear(ToolStarted(block="c", name="edit", arguments='{"path": "e"}'))
    book.hear(ToolEnded(block="c", text="Done.", result=result))
    made, edited = book.view().files
    assert (made.added, made.removed, made.cut) == (3_000, 0, True)
    assert "@@ -0,0 +1,3000 @@" in made.diff
    assert (edited.added, edited.removed, edited.cut) == (700, 30, True)
