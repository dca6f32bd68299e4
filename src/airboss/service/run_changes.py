"""The files that a run changed: what is in its folder's files, or else what its agents edited."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from airboss.log.log import EventLog
from airboss.model.redaction import Redactor
from airboss.service.changes import Book, Changes, FileChange
from airboss.service.report_parts import ChangedFile, ChangedFiles
from airboss.service.run_facts import RunFacts
from airboss.store.git_trees import NotKept
from airboss.store.tree_diffs import DifferentFile, TreePlace, list_differences, write_diff

_PAGE: Final = 200
_KINDS: Final = ("tool.started", "tool.ended")
# Sessions of which the edits are looked at, and files that are listed.
_MOST_SESSIONS: Final = 500
_MOST_FILES: Final = 2_000
_LONGEST_DIFF: Final = 200_000
_GOES_ON: Final = "While the run continues, only edits by the agents' tools are shown."
_NO_GIT: Final = "The folder is not in git, so only edits by the agents' tools are shown."


@dataclass
class RunEdits:
    """What editing tools said, for the run and for each task run."""

    whole: Changes
    by_task_run: dict[str, dict[str, FileChange]] = field(
        default_factory=dict[str, dict[str, FileChange]]
    )
    more: bool = False


async def read_edits(log: EventLog, facts: RunFacts) -> RunEdits:
    whole = Book(facts.view.cwd)
    books: dict[str, Book] = {}
    for opened in facts.sessions[:_MOST_SESSIONS]:
        book = books.setdefault(opened.task_run, Book(facts.view.cwd))
        after = 0
        while found := await log.transcript(opened.session, after, _PAGE, _KINDS):
            after = found[-1].seq
            for recorded in found:
                whole.hear(recorded.event)
                book.hear(recorded.event)
    by_task_run = {
        name: {file.path: file for file in book.view().files} for name, book in books.items()
    }
    return RunEdits(whole.view(), by_task_run, len(facts.sessions) > _MOST_SESSIONS)


@dataclass(frozen=True)
class RunDiff:
    """The changes of a run, of which diffs can be asked for."""

    summary: ChangedFiles
    edits: RunEdits
    trees: tuple[TreePlace, TreePlace] | None
    redactor: Redactor

    async def diffs(self, first: int, count: int) -> list[FileChange]:
        """Of some files in the order of the summary, within bounds."""
        wanted = self.summary.files[first : first + count]
        known = {file.path: file.diff for file in self.edits.whole.files}
        if self.trees is not None:
            paths = [file.path for file in wanted if not file.path.startswith("/")]
            known |= await asyncio.to_thread(_written, *self.trees, paths)
        return [self._shown(file, known.get(file.path, "")) for file in wanted]

    def _shown(self, file: ChangedFile, diff: str) -> FileChange:
        clean = self.redactor.text(diff)
        return FileChange(
            path=file.path,
            how=file.how,
            added=file.added,
            removed=file.removed,
            diff=clean[:_LONGEST_DIFF],
            cut=len(clean) > _LONGEST_DIFF,
        )


async def diff_of_run(log: EventLog, facts: RunFacts, redactor: Redactor) -> RunDiff:
    edits = await read_edits(log, facts)
    editors = _editors(facts, edits)
    trees, note = tree_places(facts), ""
    if trees is not None:
        try:
            found = await asyncio.to_thread(list_differences, *trees)
        except NotKept as error:
            trees, note = None, f"Could not read the stored files: {error}"
        else:
            summary = _from_trees(found, edits, editors, facts)
            return RunDiff(summary, edits, trees, redactor)
    summary = _from_edits(edits, editors, note or _why_edits(facts))
    return RunDiff(summary, edits, None, redactor)


def tree_places(facts: RunFacts) -> tuple[TreePlace, TreePlace] | None:
    begin, end = facts.trees.get("begin"), facts.trees.get("end")
    if facts.view.is_open or begin is None or end is None or not (begin.tree and end.tree):
        return None
    folder = Path(facts.view.cwd)
    return TreePlace(folder, begin.tree), TreePlace(folder, end.tree)


def _why_edits(facts: RunFacts) -> str:
    if facts.view.is_open:
        return _GOES_ON
    said = [kept.reason for kept in facts.trees.values() if kept.reason]
    return f"Could not store the files of the folder: {said[0]}" if said else _NO_GIT


def _editors(facts: RunFacts, edits: RunEdits) -> dict[str, tuple[str, ...]]:
    """Which tasks edited a file, by their names."""
    found: dict[str, dict[str, None]] = {}
    for task_run, files in edits.by_task_run.items():
        work = facts.by_task_run.get(task_run)
        place = facts.place_of.get(work.work) if work else None
        for path in files:
            found.setdefault(path, {})[place.name if place else ""] = None
    return {path: tuple(name for name in names if name) for path, names in found.items()}


def _from_trees(
    found: list[DifferentFile],
    edits: RunEdits,
    editors: dict[str, tuple[str, ...]],
    facts: RunFacts,
) -> ChangedFiles:
    files = [
        ChangedFile(
            path=one.path,
            how=one.how,
            added=one.added,
            removed=one.removed,
            tasks=editors.get(one.path, ()),
            is_text=one.is_text,
        )
        for one in found
    ]
    # The tree is of the folder alone: what was edited elsewhere is known by the edits.
    files += [_edited(one, editors) for one in edits.whole.files if one.path.startswith("/")]
    left_out = max(kept.left_out for kept in facts.trees.values())
    note = f"{left_out} files are too large and were not compared." if left_out else ""
    return _summed("trees", files, note, more=len(files) > _MOST_FILES)


def _from_edits(edits: RunEdits, editors: dict[str, tuple[str, ...]], note: str) -> ChangedFiles:
    files = [_edited(one, editors) for one in edits.whole.files]
    return _summed("edits", files, note, more=edits.whole.more or edits.more)


def _edited(file: FileChange, editors: dict[str, tuple[str, ...]]) -> ChangedFile:
    said = file.model_dump(include={"path", "how", "added", "removed"})
    return ChangedFile(**said, tasks=editors.get(file.path, ()))


def _summed(source: str, files: list[ChangedFile], note: str, *, more: bool) -> ChangedFiles:
    return ChangedFiles(
        source="trees" if source == "trees" else "edits",
        files=files[:_MOST_FILES],
        added=sum(file.added for file in files),
        removed=sum(file.removed for file in files),
        more=more,
        note=note,
    )


def _written(before: TreePlace, after: TreePlace, paths: list[str]) -> dict[str, str]:
    try:
        return write_diff(before, after, paths)
    except NotKept:
        return {}
