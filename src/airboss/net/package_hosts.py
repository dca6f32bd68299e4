"""Where the package managers of this machine get their packages: they are asked, so that no
registry is named here. They run in the root folder: what a project says there counts for nothing.
"""

import ast
import asyncio
import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import urlsplit

from airboss.errors import AirbossError
from airboss.net.host_lists import HostEntry, HostEntryInvalid, HostList, HostSet, host_list
from airboss.programs import APART, end_group, hear

_SECONDS: Final = 20.0
_MOST_HEARD: Final = 1_000_000
# What it is set to use may be changed while the server runs.
_KEPT_SECONDS: Final = 600.0
_KEPT_AFTER_FAILURE: Final = 30.0
# Where pip goes if nobody set anything: its own code is the only place that says it. The files of
# that index lie on another host.
_DEFAULTS_OF_PIP: Final = (
    "from pip._internal.models.index import PyPI as index\n"
    "print(index.simple_url)\n"
    "print('https://' + index.file_storage_domain)\n"
)
_OF_PIP: Final = frozenset({"index-url", "extra-index-url", "find-links"})


class PackageHostsUnknown(AirbossError):
    """The package manager is not there, or says nothing that can be read."""


@dataclass
class PackageHosts:
    """Asked for when they are needed, and remembered for a while."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    _known: dict[HostSet, tuple[float, HostList | PackageHostsUnknown]] = field(
        default_factory=dict[HostSet, tuple[float, "HostList | PackageHostsUnknown"]]
    )
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, name: HostSet) -> HostList:
        """Raises `PackageHostsUnknown`."""
        async with self._asking:
            now = asyncio.get_running_loop().time()
            until, known = self._known.get(name, (0.0, None))
            if known is None or until <= now:
                known = await self._ask(name)
                failed = isinstance(known, PackageHostsUnknown)
                kept = _KEPT_AFTER_FAILURE if failed else _KEPT_SECONDS
                self._known[name] = now + kept, known
        if isinstance(known, PackageHostsUnknown):
            raise known
        return known

    async def _ask(self, name: HostSet) -> HostList | PackageHostsUnknown:
        try:
            urls = await (self._of_pip() if name == "@python" else self._of_npm())
        except PackageHostsUnknown as unknown:
            return unknown
        return hosts_of(urls)

    async def _of_pip(self) -> list[str]:
        for python in self._pythons():
            said = await self._run(python, "-m", "pip", "config", "list")
            if said is None:
                continue
            has_index, urls = read_pip(said)
            if not has_index:
                urls += (await self._run(python, "-c", _DEFAULTS_OF_PIP) or "").splitlines()
            return urls
        raise PackageHostsUnknown(
            "@python: pip was not found on this machine. Name the hosts in the profile instead."
        )

    def _pythons(self) -> list[str]:
        found = (shutil.which(name, path=self.environ.get("PATH")) for name in ("python3",))
        return list(dict.fromkeys([*(one for one in found if one), sys.executable]))

    async def _of_npm(self) -> list[str]:
        npm = shutil.which("npm", path=self.environ.get("PATH"))
        said = npm and await self._run(npm, "config", "list", "--long", "--json")
        if not said:
            raise PackageHostsUnknown(
                "@node: npm was not found on this machine. Name the hosts in the profile instead."
            )
        return read_npm(said)

    async def _run(self, *command: str) -> str | None:
        """What it prints; None where it cannot."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd="/",
                env=dict(self.environ),
                **APART,
            )
        except OSError:
            return None
        heard = bytearray()
        try:
            async with asyncio.timeout(_SECONDS):
                await hear(process.stdout, heard, _MOST_HEARD)
                code = await process.wait()
        except TimeoutError:
            return None
        finally:
            end_group(process)
        return heard.decode("utf-8", "replace") if code == 0 else None


def read_pip(said: str) -> tuple[bool, list[str]]:
    """Whether it is set to use another index than its own, and all that it is set to use."""
    has_index, urls = False, list[str]()
    for line in said.splitlines():
        key, _, value = line.partition("=")
        name = key.rpartition(".")[2]
        if name in _OF_PIP:
            has_index = has_index or name == "index-url"
            urls += _text(value).split()
    return has_index, urls


def _text(value: str) -> str:
    """pip prints values as Python writes them."""
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value


def read_npm(said: str) -> list[str]:
    """Its registry, and those of scopes (`@team:registry`)."""
    try:
        found = json.loads(said)
    except ValueError:
        return []
    options = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    named = (value for name, value in options.items() if _is_registry(name))
    return [value for value in named if isinstance(value, str)]


def _is_registry(name: str) -> bool:
    return name == "registry" or (name.startswith("@") and name.endswith(":registry"))


def hosts_of(urls: Iterable[str]) -> HostList:
    """Of addresses on the web the hosts; what is no such address is left out, like a folder."""
    entries: list[HostEntry] = []
    for url in urls:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            continue
        if parts.scheme in ("http", "https") and host:
            written = host if port is None else f"{host}:{port}"
            try:
                entries += host_list([written]).entries
            except HostEntryInvalid:
                continue
    return HostList(tuple(dict.fromkeys(entries)))
