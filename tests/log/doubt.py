"""Fault injection: a database that goes away in the midst of a commit, so that nobody knows what
came of it until it is back."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from airboss.errors import StoreAway
from airboss.log.appending import AppendAttempt
from airboss.log.doubt import InDoubt
from airboss.log.log import EventLog
from airboss.patience import be_patient_for


@asynccontextmanager
async def away_in_a_commit(log: EventLog, stream: str, *, lands: bool) -> AsyncGenerator[None]:
    """The next one of this stream. It is back behind the block, with the commit if that `lands`."""
    database = log._database  # pyright: ignore[reportPrivateUsage]
    write, is_cut = database.try_write, False

    async def try_write(work: Callable[[Any], Any]) -> Any:
        nonlocal is_cut
        attempt = getattr(work, "__self__", None)
        if is_cut:
            raise StoreAway("It is away.")
        if isinstance(attempt, AppendAttempt) and stream in streams_of(attempt):
            is_cut = True
            if lands:
                await write(work)
            raise StoreAway("It went away.", in_doubt=True)
        return await write(work)

    database.try_write = try_write
    try:
        yield
    finally:
        del database.try_write


def streams_of(attempt: AppendAttempt) -> list[str]:
    return [portion.growth.stream for portion in attempt.portions]


async def refused_in_doubt(asking: Coroutine[Any, Any, Any]) -> None:
    """A person asks for it, and is told that nobody knows."""

    async def ask() -> None:
        be_patient_for(0.1)
        with pytest.raises(InDoubt):
            await asking

    await asyncio.wait_for(asyncio.create_task(ask()), 10)
