"""Watching somebody else's session."""

import json
from typing import Any

from airboss.cli.client import Client, find
from tests.cli.running import running
from tests.portal import Portal


def records_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def without_deltas(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record for record in records if not record["event"]["kind"].endswith(".delta")]


def test_a_closed_session_is_shown_to_its_end(portal: Portal) -> None:
    portal.run("chat", "look around")
    session = portal.sessions()[0]["id"]
    done = portal.run("watch", session)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Session opened by owner: rehearsal in ")
    assert lines[1:6] == [
        "owner> look around",
        "I will look.",
        f"Allowed by policy read-only: read {portal.work}",
        f"✓ view {portal.work}",
        "That is all.",
    ]
    assert lines[-1].startswith("The session is closed")


def test_once_ends_when_the_agent_rests(portal: Portal) -> None:
    session = portal.new_session()
    done = portal.run("watch", "--once", "--json", session)
    assert done.returncode == 0
    records = records_of(done.stdout)
    assert records[-1]["event"]["kind"] == "session.idle"
    last = records[-1]["seq"]
    done = portal.run("watch", "--once", "--json", "--after", str(last), session)
    assert (done.returncode, done.stdout) == (0, "")
    part = records_of(portal.run("watch", "--once", "--json", "--after", "2", session).stdout)
    assert without_deltas(part) == without_deltas(records)[2:]


def test_what_was_said_long_ago_is_drawn_in_the_order_in_which_it_was_said(portal: Portal) -> None:
    said = portal.run("watch", "--once", portal.new_session()).stdout
    assert 0 < said.index("Somebody greets me.") < said.index("Hello, captain.")


def test_once_waits_for_a_turn_that_goes_on(portal: Portal) -> None:
    session = portal.new_session()
    with running(portal, "chat", "--session", session, "take your time") as chatting:
        chatting.wait_for("One moment.")
        with running(portal, "watch", "--once", session) as watching:
            watching.wait_for("One moment.")
            chatting.interrupt()
            assert chatting.end() == 3
            assert watching.end() == 0
            assert "The turn was stopped." in watching.told()


def test_a_session_that_nobody_started_is_refused(portal: Portal) -> None:
    done = portal.run("watch", "ses_nobody")
    assert (done.returncode, done.stderr) == (2, "error: There is no session ses_nobody.\n")


def test_ctrl_c_leaves_and_says_so_by_the_exit_code(portal: Portal) -> None:
    session = portal.new_session()
    with running(portal, "watch", session) as watching:
        watching.wait_for("Hello, captain.")
        watching.interrupt()
        assert watching.end() == 3
        assert watching.told(beside=True) == ""


def test_watching_goes_on_after_the_server_was_killed_and_came_back(own_portal: Portal) -> None:
    session = own_portal.new_session()
    with running(own_portal, "watch", "--json", session) as watching:
        watching.wait_for("session.idle")
        own_portal.kill()
        watching.wait_for("Connection lost", beside=True)
        own_portal.start()
        watching.wait_for("Reconnected; nothing was missed.", beside=True)
        assert own_portal.run("chat", "--session", session, "look around").returncode == 0
        close(own_portal, session)
        assert watching.end() == 0
        seen = records_of(watching.told())
    assert [record["seq"] for record in seen] == sorted({record["seq"] for record in seen})
    whole = records_of(own_portal.run("watch", "--json", session).stdout)
    assert without_deltas(seen) == without_deltas(whole)
    kinds = [record["event"]["kind"] for record in seen]
    assert "session.interrupted" in kinds
    assert "session.resumed" in kinds
    assert kinds[-1] == "session.closed"


def test_a_server_that_stays_away_is_not_waited_for_for_ever(own_portal: Portal) -> None:
    session = own_portal.new_session()
    with running(own_portal, "watch", "--json", "--wait", "0.5", session) as watching:
        watching.wait_for("session.idle")
        own_portal.kill()
        assert watching.end() == 4
        last = records_of(watching.told())[-1]["seq"]
        wrong = watching.told(beside=True)
    assert "error: No connection to the server for" in wrong
    assert f"airboss watch {session} --after {last}" in wrong


def close(portal: Portal, session: str) -> None:
    client = Client(find(portal.data, {}))
    client.post(f"/api/v1/sessions/{session}/close")
    client.close()
