"""Rehearsals over v1: a real server plays a draft on a server of its own, and leaves nothing."""

import asyncio
import subprocess
import time
from collections.abc import AsyncGenerator, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from airboss.entry.examples import ExampleEntry, example_entries
from tests.cli.stage import ENTRY, SCRIPT
from tests.contract.guest import Guest, Told
from tests.portal import Portal
from tests.trials import share, trial

PATH = "/api/v1/rehearsals"
pytestmark = pytest.mark.timeout(180)
INPUTS = {"migrate-api": "old_price to price", "write-docs": "shop.py"}


def with_own_tmp(folder: Path, **environ: str) -> Portal:
    (folder / "tmp").mkdir()
    return Portal(folder, extra_environ={"TMPDIR": str(folder / "tmp"), **environ})


@pytest.fixture(scope="module")
def portal(
    tmp_path_factory: pytest.TempPathFactory, quick_python: dict[str, str]
) -> Iterator[Portal]:
    folder = tmp_path_factory.mktemp("rehearsals")
    with with_own_tmp(folder, **quick_python).serving() as portal:
        yield portal


@pytest.fixture
def own_portal(tmp_path: Path) -> Portal:
    """One that a test starts, kills and stops. Its rehearsals have interpreters of their own, as
    everywhere, whose processes are looked for."""
    return with_own_tmp(tmp_path)


@pytest.fixture
async def guest(portal: Portal, anyio_backend: str) -> AsyncGenerator[Guest]:
    async with Guest.of(portal) as guest:
        yield guest


def left_by(portal: Portal) -> list[str]:
    """Folders and processes of rehearsals."""
    folder = portal.folder / "tmp"
    told = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    here = [path.name for path in folder.glob("airboss-rehearsal-*")]
    return here + [line for line in told.stdout.splitlines() if f"{folder}/airboss-reh" in line]


def until_clean(portal: Portal, seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while left := left_by(portal):
        assert time.monotonic() < until, left
        time.sleep(0.1)


async def started(guest: Guest, **body: Any) -> str:
    answer = await guest.http.post(PATH, json={"text": ENTRY, "script": SCRIPT, **body})
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"{PATH}/{answer.json()['id']}"
    return str(answer.json()["id"])


async def shown(guest: Guest, name: str) -> Told:
    answer = await guest.http.get(f"{PATH}/{name}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def ended(guest: Guest, name: str) -> Told:
    async with asyncio.timeout(90):
        while True:
            told = await shown(guest, name)
            if told["state"] != "running":
                return told
            await asyncio.sleep(0.1)


async def refused(guest: Guest, status: int, **body: Any) -> str:
    answer = await guest.http.post(PATH, json={"text": ENTRY, **body})
    assert answer.status_code == status, answer.text
    return str(answer.json()["detail"])


async def until_playing(guest: Guest, name: str, task: str) -> None:
    async with asyncio.timeout(60):
        while True:
            told = await shown(guest, name)
            assert told["state"] == "running", told
            if any(one["name"] == task and one["state"] == "running" for one in told["tasks"]):
                return
            await asyncio.sleep(0.1)


async def test_a_job_is_played_and_leaves_nothing_but_its_result(
    guest: Guest, portal: Portal
) -> None:
    name = await started(guest, job="rounds")
    begun = await shown(guest, name)
    assert (begun["state"], begun["ended_at"], begun["digest"]) == (
        "running",
        None,
        sha256(ENTRY.encode()).hexdigest(),
    )
    assert [task["state"] for task in begun["tasks"]] == ["waiting", "waiting"]
    told = await ended(guest, name)
    assert (told["state"], told["reason"], told["job"]) == ("succeeded", None, "rounds")
    by_name = {task["name"]: task for task in told["tasks"]}
    assert by_name.keys() == {"first", "enough"}
    assert (by_name["first"]["rounds"], by_name["first"]["state"]) == (2, "succeeded")
    assert by_name["enough"]["requests"] >= 2
    assert by_name["first"]["seconds"] > 0
    assert told["ended_at"] >= told["started_at"]
    until_clean(portal, 5)
    for kind in ("runs", "sessions", "task-runs"):
        assert (await guest.http.get(f"/api/v1/{kind}")).json()["items"] == []
    assert list(portal.work.iterdir()) == []
    again = await guest.http.delete(f"{PATH}/{name}")
    assert again.json() == told


async def test_a_job_that_fails_says_why_and_input_is_passed_on(guest: Guest) -> None:
    failed, fed = await started(guest, job="broken"), await started(guest, job="input", input="Go.")
    told = await ended(guest, failed)
    assert told["state"] == "failed"
    assert told["reason"]
    assert [task["state"] for task in told["tasks"]] == ["succeeded", "failed", "waiting"]
    assert (await ended(guest, fed))["state"] == "succeeded"


async def test_what_cannot_be_played_is_refused_at_once(guest: Guest, portal: Portal) -> None:
    assert "6 errors" in await refused(guest, 422, job="two", text=ENTRY.replace("first", "no", 1))
    assert "Is not YAML" in await refused(guest, 422, job="two", text="tasks: [")
    assert "no job nothing" in await refused(guest, 404, job="nothing")
    assert "needs input" in await refused(guest, 422, job="input")
    assert "takes no input" in await refused(guest, 422, job="two", input="x")
    assert "script:1:1" in await refused(guest, 422, job="two", script="nonsense: 1")
    assert "not YAML" in await refused(guest, 422, job="two", script="\0")
    bomb = "\n".join(
        ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    )
    assert "parts" in await refused(guest, 422, job="two", script=bomb)
    assert "KiB" in await refused(guest, 413, job="two", script="#" * 300_000)
    assert "MiB" in await refused(guest, 413, job="two", text="#" * (8 * 1024 * 1024 + 1))
    assert await refused(guest, 422, job="two", format="python")
    assert (await guest.http.get(f"{PATH}/reh_x")).status_code == 404
    assert (await guest.http.delete(f"{PATH}/reh_x")).status_code == 404
    assert left_by(portal) == []


async def test_two_at_once_and_a_canceled_one_makes_room(guest: Guest, portal: Portal) -> None:
    first, second = await started(guest, job="slow"), await started(guest, job="slow")
    assert "2 rehearsals run already" in await refused(guest, 429, job="two")
    await until_playing(guest, first, "sleep")
    canceled = await guest.http.delete(f"{PATH}/{first}")
    assert (canceled.status_code, canceled.json()["state"]) == (200, "canceled")
    assert canceled.json()["reason"] == "Somebody canceled it."
    assert len([name for name in left_by(portal) if name.startswith("airboss-reh")]) == 1
    third = await started(guest, job="two")
    assert (await ended(guest, third))["state"] == "succeeded"
    both = await asyncio.gather(  # noqa: TID251 - two at the same moment
        guest.http.delete(f"{PATH}/{second}"), guest.http.delete(f"{PATH}/{second}")
    )
    assert [answer.json()["state"] for answer in both] == ["canceled", "canceled"]
    assert left_by(portal) == []


async def test_one_that_is_canceled_before_it_began_leaves_nothing(
    guest: Guest, portal: Portal
) -> None:
    for pause in (0, 0.05, 0.3, 1):
        name = await started(guest, job="slow")
        await asyncio.sleep(pause)
        assert (await guest.http.delete(f"{PATH}/{name}")).json()["state"] == "canceled"
        assert left_by(portal) == []


async def test_agents_of_a_rehearsal_change_nothing(guest: Guest, portal: Portal) -> None:
    trace = portal.work / "trace"
    script = f"""
rules:
  - steps:
      - call: {{tool: create, arguments: {{path: "{trace}", file_text: x}}}}
      - call: {{tool: bash, arguments: {{command: "touch {trace}", description: x}}}}
      - say: done
"""
    told = await ended(guest, await started(guest, job="two", script=script))
    assert told["state"] == "succeeded"
    assert not trace.exists()


async def test_a_rehearsal_that_waits_for_a_person_ends(guest: Guest) -> None:
    text = ENTRY.replace("jobs:\n", "limits: {turns: 1}\njobs:\n", 1)
    told = await ended(guest, await started(guest, job="two", text=text))
    assert told["state"] == "failed"
    assert "nobody answers in a rehearsal" in told["reason"]


# Each of them is played by the command line, too.
@trial
@pytest.mark.parametrize("example", example_entries()[: share(1, 6)], ids=lambda one: one.name)
async def test_every_example_can_be_rehearsed_as_it_is(guest: Guest, example: ExampleEntry) -> None:
    draft = await guest.http.post("/api/v1/entry/draft", json={"text": example.text})
    [job] = draft.json()["jobs"]
    given = {"input": INPUTS.get(example.name, "x")} if job["requireUserInput"] else {}
    body = {"text": example.text, "script": example.script, "job": job["name"], **given}
    told = await ended(guest, await started(guest, **body))
    assert (told["state"], told["reason"]) == ("succeeded", None)


@trial
@pytest.mark.parametrize("pause", [0.4, 0.0, 1.5][: share(1, 3)])
async def test_a_killed_server_takes_its_rehearsal_along(own_portal: Portal, pause: float) -> None:
    own_portal.start()
    async with Guest.of(own_portal) as guest:
        await started(guest, job="slow")
        await asyncio.sleep(pause)
    own_portal.kill()
    # What it was killed too early for, the next server of the folder removes.
    with own_portal.serving():
        until_clean(own_portal)


async def test_a_server_that_is_killed_while_agents_play_leaves_nothing(own_portal: Portal) -> None:
    own_portal.start()
    async with Guest.of(own_portal) as guest:
        await until_playing(guest, await started(guest, job="slow"), "sleep")
    assert left_by(own_portal)
    own_portal.kill()
    until_clean(own_portal)


async def test_a_server_that_is_stopped_ends_in_time_and_leaves_nothing(own_portal: Portal) -> None:
    own_portal.start()
    async with Guest.of(own_portal) as guest:
        await until_playing(guest, await started(guest, job="slow"), "sleep")
    begun = time.monotonic()
    own_portal.stop()
    assert time.monotonic() - begun < 8
    until_clean(own_portal)
