"""What is told of a session's cage and of its way out, and what it comes to."""

from typing import Final, Literal, TypeAlias

from airboss.model.words import Frozen, Words

# With namespaces; or with Landlock only, and then without any network.
CageStrength: TypeAlias = Literal["strong", "narrow"]

# A view has so many hosts; what is told of others is added up under one name.
MOST_HOSTS: Final = 100
OTHER_HOSTS: Final = "other hosts"


class CageLimits(Frozen):
    """How much what is inside may use, all together; of a file: each."""

    memory_mb: int
    processes: int
    file_mb: int


class CageOpened(Frozen):
    """The session's agent works behind walls from here on."""

    kind: Literal["cage.opened"] = "cage.opened"
    strength: CageStrength
    profile: Words
    # What the kernel enforces, each in a word or two.
    walls: tuple[Words, ...]
    limits: CageLimits
    # Whether there is a repository of git in its folder, with what the cage closes of it.
    git: bool | None = None


class CageClosed(Frozen):
    """The cage is gone, with everything that was started in it."""

    kind: Literal["cage.closed"] = "cage.closed"
    how: Words
    # Of everything inside together, until then; null where nobody has looked yet.
    peak_memory_mb: int | None = None


class CageLimit(Frozen):
    """What is inside wanted more than its profile allows, or a wall went, and the cage ended."""

    kind: Literal["cage.limit"] = "cage.limit"
    # `memory`, `processes`, `disk`; or `replaced`, where somebody outside replaced a file that is
    # closed inside.
    what: Words
    text: Words


class EgressOpened(Frozen):
    """A host is connected to. Told once for all connections that are open at the same time."""

    kind: Literal["egress.opened"] = "egress.opened"
    host: Words
    port: int
    # Where its name led; nothing else is connected to under it.
    address: Words
    # Who allowed it: `profile`, `rule …`, `person …`, or `session`, where a person did until the
    # session or the task run ends.
    by: Words


class EgressClosed(Frozen):
    """The last connection to a host has ended; all of them are in the counts. `sent` is what left
    the cage, in bytes."""

    kind: Literal["egress.closed"] = "egress.closed"
    host: Words
    port: int
    connections: int
    sent: int
    received: int
    seconds: float


class EgressRefused(Frozen):
    """A host was not connected to. The same, refused again soon after, is told in one count."""

    kind: Literal["egress.refused"] = "egress.refused"
    host: Words
    port: int | None = None
    why: Words
    count: int = 1


class CageView(Frozen):
    """The cage of a session as it is now, or as it last was."""

    strength: CageStrength
    profile: Words
    walls: tuple[Words, ...]
    limits: CageLimits
    git: bool | None = None
    is_open: bool = True
    # What was reached, where that ended it.
    limit: Words | None = None
    # The most memory that was used in it, once it has ended.
    peak_memory_mb: int | None = None


class HostTraffic(Frozen):
    """What went to a host and came from it, as far as it is counted, with who allowed it; and how
    often it was refused, with the reason and the time of the last time."""

    host: Words
    port: int | None = None
    is_open: bool = False
    by: Words | None = None
    connections: int = 0
    sent: int = 0
    received: int = 0
    refused: int = 0
    why: Words | None = None
    refused_at: int | None = None


CageEvent: TypeAlias = CageOpened | CageClosed | CageLimit
EgressEvent: TypeAlias = EgressOpened | EgressClosed | EgressRefused


def cage_after(cage: CageView | None, event: CageEvent) -> CageView | None:
    match event:
        case CageOpened():
            return CageView(
                strength=event.strength,
                profile=event.profile,
                walls=event.walls,
                limits=event.limits,
                git=event.git,
            )
        case CageClosed():
            ended = {"is_open": False, "peak_memory_mb": event.peak_memory_mb}
            return cage and cage.model_copy(update=ended)
        case CageLimit():
            return cage and cage.model_copy(update={"limit": event.what})


def traffic_after(
    traffic: tuple[HostTraffic, ...] | None, event: EgressEvent, at: int | None = None
) -> tuple[HostTraffic, ...]:
    """In the order in which hosts were first named."""
    known = traffic or ()
    found = _place(known, event.host, event.port)
    if found is None and len(known) >= MOST_HOSTS:
        found = _place(known, OTHER_HOSTS, None)
    if found is None:
        is_one_more = len(known) < MOST_HOSTS
        new = (
            HostTraffic(host=event.host, port=event.port)
            if is_one_more
            else HostTraffic(host=OTHER_HOSTS)
        )
        return (*known, _counted(new, event, at))
    return (*known[:found], _counted(known[found], event, at), *known[found + 1 :])


def _place(known: tuple[HostTraffic, ...], host: str, port: int | None) -> int | None:
    places = (at for at, one in enumerate(known) if one.host == host and one.port == port)
    return next(places, None)


def _counted(known: HostTraffic, event: EgressEvent, at: int | None) -> HostTraffic:
    match event:
        case EgressOpened():
            by = event.by if known.host == event.host else None
            return known.model_copy(update={"is_open": True, "by": by})
        case EgressClosed():
            return known.model_copy(
                update={
                    "is_open": False,
                    "connections": known.connections + event.connections,
                    "sent": known.sent + event.sent,
                    "received": known.received + event.received,
                }
            )
        case EgressRefused():
            return known.model_copy(
                update={
                    "refused": known.refused + event.count,
                    "why": event.why,
                    "refused_at": at,
                }
            )
