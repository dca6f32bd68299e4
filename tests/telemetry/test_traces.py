"""Traces of a real server with the real runtime, as a collector gets them."""

import asyncio
import json
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.contract.guest import Guest, only
from tests.contract.job_guest import JobGuest
from tests.portal import Portal, Process
from tests.telemetry.collector import KEY, Collector, NotingProvider, collecting, providing

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
TRACEPARENT = {"traceparent": f"00-{TRACE}-{PARENT}-01", "Content-Type": "application/json"}
SECRET = "word-for-the-collector-77"
SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "private matter"
    steps:
      - say: "I looked at the confidential answer."
      - call: {tool: view, arguments: {path: "{cwd}"}}
      - say: "That is all."
  - when: "take your time"
    steps:
      - call: {tool: bash, arguments: {description: "wait", command: "{wait}"}}
      - say: "There it is."
""".replace("{wait}", "test -e begun || { touch begun; sleep 60; }")
SETTINGS = """
[telemetry]
endpoint = "{endpoint}"
headers_variable = "COLLECTOR_HEADERS"

[[providers]]
name = "house"
base_url = "{base_url}"
key_variable = "HOUSE_KEY"
models = ["m"]
"""
ENTRY: dict[str, Any] = {
    "models": {"driving": "house/m"},
    "promptVariables": {},
    "grid": [],
    "tasks": {
        "slow": {
            "model": {"id": "house/m"},
            "prompt": ["take your time"],
            "requireUserInput": False,
        }
    },
    "jobs": {"wait": {"work": {"kind": "Ref", "taskId": "slow"}}},
}


class BarePortal(Portal):
    """A server without `--rehearsal`: its model is a provider's."""

    def launch(self, words: list[str], log: Path) -> Process:
        place = words.index("--rehearsal")
        return super().launch([*words[:place], *words[place + 2 :]], log)


@dataclass
class Traced:
    portal: Portal
    collector: Collector
    provider: NotingProvider


@pytest.fixture
def traced(tmp_path: Path) -> Generator[Traced]:
    variables = {"HOUSE_KEY": KEY, "COLLECTOR_HEADERS": f"x-key={SECRET}"}
    with collecting() as collector, providing(SCRIPT, tmp_path) as provider:
        entry = tmp_path / "airboss.json"
        entry.write_text(json.dumps(ENTRY), encoding="utf-8")
        options = ("--permissions", "approve-all", "--entry", str(entry))
        portal = BarePortal(tmp_path, options, extra_environ=variables)
        portal.data.mkdir()
        settings = SETTINGS.format(endpoint=collector.endpoint, base_url=provider.base_url)
        (portal.data / "settings.toml").write_text(settings, encoding="utf-8")
        with portal.serving():
            yield Traced(portal, collector, provider)


async def test_one_trace_leads_from_our_request_to_the_providers(traced: Traced) -> None:
    collector = traced.collector
    async with Guest.of(traced.portal) as guest:
        session = await guest.start("house/m")
        path = f"/api/v1/sessions/{session}/prompts"
        body = json.dumps({"text": "a private matter"})
        assert (await guest.http.post(path, content=body, headers=TRACEPARENT)).status_code == 202
        events = await guest.follow_to(session, "turn.ended")
        await guest.turn(session, "a private matter")  # this one is part of nothing
        runtime = psutil.Process(traced.portal.pid).children(recursive=True)
        assert not any(SECRET in "".join(environ_of(one.pid)) for one in runtime)
    await asyncio.to_thread(
        collector.until, lambda c: len(c.named("turn")) == 2 and len(c.named("invoke_agent")) == 2
    )
    first, second = sorted(collector.named("turn"), key=lambda span: span.began)
    turn = only("turn.started", events)[0]
    assert (first.trace, first.parent) == (TRACE, PARENT)
    assert first.attributes["airboss.turn"] == turn["turn"]
    assert first.attributes["airboss.outcome"] == "done"
    assert first.attributes["gen_ai.usage.output_tokens"] > 0  # type: ignore[operator]
    assert second.trace != TRACE
    assert second.parent == ""
    tools = {span.trace: span for span in collector.named("tool view")}
    assert (tools[TRACE].parent, tools[second.trace].parent) == (first.span, second.span)
    agents = {span.trace: span for span in collector.named("invoke_agent")}
    assert agents[TRACE].service == "github-copilot"
    assert (agents[TRACE].parent, agents[second.trace].parent) == (first.span, second.span)
    assert traced.provider.traces == [
        *[f"00-{TRACE}-{first.span}-01"] * 2,
        *[f"00-{second.trace}-{second.span}-01"] * 2,
    ]
    sent = b"".join(collector.bodies)
    for word in ("private matter", "confidential", str(traced.portal.work), SECRET, KEY):
        assert word.encode() not in sent
    assert {headers["x-key"] for headers in collector.headers} == {SECRET}
    assert not any(span.name.startswith("session.timing.") for span in collector.spans)


async def test_a_run_that_is_killed_goes_on_in_its_trace(traced: Traced) -> None:
    portal, collector = traced.portal, traced.collector
    async with JobGuest.of(portal) as guest:
        guest.http.headers["traceparent"] = TRACEPARENT["traceparent"]
        run = (await guest.run("wait"))["id"]
        await guest.at_work(run)
        await asyncio.to_thread(until_there, portal.work / "begun")
        portal.kill()
    await asyncio.to_thread(portal.start)
    async with JobGuest.of(portal) as guest:
        assert (await guest.over(run))["state"] == "succeeded"
    await asyncio.to_thread(collector.until, lambda c: c.named("run wait"))
    whole, task = collector.named("run wait")[0], collector.named("task slow")[0]
    assert (whole.trace, whole.parent, task.parent) == (TRACE, PARENT, whole.span)
    assert whole.attributes["airboss.restarts"] == 1
    turns = sorted(collector.named("turn"), key=lambda span: span.began)
    assert {turn.parent for turn in turns} == {task.span}
    assert [turn.attributes["airboss.outcome"] for turn in turns] == ["interrupted", "done"]
    assert whole.began <= task.began <= turns[0].began
    assert turns[-1].ended <= task.ended <= whole.ended
    assert {span.trace for span in collector.spans} == {TRACE}
    assert traced.provider.traces[-1] == f"00-{TRACE}-{turns[-1].span}-01"


def until_there(file: Path) -> None:
    end = time.monotonic() + 20
    while not file.exists():
        assert time.monotonic() < end
        time.sleep(0.02)


def environ_of(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().decode(errors="replace").split("\0")
    except OSError:
        return []
