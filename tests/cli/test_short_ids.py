"""Short ids: a part is enough where it fits one, and where it fits several they are listed."""

import json

import pytest

from airboss.cli.short_ids import one_of
from airboss.cli.trouble import CommandRefused
from airboss.model.ids import new_run_id
from tests.portal import Portal

FIRST, SECOND = "run_01kxyzabcd0000000000001234", "run_01kxyzabce0000000000005678"
KNOWN = [(FIRST, "two"), (SECOND, "rounds")]


@pytest.mark.parametrize("given", [FIRST, "run_01kxyzabcd", "01kxyzabcd", "1234", "00001234"])
def test_the_beginning_or_the_end_of_an_id_names_it(given: str) -> None:
    assert one_of(given, KNOWN) == FIRST


@pytest.mark.parametrize("given", ["", "234", "zabcd", "run_99", "01kxyzabcd1"])
def test_what_fits_none_or_is_too_short_names_nothing(given: str) -> None:
    assert one_of(given, KNOWN) is None


def test_what_fits_several_lists_them() -> None:
    with pytest.raises(CommandRefused) as caught:
        one_of("01kxyz", KNOWN)
    assert str(caught.value) == (
        "01kxyz matches several ids. Type more of the one you mean:\n"
        f"  {FIRST}  two\n  {SECOND}  rounds"
    )
    with pytest.raises(CommandRefused, match=r"and 40 more$"):
        one_of("run_", [(str(new_run_id()), "") for _ in range(50)])


def test_commands_take_short_ids(portal: Portal) -> None:
    session, other = portal.new_session(), portal.new_session()
    end = session[-8:]
    for words in (["show", end], ["show", session[:-6]], ["show", session.removeprefix("ses_")]):
        told = json.loads(portal.run(*words, "--json").stdout)
        assert told["id"] == session
    assert json.loads(portal.run("queue", end, "--json").stdout) == {"items": []}
    assert session in portal.run("export", end, "--format", "jsonl", "-o", "-").stdout
    done = portal.run("show", "ses_")
    assert done.returncode == 2
    assert "ses_ matches several" in done.stderr
    assert {session, other} <= set(done.stderr.split())
    done = portal.run("show", "ses_nobody")
    assert (done.returncode, done.stderr) == (2, "error: There is no session ses_nobody.\n")


def test_a_rule_is_named_by_a_part_of_its_id_too(portal: Portal) -> None:
    made = json.loads(portal.run("rules", "add", "deny", "--command", "rm *", "--json").stdout)
    done = portal.run("rules", "remove", made["id"][-6:])
    assert (done.returncode, done.stderr) == (0, f"Removed the rule {made['id']}.\n")
