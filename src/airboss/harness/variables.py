"""The variables that texts about MCP servers name: `$NAME`, or `${NAME}`, and `$$` for a `$`.

Their values are read when a session is opened, and are in nothing that is written down.
"""

from collections.abc import Collection, Mapping
from typing import Final

from airboss.errors import Invalid
from airboss.harness.identity import TOKEN_VARIABLES
from airboss.model.server_mistakes import is_ours
from airboss.session_keys import NAMED_VARIABLE, variables_in
from airboss.settings import Settings

# Where things are and how people read: agents see them anyway, and no text can do without.
_PLAIN: Final = frozenset(
    (
        "HOME",
        "LANG",
        "LOGNAME",
        "PATH",
        "PWD",
        "SHELL",
        "TEMP",
        "TERM",
        "TMP",
        "TMPDIR",
        "TZ",
        "USER",
    )
)


def filled(text: str, environ: Mapping[str, str], place: str) -> str:
    """The text with its values. Refused where one is missing: half a secret helps nobody."""
    missing = next((name for name in variables_in(text) if not environ.get(name)), None)
    if missing is not None:
        raise Invalid(
            f"{place}: The environment variable {missing} is not set for the server. "
            "Set it, then restart the server."
        )
    return NAMED_VARIABLE.sub(
        lambda found: "$" if found[0] == "$$" else environ[found[1] or found[2]].strip(), text
    )


def reserved(settings: Settings) -> frozenset[str]:
    """The variables that nothing but this server itself reads."""
    keys = [provider.key_variable for provider in settings.providers if provider.key_variable]
    tokens = [account.token_variable for account in settings.accounts if account.token_variable]
    return frozenset((*TOKEN_VARIABLES, *keys, *tokens))


def check_listed(listed: Collection[str], taken: Collection[str]) -> None:
    """Of what entries and requests may name, nothing is a variable of ours."""
    for index, name in enumerate(listed):
        if is_ours(name) or name in taken:
            raise Invalid(
                f"settings: session.variables[{index}]: {name} holds a secret of this server, an "
                "account or a provider. It is passed on to nobody: leave it out."
            )


def secret_variables(settings: Settings) -> tuple[str, ...]:
    """The variables that MCP servers are given: agents do not see their values otherwise."""
    servers = (settings.session.mcp_servers or {}).values()
    named = (variable for server in servers for variable, _ in server.variables)
    names = (*(settings.session.variables or ()), *named)
    return tuple(dict.fromkeys(name for name in names if name not in _PLAIN))
