"""Agents on models of other providers than the session's: real runtime, three rehearsed services,
each with another wire and a key that only the proxy has."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from airboss.errors import Invalid
from airboss.harness.setup import Said
from airboss.harness.switching import Switch
from airboss.model.events import MessageEnded
from airboss.model.run_events import WorkStarted
from airboss.model.sub_agent_events import SubAgentEnded, SubAgentSaid, SubAgentStarted
from airboss.model.task_events import TaskSessionStarted
from airboss.provider_settings import Provider
from airboss.runtime.rehearsal import RehearsalServer
from airboss.runtime.rehearsal.script import parse_script
from airboss.service.run_request import NewRun
from airboss.session_keys import SessionKeys
from tests.service.house import ME, House, house_in

TASK = {"name": "helper", "description": "help", "mode": "sync", "prompt": "look closely"}


def _script(name: str) -> str:
    calls = {
        verb: json.dumps({"tool": "task", "arguments": {**TASK, "agent_type": agent}})
        for verb, agent in (("ask the reviewer", "reviewer"), ("ask the twin", "twin"))
    }
    rules = [
        f'  - when: "{verb}"\n    steps: [{{call: {call}}}, {{say: "{name} is done."}}]'
        for verb, call in calls.items()
    ]
    models = "".join(f"\n  - {{id: {one}, name: {one}, multiplier: 0}}" for one in ("m", "m-2026"))
    looks = f'  - when: "look closely"\n    steps: [{{say: "{name} looked."}}]'
    says = f'  - when: "."\n    steps: [{{say: "{name} says."}}]'
    return f"models:{models}\nrules:\n" + "\n".join([*rules, looks, says]) + "\n"


KINDS: dict[str, dict[str, Any]] = {
    "first": {"wire": "completions"},
    "second": {"type": "anthropic"},
    "third": {"wire": "responses"},
}


@dataclass
class Providers:
    house: House
    keys: dict[str, str] = field(default_factory=dict[str, str])

    async def opened(self, model: str, **agents: str) -> str:
        described = {
            name: {"description": f"The {name}.", "prompt": "You look.", "model": one}
            for name, one in agents.items()
        }
        said = Said(SessionKeys.model_validate({"agents": described}), may_widen=True)
        view = await self.house.sessions.start(model, str(self.house.work), ME, said=(said,))
        return view.id

    async def said(self, session: str, text: str) -> tuple[list[str], list[str], list[str | None]]:
        """What the session's own agent said, what the other one said, and on which model."""
        view = await self.house.sessions.show(session)
        before = len(await self.house.story(session))
        await self.house.sessions.prompt(session, text, ME)
        await self.house.until(session, "idle", turns=view.turns + 1)
        story = (await self.house.story(session))[before:]
        own = [one.text.strip() for one in story if isinstance(one, MessageEnded)]
        other = [one.text.strip() for one in story if isinstance(one, SubAgentSaid)]
        models = [one.model for one in story if isinstance(one, SubAgentStarted | SubAgentEnded)]
        return own, other, models


@pytest.fixture
async def providers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Providers]:
    async with AsyncExitStack() as stack:
        known: list[Provider] = []
        keys: dict[str, str] = {}
        for name, kind in KINDS.items():
            script = parse_script(_script(name), f"{name}.yaml")
            server = await stack.enter_async_context(RehearsalServer(script))
            keys[name] = server.api_key
            monkeypatch.setenv(f"{name.upper()}_KEY", server.api_key)
            # An anthropic client adds the version by itself.
            url = server.base_url.removesuffix("/v1" if "type" in kind else "")
            said = {"name": name, "base_url": url, "key_variable": f"{name.upper()}_KEY", **kind}
            models = ["m", {"id": "alias", "wire_model": "m-2026", "prompt_tokens": 90_000}]
            known.append(Provider.model_validate({**said, "models": models}))
        house = await stack.enter_async_context(house_in(tmp_path, providers=tuple(known)))
        yield Providers(house, keys)


async def test_an_agent_works_on_the_model_of_another_provider_also_behind_a_kill(
    providers: Providers,
) -> None:
    session = await providers.opened("first/m", reviewer="second/m", twin="first/alias")
    for _ in range(2):
        asked = await providers.said(session, "ask the reviewer")
        assert asked == (["first is done."], ["second looked."], ["second/m", "second/m"])
        asked = await providers.said(session, "ask the twin")
        assert asked == (["first is done."], ["first looked."], ["first/alias", "first/alias"])
        providers.house.kill_runtime()
        await providers.house.until(session, "interrupted")
        await providers.house.sessions.resume(session, ME)

    # On another model of its own provider, and then of a third one: its agents stay where they are.
    for model, own in (("first/alias", "first"), ("third/m", "third")):
        await providers.house.sessions.switch(session, Switch(model=model), ME)
        own_words, other, models = await providers.said(session, "ask the reviewer")
        assert (own_words, other) == ([f"{own} is done."], ["second looked."])
        assert models == ["second/m", "second/m"]
    story = "".join(event.model_dump_json() for event in await providers.house.story(session))
    assert not [name for name, key in providers.keys.items() if key in story]
    assert "127.0.0.1" not in story


async def test_a_model_that_cannot_be_reached_is_refused_by_name(providers: Providers) -> None:
    for model, words in (
        ("nobody/m", "agents.reviewer.model: The model nobody/m is not available: there is no pro"),
        ("second/none", "agents.reviewer.model: The model second/none is not available"),
    ):
        with pytest.raises(Invalid) as refused:
            await providers.opened("first/m", reviewer=model)
        assert words in str(refused.value)


async def test_an_agent_of_a_task_works_on_the_model_of_another_provider_in_a_run(
    providers: Providers,
) -> None:
    services, work = providers.house.services, providers.house.work
    agent = {"description": "Reviews.", "prompt": ["You look."], "model": {"id": "second/m"}}
    entry: dict[str, object] = {
        "models": {"driving": "first/m"},
        "promptVariables": {},
        "tasks": {
            "review": {
                "model": {"category": "driving"},
                "prompt": ["ask the reviewer"],
                "requireUserInput": False,
                "agents": {"reviewer": agent},
            }
        },
        "jobs": {"one": {"work": {"kind": "Ref", "taskId": "review"}}},
        "grid": [],
    }
    file = work / "airboss.json"
    file.write_text(json.dumps(entry), "utf-8")
    await services.entry_checks.install_path(str(file))
    run = (await services.runs.start(NewRun("one", "", str(work), ME))).id
    async with asyncio.timeout(40), services.log.follow(run, 0) as follower:
        while (view := await services.runs.show(run)).is_open:
            await follower.next(1)
    assert view.state == "succeeded"
    of_run = [one.event for one in await services.log.after(run, 0)]
    [task] = [event.task_run for event in of_run if isinstance(event, WorkStarted)]
    told = [one.event for one in await services.log.after(task, 0)]
    [session] = [one.session for one in told if isinstance(one, TaskSessionStarted)]
    story = await providers.house.story(session)
    own = [one.text.strip() for one in story if isinstance(one, MessageEnded)]
    other = [one.text.strip() for one in story if isinstance(one, SubAgentSaid)]
    models = [one.model for one in story if isinstance(one, SubAgentStarted | SubAgentEnded)]
    assert (own, other) == (["first is done."], ["second looked."])
    assert models == ["second/m", "second/m"]
    assert not [name for name, key in providers.keys.items() if key in str(story)]
