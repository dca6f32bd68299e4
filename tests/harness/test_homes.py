"""Where runtimes keep their files, and which process a session goes to."""

from pathlib import Path

import pytest

from airboss.account_settings import Account
from airboss.errors import Invalid
from airboss.harness.accounts import Accounts
from airboss.harness.homes import Homes, home_of
from airboss.store.folder import DataFolder
from airboss.store.session_files import SessionFiles

WORK = Account(name="work", token_variable="WORK")
MINE = Account(name="mine", cli=True)


def test_each_identity_has_a_home_and_the_default_one_keeps_its_own(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    assert home_of(folder, "default") == tmp_path / "copilot-home"
    assert home_of(folder, "builder") == tmp_path / "homes/builder/copilot"


@pytest.mark.parametrize("name", ["", "..", "a/b", "../x", "A", "-a", "a" * 65, "a b", "a\n", "ä"])
def test_a_name_that_could_lead_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Invalid, match="letters, digits"):
        home_of(DataFolder(tmp_path), name)


async def test_a_process_is_shared_by_those_who_have_all_in_common(tmp_path: Path) -> None:
    environ = {"WORK": "token-1"}
    accounts = Accounts((WORK, MINE), environ)
    homes = Homes(DataFolder(tmp_path), lambda: accounts.cli_is_signed_in is False)
    work, mine = [await accounts.grant(login) for login in accounts.logins()]
    key = homes.key("default", work)
    assert (key.mode, key.profile, key.cage) == ("token", "work", None)
    assert "token-1" not in repr(key)
    assert key == homes.key("default", work) != homes.key("builder", work)
    environ["WORK"] = "token-2"
    assert homes.key("default", await accounts.grant(accounts.logins()[0])) != key
    cli, own = homes.key("default", mine), homes.key("default", None)
    assert (cli.mode, cli.profile, cli.version, own.mode) == ("cli", None, None, "byok")
    accounts.cli_is_signed_in = False
    assert homes.key("default", None) == cli, "where nobody is signed in, they are the same"


def test_the_files_of_a_session_are_found_in_every_home(tmp_path: Path) -> None:
    folder, session = DataFolder(tmp_path), "ses_01kab0c1d2e3f4g5h6j7k8m9np"
    places = [
        home / "session-state" / session
        for home in (folder.copilot_home, folder.home_of("builder"), folder.home_of("tester"))
    ]
    for place in places:
        place.mkdir(parents=True)
    SessionFiles(folder).forget([session])
    assert [place.exists() for place in places] == [False, False, False]
