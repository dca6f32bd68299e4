"""Which worker can work on which run, asked of the rules and of the database: both say the same."""

import asyncio
import itertools
import json
from typing import Any, Final

import psycopg
import pytest

from airboss.machines.fitting import Abilities, Needs, free_places, places_of
from airboss.model.ids import SessionId, TaskRunId
from airboss.model.runs import OPEN_RUNS, LoneRunView, RunningWork, RunView
from airboss.model.views import OPEN_STATES
from airboss.store.claims import Claims, TakenRun
from airboss.store.postgres_database import PostgresDatabase

_ROOTS: Final = (None, "root_1:/srv/work", "root_1:/mnt/work", "root_2:/srv/work")
_LABELS: Final = ((), ("gpu",), ("gpu", "linux"), ("mac",))
_WALK: Final = "walk-1"


def _run(*running: RunningWork, **more: Any) -> RunView:
    kind = LoneRunView if "task" in more else RunView
    said = {"id": "run_1", "state": "running", "job": "j", "entry": "e", "cwd": "/", "who": "me"}
    times = {"created_at": 1, "updated_at": 1, "seq": 1}
    return kind.model_validate({**said, **times, "running": running, **more})


def _work(path: str, **more: Any) -> RunningWork:
    name = TaskRunId(f"tsk_{path}")
    return RunningWork(work=1, path=path, task="t", task_run=name, started_at=1, **more)


def test_a_run_needs_a_place_for_each_task_that_works_and_one_before_and_between() -> None:
    asks = {"waits_for": "Anna", "for_person": True}
    assert places_of(_run()) == 1
    assert places_of(_run(_work("1"), _work("2"), _work("3", **asks))) == 2
    assert places_of(_run(_work("1", waits_for="a free place"))) == 1


def test_a_run_that_waits_for_people_alone_or_has_a_lent_session_needs_no_place() -> None:
    assert places_of(_run(_work("1", waits_for="Anna", for_person=True))) == 0
    lent = _run(_work("1"), task="t", session=SessionId("ses_1"))
    assert places_of(lent) == 0
    assert places_of(_run(_work("1"), task="t")) == 1


def test_free_places_are_what_open_runs_leave() -> None:
    assert free_places(2, []) == 2
    assert free_places(2, [_run(), _run(_work("1"), _work("2"))]) == -1


_MACHINES: Final = [
    Abilities("here", roots, labels, (_WALK,))
    for roots in ((), ("root_1:/srv/work",), ("root_1:/srv/work", "root_2:/srv/work"))
    for labels in _LABELS
]
_WANTED: Final = [
    Needs(root, place, frozenset(labels))
    for root, place, labels in itertools.product(_ROOTS, ("here", "there"), _LABELS)
]


def _prepare(url: str) -> None:
    with psycopg.connect(url, options="-c search_path=airboss") as connection:
        for worker in range(len(_MACHINES)):
            connection.execute(
                "INSERT INTO workers (id, place, name, host, pid, version, state) "
                "VALUES (%s, %s, 'w', 'h', 1, '1', 'alive')",
                (f"wrk_{worker}", f"place_{worker}"),
            )
        for number, needs in enumerate(_WANTED):
            run = f"run_{number:03}"
            connection.execute(
                "INSERT INTO work (run, key, labels, root, place, walk) "
                "VALUES (%s, %s, %s, %s, %s, %s)",
                (run, run, json.dumps(sorted(needs.labels)), needs.root, needs.place, _WALK),
            )
            connection.execute(
                "INSERT INTO streams (stream, epoch, head, bytes) VALUES (%s, 1, 1, 0)",
                (run,),
            )
            connection.execute(
                "INSERT INTO views (stream, kind, seq, state, created_at, updated_at, body) "
                "VALUES (%s, 'run', 1, 'waiting', 1, 1, '{}')",
                (run,),
            )


def _free_all(url: str) -> None:
    with psycopg.connect(url, options="-c search_path=airboss") as connection:
        connection.execute("UPDATE streams SET owner = NULL")


def test_the_database_gives_a_worker_exactly_what_fits_the_oldest_first(shared_url: str) -> None:
    _prepare(shared_url)

    async def taken(number: int, machine: Abilities, most: int) -> list[TakenRun]:
        database = PostgresDatabase(shared_url)
        await database.open()
        try:
            claims = Claims(
                *(database, f"wrk_{number}", machine.place, machine.roots),
                *(machine.labels, machine.walks),
            )
            return await claims.take(OPEN_RUNS, most)
        finally:
            await database.close()

    for number, machine in enumerate(_MACHINES):
        fitting = [f"run_{at:03}" for at, needs in enumerate(_WANTED) if machine.fits(needs)]
        assert fitting
        found = asyncio.run(taken(number, machine, 1000))
        assert [one.run for one in found] == fitting
        assert asyncio.run(taken(number, machine, 1000)) == []
        _free_all(shared_url)
    first = asyncio.run(taken(0, _MACHINES[0], 1))
    assert [(one.run, one.held_by) for one in first] == [("run_000", "")]


def test_each_run_is_taken_by_one_of_many_that_look_at_the_same_time(shared_url: str) -> None:
    _prepare(shared_url)
    everything = ("root_1:/srv/work", "root_1:/mnt/work", "root_2:/srv/work")

    async def race() -> list[list[TakenRun]]:
        databases = [PostgresDatabase(shared_url) for _ in range(4)]
        for database in databases:
            await database.open()
        workers = [
            Claims(database, f"wrk_{number}", "here", everything, ("gpu", "linux", "mac"), (_WALK,))
            for number, database in enumerate(databases)
        ]

        async def take_all(claims: Claims) -> list[TakenRun]:
            mine: list[TakenRun] = []
            while found := await claims.take(OPEN_RUNS, 2):
                mine += found
            return mine

        try:
            async with asyncio.TaskGroup() as group:
                taking = [group.create_task(take_all(worker)) for worker in workers]
            return [one.result() for one in taking]
        finally:
            for database in databases:
                await database.close()

    taken = [one.run for mine in asyncio.run(race()) for one in mine]
    there = [needs for needs in _WANTED if needs.place == "here" or needs.root]
    assert len(taken) == len(set(taken)) == len(there)


def test_one_that_drains_or_is_lost_is_given_nothing(shared_url: str) -> None:
    _prepare(shared_url)

    async def take(state: str) -> list[TakenRun]:
        with psycopg.connect(shared_url, options="-c search_path=airboss") as connection:
            connection.execute("UPDATE workers SET state = %s WHERE id = 'wrk_0'", (state,))
        database = PostgresDatabase(shared_url)
        await database.open()
        try:
            return await Claims(database, "wrk_0", "here", (), (), (_WALK,)).take(OPEN_RUNS, 9)
        finally:
            await database.close()

    for state in ("draining", "left", "lost"):
        assert asyncio.run(take(state)) == []
    assert asyncio.run(take("alive"))


@pytest.mark.parametrize("walks", [(), ("walk-2",)])
def test_a_run_that_is_walked_otherwise_is_left_to_those_who_can(
    shared_url: str, walks: tuple[str, ...]
) -> None:
    _prepare(shared_url)

    async def take() -> list[TakenRun]:
        database = PostgresDatabase(shared_url)
        await database.open()
        try:
            return await Claims(database, "wrk_0", "here", (), (), walks).take(OPEN_RUNS, 9)
        finally:
            await database.close()

    assert asyncio.run(take()) == []


def test_chats_are_found_behind_however_many_sessions_of_open_runs(shared_url: str) -> None:
    add_view = (
        "INSERT INTO views (stream, kind, seq, state, created_at, updated_at, body, task, run) "
        "VALUES (%s, %s, 1, %s, %s, 1, '{}', %s, %s)"
    )
    with psycopg.connect(shared_url, options="-c search_path=airboss") as connection:
        views = [("run_1", "run", "running", 0, None, None)]
        views += [("tsk_1", "task", "running", 0, None, "run_1")]
        views += [(f"ses_{at}", "session", "working", at, "tsk_1", None) for at in range(120)]
        views += [("ses_chat", "session", "working", 999, None, None)]
        for view in views:
            connection.execute(add_view.encode(), view)
            connection.execute(
                "INSERT INTO streams (stream, epoch, head, bytes) VALUES (%s, 1, 1, 0)", view[:1]
            )

    async def free() -> list[str]:
        database = PostgresDatabase(shared_url)
        await database.open()
        try:
            return await Claims(database, "wrk_1", "here").free("session", OPEN_STATES)
        finally:
            await database.close()

    assert asyncio.run(free()) == ["ses_chat"]
