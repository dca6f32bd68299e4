"""A run that nobody has: what people say about it meanwhile takes it from nobody."""

import pytest

from tests.machines.story import Fleet
from tests.trials import whole_only

FREE = "SELECT 1 FROM streams WHERE stream = %s AND owner IS NULL"
pytestmark = [pytest.mark.timeout(180), pytest.mark.timed]


def test_what_is_decided_for_a_run_that_nobody_has_keeps_it_from_nobody(fleet: Fleet) -> None:
    door, lost = (
        fleet.machine("door", "ask", more="work = false\n"),
        fleet.machine("build-1", "ask"),
    )
    door.serve()
    lost.work()
    run = fleet.start(job="short")
    fleet.until(lambda: len(door.items()) == 1)
    [item] = door.items()
    session = item["session"]
    lost.kill()
    fleet.until(lambda: fleet.state_of("build-1") == "lost")
    fleet.ask("PATCH", f"/api/v1/sessions/{session}", {"title": "while nobody has it"})
    door.approve(item["id"])
    found = fleet.rows("SELECT owner FROM streams WHERE stream = %s", session)
    assert found == [(None,)]
    fleet.machine("build-2", "approve-all").work()
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
    assert fleet.done == ["first", "last"]


@whole_only
def test_a_run_that_a_machine_has_and_knows_nothing_of_is_taken_up_there(fleet: Fleet) -> None:
    server = fleet.machine("build-1", more="max_tasks = 1\n")
    server.serve()
    busy = fleet.start(fleet.folder_of("busy"))
    fleet.until(lambda: fleet.kinds(busy).count("run.work.started") == 2)
    run = fleet.start(fleet.folder_of("forgotten"), job="short")
    # As where the answer to what it wrote was lost on the way.
    asked = "UPDATE streams SET owner = (SELECT id FROM workers) WHERE stream = %s RETURNING 1"
    assert fleet.rows(asked, run)
    fleet.post(f"/api/v1/runs/{busy}/stop", {})
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"


@whole_only
def test_a_server_that_lost_a_chat_goes_on_without_it(fleet: Fleet) -> None:
    server = fleet.machine("build-1")
    server.serve()
    asked = {"model": "rehearsal", "cwd": str(fleet.shared)}
    lost, kept = (str(fleet.post("/api/v1/sessions", asked)["id"]) for _ in range(2))
    taken = "UPDATE streams SET owner = NULL, epoch = epoch + 1 WHERE stream = %s RETURNING 1"
    assert fleet.rows(taken, lost)
    refused = fleet.asked("POST", f"/api/v1/sessions/{lost}/prompts", {"text": "talk"})
    assert refused.status_code in (409, 503), refused.text
    fleet.post(f"/api/v1/sessions/{kept}/prompts", {"text": "talk"})
    fleet.until(lambda: "turn.ended" in fleet.kinds(kept))
    fleet.until_run_is(lost, "interrupted")
    fleet.post(f"/api/v1/sessions/{lost}/resume", {})
    fleet.post(f"/api/v1/sessions/{lost}/prompts", {"text": "talk"})
    fleet.until(lambda: "turn.ended" in fleet.kinds(lost))
    assert fleet.state_of("build-1") == "alive"


@whole_only
def test_a_chat_that_a_server_has_and_knows_nothing_of_is_free_for_whoever_resumes_it(
    fleet: Fleet,
) -> None:
    server = fleet.machine("build-1")
    server.serve()
    asked = {"model": "rehearsal", "cwd": str(fleet.shared)}
    kept, lost = (str(fleet.post("/api/v1/sessions", asked)["id"]) for _ in range(2))
    server.kill()
    server.serve()
    fleet.until_run_is(lost, "interrupted")
    fleet.until(
        lambda: fleet.rows("SELECT owner FROM streams WHERE stream = %s", lost) == [(None,)]
    )
    # As where it was written that it opens, and the server never heard so.
    fleet.rows(
        """
        WITH mine AS (
            UPDATE streams SET epoch = epoch + 1,
                owner = (SELECT id FROM workers WHERE state = 'alive') WHERE stream = %s
        )
        UPDATE views SET state = 'opening',
            body = jsonb_set(body::jsonb, '{state}', '"opening"')::text
        WHERE stream = %s RETURNING 1
        """,
        lost,
        lost,
    )
    fleet.until(
        lambda: fleet.rows("SELECT owner FROM streams WHERE stream = %s", lost) == [(None,)]
    )
    assert fleet.kinds(lost).count("session.interrupted") == 2
    # And one that cannot be resumed here stays with nobody, unless its history is here.
    elsewhere = "UPDATE bindings SET place = 'another' WHERE session = %s RETURNING 1"
    assert fleet.rows(elsewhere, lost)
    named = "UPDATE views SET body = jsonb_set(body::jsonb, '{model}', '\"nobodys\"')::text "
    for name in (lost, kept):
        fleet.rows(f"{named}WHERE stream = %s RETURNING 1", name)
    for name in (lost, kept):
        assert not fleet.asked("POST", f"/api/v1/sessions/{name}/resume", {}).is_success
    owners = "SELECT owner IS NULL FROM streams WHERE stream = ANY(%s) ORDER BY stream = %s"
    assert fleet.rows(owners, [lost, kept], lost) == [(False,), (True,)]
