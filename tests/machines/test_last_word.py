"""What a guard runs for a worker that crashed: the database counts it as lost at once."""

import os
import subprocess
import sys

from airboss.machines import last_word
from airboss.store.postgres_connection import connect
from airboss.store.postgres_workers import Worker, WorkerLine

WORKER = Worker("wrk_gone", "plc_1", "build-1", "host", 1, "1")


def tell(url: str, worker: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-P", "-m", last_word.__name__, worker],
        env={**os.environ, last_word.DATABASE: url},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def test_a_worker_that_crashed_is_lost_when_its_guard_has_said_so(shared_url: str) -> None:
    line = WorkerLine(shared_url, WORKER.id)
    line.register(WORKER, 10)
    assert tell(shared_url, WORKER.id).returncode == 0
    with connect(shared_url) as connection:
        assert connection.execute("SELECT state FROM workers").fetchall() == [("lost",)]
    assert tell(shared_url, WORKER.id).returncode == 0, "twice does no harm"
    line.close()


def test_where_nobody_hears_it_the_guard_may_try_again() -> None:
    said = tell("postgresql://nobody@127.0.0.1:1/nothing", WORKER.id)
    assert said.returncode == 1
    assert said.stderr == ""


def test_it_imports_little_since_people_wait_for_it() -> None:
    asked = f"import sys, {last_word.__name__}; print('sqlalchemy' in sys.modules)"
    said = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, timeout=50, check=True
    )
    assert said.stdout == "False\n"


def test_the_database_finds_out_that_a_machine_is_gone(shared_url: str) -> None:
    with connect(shared_url) as connection:
        idle = connection.execute("SHOW tcp_keepalives_idle").fetchone()
    assert idle == ("10",)
