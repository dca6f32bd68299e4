"""Which hosts may be called: a list of names, as a profile has them. Nothing is looked up here.

An entry is a name, or `*.name` for every host below it; with a port behind it that port, and
otherwise those of the web. A set (`@python`) stands for what a package manager of this machine is
set to use: `package_hosts` knows that.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from airboss.errors import Invalid
from airboss.net.addresses import is_local_name
from airboss.net.host_names import host_fits, host_name, plain_address

HostSet: TypeAlias = Literal["@python", "@node"]
HOST_SETS: Final[tuple[HostSet, ...]] = get_args(HostSet)
WEB_PORTS: Final = frozenset({80, 443})
_LAST_PORT: Final = 65_535


class HostEntryInvalid(Invalid):
    """It names the entry, and says what to write instead."""

    def __init__(self, entry: str, why: str) -> None:
        super().__init__(f"hosts: “{entry}” {why}")


@dataclass(frozen=True)
class HostEntry:
    """Without a port it means those of the web."""

    pattern: str
    port: int | None = None

    def names(self, host: str, port: int) -> bool:
        ports = WEB_PORTS if self.port is None else (self.port,)
        return port in ports and host_fits(self.pattern, host)


@dataclass(frozen=True)
class HostList:
    entries: tuple[HostEntry, ...] = ()
    sets: tuple[HostSet, ...] = ()

    def names(self, host: str, port: int) -> bool:
        """Without what its sets stand for."""
        return any(entry.names(host, port) for entry in self.entries)


def host_list(written: Iterable[str]) -> HostList:
    """Raises `HostEntryInvalid` for the first that cannot be meant."""
    entries: list[HostEntry] = []
    sets: list[HostSet] = []
    for entry in written:
        if entry.startswith("@"):
            sets.append(_set(entry))
        else:
            entries.append(_entry(entry))
    return HostList(tuple(dict.fromkeys(entries)), tuple(dict.fromkeys(sets)))


def _set(entry: str) -> HostSet:
    for known in HOST_SETS:
        if entry == known:
            return known
    raise HostEntryInvalid(entry, f"is not a set of hosts. Use {' or '.join(HOST_SETS)}.")


def _entry(entry: str) -> HostEntry:
    if "://" in entry or "/" in entry or "@" in entry:
        raise HostEntryInvalid(
            entry, "is an address. Write its host alone, such as example.org or example.org:8443."
        )
    if entry.count(":") > 1 or entry.startswith("["):
        raise _no_address(entry)
    named, colon, digits = entry.partition(":")
    port = _port(entry, digits) if colon else None
    below = "*." if named.startswith("*.") else ""
    rest = named.removeprefix(below)
    if "*" in rest or "?" in rest:
        raise HostEntryInvalid(
            entry,
            "has a * in a place where it means nothing. Write *.example.org for every host below "
            "example.org; there is no entry for all hosts.",
        )
    name = host_name(rest)
    if name is None:
        raise HostEntryInvalid(entry, "is not the name of a host. Write one such as example.org.")
    if plain_address(name) is not None:
        raise _no_address(entry)
    if below and "." not in name:
        raise HostEntryInvalid(
            entry, f"means every host that ends in .{name}. Name the hosts below it instead."
        )
    if is_local_name(name):
        raise HostEntryInvalid(
            entry, "is a name of this machine or its network, which no cage reaches."
        )
    return HostEntry(f"{below}{name}", port)


def _no_address(entry: str) -> HostEntryInvalid:
    return HostEntryInvalid(entry, "is an address of the network. Hosts are named, not numbered.")


def _port(entry: str, digits: str) -> int:
    port = int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 5 else 0
    if not 0 < port <= _LAST_PORT:
        raise HostEntryInvalid(entry, f"has no port behind its colon: use 1 to {_LAST_PORT}.")
    return port
