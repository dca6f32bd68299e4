"""What waits for a person, from the command line, on a real server."""

import json
import re
import signal
from collections.abc import Iterator

import pytest

from airboss.cli.inbox.deciding import find, form_of
from airboss.cli.trouble import CommandRefused
from tests.cli.inboxes import Item, ask, close_all, ended
from tests.cli.running import running
from tests.cli.terminal import Terminal
from tests.contract.asking import asking_portal_in
from tests.portal import Portal


@pytest.fixture(scope="module")
def asking_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = asking_portal_in(tmp_path_factory.mktemp("asking"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
def asking(asking_portal: Portal) -> Portal:
    """With nothing left that waits from the test before."""
    close_all(asking_portal)
    return asking_portal


def test_an_empty_inbox_says_what_would_be_in_it(asking: Portal) -> None:
    done = asking.run("inbox")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("Nothing is waiting for you.\n")
    assert "airboss approve ITEM" in done.stderr
    assert json.loads(asking.run("inbox", "--json").stdout) == {"items": []}


def test_the_inbox_lists_what_waits(asking: Portal) -> None:
    approval, question = ask(asking, "touch it"), ask(asking, "which colour")
    rows = [line.split("\t") for line in asking.run("inbox").stdout.splitlines()]
    assert [(row[0], row[1], row[2], row[4]) for row in rows] == [
        (approval["id"], "approval", approval["asked"]["title"], approval["session"]),
        (question["id"], "question", "Which colour?", question["session"]),
    ]
    for row in rows:  # nobody has set a limit
        assert re.fullmatch(r"0:\d\d", row[3])
    told = json.loads(asking.run("inbox", "--kind", "question", "--json").stdout)
    assert told == {"items": [question]}
    lines = asking.run("inbox", "--session", approval["session"]).stdout.splitlines()
    assert len(lines) == 1


def test_one_item_is_shown_whole_and_cannot_drive_the_terminal(asking: Portal) -> None:
    item = ask(asking, "write it")
    shown = asking.run("inbox", item["id"][-6:]).stdout
    assert "Change hello.txt?" in shown
    assert f"File     {asking.work}/hello.txt" in shown
    assert "+hi ⟨U+001B⟩[31mred" in shown
    assert "Always   would allow kind write" in shown
    assert f"airboss approve {item['id']} --always" in shown
    assert f"Session      {item['session']}" in shown
    assert json.loads(asking.run("inbox", item["id"], "--json").stdout) == item
    with Terminal(asking, "inbox", item["id"]) as terminal:
        terminal.see("+hi")
        assert terminal.leave() == 0
    done = asking.run("inbox", "itm_nothing")
    assert (done.returncode, done.stdout) == (2, "")
    assert "No waiting item has the id itm_nothing." in done.stderr


def test_the_change_is_coloured_in_a_terminal(asking: Portal) -> None:
    item = ask(asking, "write it")
    with Terminal(asking, "inbox", item["id"]) as terminal:
        assert terminal.leave() == 0
        assert "\x1b[32m" in terminal.colours


def test_approving_releases_the_agent_and_who_comes_later_is_told_so(asking: Portal) -> None:
    made = asking.work / "made.txt"
    made.unlink(missing_ok=True)
    item = ask(asking, "touch it")
    done = asking.run("approve", item["id"][-8:])
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"{item['asked']['title']} owner allowed it once.\n"
    assert "error" not in ended(asking, item)
    assert made.exists()
    done = asking.run("deny", item["id"])
    words = "error: This was already decided: allow-once, by owner.\n"
    assert (done.returncode, done.stderr) == (1, words)


def test_approving_for_good_writes_the_rule_that_was_shown(asking: Portal) -> None:
    item = ask(asking, "touch it")
    done = asking.run("approve", item["id"], "--always", "--json")
    assert done.returncode == 0, done.stderr
    rule = json.loads(done.stdout)["rule"]
    kept = json.loads(asking.run("rules", "--json").stdout)["items"]
    assert [(one["id"], one["rule"]) for one in kept] == [(rule, item["asked"]["rule"])]
    assert asking.run("rules", "remove", rule).returncode == 0


def test_the_reason_of_a_no_goes_to_the_agent(asking: Portal) -> None:
    item = ask(asking, "write it")
    done = asking.run("deny", item["id"], "not", "here")
    assert (done.returncode, done.stderr) == (0, "Change hello.txt? owner denied it: not here.\n")
    assert "owner denied it: not here" in ended(asking, item)["error"]["message"]


def test_a_question_is_answered_and_a_wrong_answer_is_told_the_choices(asking: Portal) -> None:
    """ASK-9."""
    item = ask(asking, "which colour")
    done = asking.run("answer", item["id"], "green")
    assert done.returncode == 1
    assert done.stderr == "error: “green” is not one of the choices: 1 Red, 2 Blue.\n"
    done = asking.run("answer", item["id"], "2")
    assert (done.returncode, done.stderr) == (0, "Which colour? owner answered: Blue.\n")
    assert ended(asking, item)["result"]["content"] == "The person chose: Blue"


def test_a_session_is_shown_with_what_it_asks(asking: Portal) -> None:
    item = ask(asking, "what name")
    shown = asking.run("show", item["session"]).stdout
    assert f'Asks         What name? airboss answer {item["id"]} "…"' in shown


def test_an_answer_can_come_from_a_file(asking: Portal) -> None:
    item = ask(asking, "what name")
    (asking.work / "name.txt").write_text("Ada\nLovelace\n", encoding="utf-8")
    assert asking.run("answer", item["id"], "@name.txt").returncode == 0
    assert ended(asking, item)["result"]["content"] == "The person answered: Ada\nLovelace"


def test_a_form_is_filled_in_field_by_field(asking: Portal) -> None:
    item = ask(asking, "fill in")
    shown = asking.run("inbox", item["id"]).stdout
    assert "city: string; required" in shown
    assert f"airboss answer {item['id']} --field NAME=VALUE" in shown
    for field, words in (
        ("days=many", "days must be a number"),
        ("country=Italy", "There is no field country. Fields: city, days, flies, stops."),
        ("flies=perhaps", "flies must be true or false"),
    ):
        done = asking.run("answer", item["id"], "--field", field)
        assert done.returncode == 2
        assert words in done.stderr
    done = asking.run("answer", item["id"], "--field", "days=3")
    assert done.returncode == 1
    assert "'city' is a required property" in done.stderr
    fields = ("city=Rome=Roma", "days=3", "flies=no", "stops=Bern", "stops=Milan")
    done = asking.run("answer", item["id"], *(part for one in fields for part in ("--field", one)))
    assert done.returncode == 0, done.stderr
    told = ended(asking, item)["result"]["content"].removeprefix("The person chose: ")
    filled = {"city": "Rome=Roma", "days": 3, "flies": False, "stops": ["Bern", "Milan"]}
    assert json.loads(told) == filled


def test_a_question_is_declined_and_an_approval_is_not(asking: Portal) -> None:
    item = ask(asking, "what name")
    assert asking.run("answer", item["id"]).returncode == 2
    assert asking.run("approve", item["id"]).returncode == 1
    done = asking.run("decline", item["id"])
    assert (done.returncode, done.stderr) == (0, "What name? owner declined to answer.\n")
    approval = ask(asking, "touch it")
    done = asking.run("decline", approval["id"])
    assert done.returncode == 1
    assert "This is not a question" in done.stderr


def test_what_does_not_exist_is_refused(asking: Portal) -> None:
    done = asking.run("approve", "itm_nothing")
    assert (done.returncode, done.stderr) == (2, "error: There is no item itm_nothing.\n")


def test_whoever_watches_sees_things_come_and_go(asking: Portal) -> None:
    before = ask(asking, "what name")
    with (
        running(asking, "inbox", "--watch") as watching,
        running(asking, "inbox", "--watch", "--json") as machine,
    ):
        watching.wait_for(f"What name? (question of {before['session']}) airboss answer")
        machine.wait_for('"seq"')
        item = ask(asking, "touch it")
        watching.wait_for(f"airboss approve {item['id']}")
        assert asking.run("deny", item["id"]).returncode == 0
        watching.wait_for(f"owner denied it: {item['asked']['title']} ({item['id']})")
        machine.wait_for("inbox.settled")
        for command in (watching, machine):
            command.process.send_signal(signal.SIGINT)
            assert command.end() == 3
        first, *events = [json.loads(line) for line in machine.told().splitlines()]
        assert first["items"] == [before]
        assert [one["event"]["kind"] for one in events] == ["inbox.arrived", "inbox.settled"]


def test_a_terminal_draws_what_waits_again_in_place(asking: Portal) -> None:
    with Terminal(asking, "inbox", "--watch") as terminal:
        terminal.see("Nothing is waiting for you.")
        item = ask(asking, "touch it")
        terminal.see(f"! {item['asked']['title']}")
        terminal.see(f"airboss approve {item['id']}")
        assert asking.run("approve", item["id"]).returncode == 0
        terminal.see("owner allowed it once")
        terminal.see("Nothing is waiting for you.")
        terminal.press_ctrl_c()
        assert terminal.leave() == 3


ASKED = {"kind": "question.asked", "question": "Why?"}
ITEMS: list[Item] = [
    {"id": "itm_00aaaa1", "asked": ASKED},
    {"id": "itm_00bbaa1", "asked": ASKED},
]


def test_an_item_is_named_by_its_id_or_by_a_part_that_no_other_has() -> None:
    assert find(ITEMS, "itm_00aaaa1") == ITEMS[0]
    assert find(ITEMS, "bbaa1") == ITEMS[1]
    assert find(ITEMS, "itm_00aa") == ITEMS[0]
    assert find(ITEMS, "aa1") is None, "too short"
    assert find(ITEMS, "itm_99") is None
    with pytest.raises(CommandRefused, match=r"(?s)itm_00aaaa1.*itm_00bbaa1"):
        find(ITEMS, "itm_00")


def test_what_is_no_form_takes_no_fields() -> None:
    with pytest.raises(CommandRefused, match="no form"):
        form_of({"kind": "question.asked", "question": "Why?"}, ["a=b"])
    with pytest.raises(CommandRefused, match="no form"):
        form_of({"kind": "approval.asked", "title": "Run it?"}, ["a=b"])
