"""The server is killed at random moments, and nothing that anybody knew of is lost."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from airboss.model.events import EVENT, BlockDelta, Recorded
from tests.databases import POSTGRES, SQLITE, NewDatabase
from tests.log.conftest import OpenLog
from tests.log.lives import STREAM
from tests.log.truth import read_all
from tests.trials import dice, share, trial

LIVES = {SQLITE: share(20, 50), POSTGRES: share(8, 50)}
ROOT = Path(__file__).parents[2]


@dataclass
class Known:
    """What the outside knows of one life."""

    promised: set[int] = field(default_factory=set[int])
    shown: list[Recorded] = field(default_factory=list[Recorded])

    def texts(self) -> dict[str, str]:
        return _texts(self.shown)


def _texts(events: list[Recorded]) -> dict[str, str]:
    """The text of each block as its deltas tell it."""
    texts: dict[str, str] = {}
    for recorded in events:
        event = recorded.event
        if isinstance(event, BlockDelta):
            told = texts.setdefault(event.block, "")
            assert event.offset == len(told), f"{event.block}: a gap or a repetition"
            texts[event.block] = told + event.text
    return texts


def _read(file: Path) -> Known:
    known = Known()
    # The last line may have been cut off by the kill: what it says was not yet known.
    lines = file.read_text("utf-8").split("\n")[:-1] if file.exists() else []
    for what, seq, body in (json.loads(line) for line in lines):
        if what == "ack":
            known.promised.add(seq)
        else:
            known.shown.append(Recorded(seq, 0, body))
    return known


@pytest.fixture
def lives(tmp_path: Path, new_database: NewDatabase) -> Generator["subprocess.Popen[str]"]:
    """Everything is imported once, so that each life begins at once."""
    url = getattr(new_database(), "_url", "")
    program = [sys.executable, "-m", "tests.log.lives", str(tmp_path), url]
    pipe = subprocess.PIPE
    with subprocess.Popen(program, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as running:
        yield running
        running.kill()


def live_and_die(lives: "subprocess.Popen[str]", notes: Path, chance: random.Random) -> None:
    assert lives.stdin
    assert lives.stdout
    lives.stdin.write(f"{notes.name}\n")
    lives.stdin.flush()
    child = int(lives.stdout.readline())
    if chance.random() < 0.8:  # else it may die while it takes over what the last one left
        while not notes.exists() or not notes.stat().st_size:
            time.sleep(0.001)
    time.sleep(chance.uniform(0.0, 0.06))
    os.kill(child, signal.SIGKILL)
    assert lives.stdout.readline() == "dead\n"


def check(known: Known, stored: list[Recorded], left: dict[str, str]) -> None:
    seqs, texts = {recorded.seq for recorded in stored}, _texts(stored)
    assert known.promised <= seqs, "an acknowledged event is missing"
    bodies = {recorded.seq: recorded.body for recorded in stored}
    for recorded in known.shown:
        if not isinstance(EVENT.validate_json(recorded.body), BlockDelta):
            assert bodies[recorded.seq] == recorded.body, "an event that was shown is missing"
    for block, text in known.texts().items():
        assert texts[block].startswith(text), f"{block}: a delta that was shown is missing"
    for block, text in left.items():
        assert text.startswith(known.texts().get(block, "")), f"{block} was left with less"


@trial
async def test_kill_at_random_moments_loses_nothing_that_was_known(
    lives: "subprocess.Popen[str]", open_log: OpenLog, tmp_path: Path, kept_in: str
) -> None:
    chance, head, highest, shown, left_open = dice(), 0, 0, 0, 0
    for number in range(LIVES[kept_in]):
        notes = tmp_path / f"life-{number}"
        live_and_die(lives, notes, chance)
        known = _read(notes)
        new = known.promised | {recorded.seq for recorded in known.shown}
        assert not new or min(new) > highest, "a number was used twice"
        async with open_log() as log:
            stored = await read_all(log, STREAM, head, 500)
            writer = await log.writer(STREAM)
        check(known, stored, {left.block: left.text for left in writer.left_open})
        head = stored[-1].seq if stored else head
        highest = max(new, default=highest)
        shown, left_open = shown + len(known.shown), len(writer.left_open)
    assert shown > 5 * LIVES[kept_in], "the lives were too short to prove anything"
    assert left_open > 0
