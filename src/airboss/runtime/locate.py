"""Finds the agent runtime on this machine. Starts nothing and fetches nothing."""

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

from airboss.errors import RuntimeMissing

# The two are a pair: this SDK speaks with this CLI.
CLI_VERSION: Final = "1.0.102"
SDK_VERSION: Final = "1.0.25"

_EXE = ".exe" if sys.platform == "win32" else ""
NATIVE_NAME: Final = f"copilot-runtime{_EXE}"
SINGLE_NAME: Final = f"copilot{_EXE}"

_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "win32"}
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True)
class Located:
    """A runtime: where it is, who named it, and whether it is the light native one."""

    path: Path
    source: str
    native: bool


def locate(explicit: Path | None = None, environ: Mapping[str, str] = os.environ) -> Located:
    """The setting, then `COPILOT_CLI_PATH`, then our cache, then the SDK's."""
    if explicit is not None:
        return _named(explicit, "the setting")
    if path := environ.get("COPILOT_CLI_PATH"):
        return _named(Path(path), "COPILOT_CLI_PATH")
    for path, source in _cached(environ):
        if path.is_file():
            return Located(path, source, path.name == NATIVE_NAME)
    raise RuntimeMissing(
        f"The agent runtime {CLI_VERSION} is not installed. Run `airboss setup`, "
        "or set COPILOT_CLI_PATH to an existing one."
    )


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where `airboss setup` puts this version of the runtime."""
    chosen = environ.get("AIRBOSS_CACHE")
    root = Path(chosen) if chosen else platformdirs.user_cache_path("airboss")
    return root / "copilot" / CLI_VERSION


def native_in(folder: Path) -> Path:
    """The native runtime inside an installed folder; its assets lie around it."""
    name = platform_name()
    return folder / "pkg" / "prebuilds" / name / NATIVE_NAME


def platform_name() -> str:
    """This machine in the words of the npm registry: linux-x64, darwin-arm64, …"""
    system = _SYSTEMS.get(sys.platform)
    machine = _MACHINES.get(platform.machine().lower())
    if system is None or machine is None:
        this = f"{sys.platform}/{platform.machine()}"
        raise RuntimeMissing(f"There is no agent runtime for this machine ({this}).")
    # glibc names itself; a Linux without it has musl, and its own build of the runtime.
    if system == "linux" and platform.libc_ver()[0] != "glibc":
        system = "linuxmusl"
    return f"{system}-{machine}"


def _named(path: Path, by: str) -> Located:
    path = path.expanduser()
    if not path.is_file():
        raise RuntimeMissing(f"There is no agent runtime at {path}, which {by} names.")
    if sys.platform != "win32" and path.suffix != ".js" and not os.access(path, os.X_OK):
        raise RuntimeMissing(f"{path}, which {by} names as the agent runtime, is not executable.")
    return Located(path, by, path.name == NATIVE_NAME)


def _cached(environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    ours = cache_folder(environ)
    yield native_in(ours), "our cache"
    yield ours / SINGLE_NAME, "our cache"
    yield _sdk_cache(environ) / "prebuilds" / platform_name() / NATIVE_NAME, "the SDK's cache"


def _sdk_cache(environ: Mapping[str, str]) -> Path:
    """The SDK's own folder, by its rules; asking the SDK itself would cost its import."""
    if chosen := environ.get("COPILOT_CLI_EXTRACT_DIR"):
        return Path(chosen)
    if sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        root = Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        root = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "github-copilot-sdk" / "cli" / CLI_VERSION


def fallback(located: Located) -> Located | None:
    """The single-file CLI of our cache, for a native runtime there that does not start."""
    if located.source != "our cache" or not located.native:
        return None
    single = located.path.parents[3] / SINGLE_NAME
    return Located(single, located.source, native=False) if single.is_file() else None
