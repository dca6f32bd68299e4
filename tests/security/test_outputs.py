"""A long output of an agent's tool, under `ask`: its own session reads on, others are asked."""

import pytest

from tests.crash.conftest import SCRIPT, MakePortal
from tests.crash.conftest import make_portal as make_portal
from tests.crash.witness import ask, read_all, start_session, until

pytestmark = pytest.mark.anyio

LOOK = """
  - when: "^look"
    steps:
      - call: {tool: view, arguments: {path: "FILE", view_range: [59998, 60000]}}
      - say: "Seen."
"""


async def test_after_a_restart_only_its_own_session_reads_it_unasked_and_it_goes_with_that(
    make_portal: MakePortal,
) -> None:
    portal = make_portal("--permissions", "approve-all")
    portal.start()
    outputs = portal.data / "outputs"
    async with portal.client() as client:
        session = await start_session(client, portal.work)
        receipt = await ask(client, session, "shell seq 1 60000")
        await until(client, session, "session.idle", receipt["seq"])
        [file] = (outputs / session).iterdir()
    portal.stop()

    portal.options = ("--permissions", "ask")
    portal.script = SCRIPT + LOOK.replace("FILE", str(file))
    portal.start()
    async with portal.client() as client:
        assert (await client.post(f"/api/v1/sessions/{session}/resume")).is_success
        receipt = await ask(client, session, "look")
        await until(client, session, "session.idle", receipt["seq"])
        events = [told["event"] for told in await read_all(client, session, receipt["seq"])]
        [shown] = [event for event in events if event["kind"] == "tool.ended"]
        assert "60000" in shown["result"]["content"]
        decided = [event for event in events if event["kind"] == "permission.decided"]
        assert {(event["allowed"], event["by"]) for event in decided} == {(True, "policy ask")}

        other = await start_session(client, portal.work)
        receipt = await ask(client, other, "look")
        asked = await until(client, other, "approval.asked", receipt["seq"])
        assert str(file) in str(asked)

        assert (await client.post(f"/api/v1/sessions/{session}/close")).is_success
        assert (await client.delete(f"/api/v1/sessions/{session}")).is_success
    left = [file for file in outputs.rglob("*") if session in str(file)]
    assert left == []
