"""Whose a session of the runtime is, as of now."""

from airboss.harness.accounts import Accounts
from airboss.harness.binding import Holder
from airboss.harness.homes import Homes
from airboss.harness.models import Route
from airboss.model.setup import Setup
from airboss.session_keys import CLI_ACCOUNT

# Of the settings' accounts one is as good as the other: which it is changes by turns.
_ANY_ACCOUNT = "accounts"


def holder_of(homes: Homes, accounts: Accounts, route: Route, setup: Setup) -> Holder:
    identity, home = setup.identity, homes.home(setup.identity, setup.cage)
    if route.provider is not None:
        return Holder(identity, home, "byok")
    if accounts.accounts and setup.account != CLI_ACCOUNT:
        return Holder(identity, home, "token", _ANY_ACCOUNT)
    login = accounts.logins(setup.account)[0]
    if login.source == "cli":
        return Holder(identity, home)
    # A new token is the same account, or takes its turn. Who gives one says whether it is another.
    profile = " ".join(part for part in (login.name, login.version) if part)
    return Holder(identity, home, "token", profile)
