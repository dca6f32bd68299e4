"""The engine's own database cannot be used: that is told in words, and nothing goes on unseen."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from airboss.engine.homes import EngineHome
from airboss.entry.build import ref
from airboss.errors import StoreUnavailable
from airboss.model.run_events import RunEnding
from tests.engine.homes import MakeEngine, execute_in
from tests.engine.workshop import Workshop, until

RUN, WORKING = "run_1", ("0", "put 4")
CUT = ("0", "put 4 cut", "")
STOPPED = RunEnding(outcome="canceled", reason="Stopped by me.", who="me")


@pytest.fixture
def shop(shop: Workshop) -> Workshop:
    shop.works[RUN] = ref("slow")
    shop.works["run_0"] = ref("good")
    return shop


@contextmanager
def trouble(home: EngineHome) -> Generator[None]:
    """What DBOS asks for is not there."""
    execute_in(home, "ALTER TABLE workflow_status RENAME TO elsewhere")
    try:
        yield
    finally:
        execute_in(home, "ALTER TABLE elsewhere RENAME TO workflow_status")


async def test_a_stop_that_it_refuses_is_told_and_ends_the_work_all_the_same(
    make_engine: MakeEngine, shop: Workshop, engine_home: EngineHome
) -> None:
    engine = make_engine()
    await engine.start(RUN)
    await until(shop, WORKING)
    with trouble(engine_home):
        with pytest.raises(StoreUnavailable, match="engine's"):
            await engine.end(RUN, STOPPED)
        assert CUT in shop.diary.read(RUN)
    await engine.end_surely(RUN, STOPPED)
    assert shop.diary.find(RUN, "", "dismissed") == "Stopped by me."
    assert not await engine.is_open(RUN)


@pytest.mark.parametrize("is_ahead", [False, True])
async def test_a_start_that_it_refuses_is_told_and_works_no_more(
    make_engine: MakeEngine, shop: Workshop, engine_home: EngineHome, is_ahead: bool
) -> None:
    engine = make_engine()
    await engine.start("run_0")
    with trouble(engine_home), pytest.raises(StoreUnavailable, match="engine's"):
        await engine.start(RUN, is_lone=True, is_new=is_ahead)
    assert not await engine.known(RUN)
    begun = [what for _, what, _ in shop.diary.read(RUN)]
    assert begun.count("put 4") == begun.count("put 4 cut")


async def test_what_it_does_not_let_go_on_is_told(
    make_engine: MakeEngine, shop: Workshop, engine_home: EngineHome
) -> None:
    engine = make_engine()
    await engine.start(RUN)
    await until(shop, WORKING)
    await engine.close()
    engine = make_engine()
    await engine.recover()
    with trouble(engine_home), pytest.raises(StoreUnavailable, match="engine's"):
        await engine.take_up([RUN])
