"""What is large is deleted in many short transactions, and whoever is cut off is gone on for."""

import asyncio
import contextlib

from sqlalchemy import func, select

from airboss.log import rows
from airboss.log.forgetting import FORGOTTEN, forget_left, forget_streams
from airboss.store.database import Database
from airboss.store.dialect import Append, Growth, Row
from airboss.store.tables import events, streams, views
from tests.databases import as_the_only_server
from tests.pauses import pauses

MANY, LARGE, SMALL = 20_000, "ses_large", "ses_small"
VIEW = {"kind": "session", "state": "closed", "created_at": 1, "updated_at": 1, "seq": 1}


async def said_in(database: Database, stream: str, count: int) -> None:
    owner = await as_the_only_server(database, [0])
    body = '{"kind":"turn.started","turn":"t"}'
    some: list[Row] = [
        (stream, seq, 5, "turn.started", body, None, None, None, None)
        for seq in range(1, count + 1)
    ]
    batch = Append(owner.worker, [Growth(stream, 1, count, len(body) * count)], some)
    await database.write(lambda c: database.dialect.append(c, batch))
    view = views.insert().values(stream=stream, body="{}", **VIEW)
    await database.write(lambda c: c.execute(view) and None)


async def left_of(database: Database, stream: str) -> tuple[int, bool]:
    """Its events, and whether people find it."""
    count = select(func.count()).where(events.c.stream == stream)
    view = select(func.count()).where(views.c.stream == stream)
    return await database.read(
        lambda c: (c.execute(count).scalar_one(), bool(c.execute(view).scalar_one()))
    )


async def test_what_is_large_goes_piece_by_piece_and_is_gone_on_with(database: Database) -> None:
    await said_in(database, LARGE, MANY)
    forgetting = asyncio.create_task(forget_streams(database, [LARGE], None))
    count, is_found = MANY, True
    async with asyncio.timeout(30):
        for pause in pauses():
            count, is_found = await left_of(database, LARGE)
            if count < MANY:
                break
            await asyncio.sleep(pause / 10)
    forgetting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await forgetting
    assert count > 0
    assert not is_found, "nobody sees half of it"
    owner = select(streams.c.owner).where(streams.c.stream == LARGE)
    assert await database.read(lambda c: c.execute(owner).scalar()) == FORGOTTEN
    await forget_left(database)
    assert await left_of(database, LARGE) == (0, False)
    assert await database.read(lambda c: rows.head(c, LARGE)) == 0


async def test_what_is_small_goes_at_once(database: Database) -> None:
    await said_in(database, SMALL, 3)
    await forget_streams(database, [SMALL], None)
    assert await left_of(database, SMALL) == (0, False)
    assert await database.read(lambda c: rows.head(c, SMALL)) == 0
