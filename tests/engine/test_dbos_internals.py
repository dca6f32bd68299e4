"""A contract with DBOS's inside: when these fail, DBOS changed; `dbos_internals.py` must follow.

What each thing is needed for stands in its `RELIED_ON`.
"""

import asyncio
import inspect
import sqlite3
import threading
from collections.abc import AsyncGenerator
from contextlib import closing
from importlib import import_module
from pathlib import Path

import dbos
import pytest
from dbos import DBOS, WorkflowStatusString

from airboss.engine import dbos_internals
from airboss.engine.dbos_internals import (
    RELIED_ON,
    FileRows,
    inside_of,
    latest_schema,
    look_every,
    recovery_queue,
    schema_of,
)
from airboss.engine.local_file import LocalFile, url_of
from airboss.engine.workflows import Workflows
from tests.house.private_use import found, private_use

DOTTED = [name for name in RELIED_ON if "." in name and " " not in name]


class Bodies:
    """One workflow, which says in which loop and thread it works, and waits to be let go."""

    def __init__(self) -> None:
        self.works_in: asyncio.Future[tuple[object, int]] = asyncio.Future()
        self.go = asyncio.Event()

    async def run(self, name: str) -> str:
        if not self.works_in.done():
            self.works_in.set_result((asyncio.get_running_loop(), threading.get_ident()))
        await self.go.wait()
        return name


@pytest.fixture
async def bodies() -> Bodies:
    return Bodies()


@pytest.fixture
async def flows(tmp_path: Path, bodies: Bodies) -> AsyncGenerator[Workflows]:
    path, loop = tmp_path / "engine.sqlite", asyncio.get_running_loop()
    flows = await asyncio.to_thread(Workflows, LocalFile(path), {"run": bodies.run})
    await asyncio.to_thread(flows.launch, loop)
    yield flows
    bodies.go.set()
    await flows.close()


@pytest.mark.parametrize("name", DOTTED)
def test_dbos_and_asyncio_still_have_what_is_relied_on(name: str) -> None:
    found(name)


def test_the_list_has_all_that_the_module_uses_and_nothing_else() -> None:
    source = inspect.getsource(dbos_internals)
    begin, end = source.index("RELIED_ON: Final"), source.index("_OPEN: Final")
    code = source[:begin] + source[end:]
    names = {name.rpartition(".")[2] for name in private_use(code)}
    assert names == {name.rpartition(".")[2] for name in DOTTED}
    for words in ("task cancelled", "recorded outcome"):
        assert f"log '{words}'" in RELIED_ON
        assert words in code


def test_the_internal_queue_is_made_before_the_launch_and_keeps_its_pace() -> None:
    register = found("dbos._dbos.DBOSRegistry._register_internal_queue")
    assert list(inspect.signature(register).parameters) == ["self", "name", "limits"]
    try:
        queue = recovery_queue(0.05)
        assert queue.polling_interval_sec == 0.05
        assert recovery_queue(7) is queue, "DBOS finds this one when it is launched"
        look_every(queue, 1)
        assert queue.polling_interval_sec == 1
    finally:
        DBOS.destroy(destroy_registry=True)
    looks = inspect.getsource(import_module("dbos._queue"))
    assert "queue._polling_interval_sec" in looks, "each look asks anew how long to wait"


async def test_dbos_works_in_the_loop_that_is_lent_to_its_launch(
    flows: Workflows, bodies: Bodies
) -> None:
    await flows.start("run", "run_1", "run_1")
    here = (asyncio.get_running_loop(), threading.get_ident())
    assert await asyncio.wait_for(bodies.works_in, 10) == here


async def test_a_lent_loop_is_taken_back() -> None:
    loop = asyncio.get_running_loop()

    def launch() -> object:
        with inside_of(loop):
            assert asyncio.get_running_loop() is loop
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        return True

    assert await asyncio.to_thread(launch)


def test_the_tables_have_the_names_that_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "engine.sqlite"
    DBOS.migrate(url_of(path))
    with closing(sqlite3.connect(path)) as file:
        rows = FileRows(file)
        assert schema_of(rows) == latest_schema() > 0
        fields = {name for _, name, *_ in file.execute("PRAGMA table_info(workflow_status)")}
        assert {"workflow_uuid", "status", "name", "executor_id", "queue_name"} <= fields
        of_runs = set(rows.tables_with("workflow_uuid"))
    assert {"workflow_status", "operation_outputs", "workflow_input", "workflow_output"} <= of_runs


def test_open_workflows_still_have_these_two_states_and_a_delayed_one_that_nobody_uses() -> None:
    states = {state.value for state in WorkflowStatusString}
    ended = {"SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"}
    assert states - ended == {"PENDING", "ENQUEUED", "DELAYED"}


def test_dbos_still_complains_in_these_words_of_a_run_that_was_stopped() -> None:
    source = "".join(path.read_text("utf-8") for path in Path(dbos.__path__[0]).glob("*.py"))
    assert "task cancelled for workflow" in source
    assert "Waiting for the recorded outcome" in source
