"""The environment inside a cage: nothing of the server's but what the profile names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.folders import CageFolders
from airboss.runtime.cage.plan import CageKind
from airboss.runtime.cage.system import SystemFacts
from airboss.runtime.cage.walls import HOME, NAME, STATE
from airboss.runtime.environment import agents_environment

WAY_OUT_PORT: Final = 17101
USER_PORT: Final = 17102
SERVERS_PORT: Final = 17103
_HERE: Final = "127.0.0.1,localhost,::1"
_PROXIED: Final = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"),
    *("npm_config_proxy", "npm_config_https_proxy", "YARN_HTTP_PROXY", "YARN_HTTPS_PROXY"),
)
_PLAIN: Final = {
    "USER": NAME,
    "LOGNAME": NAME,
    "SHELL": "/bin/bash",
    "TERM": "dumb",
    "LANG": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "npm_config_update_notifier": "false",
    "COPILOT_AUTO_UPDATE": "false",
    "COPILOT_DISABLE_KEYTAR": "1",
}


def caged_environment(
    environ: Mapping[str, str],
    terms: CageProfile,
    kind: CageKind,
    folders: CageFolders,
    system: SystemFacts,
    *,
    owner: str,
    life: str,
    secrets: tuple[str, ...] = (),
    secret_names: tuple[str, ...] = (),
    way_out: bool = False,
) -> dict[str, str]:
    """`way_out` says whether there is a door for other hosts."""
    named = {name: environ[name] for name in terms.variables if name in environ}
    kept = agents_environment(
        named, owner=owner, life=life, secrets=secrets, secret_names=secret_names
    )
    is_strong = kind == "strong"
    home, state = (HOME, STATE) if is_strong else (folders.home, folders.state)
    scratch = "/tmp" if is_strong else str(folders.scratch)  # noqa: S108 - the cage's own
    places = {
        "HOME": str(home),
        "COPILOT_HOME": str(state),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "PATH": ":".join(map(str, (*system.programs, *_search_path()))),
        **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), scratch),
    }
    if not is_strong:  # there /etc is the machine's own
        places["GIT_CONFIG_SYSTEM"] = str(folders.etc / "gitconfig")
    return {
        **_PLAIN,
        **dict(system.variables),
        **kept,
        **(_to_the_way_out() if way_out and is_strong else {}),
        **places,
    }


def _search_path() -> tuple[Path, ...]:
    return tuple(map(Path, ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin")))


def _to_the_way_out() -> dict[str, str]:
    address = f"http://127.0.0.1:{WAY_OUT_PORT}"
    java = " ".join(
        f"-D{scheme}.proxyHost=127.0.0.1 -D{scheme}.proxyPort={WAY_OUT_PORT}"
        for scheme in ("http", "https")
    )
    return {
        **dict.fromkeys(_PROXIED, address),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), _HERE),
        "NODE_USE_ENV_PROXY": "1",
        "JAVA_TOOL_OPTIONS": java,
    }
