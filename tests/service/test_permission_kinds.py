"""Every kind of request, allowed and denied, as the agent and whoever watches see it."""

from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest

from airboss.harness.rules import UNDERSTOOD
from airboss.model.events import PermissionDecided, ToolEnded
from tests.service.house import ME, House, house_in

SCRIPT = """
rules:
  - when: "touch (?P<name>.*)"
    steps:
      - call: {tool: bash, arguments: {command: "touch {cwd}/made", description: "make it"}}
      - say: "Done."
"""


@pytest.fixture(params=["approve-all", "deny-all", "read-only"])
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[House]:
    (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    policy = request.param
    async with house_in(tmp_path, permissions=policy, rehearsal=tmp_path / "script.yaml") as house:
        yield house


async def test_every_kind_is_decided_told_and_carried_out(house: House) -> None:
    """PERM-1, PERM-3, PERM-5: the runtime asks for a shell command; it is told as one of each kind,
    with nothing but its kind, and with one that nobody knows."""
    policy = house.sessions.policy
    session = await house.start()
    pool = house.services.status.pool
    async with pool.use(pool.states[0].key) as runtime:
        process = await runtime.process()
    hear = process.wire.routes[session.id]
    made = house.work / "made"
    for turn, kind in enumerate((*sorted(UNDERSTOOD), "telepathy"), 1):

        def disguise(raw: Mapping[str, Any], kind: str = kind) -> None:
            if raw["type"] == "permission.requested":
                raw = {**raw, "data": {**raw["data"], "permissionRequest": {"kind": kind}}}
            hear(raw)

        process.wire.routes[session.id] = disguise
        await house.sessions.prompt(session.id, "touch it", ME)
        await house.until(session.id, "idle", turns=turn)
        story = await house.story(session.id)
        decided = [one for one in story if isinstance(one, PermissionDecided)][-1]
        ended = [one for one in story if isinstance(one, ToolEnded)][-1]
        allowed = policy == "approve-all" and kind != "telepathy"
        assert (decided.wish, decided.allowed, decided.by) == (kind, allowed, f"policy {policy}")
        assert (ended.error is None) is allowed, kind
        assert made.exists() is allowed, kind
        if ended.error:
            assert decided.reason in ended.error.message
        made.unlink(missing_ok=True)
