"""The journal has what it was given, whole, until it is told that the database has it."""

from pathlib import Path

import pytest

from airboss.log import journal as journal_module
from airboss.log.journal import Journal, Note
from airboss.model.events import (
    MessageDelta,
    MessageStarted,
    Recorded,
    SessionIdle,
    SessionOpened,
)
from tests.databases import on_sqlite
from tests.log.conftest import OpenLog

FIRST, SECOND, THIRD = (
    Note("ses_1", seq, 1000 + seq, f'{{"text":"näh\\u0000 {seq}"}}') for seq in (1, 2, 3)
)


def left_in(folder: Path) -> list[Note]:
    """Read by the next server, while this one is not yet gone or was killed."""
    return Journal(folder).open()


def add(journal: Journal, note: Note) -> bool:
    return journal.add(note.stream, note.seq, note.at, note.body)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    made = Journal(tmp_path)
    assert made.open() == []
    made.start()
    return made


def test_a_note_is_there_for_the_next_server_without_any_goodbye(
    journal: Journal, tmp_path: Path
) -> None:
    assert add(journal, FIRST)
    assert add(journal, SECOND)
    assert left_in(tmp_path) == [FIRST, SECOND]
    journal.close()


def test_only_what_the_database_has_is_forgotten(journal: Journal, tmp_path: Path) -> None:
    add(journal, FIRST)
    full = journal.turn()
    add(journal, SECOND)
    assert left_in(tmp_path) == [FIRST, SECOND]
    journal.empty(full)
    assert left_in(tmp_path) == [SECOND]
    assert journal.turn() != full
    add(journal, THIRD)
    assert left_in(tmp_path) == [SECOND, THIRD]
    journal.close()


def test_an_area_that_was_emptied_shows_nothing_of_its_past(
    journal: Journal, tmp_path: Path
) -> None:
    for note in (FIRST, SECOND, THIRD):
        add(journal, note)
    journal.empty(journal.turn())
    journal.turn()
    add(journal, THIRD)
    assert left_in(tmp_path) == [THIRD]
    journal.close()


def test_what_finds_no_room_is_refused_and_spoils_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "AREA_BYTES", 200)
    journal = Journal(tmp_path)
    journal.start()
    taken = [add(journal, Note("ses_1", seq, 0, '"0123456789"')) for seq in range(1, 20)]
    long = add(journal, Note("ses_1", 20, 0, '"' + "x" * 500 + '"'))
    assert taken == sorted(taken, reverse=True)
    assert (taken[0], taken[-1], long) == (True, False, False)
    assert [note.seq for note in left_in(tmp_path)] == list(range(1, sum(taken) + 1))
    journal.close()


@pytest.mark.parametrize("cut", [1, 4, 8, 9, 20])
def test_a_note_that_was_half_stored_is_not_there(
    journal: Journal, tmp_path: Path, cut: int
) -> None:
    add(journal, FIRST)
    end = len(f'["ses_1",1,1001,{FIRST.body}]'.encode()) + 8
    add(journal, SECOND)
    journal.close()
    file = tmp_path / "a"
    content = bytearray(file.read_bytes())
    content[end + cut : end + 100] = bytes(100 - cut)  # as a loss of power may leave it
    file.write_bytes(content)
    assert left_in(tmp_path) == [FIRST]


@pytest.mark.parametrize("garbage", [b"", b"\x01", b"\xff" * 4096, bytes(4096), b"[]\n" * 50])
def test_garbage_is_nothing(tmp_path: Path, garbage: bytes) -> None:
    (tmp_path / "a").write_bytes(garbage)
    assert left_in(tmp_path) == []


@on_sqlite
async def test_a_server_takes_over_what_the_last_one_had_shown_and_not_what_it_had_written(
    open_log: OpenLog, tmp_path: Path
) -> None:
    opened = SessionOpened(model="m", cwd="/", policy="p", who="me")
    async with open_log() as log:
        await (await log.writer("ses_1")).commit(opened, MessageStarted(block="m"))
    delta = MessageDelta(block="m", offset=0, text="shown")
    journal = Journal(tmp_path / "deltas")
    journal.start()
    body = delta.model_dump_json()
    journal.add("ses_1", 2, 7, body)  # written already
    journal.add("ses_1", 3, 7, body)
    journal.add("ses_1", 4, 7, '{"kind":"nobody.knows"}')
    journal.add("ses_1", 5, 7, SessionIdle().model_dump_json())
    journal.close()
    for _ in range(2):
        async with open_log() as log:
            assert await log.after("ses_1", 2) == [Recorded(3, 7, body)]
