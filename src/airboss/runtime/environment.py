"""The environment that agents run in: the server's own, less everything that is secret."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

OWNER: Final = "AIRBOSS_OWNER"
LIFE: Final = "AIRBOSS_LIFE"
# On the processes that are MCP servers: they stay when a turn is stopped.
SERVER: Final = "AIRBOSS_MCP_SERVER"
# Else the runtime asks a login shell for its environment and gives that to every command: a token
# that a person's profile exports would be there again.
_NO_PROFILE: Final = {"COPILOT_DISABLE_LOGIN_SHELL_ENV": "1"}

_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|_KEY\Z|\AKEY\Z"
    r"|_PAT\Z|HMAC|COOKIE|_DSN\Z|_AUTH\Z|DATABASE_URL|CONNECTION_STRING|\AAIRBOSS_",
    re.IGNORECASE,
)
# A login inside an address: postgres://me:word@host. A proxy's is needed and is passed on.
_LOGIN = re.compile(r"\A[a-z][a-z0-9+.-]*://[^/@\s]*:[^/@\s]+@", re.IGNORECASE)
# Not secret though their names look so: where a thing lies, not the thing.
_HARMLESS = frozenset({"SSH_AUTH_SOCK", "GIT_TERMINAL_PROMPT", "TOKENIZERS_PARALLELISM"})
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY"})
_OURS: Final = "127.0.0.1"
# A shorter value would be found inside ordinary ones.
_SHORTEST_SECRET = 8


def agents_environment(
    environ: Mapping[str, str],
    *,
    owner: str,
    life: str = "",
    secrets: Iterable[str] = (),
    secret_names: Iterable[str] = (),
) -> dict[str, str]:
    """A copy of `environ` without secrets, by name and by value, with our mark on it.

    `owner` names the data folder and `life` one process, so that all they start can be found.
    """
    values = [value for value in secrets if len(value) >= _SHORTEST_SECRET]
    names = frozenset(secret_names)
    kept = {
        name: value
        for name, value in environ.items()
        if name not in names and not _is_secret(name, value, values)
    }
    return {**kept, **_past_proxies(kept), **_NO_PROFILE, OWNER: owner, LIFE: life}


def is_secret_name(name: str) -> bool:
    return name not in _HARMLESS and bool(_SECRET_NAME.search(name))


def _past_proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """Else the runtime asks a proxy for what is on this machine: our own servers for it are."""
    if not any(name.upper() in ("HTTP_PROXY", "ALL_PROXY") for name in environ):
        return {}
    found = {name: value for name, value in environ.items() if name.upper() == "NO_PROXY"}
    return {
        name: f"{value},{_OURS}" if value else _OURS
        for name, value in (found or {"NO_PROXY": ""}).items()
        if value != "*"
    }


def _is_secret(name: str, value: str, secrets: list[str]) -> bool:
    if any(secret in value for secret in secrets):
        return True
    if name in _HARMLESS or name.upper() in _PROXIES:
        return False
    return is_secret_name(name) or bool(_LOGIN.match(value))
