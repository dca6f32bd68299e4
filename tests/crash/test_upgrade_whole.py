"""A data folder of an earlier version with all that people keep: today's server goes on with it, on
its file or, in the trials, on a PostgreSQL that it was imported into."""

import asyncio
import json
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import httpx2
import pytest

from tests.contract.asking import AskedGuest
from tests.contract.guest import Told, kinds
from tests.contract.job_guest import JobGuest
from tests.contract.task_guest import TaskGuest
from tests.fixtures.before_renames.make import RULES, TOKENS, portal_in, restore
from tests.portal import Portal
from tests.postgres import Postgres
from tests.trials import whole_only

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]
FILE, IMPORTED = "file", "imported"


@pytest.fixture(scope="module", params=[FILE, pytest.param(IMPORTED, marks=whole_only)])
def kept_where(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, kept_where: str) -> Path:
    return tmp_path_factory.mktemp(kept_where).resolve()


@pytest.fixture(scope="module")
def tokens(folder: Path) -> dict[str, str]:
    """The data folder, and whom it lets in."""
    return restore(folder)


@pytest.fixture(scope="module")
def portal(
    kept_where: str, folder: Path, tokens: dict[str, str], request: pytest.FixtureRequest
) -> Generator[Portal]:
    """One for all: each test looks at another part of what was kept."""
    assert tokens
    portal = portal_in(folder)
    if kept_where == FILE:
        with portal.serving():
            yield portal
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    name = postgres.new_database()
    portal.extra_environ["AIRBOSS_DATABASE"] = postgres.url(name)
    done = portal.run("database", "import", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["open_runs"] == 3
    with portal.serving():
        yield portal
    postgres.drop(name)


@pytest.fixture
async def jobs(portal: Portal, anyio_backend: str) -> AsyncGenerator[JobGuest]:
    async with JobGuest.of(portal) as guest:
        yield guest


async def runs_of(jobs: JobGuest) -> dict[str, str]:
    listed = (await jobs.http.get("/api/v1/runs")).json()["items"]
    return {view["job"]: view["id"] for view in listed}


async def lone_tasks(jobs: JobGuest) -> list[Told]:
    """In the order in which they were started."""
    answer = await jobs.http.get("/api/v1/task-runs", params={"limit": 100})
    found = [view for view in answer.json()["items"] if view["run"] is None]
    return sorted(found, key=lambda view: view["id"])


async def items_of(jobs: JobGuest) -> dict[str, Told]:
    """What waits, by the job that waits for it."""
    names = {run: job for job, run in (await runs_of(jobs)).items()}
    items = (await jobs.http.get("/api/v1/inbox")).json()["items"]
    return {names[item["run"]]: item for item in items if item["run"] in names}


async def test_the_open_run_goes_on_and_ends_as_its_trusted_entry_allows(
    jobs: JobGuest, portal: Portal
) -> None:
    run = (await runs_of(jobs))["open"]
    view = await jobs.over(run)
    assert (view["state"], view["restarts"], view["trusted"]) == ("succeeded", 1, True)
    assert [work["task"] for work in view["works"]] == ["work", "hold", "freely"]
    assert (portal.work / "free").exists(), "trust holds: nobody was asked"
    told = kinds(await jobs.run_events(run))
    assert (told[0], told[-1], told.count("run.ended")) == ("run.accepted", "run.ended", 1)
    done = await jobs.show_run((await runs_of(jobs))["done"])
    assert (done["state"], done["restarts"]) == ("succeeded", 0)


async def test_the_parked_runs_wait_and_are_decided(jobs: JobGuest, portal: Portal) -> None:
    runs, items = await runs_of(jobs), await items_of(jobs)
    parked, asked = runs["parked"], runs["parked with a question"]
    for run in (parked, asked):
        assert (await jobs.show_run(run))["state"] == "waiting-for-person"
    path = f"/api/v1/inbox/{items['parked']['id']}/decision"
    assert (await jobs.http.post(path, json={"choice": "allow-once"})).status_code == 200
    path = f"/api/v1/inbox/{items['parked with a question']['id']}/answer"
    assert (await jobs.http.post(path, json={"answer": "blue"})).status_code == 200
    for run in (parked, asked):
        view = await jobs.until_run(run, lambda view: view["state"] == "succeeded")
        told = await jobs.http.get(f"/api/v1/task-runs/{view['works'][0]['task_run']}")
        assert len(told.json()["attempts"]) == 1, "the one attempt went on"
    assert (portal.work / "asked").exists()


async def test_lone_tasks_are_read_and_listed_and_the_open_ones_have_ended(
    jobs: JobGuest, portal: Portal
) -> None:
    ended, hold, ask, lent = await lone_tasks(jobs)
    assert [view["task"] for view in (ended, hold, ask, lent)] == ["input", "hold", "ask", "hold"]
    guest = TaskGuest(jobs.http, portal)
    shown = await guest.show_run(ended["id"])
    assert (shown["state"], shown["user_input"]) == ("succeeded", "the fixture")
    assert [attempt["outcome"] for attempt in shown["attempts"]] == ["done"]
    for view in (hold, ask, lent):
        shown = await guest.show_run(view["id"])
        assert shown["state"] == "crashed"
        assert shown["reason"] == "The server stopped while this task was running."
        assert shown["sessions"] == []
        assert {one["state"] for one in await guest.opened_by(view["id"])} <= {"closed"}
    items = (await jobs.http.get("/api/v1/inbox")).json()["items"]
    assert ask["id"] not in {item["task_run"] for item in items}, "what it asked went with it"
    listed = await jobs.http.get("/api/v1/task-runs", params={"alone": True})
    assert {one["id"] for one in listed.json()["items"]} == {
        view["id"] for view in (ended, hold, ask, lent)
    }
    found = (await jobs.http.get("/api/v1/search", params={"text": "fixture"})).json()["items"]
    assert [(one["of"], one["task_run"]) for one in found][-1] == ("task", ended["id"])


async def test_the_chat_reads_back_whole_and_goes_on(jobs: JobGuest, portal: Portal) -> None:
    guest = AskedGuest(jobs.http, portal)
    listed = (await jobs.http.get("/api/v1/sessions", params={"limit": 100})).json()["items"]
    chats = [one for one in listed if one["who"] == "owner"]
    chat = min(chats, key=lambda one: one["id"])["id"]
    told = await guest.events(chat)
    said = [one["event"]["text"] for one in told if one["event"]["kind"] == "message.ended"]
    assert said == ["Hello, captain.", "I will look.", "That is all."]
    assert kinds(told).count("prompt.accepted") == 2
    found = (await jobs.http.get("/api/v1/search", params={"text": "captain"})).json()["items"]
    assert [one["stream"] for one in found] == [chat]
    assert (await guest.do(chat, "resume"))["state"] == "idle"
    again = await guest.turn(chat, "hello")
    assert [one["event"]["text"] for one in again if one["event"]["kind"] == "message.ended"] == [
        "Hello, captain."
    ]


async def test_rules_and_trust_hold(jobs: JobGuest, portal: Portal) -> None:
    kept = (await jobs.http.get("/api/v1/rules")).json()["items"]
    for one, rule in zip(kept, RULES, strict=True):
        assert {name: one["rule"][name] for name in rule} == rule
    guest = AskedGuest(jobs.http, portal)
    (portal.work / "kept").touch()
    session = await guest.open(model="coder")
    await guest.turn(session, "Mkdir")
    assert (portal.work / "made").is_dir()
    await guest.turn(session, "Remove")
    assert (portal.work / "kept").exists()
    assert await guest.waiting(session=session) == []
    trust = (await jobs.http.get("/api/v1/trust")).json()["items"]
    assert [one["current"] for one in trust] == [True]
    assert (await jobs.http.get("/api/v1/entry")).json()["trusted"]


async def test_every_token_lets_in_with_its_role(
    portal: Portal, tokens: dict[str, str], kept_where: str
) -> None:
    # Those with a name are a file's own, and do not count on a database that others share.
    known = ("owner", *TOKENS) if kept_where == FILE else ("owner",)
    for name in ("owner", *TOKENS):
        headers = {"Authorization": f"Bearer {tokens[name]}"}
        async with httpx2.AsyncClient(base_url=portal.url, headers=headers) as client:
            assert (await client.get("/api/v1/runs")).status_code == (200 if name in known else 401)
            if name in known:
                opened = await client.post("/api/v1/sessions", json={"model": "coder"})
                assert opened.status_code == (403 if name == "reader" else 201)
    listed = await asyncio.to_thread(portal.run, "token", "list", "--json")
    items = json.loads(listed.stdout)["items"]
    roles = {one["name"]: one["role"] for one in items if not one["name"].startswith("owner@")}
    assert roles == (TOKENS if kept_where == FILE else {})
