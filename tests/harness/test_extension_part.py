"""A session without extensions has the same parts, and nothing of them costs."""

from pathlib import Path

import pytest

from airboss.harness.session_opening import TOOLS
from airboss.model.ids import SessionId
from tests.harness.opened_house import House

pytestmark = pytest.mark.anyio


async def test_without_a_host_all_is_as_it_was(house: House, tmp_path: Path) -> None:
    sessions = house.services.sessions
    sessions.extensions = None
    view = await sessions.start("rehearsal", str(tmp_path), "me")
    part = sessions._open[SessionId(view.id)].extensions  # pyright: ignore[reportPrivateUsage]
    assert part.host is None
    assert (part.tools(), part.hooks, part.overhear) == (TOOLS, None, None)
    await sessions.prompt(view.id, "hello", "me")
    await house.until_idle(view.id, view.seq)


async def test_with_one_and_no_extension_no_hook_is_wanted_and_no_process_runs(
    house: House, tmp_path: Path
) -> None:
    sessions = house.services.sessions
    view = await sessions.start("rehearsal", str(tmp_path), "me")
    part = sessions._open[SessionId(view.id)].extensions  # pyright: ignore[reportPrivateUsage]
    await part.ready()
    assert part.host is not None
    assert part.hooks is not None
    assert part.hooks.names == frozenset()
    assert not part.host.cares("bash")
    assert not part.host.wants("session.idle")
    assert list(await part.host.look()) == []
