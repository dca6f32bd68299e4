"""Reading the end of a stream costs the same however long the stream is."""

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection

from airboss.log import rows
from airboss.model.events import MessageStarted, Recorded
from airboss.store.database import Database
from airboss.store.dialect import Append, Growth
from airboss.store.sqlite_database import SqliteDatabase

LENGTHS = (100, 20_000)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    """One short stream and one long, each with a block that is still open."""
    made = SqliteDatabase(tmp_path / "airboss.sqlite")
    await made.open()
    body = MessageStarted(block="m").model_dump_json()
    for length in LENGTHS:
        stream = f"ses_{length}"
        said = [
            rows.row_of(stream, Recorded(seq, 0, body), "message.started", "start", f"b{seq}")
            for seq in range(1, length + 1)
        ]
        growth = Growth(stream, 1, length, 0)
        batch = Append("here", [growth], said, opened=[(stream, length - 2)])
        await made.write(lambda c, batch=batch: made.dialect.append(c, batch))
    yield made
    await made.close()


def counted(connection: Connection, work: Callable[[], object]) -> int:
    """How many steps SQLite's machine takes for this."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    driver = connection.connection.driver_connection
    assert driver is not None
    driver.set_progress_handler(step, 1)
    work()
    driver.set_progress_handler(None, 1)
    return steps


def tail(connection: Connection, length: int) -> object:
    return rows.page(connection, f"ses_{length}", length - 10, 50)


def middle(connection: Connection, length: int) -> object:
    return rows.page(connection, f"ses_{length}", length // 2, 20)


def head(connection: Connection, length: int) -> object:
    return rows.head(connection, f"ses_{length}")


def open_blocks(connection: Connection, length: int) -> object:
    return rows.open_blocks(connection, f"ses_{length}")


@pytest.mark.parametrize("question", [tail, middle, head, open_blocks])
async def test_a_long_stream_is_as_quick_as_a_short_one(
    database: Database, question: Callable[[Connection, int], object]
) -> None:
    short, long = [
        await database.read(lambda c, n=length: counted(c, lambda: question(c, n)))
        for length in LENGTHS
    ]
    assert 0 < long <= short + 5
