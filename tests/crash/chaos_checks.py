"""What must be true of a run whose server and runtimes were killed. Every doubt is a sentence."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.crash.chaos_tree import Tree
from tests.crash.chaos_watch import RUN, SESSION, TASK, Followed
from tests.crash.witness import DELTAS, ENDS, STARTS, texts

Json = dict[str, Any]

# The clocks are the same; one is read before the line is written, the other before the event is.
LATE_MS: Final = 5


class Finding(NamedTuple):
    """`kind` is the column of the table: lost, repeated, wrong, late or left; with many machines
    also former, viewer or command."""

    kind: str
    words: str


class Attempt(NamedTuple):
    """By these a line knows its attempt: behind a crash there is a new session."""

    session: str
    mission: str
    round: int


class Line(NamedTuple):
    task: str
    attempt: Attempt
    word: str
    at_ms: float


@dataclass(frozen=True)
class Evidence:
    """All that is known when the run has ended."""

    tree: Tree
    state: str
    stored: dict[str, list[Json]]
    followed: dict[str, Followed]
    sessions: list[Json]
    lines: list[Line]

    def of(self, kind: str) -> Iterator[tuple[str, list[Json]]]:
        for name, events in self.stored.items():
            if self.followed[name].kind == kind:
                yield name, events

    @property
    def run(self) -> list[Json]:
        return next(self.of(RUN))[1]


def read_lines(file: Path) -> list[Line]:
    told = file.read_text("utf-8").splitlines() if file.exists() else []
    lines: list[Line] = []
    for words in told:
        task, mission, number, session, word, seconds = words.split()
        # The runtime's name: one that it was given anew has a number behind ours.
        attempt = Attempt(session.partition("-")[0], mission, int(number))
        lines.append(Line(task, attempt, word, float(seconds) * 1000))
    return lines


def attempt_of(sent: Json) -> Attempt:
    """That a mission was sent in."""
    return Attempt(sent["session"], sent["mission"]["kind"], sent["mission"]["round"])


def check(found: Evidence, outcome: str | None = None) -> list[Finding]:
    """Nothing where all is as it must be. A run that somebody stopped ends with `outcome`."""
    findings = [*compare_streams(found), *_attempts(found), *_waits(found), *_left(found)]
    if outcome is None:
        return [*findings, *_outcome(found)]
    wrong = Finding("wrong", f"the run {found.state} instead of {outcome}")
    return findings if found.state == outcome else [*findings, wrong]


def _outcome(found: Evidence) -> Iterator[Finding]:
    wanted = "succeeded" if found.tree.outcome.succeeded else "failed"
    if found.state != wanted:
        yield Finding("wrong", f"the run {found.state}, and undisturbed it has {wanted}")
    came_to = {
        told["event"]["path"]: told["event"]["succeeded"]
        for told in found.run
        if told["event"]["kind"] == "run.work.stopped"
    }
    for path in sorted({*came_to, *found.tree.outcome.works}):
        one, other = came_to.get(path), found.tree.outcome.works.get(path)
        if one is not other:
            yield Finding("wrong", f"{path} came to {one}, and undisturbed to {other}")
    for kind in ("run.work.started", "run.work.stopped"):
        paths = Counter(t["event"]["path"] for t in found.run if t["event"]["kind"] == kind)
        for path, count in paths.items():
            if count > 1:
                yield Finding("repeated", f"{path}: {count} times {kind}")


def compare_streams(found: Evidence) -> Iterator[Finding]:
    """No gap, no repetition, and whoever followed has seen what is stored."""
    for name, events in found.stored.items():
        followed = found.followed[name]
        seqs = [told["seq"] for told in events]
        if followed.kind == SESSION:
            yield from _session(name, events, followed.seen)
        elif seqs != list(range(1, len(seqs) + 1)):
            yield Finding("lost", f"{name}: the numbers are {seqs}")
        elif followed.seen != events:
            missed = [told for told in events if told not in followed.seen]
            other = [told for told in followed.seen if told not in events]
            yield Finding("lost", f"{name}: never told {missed}; told and not stored {other}")


def _session(name: str, events: list[Json], seen: list[Json]) -> Iterator[Finding]:
    for told in (events, seen):
        seqs = [one["seq"] for one in told]
        if seqs != sorted(set(seqs)):
            yield Finding("lost", f"{name}: the numbers are {seqs}")
    if _but_deltas(events) != _but_deltas(seen):
        missed = [one for one in _but_deltas(events) if one not in seen]
        other = [one for one in _but_deltas(seen) if one not in events]
        yield Finding("lost", f"{name}: never told {missed}; told and not stored {other}")
    said = [one["event"] for one in events]
    starts = sorted(event["block"] for event in said if event["kind"] in STARTS)
    ends = {event["block"]: event["text"] for event in said if event["kind"] in ENDS}
    if starts != sorted(ends):
        yield Finding("lost", f"{name}: {starts} began and {sorted(ends)} ended")
    for told in (events, seen):
        try:
            texts_of = texts(told)
        except AssertionError as gap:
            yield Finding("lost", f"{name}: {gap}")
            continue
        for block, text in texts_of.items():
            if text not in ends.get(block, ""):
                yield Finding("lost", f"{name}: {block} was shown with {text!r}")


def _but_deltas(events: list[Json]) -> list[Json]:
    return [told for told in events if told["event"]["kind"] not in DELTAS]


def _attempts(found: Evidence) -> Iterator[Finding]:
    """The attempts of the log, the requests of the sessions and the lines of the file."""
    lines: defaultdict[Attempt, list[Line]] = defaultdict(list)
    for line in found.lines:
        lines[line.attempt].append(line)
    known: set[Attempt] = set()
    asked: set[str] = set()
    for name, events in found.of(TASK):
        yield from _task(name, events)
        task = events[0]["event"]["task"]
        for sent, ended in _pairs(events):
            attempt = attempt_of(sent)
            if attempt in known:
                yield Finding("repeated", f"{name}: {attempt} was begun twice")
            known.add(attempt)
            asked.add(sent["prompt"])
            yield from _lines(name, task, lines[attempt], ended)
    for attempt, written in lines.items():
        if written and attempt not in known:
            yield Finding("lost", f"{written} belongs to no attempt")
    for name, events in found.of(SESSION):
        yield from _requests(name, events, asked, found.lines)


def _lines(name: str, task: str, written: list[Line], ended: Json | None) -> Iterator[Finding]:
    if ended is None:
        return
    outcome = ended["event"]["outcome"]
    if any(line.task != task for line in written):
        yield Finding("wrong", f"{name} of {task} wrote {written}")
    if len(written) > 1:
        yield Finding("repeated", f"{name}: one attempt wrote {written}")
    if not written and outcome != "crashed" and not _was_stopped(ended["event"]):
        yield Finding("lost", f"{name}: an attempt that was {outcome} wrote nothing")
    for line in written:
        if line.at_ms > ended["at"] + LATE_MS:
            late = line.at_ms - ended["at"]
            yield Finding("late", f"{name}: {line} came {late:.0f} ms behind its end")


def _was_stopped(ended: Json) -> bool:
    return ended["outcome"] == "refused" and "closed" in (ended.get("reason") or "")


def _pairs(events: list[Json]) -> Iterator[tuple[Json, Json | None]]:
    """What was sent, and how it ended."""
    ends = {_key(t["event"]): t for t in events if t["event"]["kind"] == "task.mission.ended"}
    for told in events:
        if told["event"]["kind"] == "task.mission.sent":
            yield told["event"], ends.get(_key(told["event"]))


def _key(event: Json) -> tuple[Any, ...]:
    mission = event["mission"]
    return event["session"], mission["kind"], mission["round"], mission["attempt"]


def _task(name: str, events: list[Json]) -> Iterator[Finding]:
    kinds = [told["event"]["kind"] for told in events]
    if kinds.count("task.ended") != 1 or kinds[-1] != "task.ended":
        yield Finding("wrong", f"{name} ends with {kinds[-3:]}")
    if kinds.count("task.accepted") != 1:
        yield Finding("repeated", f"{name} was accepted {kinds.count('task.accepted')} times")
    done: set[tuple[str, int]] = set()
    for told in events:
        event = told["event"]
        if not event["kind"].startswith("task.mission."):
            continue
        mission = event["mission"]["kind"], event["mission"]["round"]
        if mission in done:
            yield Finding("repeated", f"{name}: {mission} goes on behind its end: {event}")
        if event["kind"] == "task.mission.ended" and event["outcome"] == "done":
            done.add(mission)
    canceled = events[-1]["event"].get("outcome") in ("canceled", "crashed")
    if not canceled and any(ended is None for _, ended in _pairs(events)):
        yield Finding("lost", f"{name}: an attempt has no end")


def _requests(
    name: str, events: list[Json], asked: set[str], lines: Iterable[Line]
) -> Iterator[Finding]:
    """Every request was an attempt, and every shell call that ended well wrote its line."""
    tools: set[str] = set()
    completed = 0
    for told in events:
        event = told["event"]
        match event["kind"]:
            case "prompt.accepted" if event["prompt"] not in asked:
                yield Finding("lost", f"{name} was asked {event}, and no attempt tells of it")
            case "tool.started" if event["name"] == "bash":
                tools.add(event["block"])
            case "tool.ended" if event["block"] in tools:
                completed += not event.get("error") and not event.get("cut")
            case _:
                pass
    written = sum(line.attempt.session == name for line in lines)
    if not completed <= written <= len(tools):
        words = f"{completed} of {len(tools)} shell calls ended well, {written} lines"
        yield Finding("lost", f"{name}: {words}")


def _waits(found: Evidence) -> Iterator[Finding]:
    """What works is not shown as waiting."""
    places = {t["event"].get("task_run"): t["event"].get("path") for t in found.run}
    for name, events in found.of(TASK):
        for told in events:
            if told["event"]["kind"] == "task.mission.sent":
                before = [
                    said["event"]["kind"]
                    for said in found.run
                    if said["at"] <= told["at"]
                    and said["event"].get("path") == places[name]
                    and said["event"]["kind"] in ("run.work.waiting", "run.work.going")
                ]
                if before and before[-1] == "run.work.waiting":
                    yield Finding("wrong", f"{name} works and is shown as waiting")


def _left(found: Evidence) -> Iterator[Finding]:
    for view in found.sessions:
        if view["state"] != "closed":
            yield Finding("left", f"the session {view['id']} is {view['state']}")
