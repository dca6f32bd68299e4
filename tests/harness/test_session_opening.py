"""What a session holds while it is open is given back with it."""

from pathlib import Path

from airboss.harness.session_opening import TOOLS
from tests.service.house import ME, house_in


async def test_what_it_holds_is_counted_and_given_back(tmp_path: Path) -> None:
    async with house_in(tmp_path) as house:
        view = await house.start()
        pool = house.services.status.pool
        assert [one.sessions for one in pool.states] == [1]
        await house.sessions.close(view.id, ME)
        assert [one.sessions for one in pool.states] == [0]
        assert sum(house.sessions.accounts.sessions.values()) == 0


def test_every_session_has_our_tools_once() -> None:
    names = [offer.name for offer in TOOLS]
    assert len(names) == len(set(names))
