"""The files that an agent changed, from what its editing tools were given and said."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Final, Literal, TypeAlias, cast

from airboss.log.log import EventLog
from airboss.model.events import Event, ToolEnded, ToolStarted
from airboss.model.excerpt import MARK
from airboss.model.line_counts import DIFF_HEADER
from airboss.model.views import SessionView
from airboss.model.words import Frozen

How: TypeAlias = Literal["created", "edited", "deleted"]

# Other tools say diffs too: `view` shows a file as one.
_TOOLS: Final = ("create", "edit", "apply_patch", "str_replace", "str_replace_editor", "insert")
_KINDS: Final = ("tool.started", "tool.ended")
_PAGE: Final = 200
_MOST_FILES: Final = 500
_LONGEST_DIFF: Final = 200_000
_MOST_CHARACTERS: Final = 4_000_000


class FileChange(Frozen):
    """A file, and what was changed in it: every edit as hunks, in order. The lines of a hunk are
    counted as they were at that edit. `cut`: there is more than the diff shows, and it is counted
    too; but of a text over 2 MiB, and of a patch for several files that is kept in part, only
    the kept lines are."""

    path: str
    how: How
    added: int
    removed: int
    diff: str
    cut: bool = False


class Changes(Frozen):
    """In the order in which they were first changed. `more`: there are further files."""

    files: list[FileChange]
    more: bool = False


@dataclass
class _File:
    path: str
    how: How
    added: int = 0
    removed: int = 0
    hunks: list[str] = field(default_factory=list[str])
    length: int = 0
    cut: bool = False

    def view(self) -> FileChange:
        old = "/dev/null" if self.how == "created" else f"a/{self.path}"
        new = "/dev/null" if self.how == "deleted" else f"b/{self.path}"
        diff = f"--- {old}\n+++ {new}\n{''.join(self.hunks)}" if self.hunks else ""
        return FileChange(
            path=self.path,
            how=self.how,
            added=self.added,
            removed=self.removed,
            diff=diff,
            cut=self.cut,
        )


@dataclass(frozen=True)
class _Edit:
    path: str
    how: How
    lines: list[str]
    # Where they are more than those lines.
    added: int | None = None
    removed: int | None = None


@dataclass
class Book:
    """What is known of each file so far, within bounds."""

    cwd: str
    files: dict[str, _File] = field(default_factory=dict[str, _File])
    more: bool = False
    left: int = _MOST_CHARACTERS
    _started: dict[str, ToolStarted] = field(default_factory=dict[str, ToolStarted])

    def hear(self, event: Event) -> None:
        if isinstance(event, ToolStarted) and event.name in _TOOLS:
            self._started[event.block] = event
        elif isinstance(event, ToolEnded):
            call = self._started.pop(event.block, None)
            if call is not None and event.error is None and not event.cut:
                for edit in _edits(self.cwd, call, event):
                    self._note(edit)

    def view(self) -> Changes:
        return Changes(files=[file.view() for file in self.files.values()], more=self.more)

    def _note(self, edit: _Edit) -> None:
        path = self._place(edit.path)
        if path not in self.files and len(self.files) >= _MOST_FILES:
            self.more = True
            return
        file = self.files.setdefault(path, _File(path, edit.how))
        if edit.how == "deleted" or file.how == "deleted":
            file.how = edit.how
        file.added += _count("+", edit.lines) if edit.added is None else edit.added
        file.removed += _count("-", edit.lines) if edit.removed is None else edit.removed
        is_in_part = any(MARK.search(line) for line in edit.lines)
        for line in edit.lines:
            if file.cut or file.length + len(line) > _LONGEST_DIFF or self.left < len(line):
                file.cut = True
                break
            file.hunks.append(f"{line}\n")
            file.length += len(line) + 1
            self.left -= len(line) + 1
        file.cut = file.cut or is_in_part

    def _place(self, path: str) -> str:
        """As a person would say it: from the session's folder, where it lies below."""
        whole = PurePath(self.cwd) / path
        if whole.is_relative_to(self.cwd):
            return str(whole.relative_to(self.cwd))
        return str(whole)


async def changes_of(log: EventLog, view: SessionView) -> Changes:
    book = Book(view.cwd)
    after = 0
    while found := await log.transcript(view.id, after, _PAGE, _KINDS):
        after = found[-1].seq
        for recorded in found:
            book.hear(recorded.event)
    return book.view()


def _edits(cwd: str, call: ToolStarted, ended: ToolEnded) -> Iterator[_Edit]:
    given = _given(call)
    path = given.get("path")
    detailed = ended.result.detailed_content if ended.result else None
    heads = list(DIFF_HEADER.finditer(detailed or ""))
    # The runtime leaves out the middle of a long diff; of a new file all is known without it.
    if isinstance(path, str) and (not heads or isinstance(given.get("file_text"), str)):
        yield _from_arguments(path, given, call.lines or {})
        return
    ends = [head.start() for head in heads[1:]] + [len(detailed or "")]
    for head, end in zip(heads, ends if heads else [], strict=True):
        body = (detailed or "")[head.end() : end]
        is_only = len(heads) == 1 and isinstance(path, str)
        edit = _from_diff(str(path) if is_only else _named(cwd, head["new"]), body)
        if len(heads) == 1 and ended.result:
            edit = replace(edit, added=ended.result.added, removed=ended.result.removed)
        yield edit


def _given(call: ToolStarted) -> dict[str, Any]:
    try:
        given = json.loads(call.arguments)
    except ValueError:
        return {}
    return cast("dict[str, Any]", given) if isinstance(given, dict) else {}


def _named(cwd: str, path: str) -> str:
    """The runtime's diffs have whole paths without their first slash."""
    return f"/{path}" if f"/{path}".startswith(f"{cwd.rstrip('/')}/") else path


def _from_diff(path: str, body: str) -> _Edit:
    head, at, hunks = body.partition("\n@@")
    how: How = "edited"
    if "\n--- a/dev/null" in head or "\n--- /dev/null" in head or "\nnew file mode" in head:
        how = "created"
    elif "\n+++ b/dev/null" in head or "\n+++ /dev/null" in head or "\ndeleted file" in head:
        how = "deleted"
    lines = f"@@{hunks}".rstrip("\n").split("\n") if at else []
    return _Edit(path, how, lines)


def _from_arguments(path: str, given: dict[str, Any], counts: Mapping[str, int]) -> _Edit:
    """Where the tool said no diff: what it was given has all but the place."""
    made = given.get("file_text")
    old = _lines("-", given.get("old_str"))
    new = _lines("+", made if made is not None else given.get("new_str"))
    added = counts.get("new_str" if made is None else "file_text")
    head = [f"@@ -0,0 +1,{added or len(new)} @@"] if made is not None else ["@@ … @@"]
    how: How = "edited" if made is None else "created"
    return _Edit(path, how, [*head, *old, *new], added, counts.get("old_str"))


def _count(sign: str, lines: list[str]) -> int:
    return sum(line.startswith(sign) for line in lines)


def _lines(sign: str, text: object) -> list[str]:
    return [f"{sign}{line}" for line in text.splitlines()] if isinstance(text, str) else []
