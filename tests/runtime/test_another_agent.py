"""A session that goes on as another of its agents, or as none of them: what the model is told."""

import json

import pytest

from airboss.model.ids import new_session_id
from airboss.model.setup import AgentSetup, Setup
from tests.runtime.conftest import Flight, Listener

pytestmark = pytest.mark.anyio

AGENTS = {
    name: AgentSetup(description=f"The {name}.", prompt=f"You are the {name} of the house.")
    for name in ("reviewer", "writer")
}


async def test_a_resume_is_the_agent_that_is_named_then(flight: Flight) -> None:
    name, told = new_session_id(), list[str]()
    for agent in ("reviewer", "writer", None):
        listener, setup = Listener(), Setup(agents=AGENTS, agent=agent)
        session = await flight.session(listener, id=name, setup=setup, resume=bool(told))
        await session.send("say hello")
        await listener.until_over()
        told.append(json.dumps(flight.stage.requests[-1]["messages"][0]))
        await session.close()
    are = [[one for one in AGENTS if f"You are the {one} of" in system] for system in told]
    assert are == [["reviewer"], ["writer"], []]
