"""Machines for the pictures: real servers and workers on a real PostgreSQL, one of which stops."""

import contextlib
import json
import signal
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2

from tests.databases import with_tables
from tests.machines.story import Fleet
from tests.postgres import MISSING, programs, running_postgres

# Long enough to photograph one that is not heard from all sides, before it is taken over.
LEASE = 40
TASKS = {"plan": "first it", "build-web": "slow it", "check": "last it"}
JOBS = ("ship", "triage", "fix")


def _entry() -> dict[str, Any]:
    works = [{"kind": "Ref", "taskId": name} for name in TASKS]
    return {
        "models": {"driving": "rehearsal"},
        "promptVariables": {},
        "tasks": {
            name: {"model": {"category": "driving"}, "prompt": [prompt], "requireUserInput": False}
            for name, prompt in TASKS.items()
        },
        "jobs": {name: {"work": {"kind": "Seq", "works": works}} for name in JOBS},
        "grid": [],
    }


@contextlib.contextmanager
def silent_machine() -> Generator[tuple[Path, str, str]]:
    """While build-7 is silent: the folder and the address of another server, and a run."""
    if programs() is None:
        raise SystemExit(MISSING)
    with (
        tempfile.TemporaryDirectory(prefix="fleet-") as place,
        running_postgres() as postgres,
    ):
        url = postgres.url(with_tables(postgres))
        fleet = Fleet(Path(place), url, lease=LEASE)
        stopped, portal = fleet.machine("build-7"), fleet.machine("portal-1")
        workers = [fleet.machine(name) for name in ("build-2", "build-3")]
        (fleet.folder / "entry.json").write_text(json.dumps(_entry()), encoding="utf-8")
        try:
            stopped.serve()
            portal.serve()
            for worker in workers:
                worker.work()
            runs = [fleet.start(job=job) for job in JOBS]
            fleet.until(lambda: all(fleet.view(run).get("works_succeeded") for run in runs))
            stopped.portal.process.send_signal(signal.SIGSTOP)
            _until_not_heard(portal.portal.url, portal.portal.token, "build-7")
            yield portal.portal.folder, portal.portal.url, runs[0]
        finally:
            stopped.portal.process.send_signal(signal.SIGCONT)
            fleet.end()


def _until_not_heard(url: str, token: str, name: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    until = time.monotonic() + LEASE
    while time.monotonic() < until:
        listed = httpx2.get(f"{url}/api/v1/workers", headers=headers, timeout=30).json()["items"]
        if any(one["name"] == name and not one["is_heard"] for one in listed):
            return
        time.sleep(0.2)
