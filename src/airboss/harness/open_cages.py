"""The cages that are open: who works in each, who answers at its doors, and who hears of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from airboss.harness.host_items import HostDecisions, HostItems
from airboss.harness.session_state import SessionState
from airboss.model.cage_events import (
    CageClosed,
    CageEvent,
    CageLimit,
    CageLimits,
    CageOpened,
    EgressEvent,
)
from airboss.model.excerpt import excerpt
from airboss.net.address_guard import Egress
from airboss.runtime.cage.doors import CageDoors, ConnectionHandler
from airboss.runtime.cage.host_request import HostAnswer, HostPermission, HostRequest
from airboss.runtime.cage.launch import CageNews
from airboss.runtime.cage.plan import CagePlan
from airboss.runtime.cage.watch import in_words
from airboss.runtime.cage.way_out import WayOut

_NOBODY: Final = "No session is open in this cage."
_LEFT: Final = "The session left it."
_REPLACED: Final = "What is closed in its folder was replaced outside."
_WALLS: Final = {
    "strong": ("namespaces", "seccomp", "read-only system", "unreadable runtime"),
    "narrow": ("Landlock", "seccomp", "no network", "unreadable runtime"),
}
_MB: Final = 1 << 20
# Of so many task runs it is known what was decided about hosts; in those before, people are asked
# once more.
_MOST_RUNS: Final = 1_000

# The most memory that a cage has used so far, in bytes.
Peak: TypeAlias = Callable[[], int]
TellCage: TypeAlias = Callable[[CageEvent | EgressEvent], None]


@dataclass(frozen=True, eq=False)
class CagedSession:
    """One that works in a cage: it is asked about hosts, and hears what happens."""

    permission: HostPermission
    tell: TellCage


@dataclass
class OpenCages:
    """By the key of each. Of the sessions that share one the latest is asked and hears of traffic;
    all hear of the cage itself."""

    # One for each cage: none keeps another's door full.
    user: Callable[[], ConnectionHandler] | None = None
    servers: ConnectionHandler | None = None
    egress: Egress = field(default_factory=Egress)
    _inside: dict[str, list[CagedSession]] = field(default_factory=dict[str, list[CagedSession]])
    _ways_out: dict[str, WayOut] = field(default_factory=dict[str, WayOut])
    _opened: dict[str, CageOpened] = field(default_factory=dict[str, CageOpened])
    _peaks: dict[str, Peak] = field(default_factory=dict[str, Peak])
    _limits: dict[str, str] = field(default_factory=dict[str, str])
    # Who has heard of an open cage, and so hears how it ends.
    _told: set[CagedSession] = field(default_factory=set[CagedSession])
    # What people said of hosts, by the task run; the latest is the last.
    _decided: dict[str, HostDecisions] = field(default_factory=dict[str, HostDecisions])

    def session(self, state: SessionState, hosts: HostItems, plan: CagePlan) -> CagedSession:
        """One that is to work in this cage."""

        def tell(event: CageEvent | EgressEvent) -> None:
            if isinstance(event, EgressEvent):  # a made-up name may carry what must not be shown
                event = event.model_copy(update={"host": excerpt(state.redactor, event.host)})
            state.writer.say(event)

        if state.task is not None:
            hosts.share(self._decisions(plan.owner))
        return CagedSession(hosts.permission(plan.terms.unknown_hosts), tell)

    def _decisions(self, owner: str) -> HostDecisions:
        """Between two sessions of a task run nobody has them but this."""
        found = self._decided.pop(owner, None) or HostDecisions()
        self._decided[owner] = found
        if len(self._decided) > _MOST_RUNS:
            del self._decided[next(iter(self._decided))]
        return found

    def enter(self, plan: CagePlan, session: CagedSession) -> None:
        """Before its runtime is there, or into a cage where others are already."""
        inside = self._inside.setdefault(plan.key, [])
        if session in inside:
            return
        inside.append(session)
        opened = self._opened.get(plan.key)
        # One that is over its limit ends, and the session will have the next.
        if opened is not None and plan.key not in self._limits:
            self._told.add(session)
            session.tell(opened)

    def leave(self, plan: CagePlan, session: CagedSession, why: str = _LEFT) -> None:
        inside = self._inside.get(plan.key, [])
        if session not in inside:
            return
        if inside == [session] and (way_out := self._ways_out.get(plan.key)) is not None:
            way_out.traffic.close()  # nobody else would hear what is counted
        inside.remove(session)
        if not inside:
            del self._inside[plan.key]
        if session in self._told:
            self._told.discard(session)
            peak = _peak_mb(self._peaks[plan.key])
            session.tell(CageClosed(how=self._limits.get(plan.key, why), peak_memory_mb=peak))

    def doors(self, plan: CagePlan) -> CageDoors:
        if plan.kind == "narrow":
            return CageDoors()

        async def permit(asked: HostRequest) -> HostAnswer:
            inside = self._inside.get(plan.key)
            return await inside[-1].permission(asked) if inside else HostAnswer(False, _NOBODY)

        def tell(event: EgressEvent) -> None:
            if inside := self._inside.get(plan.key):
                inside[-1].tell(event)

        way_out = self._ways_out[plan.key] = WayOut(plan.terms, permit, tell, self.egress)
        user = self.user() if self.user is not None else None
        return CageDoors(way_out.serve, user, self.servers, way_out.close)

    def hear(self, news: CageNews) -> None:
        """What the runtime tells of a cage."""
        plan = news.plan
        match news.what:
            case "opened":
                event = self._opened[plan.key] = _opened(news)
                self._peaks[plan.key] = news.peak
            case "limit":
                limit = news.limit or "memory"
                event = CageLimit(what=limit, text=in_words(limit, plan.terms))
                self._limits[plan.key] = (
                    _REPLACED if limit == "replaced" else f"Its limit of {limit} was reached."
                )
            case "closed":
                self._opened.pop(plan.key, None)
                self._peaks.pop(plan.key, None)
                self._ways_out.pop(plan.key, None)
                how = self._limits.pop(plan.key, "It was ended with everything in it.")
                event = CageClosed(how=how, peak_memory_mb=_peak_mb(news.peak))
        for session in list(self._inside.get(plan.key, ())):
            if news.what == "opened":
                self._told.add(session)
            if session in self._told:
                session.tell(event)
            if news.what == "closed":
                self._told.discard(session)


def _peak_mb(peak: Peak) -> int | None:
    return peak() // _MB or None


def _walls(news: CageNews) -> tuple[str, ...]:
    first, *others = _WALLS[news.plan.kind]
    # A narrow one has it first.
    second = ("Landlock",) if news.has_landlock and news.plan.kind == "strong" else ()
    return (first, *second, *others, _held_by(news))


def _held_by(news: CageNews) -> str:
    """What holds its limits."""
    if news.group is not None:
        return f"control group v{news.group}"
    return "bounded processes" if news.bounds_processes else "watched limits"


def _opened(news: CageNews) -> CageOpened:
    plan = news.plan
    terms = plan.terms
    return CageOpened(
        strength=plan.kind,
        profile=plan.profile,
        walls=_walls(news),
        git=news.has_git,
        limits=CageLimits(
            memory_mb=terms.memory_mb, processes=terms.processes, file_mb=terms.file_mb
        ),
    )
