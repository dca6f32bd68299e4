"""Which cage is wider than another: more folders, hosts or variables, or more of what is limited.

Paths are compared as they are written; whoever has a disk gives a function that follows links.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Final, NamedTuple, TypeAlias

from airboss.cage_settings import DEFAULT_PROFILE, CageProfile, CageUse, UnknownHosts
from airboss.settings import Settings

RealPath: TypeAlias = Callable[[str], str]

# What is reached without a port being named.
_USUAL_PORTS: Final = ("80", "443")
_LIMITS: Final = {"memory_mb": "MB of memory", "processes": "processes", "file_mb": "MB a file"}


@dataclass(frozen=True)
class ServerCages:
    """What a server's settings say about cages. A profile `default` is always there."""

    use: CageUse = "offer"
    narrow: bool = False
    profiles: Mapping[str, CageProfile] = field(default_factory=dict[str, CageProfile])

    @classmethod
    def of(cls, settings: Settings) -> "ServerCages":
        return cls(settings.cage, settings.cage_narrow, settings.cages)

    def pinned(self, real: RealPath) -> "ServerCages":
        """With the folders of its profiles as the disk has them now: who replaces one by a link
        later does not have another one handed in."""
        return replace(
            self,
            profiles={
                name: profile.model_copy(
                    update={
                        "read": tuple(map(real, profile.read)),
                        "write": tuple(map(real, profile.write)),
                    }
                )
                for name, profile in self.profiles.items()
            },
        )

    @property
    def folders(self) -> frozenset[str]:
        """Those that its profiles hand in."""
        found = self.profiles.values()
        return frozenset(path for one in found for path in (*one.read, *one.write))

    @property
    def are_offered(self) -> bool:
        return self.use != "off"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((DEFAULT_PROFILE, *self.profiles)))

    def profile(self, name: str) -> CageProfile | None:
        usual = CageProfile() if name == DEFAULT_PROFILE else None
        return self.profiles.get(name, usual)

    @property
    def usual(self) -> CageProfile:
        return self.profiles.get(DEFAULT_PROFILE, CageProfile())


class Wider(NamedTuple):
    """A key of a profile, as settings write it, and what it asks for beyond the other one."""

    key: str
    what: str


def real_path(word: str) -> str:
    """Blocking: as the disk has it. What begins nowhere is refused by others."""
    if not word.startswith(("/", "~/")):
        return word
    return os.path.realpath(os.path.expanduser(word))


def plain_path(word: str) -> str:
    return os.path.normpath(os.path.expanduser(word))


def wider(wished: CageProfile, than: CageProfile, real: RealPath = plain_path) -> Iterator[Wider]:
    """All in which one cage goes beyond the other."""
    writes = (*than.write,)
    if more := _paths_beyond(wished.read, (*than.read, *writes), real):
        yield Wider("read", f"to read {', '.join(more)}")
    if more := _paths_beyond(wished.write, writes, real):
        yield Wider("write", f"to write {', '.join(more)}")
    if more := [host for host in wished.hosts if not _covers_any(than.hosts, host)]:
        yield Wider("hosts", f"to reach {', '.join(more)}")
    if wished.unknown_hosts == "ask" and than.unknown_hosts == "refuse":
        yield Wider("unknown_hosts", "for a person to be asked about other hosts")
    if more := [name for name in wished.variables if name not in than.variables]:
        yield Wider("variables", f"for the variables {', '.join(more)}")
    for key, what in _LIMITS.items():
        if getattr(wished, key) > getattr(than, key):
            yield Wider(key, f"for {getattr(wished, key)} {what}")
    if wished.debuggers and not than.debuggers:
        yield Wider("debuggers", "for debuggers")


def narrowed(profile: CageProfile, wished: CageProfile, real: RealPath = plain_path) -> CageProfile:
    """What of a wish stays inside of a profile. It is never wider than either of both."""
    readable = (*profile.read, *profile.write)
    unknown: UnknownHosts = (
        "ask" if (profile.unknown_hosts, wished.unknown_hosts) == ("ask", "ask") else "refuse"
    )
    return CageProfile(
        read=tuple(path for path in wished.read if _is_below(path, readable, real)),
        write=tuple(path for path in wished.write if _is_below(path, profile.write, real)),
        hosts=tuple(host for host in wished.hosts if _covers_any(profile.hosts, host)),
        unknown_hosts=unknown,
        variables=tuple(name for name in wished.variables if name in profile.variables),
        memory_mb=min(profile.memory_mb, wished.memory_mb),
        processes=min(profile.processes, wished.processes),
        file_mb=min(profile.file_mb, wished.file_mb),
        debuggers=profile.debuggers and wished.debuggers,
    )


def covers(pattern: str, host: str) -> bool:
    """Whether whoever may reach the one may reach the other. A set is covered by itself alone."""
    if pattern.startswith("@") or host.startswith("@"):
        return pattern == host
    (wide, ports), (name, port) = _parts(pattern), _parts(host)
    if not (ports == port or (not ports and port in _USUAL_PORTS)):
        return False
    if wide.startswith("*."):
        return name.removeprefix("*").endswith(wide[1:])
    return wide == name


def _parts(host: str) -> tuple[str, str]:
    name, _, port = host.lower().partition(":")
    return name.rstrip("."), port


def _covers_any(patterns: tuple[str, ...], host: str) -> bool:
    return any(covers(pattern, host) for pattern in patterns)


def _paths_beyond(wished: tuple[str, ...], given: tuple[str, ...], real: RealPath) -> list[str]:
    return [path for path in wished if not _is_below(path, given, real)]


def _is_below(path: str, folders: tuple[str, ...], real: RealPath) -> bool:
    found = PurePath(real(path))
    return found.is_absolute() and any(found.is_relative_to(real(folder)) for folder in folders)
