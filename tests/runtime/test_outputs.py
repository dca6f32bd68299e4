"""Long outputs of tools: for their own session, and for as long as that can be resumed."""

import json
import tempfile
from pathlib import Path

import pytest

from airboss.model.events import ToolEnded
from airboss.runtime.agent_runtime import Runtime
from airboss.runtime.session import RuntimeSession
from airboss.store.folder import DataFolder
from airboss.store.session_files import SessionFiles
from tests.runtime.conftest import Flight, Listener

pytestmark = pytest.mark.anyio

LONG = "shell echo $TMPDIR; seq 1 60000"


def data_of(flight: Flight) -> Path:
    return flight.runtime.plan.home.parent


def outputs_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*copilot-tool-output*"))


def in_public(flight: Flight) -> list[str]:
    """What our runtime, whose id is in the names, left where every user can read it."""
    files = Path(tempfile.gettempdir()).glob(f"*copilot-tool-output-{flight.runtime.pid}-*")
    return [file.name for file in files]


async def said(session: RuntimeSession, listener: Listener, text: str) -> ToolEnded:
    listener.told.clear()
    listener.permissions.clear()
    await session.send(text)
    await listener.until_over()
    return listener.all(ToolEnded)[-1]


def view(file: Path) -> str:
    return f"call view {json.dumps({'path': str(file), 'view_range': [1, 2]})}"


async def long_output(session: RuntimeSession, listener: Listener, flight: Flight) -> Path:
    await said(session, listener, LONG)
    [file] = outputs_in(data_of(flight) / "outputs" / session.id)
    return file


async def test_they_lie_in_a_folder_that_nobody_else_can_read(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await said(session, listener, LONG)
    assert in_public(flight) == []
    [file] = outputs_in(data_of(flight) / "outputs" / session.id)
    temporary = Path(file.read_text("utf-8").splitlines()[0])
    for folder in (file.parent, file.parent.parent, temporary):
        assert oct(folder.stat().st_mode)[-3:] == "700"
    assert outputs_in(temporary) == []


async def test_only_their_own_session_reads_them_without_a_permission(
    flight: Flight, listener: Listener
) -> None:
    other = Listener()
    first, second = await flight.session(listener), await flight.session(other)
    file = await long_output(first, listener, flight)
    ended = await said(first, listener, view(file))
    assert (ended.error, listener.permissions) == (None, [])
    await said(second, other, view(file))
    assert {asked_for.kind for asked_for in other.permissions} == {"read"}


async def test_a_session_that_was_closed_reads_them_when_it_is_resumed_also_by_the_next_server(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    file = await long_output(session, listener, flight)
    await session.close()
    again = await flight.session(listener, id=session.id, resume=True)
    assert (await said(again, listener, view(file))).error is None
    await flight.runtime.stop()
    flight.runtime.plan.places.start()
    flight.runtime = Runtime(flight.runtime.plan)
    later = await flight.session(listener, id=session.id, resume=True)
    assert (await said(later, listener, view(file))).error is None


async def test_they_are_deleted_with_their_session_and_no_others_are(
    flight: Flight, listener: Listener
) -> None:
    kept, gone = await flight.session(listener), await flight.session(listener)
    for session in (kept, gone):
        await long_output(session, listener, flight)
        await session.close()
    data = DataFolder(data_of(flight))
    SessionFiles(data).forget([gone.id])
    [left] = outputs_in(data.path)
    assert left.parent.name == kept.id
    SessionFiles(data).forget([kept.id])
    assert outputs_in(data.path) == []
