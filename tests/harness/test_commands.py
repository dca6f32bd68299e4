"""Which commands a session offers, and what becomes of those that it does not."""

import pytest

from airboss.errors import Invalid
from airboss.harness.commands import BUILT_IN, Named, must_have_words, text_of
from airboss.model.setup import CommandSetup

DEPLOY = CommandSetup(description="Deploys.", prompt="Deploy it.")
OTHER = CommandSetup(description="Deploys elsewhere.", prompt="Deploy it elsewhere.")
NAMED = Named(session={"deploy": DEPLOY}, entry={"deploy": OTHER, "tidy": OTHER})


def test_each_name_is_offered_once_and_the_sessions_counts() -> None:
    offered = [(one.name, one.source) for one in NAMED.offered()]
    assert offered[len(BUILT_IN) :] == [("deploy", "session"), ("tidy", "entry")]
    assert NAMED.find("deploy") == DEPLOY
    assert NAMED.find("tidy") == OTHER
    assert NAMED.find("compact") is None


@pytest.mark.parametrize(
    "name",
    ["allow-all", "permissions", "add-dir", "cwd", "mcp", "plugin", "remote", "sandbox"],
)
def test_what_would_change_what_a_session_may_do_is_refused(name: str) -> None:
    with pytest.raises(Invalid, match=f"/{name} cannot be used here. .+"):
        NAMED.find(name)


def test_an_unknown_command_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(Invalid, match=r"There is no command /depoly. There are: /compact, .*/tidy"):
        NAMED.find("depoly")


def test_words_go_behind_the_prompt_and_some_commands_need_them() -> None:
    assert text_of(DEPLOY, "") == "Deploy it."
    assert text_of(DEPLOY, "to staging") == "Deploy it.\n\nto staging"
    must_have_words("compact", "")
    with pytest.raises(Invalid, match="/rename needs words behind it: the new name"):
        must_have_words("rename", "")
