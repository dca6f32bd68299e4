"""Models of several providers in one session: in the SDK's words, and beside Copilot's own."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from airboss.model.redaction import Redactor
from airboss.model.setup import AgentSetup, Setup
from airboss.runtime.named_models import ServiceModel, model_options
from airboss.runtime.session_request import SessionRequest
from airboss.runtime.signals import TurnIdle
from tests.runtime.conftest import Flight, Listener
from tests.runtime.copilot_service import Stage, on_stage

pytestmark = pytest.mark.anyio

HELP = {"agent_type": "helper", "name": "helper", "description": "help", "mode": "sync"}


def asked(**more: Any) -> SessionRequest:
    listener = Listener()
    known = {"hear": listener.hear, "decide": listener.decide, "redactor": Redactor()}
    return SessionRequest(id="s", cwd=Path("/"), model="m", **cast("Any", {**known, **more}))


async def test_one_provider_is_said_as_it_was_and_several_by_their_names() -> None:
    alone = model_options(asked(provider={"type": "openai", "wire_model": "m-1"}))
    assert (alone["model"], alone["provider"]["wire_model"]) == ("m", "m-1")
    assert "providers" not in alone

    own = {"type": "openai", "base_url": "http://a", "wire_model": "m-1", "max_output_tokens": 9}
    other = {"type": "anthropic", "base_url": "http://b"}
    named = (
        *(ServiceModel("a", "m", own), ServiceModel("b", "x/y", other, vision=False)),
        ServiceModel("a", "n", {**own, "wire_model": "n-1"}),
    )
    several = model_options(asked(provider=own, named=named))
    assert several["model"] == "a/m"
    assert "provider" not in several
    assert several["providers"] == [
        {"name": "a", "type": "openai", "base_url": "http://a"},
        {"name": "b", "type": "anthropic", "base_url": "http://b"},
    ]
    models = [(one["provider"], one["id"], one.get("wire_model")) for one in several["models"]]
    assert models == [("a", "m", "m-1"), ("b", "x/y", None), ("a", "n", "n-1")]
    assert [one["capabilities"].supports.vision for one in several["models"]] == [True, False, True]
    assert model_options(asked(named=named[1:]))["model"] == "m", "Copilot's has no other name"


async def test_an_agent_of_a_session_at_copilot_has_a_model_of_a_provider(
    flight: Flight, listener: Listener
) -> None:
    async with on_stage(Stage()) as other:
        helper = AgentSetup(description="It helps.", prompt="You help.", model="own/deep")
        session = await flight.session(
            listener,
            provider=None,
            github_token="tok-of-somebody",
            model="gpt-5-mini",
            named=(ServiceModel("own", "deep", {**other.provider, "wire_model": "deep-1"}),),
            setup=Setup(agents={"helper": helper}),
        )
        await session.send(f"call task {json.dumps({**HELP, 'prompt': 'say hi'})}")
        await listener.until(TurnIdle)
        await session.close()
    assert {one["model"] for one in flight.stage.requests} == {"gpt-5-mini"}
    assert {one["model"] for one in other.requests} == {"deep-1"}
    assert "Bearer tok-of-somebody" in flight.stage.tokens
    assert set(other.tokens) == {"Bearer provider-key-123"}
