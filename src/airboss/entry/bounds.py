"""What a run may do and use at most: of several requests the narrowest holds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from pydantic.alias_generators import to_camel

from airboss.entry.document import Entry, Limits, Policy
from airboss.entry.session_words import keys_of
from airboss.entry.violations import At
from airboss.model.cage_bounds import ServerCages
from airboss.model.policies import is_wider, may_be_caged
from airboss.model.setup_bounds import NO_CAGES, widening
from airboss.session_keys import NOTHING_SAID, SessionKeys

_LIMITS: Final = {
    "turns": "turns",
    "tokens": "tokens",
    "cost": "of cost",
    "idle_minutes": "minutes without a sign of life",
    "minutes": "minutes at work",
}


def narrowest_limits(*limits: Limits | None) -> Limits:
    """The smallest of each number; who has none does not matter."""
    given = [dict(limit) for limit in limits if limit]
    found = {
        name: min((limit[name] for limit in given if limit[name] is not None), default=None)
        for name in Limits.model_fields
    }
    return Limits.model_validate(found)


@dataclass(frozen=True)
class Ungranted:
    """A request for more than the server allows, in a file that nobody has trusted."""

    place: At
    wished: str
    granted: str

    def __str__(self) -> str:
        return (
            f'{self.place.where}: "{self.wished}" is not granted: the server allows '
            f'"{self.granted}", until a person trusts this file.'
        )


@dataclass(frozen=True)
class UngrantedWish(Ungranted):
    """The same about sessions: it counts as if it were not there."""

    granted: str = "nothing"

    def __str__(self) -> str:
        return (
            f"{self.place.where}: It asks {self.wished}, which is not granted until a person "
            "trusts this file."
        )


def ungranted(
    entry: Entry,
    server: Policy,
    prefix: str = "",
    session: SessionKeys = NOTHING_SAID,
    cages: ServerCages = NO_CAGES,
) -> Iterator[Ungranted]:
    """Every policy in an entry that is wider than the server's, and all about its sessions that
    goes beyond what the server's settings give them."""
    root = At(f"{prefix}entry")
    requests: list[tuple[Policy | None, At]] = [(entry.permissions, root.field("permissions"))]
    for name, task in entry.tasks.items():
        requests.append((task.permissions, root.field("tasks").key(name).field("permissions")))
    for request, place in requests:
        if request and is_ungranted(request, server, cages):
            yield Ungranted(place, request, server)
    yield from _wishes(keys_of(entry), root, session, cages)
    for name, task in entry.tasks.items():
        place = root.field("tasks").key(name)
        yield from _wishes(keys_of(task, entry), place, session, cages)


def is_ungranted(wished: str, server: Policy, cages: ServerCages) -> bool:
    """Whether a policy counts only in a file that a person trusts."""
    if cages.are_offered and may_be_caged(server, wished):
        return False
    return is_wider(wished, server)


def not_granted(
    requests: Iterable[Ungranted], server: Policy, session: SessionKeys, cages: ServerCages
) -> Iterator[Ungranted]:
    """Those of a draft's requests that this server does not grant. About a key that its settings
    have too, only the check of the finished file can tell."""
    settled = [f".{to_camel(name)}" for name in session.said]
    if cages.profiles:
        settled.append(".cage")
    for request in requests:
        if isinstance(request, UngrantedWish):
            if not any(key in request.place.where for key in settled):
                yield request
        elif is_ungranted(request.wished, server, cages):
            yield replace(request, granted=server)


def _wishes(
    keys: SessionKeys, place: At, session: SessionKeys, cages: ServerCages
) -> Iterator[Ungranted]:
    for wish in widening(keys, session, cages):
        at = place
        for step in wish.place:
            at = at.field(step)
        yield UngrantedWish(at, wish.what)


def limited_in(entry: Entry) -> Iterator[str]:
    """What each limit in an entry means, in words."""
    given: list[tuple[str, Limits | None]] = [("Each run and each task run", entry.limits)]
    given += [(f"Each run of the job {name}", job.limits) for name, job in entry.jobs.items()]
    given += [(f"Each run of the task {name}", task.limits) for name, task in entry.tasks.items()]
    for who, limits in given:
        known = [(name, amount) for name, amount in limits or () if amount is not None]
        amounts = [f"{amount:g} {_LIMITS[name]}" for name, amount in known]
        if amounts:
            yield f"{who} asks a person before it goes on after {' or '.join(amounts)}."
