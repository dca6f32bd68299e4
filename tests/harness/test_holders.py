"""Whose a session of the runtime is."""

from pathlib import Path

from airboss.account_settings import Account
from airboss.harness.accounts import Accounts
from airboss.harness.binding import Holder
from airboss.harness.holders import holder_of
from airboss.harness.homes import Homes
from airboss.harness.models import Route
from airboss.model.setup import USUAL
from airboss.store.folder import DataFolder

WORK = Account(name="work", token_variable="WORK")


def test_it_says_how_and_for_whom_it_is_signed_in(tmp_path: Path) -> None:
    homes, home = Homes(DataFolder(tmp_path)), str(tmp_path / "copilot-home")
    copilot, own = Route("gpt"), Route("m", {"type": "openai"})
    named, none = Accounts((WORK,), {"WORK": "token-1"}), Accounts((), {})
    cli = USUAL.model_copy(update={"account": "cli"})
    assert holder_of(homes, none, copilot, USUAL) == Holder("default", home)
    assert holder_of(homes, named, copilot, cli) == Holder("default", home)
    assert holder_of(homes, named, own, USUAL) == Holder("default", home, "byok")
    assert holder_of(homes, named, copilot, USUAL) == Holder("default", home, "token", "accounts")
