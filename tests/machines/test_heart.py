"""Beats on a real database: who lives moves, who is cut off ends itself before others take over."""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg
import pytest

from airboss.errors import SettingsInvalid, StoreUnavailable
from airboss.machines.heart import Heart
from airboss.machines.lease import LeaseTimes, awake_and_asleep
from airboss.machines.member import Introduction, Member
from airboss.patience import wait_for_nothing_after
from airboss.store.postgres_workers import Worker, WorkerLine
from tests.cut_line import cut_line_to
from tests.postgres import Postgres

TIMES = LeaseTimes(3)
CALL = 10.0


def worker(name: str, place: str | None = None) -> Worker:
    return Worker(f"wrk_{name}", place or f"own_{name}", name, "here", 1, "0")


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@dataclass
class Beating:
    """A worker at `url`, and what its heart said, each with the time."""

    heart: Heart
    ends: "queue.Queue[float]" = field(default_factory=queue.Queue[float])
    reaped: "queue.Queue[tuple[str, float]]" = field(default_factory=queue.Queue[tuple[str, float]])
    fed: list[float] = field(default_factory=list[float])


@contextmanager
def beating(url: str, one: Worker, times: LeaseTimes = TIMES) -> Generator[Beating]:
    line = WorkerLine(url, one.id)
    sent = awake_and_asleep()
    line.register(one, CALL)
    found = Beating(Heart(line, times, sent))
    found.heart.feed = found.fed.append
    found.heart.on_lost = lambda _: found.ends.put(time.monotonic())
    found.heart.on_reaped = lambda name: found.reaped.put((name, time.monotonic()))
    found.heart.start()
    try:
        yield found
    finally:
        found.heart.stop()


def state_of(postgres: Postgres, database: str, name: str) -> str:
    asked = f"SELECT state FROM airboss.workers WHERE id = 'wrk_{name}'"  # noqa: S608
    return postgres.execute(asked, database)[0][0]


def own(postgres: Postgres, database: str, stream: str, name: str) -> None:
    postgres.execute(
        f"INSERT INTO airboss.streams (stream, owner, epoch, head, bytes) "  # noqa: S608
        f"VALUES ('{stream}', 'wrk_{name}', 1, 0, 0)",
        database,
    )


def owner_of(postgres: Postgres, database: str, stream: str) -> str | None:
    asked = f"SELECT owner FROM airboss.streams WHERE stream = '{stream}'"  # noqa: S608
    return postgres.execute(asked, database)[0][0]


def test_a_line_that_swallows_ends_a_worker_before_another_one_takes_over(
    postgres: Postgres, shared_name: str, shared_url: str
) -> None:
    own(postgres, shared_name, "run_a", "a")
    with (
        cut_line_to(postgres.port) as line,
        beating(postgres.url(shared_name, port=line.port), worker("a")) as cut,
        beating(shared_url, worker("b")) as other,
    ):
        time.sleep(TIMES.between_beats * 4)
        assert len(cut.fed) > 1
        last = cut.heart.sent_at
        line.swallow()
        ended = cut.ends.get(timeout=30)
        lost, taken = other.reaped.get(timeout=30)
        assert lost == "wrk_a"
        assert ended < taken, "it had ended itself before"
        assert awake_and_asleep() - last >= TIMES.seconds * 0.9
        assert state_of(postgres, shared_name, "a") == "lost"
        assert owner_of(postgres, shared_name, "run_a") is None
        assert other.ends.empty()


def test_a_database_that_is_away_for_a_moment_loses_nobody(
    postgres: Postgres, shared_name: str, shared_url: str
) -> None:
    patient = LeaseTimes(20)  # a busy machine takes seconds to start it
    with (
        beating(shared_url, worker("a"), patient) as first,
        beating(shared_url, worker("b"), patient) as other,
    ):
        postgres.restart("immediate")
        before = len(first.fed)
        until = time.monotonic() + 20
        while len(first.fed) <= before:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert first.ends.empty()
        assert other.ends.empty()
        assert first.reaped.empty()
        assert state_of(postgres, shared_name, "b") == "alive"


def test_a_worker_that_others_marked_as_lost_ends_itself_at_its_next_beat(
    postgres: Postgres, shared_name: str, shared_url: str
) -> None:
    with beating(shared_url, worker("a")) as one:
        line = WorkerLine(shared_url, "wrk_b")
        assert line.mark_lost("wrk_a", None, CALL)
        assert not line.mark_lost("wrk_a", None, CALL), "it was done"
        line.close()
        one.ends.get(timeout=20)
        assert one.heart.silent_for < TIMES.own_limit


def test_a_beat_that_moved_meanwhile_is_no_loss(
    postgres: Postgres, shared_name: str, shared_url: str
) -> None:
    line = WorkerLine(shared_url, "wrk_a")
    line.register(worker("a"), CALL)
    assert line.beat(CALL) == {}
    assert not line.mark_lost("wrk_a", 0, CALL)
    assert line.mark_lost("wrk_a", 1, CALL)
    assert line.beat(CALL) is None
    line.close()


def test_who_counts_as_lost_itself_gives_nobody_up(
    postgres: Postgres, shared_name: str, shared_url: str
) -> None:
    """A machine that slept between its beat and what it concluded from it."""
    lines = {name: WorkerLine(shared_url, f"wrk_{name}") for name in ("asleep", "other")}
    for name, line in lines.items():
        line.register(worker(name), CALL)
    own(postgres, shared_name, "run_a", "other")
    assert lines["other"].mark_lost("wrk_asleep", 0, CALL)
    assert not lines["asleep"].mark_lost("wrk_other", 0, CALL)
    assert state_of(postgres, shared_name, "other") == "alive"
    assert owner_of(postgres, shared_name, "run_a") == "wrk_other"
    for line in lines.values():
        line.close()


def test_a_new_process_at_the_same_place_takes_its_predecessors_place_at_once(
    postgres: Postgres, shared_name: str, shared_url: str
) -> None:
    first, second = WorkerLine(shared_url, "wrk_a"), WorkerLine(shared_url, "wrk_b")
    first.register(worker("a", "own_same"), CALL)
    own(postgres, shared_name, "run_a", "a")
    assert second.register(worker("b", "own_same"), CALL) == ["wrk_a"]
    assert second.register(worker("b", "own_same"), CALL) == [], "repeated, it does no harm"
    assert first.beat(CALL) is None
    assert second.beat(CALL) == {}
    assert owner_of(postgres, shared_name, "run_a") is None
    assert second.leave(CALL)
    assert state_of(postgres, shared_name, "b") == "left"
    first.close()
    second.close()


def test_loss_waits_for_an_append_on_its_way_and_none_comes_behind_it(
    postgres: Postgres, shared_name: str, shared_url: str
) -> None:
    line = WorkerLine(shared_url, "wrk_a")
    line.register(worker("a"), CALL)
    proof = "SELECT 1 FROM airboss.workers WHERE id = 'wrk_a' AND state = 'alive' FOR KEY SHARE"
    with psycopg.connect(shared_url) as appending:
        assert appending.execute(proof).fetchone()
        assert line.beat(CALL) == {}, "beats pass"
        reaper = WorkerLine(shared_url, "wrk_b")
        reaper.register(worker("b"), CALL)
        done: queue.Queue[bool] = queue.Queue()
        threading.Thread(
            target=lambda: done.put(reaper.mark_lost("wrk_a", 1, CALL)), daemon=True
        ).start()
        with pytest.raises(queue.Empty):
            done.get(timeout=0.5)
        appending.commit()
        assert done.get(timeout=20)
        assert appending.execute(proof).fetchone() is None
    reaper.close()
    line.close()


def test_a_worker_that_is_stopped_while_it_sends_a_transaction_is_lost_all_the_same(
    postgres: Postgres, shared_name: str, shared_url: str
) -> None:
    """Its session has the proof that it lives, and waits for the rest of what was to come."""
    line = WorkerLine(shared_url, "wrk_a")
    line.register(worker("a"), CALL)
    line.close()
    proof = b"SELECT 1 FROM airboss.workers WHERE id = 'wrk_a' FOR KEY SHARE"
    options = "-c idle_in_transaction_session_timeout=3000 -c statement_timeout=5000"
    with psycopg.connect(shared_url, options=options) as stopped:
        half = stopped.pgconn
        half.enter_pipeline_mode()
        for said in (b"BEGIN", proof):
            half.send_query_params(said, None)
        half.send_flush_request()
        half.flush()
        with beating(shared_url, worker("watcher")) as watcher:
            assert watcher.reaped.get(timeout=15)[0] == "wrk_a"
        stopped.close()
    assert state_of(postgres, shared_name, "a") == "lost"


def test_a_clock_that_is_a_second_off_is_told_once_and_told_when_it_is_right(
    shared_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="airboss.machines.heart")
    real = time.time_ns

    def told() -> list[str]:
        return [one.getMessage() for one in caplog.records if "clock of this" in one.getMessage()]

    with beating(shared_url, worker("late")) as found:
        monkeypatch.setattr(time, "time_ns", lambda: real() - 5_000_000_000)
        until(lambda: found.heart.is_off)
        beats = len(found.fed)
        until(lambda: len(found.fed) > beats + 2)
        assert len(told()) == 1
        assert "-5." in told()[0] or "-4." in told()[0]
        monkeypatch.undo()
        until(lambda: not found.heart.is_off)
    assert told()[1:] == ["The clock of this machine is right again."]


def test_who_watches_goes_by_the_lease_of_whom_it_watches(
    postgres: Postgres, shared_name: str, shared_url: str
) -> None:
    for name, seconds in (("patient", 60.0), ("silent", 0.0)):
        line = WorkerLine(shared_url, f"wrk_{name}")
        line.register(replace(worker(name), lease_seconds=seconds), CALL)
        line.close()
    with beating(shared_url, worker("watcher"), LeaseTimes(1.5)) as watcher:
        assert watcher.reaped.get(timeout=30)[0] == "wrk_silent"
        assert state_of(postgres, shared_name, "patient") == "alive"


def test_only_what_is_open_is_free_behind_a_loss_and_the_rest_is_nobodys_either(
    postgres: Postgres, shared_name: str, shared_url: str
) -> None:
    line = WorkerLine(shared_url, "wrk_a")
    line.register(worker("a"), CALL)
    put = (
        "INSERT INTO airboss.views (stream, kind, seq, state, created_at, updated_at, body) "
        "VALUES ('{}', 'run', 1, '{}', 1, 1, '')"
    )
    for stream, state in (("run_open", "running"), ("ses_closed", "closed")):
        own(postgres, shared_name, stream, "a")
        postgres.execute(put.format(stream, state), shared_name)
    assert line.mark_lost("wrk_a", 0, CALL)
    line.close()
    assert owner_of(postgres, shared_name, "run_open") is None
    assert owner_of(postgres, shared_name, "ses_closed") == "wrk_a", "there may be many of them"


def test_a_beat_that_was_held_up_says_nothing_of_the_clock(
    postgres: Postgres, shared_name: str, shared_url: str
) -> None:
    line = WorkerLine(shared_url, "wrk_a")
    line.register(worker("a"), CALL)
    assert line.beat(CALL) == {}
    known = line.offset_ms
    with psycopg.connect(postgres.url(shared_name)) as other:
        other.execute("SELECT 1 FROM airboss.workers FOR UPDATE")
        held = threading.Timer(1.2, other.rollback)
        held.start()
        assert line.beat(CALL) == {}
        held.join()
    line.close()
    assert line.offset_ms == known


def introduced(name: str, place: str) -> Introduction:
    return Introduction(f"wrk_{name}", place, name, "0", ())


async def test_a_copy_of_a_data_folder_on_another_machine_is_refused_while_that_one_works(
    shared_url: str, tmp_path: Path
) -> None:
    first = replace(worker("first", "own_same"), host="elsewhere", lease_seconds=3)
    second = introduced("second", "own_same")
    with (
        beating(shared_url, first) as found,
        pytest.raises(SettingsInvalid, match="first on elsewhere works with a copy of this data"),
    ):
        await Member.joined(shared_url, second, TIMES, tmp_path)
    assert found.ends.empty()
    # It does not beat any more: the folder has moved.
    member = await Member.joined(shared_url, second, TIMES, tmp_path)
    await member.end()


async def test_a_worker_that_is_told_to_stop_does_not_wait_for_its_database(
    tmp_path: Path,
) -> None:
    ending = asyncio.Event()
    wait_for_nothing_after(ending)
    ending.set()
    url = "postgresql://nobody@127.0.0.1:1/none"
    with pytest.raises(StoreUnavailable):
        await Member.joined(url, introduced("a", "own_a"), TIMES, tmp_path)
