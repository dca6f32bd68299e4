"""The engine in a database that several workers share: each has its own runs, and takes up those
of a worker that is gone; nobody else does."""

import asyncio
import gc
import warnings
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager

import pytest
from dbos import DBOS

from airboss.engine.durable import Engine
from airboss.engine.shared_schema import SharedSchema
from airboss.entry.build import alt, loop, par, ref, seq
from tests.engine.homes import execute_in, migrated_engine, rows_of
from tests.engine.workshop import Workshop, endings, repeated, until
from tests.postgres import Postgres

pytestmark = pytest.mark.filterwarnings("ignore:.*was deleted while still open:ResourceWarning")
GOOD, BAD, SLOW, THIRD = (ref(name) for name in ("good", "bad", "slow", "third"))
EVERYTHING = seq(
    GOOD,
    par(
        GOOD, seq(GOOD, alt(BAD, true=BAD, false=par(GOOD, GOOD))), loop(GOOD, after=(False, THIRD))
    ),
    ref("last"),
)


@pytest.fixture
def url(postgres: Postgres) -> Generator[str]:
    name = migrated_engine(postgres)
    yield postgres.url(name)
    postgres.drop(name)


@asynccontextmanager
async def engine_of(home: SharedSchema, shop: Workshop) -> AsyncGenerator[Engine]:
    """DBOS is one for a process: workers of a test come one after the other."""
    engine = Engine(home, shop)
    try:
        yield engine
    finally:
        await engine.close()
        # What a thread of DBOS has out when DBOS ends goes back to a pool that is gone:
        # nobody closes it. Nothing of ours takes one from there.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


async def test_a_run_of_every_kind_of_work_is_one_row_under_its_workers_name(
    url: str, shop: Workshop
) -> None:
    home = SharedSchema(url, "wrk_1", "own_1")
    shop.works["run_1"] = EVERYTHING
    async with engine_of(home, shop) as engine:
        assert not await engine.known("run_1")
        await engine.start("run_1")
        await asyncio.wait_for(shop.end_of("run_1").wait(), 30)
        assert await engine.known("run_1")
    assert len(endings(shop)) == 14
    assert endings(shop)[-1] == "succeeded"
    kept = "SELECT workflow_uuid, name, executor_id, application_version FROM workflow_status"
    assert rows_of(home, kept) == [("run_1", "run", "wrk_1", "walk-1")]
    assert rows_of(home, "SELECT * FROM operation_outputs") == []


async def test_what_a_lost_worker_had_goes_on_with_the_one_that_takes_it(
    url: str, shop: Workshop
) -> None:
    lost, taker = SharedSchema(url, "wrk_1", "own_1"), SharedSchema(url, "wrk_2", "own_2")
    shop.works |= {"run_1": seq(GOOD, par(SLOW, SLOW), GOOD), "run_2": SLOW}
    async with engine_of(lost, shop) as engine:
        for name in shop.works:
            await engine.start(name)
        await until(shop, ("0.1.0", "put 4"), ("0.1.1", "put 4"))
        await until(shop, ("0", "put 4"), name="run_2")
    shop.slow_seconds = 0
    async with engine_of(taker, shop) as engine:
        await engine.recover()
        # What is another's is not touched by a start.
        await asyncio.sleep(0.5)
        assert endings(shop) == ["0.0 succeeded"]
        assert await engine.elsewhere(["run_1", "run_2"]) == ["run_1", "run_2"]
        for _ in range(2):
            await engine.take_up(["run_1"])
        await asyncio.wait_for(shop.end_of("run_1").wait(), 30)
        assert endings(shop, "run_2") == []
        assert await engine.is_open("run_2")
    assert endings(shop)[-1] == "succeeded"
    assert repeated(shop.diary) == []
    held = "SELECT workflow_uuid, executor_id FROM workflow_status ORDER BY 1"
    assert rows_of(lost, held) == [("run_1", "wrk_2"), ("run_2", "wrk_1")]


async def test_a_queue_is_listened_to_by_the_worker_at_its_place_alone(
    url: str, shop: Workshop
) -> None:
    shop.works["run_1"] = SLOW
    first, other = SharedSchema(url, "wrk_1", "own_1"), SharedSchema(url, "wrk_2", "own_2")
    async with engine_of(first, shop) as engine:
        await engine.start("run_1")
        await until(shop, ("0", "put 4"))
    execute_in(
        first,
        f"UPDATE workflow_status SET status = 'ENQUEUED', queue_name = '{first.queue}'",  # noqa: S608
    )
    shop.slow_seconds = 0
    async with engine_of(other, shop) as engine:
        await engine.recover()
        await asyncio.sleep(1.5)
        assert endings(shop) == []
    async with engine_of(SharedSchema(url, "wrk_3", "own_1"), shop) as engine:
        await engine.recover()
        await asyncio.wait_for(shop.end_of("run_1").wait(), 30)


async def test_a_stopped_run_stays_stopped_for_every_worker(url: str, shop: Workshop) -> None:
    shop.works["run_1"] = par(SLOW, seq(GOOD, SLOW))
    first, second = SharedSchema(url, "wrk_1", "own_1"), SharedSchema(url, "wrk_2", "own_1")
    async with engine_of(first, shop) as engine:
        await engine.start("run_1")
        await until(shop, ("0.0", "put 4"), ("0.1.1", "put 4"))
        await engine.stop("run_1")
        assert not await engine.is_open("run_1")
    async with engine_of(second, shop) as engine:
        await engine.recover()
        assert await engine.elsewhere(["run_1"]) == []
        await engine.forget("run_1")
        assert not await engine.known("run_1")


async def test_a_database_that_restarts_under_a_run_costs_it_nothing(
    url: str, shop: Workshop, postgres: Postgres
) -> None:
    shop.slow_seconds = 2.0
    shop.works["run_1"] = seq(GOOD, SLOW, GOOD)
    async with engine_of(SharedSchema(url, "wrk_1", "own_1"), shop) as engine:
        await engine.start("run_1")
        await until(shop, ("0.1", "put 4"))
        await asyncio.to_thread(postgres.restart, "immediate")
        await asyncio.wait_for(shop.end_of("run_1").wait(), 40)
        async with asyncio.timeout(30):
            while await engine.is_open("run_1"):  # noqa: ASYNC110 - a row has no event
                await asyncio.sleep(0.1)
    assert endings(shop)[-1] == "succeeded"
    assert repeated(shop.diary) == []


def test_the_public_calls_that_a_takeover_is_made_of_are_there() -> None:
    for name in ("resume_workflows_async", "listen_queues", "register_queue"):
        assert callable(getattr(DBOS, name))
