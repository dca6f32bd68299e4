"""What is asked of another process's stream is done there, and once, whoever is lost meanwhile."""

import asyncio
import contextlib
import inspect
import json
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, replace
from typing import Final

import pytest

from airboss import errors
from airboss.errors import AirbossError, Conflict, NotFound, RuntimeUnavailable
from airboss.harness.compaction import COMPACT_SECONDS
from airboss.harness.prompts import Extras
from airboss.log.log import EventLog
from airboss.log.said_for import said_for
from airboss.model.events import PromptAccepted, SessionOpened
from airboss.model.ids import PromptId
from airboss.model.redaction import Redactor
from airboss.model.views import SessionView
from airboss.service.owners import Owners
from airboss.service.tasks import TaskRuns
from airboss.service.verbs import VERBS, at_owner, refusal, told
from airboss.store.commands import CommandStore, OwnerCommand
from airboss.store.images import Picture
from airboss.store.ownership import Ownership
from airboss.store.postgres_database import PostgresDatabase
from tests.databases import with_tables
from tests.log.neighbours import register
from tests.postgres import Postgres

STREAM: Final = "ses_one"
OPENED: Final = SessionOpened(model="m", cwd="/", policy="read-only", who="me")
LONG: Final = 20.0
SHORT: Final = 0.3


@dataclass
class Notebook:
    """A service as small as one can be."""

    log: EventLog
    owners: Owners | None = None

    @at_owner(LONG)
    async def write(self, stream: str, text: str, who: str) -> SessionView:
        if not text:
            raise Conflict("There is nothing to write.")
        writer = await self.log.writer(stream)
        await writer.commit(PromptAccepted(prompt=PromptId(f"pro_{text}"), text=text, who=who))
        return await self.show(stream)

    @at_owner(SHORT)
    async def hurry(self, stream: str) -> None:
        await self.write(stream, "hurry", "me")

    async def show(self, stream: str) -> SessionView:
        view = await self.log.view(stream)
        assert isinstance(view, SessionView)
        return view


@dataclass
class Place:
    """A process of the database, as far as it matters here."""

    worker: str
    log: EventLog
    notebook: Notebook
    owners: Owners

    @property
    def serving(self) -> contextlib.AbstractAsyncContextManager[None]:
        return self.owners.open(self.notebook)


@contextlib.asynccontextmanager
async def place(url: str, worker: str) -> AsyncGenerator[Place]:
    database = PostgresDatabase(url)
    await database.open()
    try:
        await register(database, worker)
        async with EventLog(database, None, ownership=Ownership(worker)).running() as log:
            owners = Owners(log, CommandStore(database, worker), Redactor(("s3cret-word",)))
            yield Place(worker, log, Notebook(log, owners), owners)
    finally:
        await database.close()


@pytest.fixture
def shared(postgres: Postgres) -> Generator[str]:
    name = with_tables(postgres)
    yield name
    postgres.drop(name)


@pytest.fixture
async def here(postgres: Postgres, shared: str) -> AsyncGenerator[Place]:
    async with place(postgres.url(shared), "wrk_here") as made:
        yield made


@pytest.fixture
async def there(postgres: Postgres, shared: str) -> AsyncGenerator[Place]:
    async with place(postgres.url(shared), "wrk_there") as made:
        await made.log.new_writer(STREAM).commit(OPENED)
        yield made


async def said(place: Place) -> list[str]:
    found = [recorded.event for recorded in await place.log.transcript(STREAM, 0)]
    return [event.text for event in found if isinstance(event, PromptAccepted)]


async def test_the_owner_does_it_and_whoever_asked_has_the_answer(
    here: Place, there: Place, postgres: Postgres, shared: str
) -> None:
    async with there.serving:
        view = await here.notebook.write(STREAM, "hello s3cret-word", "me")
        assert view.seq == 2
        with pytest.raises(Conflict, match=r"There is nothing to write\."):
            await here.notebook.write(STREAM, "", "me")
    assert (there.owners.done, here.owners.asked) == (2, 2)
    [text] = await said(here)
    assert "s3cret-word" not in text
    rows = postgres.execute(
        "SELECT state, body, taken_by FROM airboss.commands ORDER BY id", shared
    )
    assert rows == [("done", "", "wrk_there"), ("failed", "", "wrk_there")]


async def test_what_nobody_owns_is_done_here(
    here: Place, there: Place, postgres: Postgres, shared: str
) -> None:
    postgres.execute("UPDATE airboss.streams SET owner = NULL", shared)
    assert (await here.notebook.write(STREAM, "hello", "me")).seq == 2
    assert here.owners.asked == 0
    # From now on it is asked there.
    there.log.let_go([STREAM])
    async with here.serving:
        assert (await there.notebook.write(STREAM, "again", "me")).seq == 3
    assert here.owners.done == 1


async def lose(postgres: Postgres, shared: str, worker: str) -> None:
    """As whoever watches it does."""
    sql = f"""
        UPDATE airboss.workers SET state = 'lost' WHERE id = '{worker}';
        UPDATE airboss.streams SET owner = NULL WHERE owner = '{worker}'
    """  # noqa: S608
    await asyncio.to_thread(postgres.execute, sql, shared)


@pytest.mark.parametrize("was_said", [True, False])
async def test_the_next_owner_does_it_unless_the_lost_one_had(
    here: Place, there: Place, postgres: Postgres, shared: str, was_said: bool
) -> None:
    asking = asyncio.create_task(here.notebook.write(STREAM, "once", "me"))
    async with asyncio.timeout(LONG):
        while not (taken := await there.owners.store.take()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    if was_said:
        with said_for(STREAM, taken[0].origin):
            await there.notebook.write(STREAM, "once", "me")
    await lose(postgres, shared, "wrk_there")
    async with place(postgres.url(shared), "wrk_next") as after:
        await after.log.writer(STREAM)
        async with after.serving:
            view = await asyncio.wait_for(asking, LONG)
    assert view.seq == 2
    assert await said(here) == ["once"]


async def test_what_nobody_takes_in_time_is_not_done_later(here: Place, there: Place) -> None:
    with pytest.raises(RuntimeUnavailable, match=r"Nothing was done\."):
        await here.notebook.hurry(STREAM)
    async with there.serving:
        await here.notebook.write(STREAM, "later", "me")
    assert await said(here) == ["later"]


def test_a_request_with_a_picture_is_told_whole() -> None:
    verb = VERBS["Sessions.prompt"]
    picture = Picture("image/png", b"\x89PNG\r\n\x1a\n\x00\xff")
    extras = Extras([picture], "plan", ("a.txt",))
    given = verb.bound("ses_1", "hello", "me", "steer", extras)
    packed = json.loads(json.dumps(verb.packed(given)))
    assert verb.unpacked(packed) == given


def test_every_verb_can_be_told() -> None:
    assert TaskRuns.retry.__qualname__ in VERBS
    assert VERBS["Sessions.compact"].seconds > COMPACT_SECONDS
    assert {"Sessions.prompt", "ResumedSessions.settle", "Runs.stop"} <= {*VERBS}
    for verb in VERBS.values():
        if verb.name.startswith("Notebook"):
            continue
        names = [*inspect.signature(verb.method).parameters][2:]
        for name in names:
            assert name in verb.forms, f"{verb.name} cannot be told: {name}"
        assert "return" in verb.forms


def _refusals(kind: type[AirbossError]) -> list[type[AirbossError]]:
    return [kind, *(one for below in kind.__subclasses__() for one in _refusals(below))]


def test_every_refusal_is_the_same_behind_the_line() -> None:
    missing = refusal(told(NotFound("session", "ses_1")))
    assert isinstance(missing, NotFound)
    assert (missing.kind, missing.key, str(missing)) == (
        *("session", "ses_1"),
        "There is no session ses_1.",
    )
    for kind in _refusals(AirbossError):
        if kind.__module__ == errors.__name__:
            made = kind.__new__(kind)
            Exception.__init__(made, "No.")
            again = refusal(told(made))
            assert (type(again), str(again)) == (kind, "No.")
    assert type(refusal({"kind": "Exception", "said": "No.", "beside": {}})) is AirbossError


async def test_what_a_lost_owner_had_taken_is_done_by_the_next_when_nobody_waits_any_more(
    postgres: Postgres, shared: str, here: Place, there: Place
) -> None:
    asking, taking = (replace(one.owners.store, takeover_seconds=60) for one in (here, there))
    await asking.add(OwnerCommand("cmd_1", STREAM, "Notebook.write", "{}"), "me", 0)
    assert len(await taking.take()) == 1
    for said in (
        "UPDATE airboss.workers SET state = 'lost' WHERE id = 'wrk_there'",
        "UPDATE airboss.streams SET owner = 'wrk_here'",
    ):
        postgres.execute(said, shared)
    assert [one.id for one in await asking.take()] == ["cmd_1"]
