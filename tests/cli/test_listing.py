"""The commands that ask one thing."""

import json
import re

import httpx2

from tests.cli.terminal import Terminal
from tests.portal import Portal


def test_sessions_are_listed_newest_first(portal: Portal) -> None:
    first, second = portal.new_session(), portal.new_session()
    items = portal.sessions()
    assert [item["id"] for item in items][:2] == [second, first]
    assert items[0]["title"] == "hello"
    lines = portal.run("sessions", "--limit", "1").stdout.splitlines()
    assert [line.split("\t")[:3] for line in lines] == [[second, "idle", "rehearsal"]]


def test_sessions_can_be_chosen_by_state(portal: Portal) -> None:
    portal.run("chat", "hello")
    told = json.loads(portal.run("sessions", "--json", "--state", "closed").stdout)
    assert {item["state"] for item in told["items"]} == {"closed"}


def test_a_person_sees_a_table(portal: Portal) -> None:
    session = portal.new_session()
    with Terminal(portal, "sessions", COLUMNS="160") as terminal:
        assert terminal.leave() == 0
        assert "Session" in terminal.seen
        assert session in terminal.seen


def test_an_export_that_is_printed_cannot_drive_the_terminal(portal: Portal) -> None:
    """U+009B begins a command of the terminal as ESC [ does, and JSON leaves it as it is."""
    said = portal.run("chat", "--keep", "--json", "hello \x9b31m \x9d52;c;aGk=\x9c \u202e")
    session = json.loads(said.stdout.splitlines()[0])["session"]
    words = ("export", session, "--format", "jsonl", "-o", "-")
    assert "\x9b31m" in portal.run(*words).stdout, "a program reads it as it is"
    with Terminal(portal, *words) as terminal:
        assert terminal.leave() == 0
        terminal.see("⟨U+009B⟩31m ⟨U+009D⟩52;c;aGk=⟨U+009C⟩ ⟨U+202E⟩")
        assert not {"\x9b", "\x9d", "\u202e"} & set(terminal.seen)


def test_models_and_status_are_for_people_and_scripts(portal: Portal) -> None:
    assert portal.run("models").stdout == "rehearsal\tRehearsal\t0\trehearsal\n"
    told = json.loads(portal.run("models", "--json").stdout)
    assert [item["id"] for item in told["items"]] == ["rehearsal"]
    status = json.loads(portal.run("status", "--json").stdout)
    assert status["data_folder"] == str(portal.data)
    assert f"Data         {portal.data}\n" in portal.run("status").stdout


def test_a_link_lets_one_browser_in_once(portal: Portal) -> None:
    url = portal.run("link").stdout.strip()
    found = re.fullmatch(r"(http://[^/]+)/#code=(\S+)", url)
    assert found
    for status in (200, 401):
        answer = httpx2.post(f"{found[1]}/api/v1/signin", json={"code": found[2]})
        assert answer.status_code == status


def test_stopping_a_server_needs_a_yes(own_portal: Portal) -> None:
    done = own_portal.run("stop")
    assert (done.returncode, done.stderr) == (
        2,
        "error: No session is open. No job is running. Pass --yes to confirm.\n",
    )
    assert own_portal.run("chat", "hello", "--keep").returncode == 0
    with Terminal(own_portal, "stop") as terminal:
        terminal.see(
            "1 open session ends and can be resumed later. No job is running. Stop the server?"
        )
        terminal.type("n\n")
        assert terminal.process.wait(20) == 3
    assert own_portal.run("status").returncode == 0, "it goes on"


def test_stop_waits_until_the_server_is_gone(own_portal: Portal) -> None:
    done = own_portal.run("stop", "--yes")
    assert (done.returncode, done.stderr) == (0, "The server has stopped.\n")
    assert own_portal.note is None
    assert own_portal.run("status").returncode == 4
