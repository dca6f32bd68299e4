"""Who a session may be to Copilot, and in which order: without I/O, and without any process."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from airboss.account_settings import Account, TokenSource
from airboss.errors import Invalid
from airboss.session_keys import CLI_ACCOUNT

# Ours first, then the order of the Copilot CLI itself: the most specific name first.
TOKEN_VARIABLES: Final = (
    "AIRBOSS_GITHUB_TOKEN",
    "COPILOT_GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_TOKEN",
)
_DIGITS: Final = 12

LoginSource: TypeAlias = TokenSource | Literal["environment", "given"]


@dataclass(frozen=True)
class Login:
    """One way to be signed in. The token is here only where it was given; else only where it is."""

    # The account's name, `env:VARIABLE`, or `cli`.
    name: str
    source: LoginSource
    variable: str | None = None
    command: tuple[str, ...] | None = None
    kept: str | None = None
    token: str | None = field(default=None, repr=False)
    # Of a given token.
    version: str | None = None

    @property
    def is_account(self) -> bool:
        """Whether the settings name it."""
        return self.source not in ("environment", "given") and self.name != CLI_ACCOUNT

    @property
    def words(self) -> str:
        """Where its token comes from, for people."""
        match self.source:
            case "variable" | "environment":
                return f"the variable {self.variable}"
            case "command":
                return f"the command {(self.command or ('',))[0]}"
            case "kept":
                return f"the kept secret {self.kept}"
            case "given":
                return "the token that was given"
            case "cli":
                return "the sign-in of the Copilot CLI"


CLI: Final = Login(CLI_ACCOUNT, "cli")


@dataclass(frozen=True)
class WantedLogin:
    """What is said about whose Copilot a session uses."""

    account: str | None = None
    # Its models are a provider's of one's own.
    own_provider: bool = False
    # Given by whoever embeds the harness, with a name and a version of it.
    token: str | None = field(default=None, repr=False)
    profile: str | None = None
    version: str | None = None


def logins_for(
    wanted: WantedLogin, accounts: Sequence[Account], environ: Mapping[str, str]
) -> tuple[Login, ...]:
    """All that may be used, in their order. None for models of a provider of one's own: no token of
    GitHub is looked for then."""
    if wanted.own_provider:
        return ()
    if wanted.account == CLI_ACCOUNT:
        return (CLI,)
    if wanted.token is not None:
        return (_given(wanted, wanted.token),)
    if wanted.account is not None:
        return (_named(wanted.account, accounts),)
    if accounts:
        return tuple(_login(account) for account in accounts)
    return (login_of(environ),)


def login_of(environ: Mapping[str, str]) -> Login:
    """Where the settings name nobody: the first variable that holds a token, else the CLI's user.
    An empty one counts as absent."""
    for name in TOKEN_VARIABLES:
        if environ.get(name, "").strip():
            return Login(f"env:{name}", "environment", variable=name)
    return CLI


def version_of(text: str) -> str:
    """Tells one token from the next, and does not tell the token."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}"


def _given(wanted: WantedLogin, token: str) -> Login:
    if not wanted.profile or not wanted.version:
        raise Invalid("A token must come with a profile id and a profile version.")
    return Login(wanted.profile, "given", token=token, version=wanted.version)


def _named(name: str, accounts: Sequence[Account]) -> Login:
    found = next((account for account in accounts if account.name == name), None)
    if found is None:
        raise Invalid(f'There is no account "{name}" in the settings any more.')
    return _login(found)


def _login(account: Account) -> Login:
    return Login(
        account.name,
        account.source,
        variable=account.token_variable,
        command=account.token_command,
        kept=account.token_kept,
    )
