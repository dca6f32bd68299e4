"""Whether a session works in a cage, and under which policy: of what the server allows, what is
wished, and what holds on this machine. Nothing is asked for here, and nothing is started.

`caged` is never run outside of a cage, and where cages are `always` used nothing is.
"""

from dataclasses import dataclass
from typing import TypeAlias

from airboss.model.cage_bounds import ServerCages
from airboss.model.policies import granted_policy
from airboss.model.setup import CageSetup
from airboss.runtime.cage.ability import Ability
from airboss.runtime.cage.given_cage import held_here
from airboss.runtime.cage.plan import CageKind
from airboss.settings import Policy


@dataclass(frozen=True)
class Uncaged:
    """It works as before. `why` says so where a cage was wished for and none holds."""

    policy: Policy
    why: str = ""


@dataclass(frozen=True)
class InCage:
    policy: Policy
    cage: CageSetup
    kind: CageKind


@dataclass(frozen=True)
class Refused:
    """In words: why not, and what to do."""

    reason: str


Terms: TypeAlias = Uncaged | InCage | Refused


@dataclass(frozen=True)
class CageWish:
    """What is wished for a session. `cage` is what somebody named, as far as it is granted, and
    `usual` the one that `caged` means without a name."""

    usual: CageSetup
    cage: CageSetup | None = None
    is_of_task: bool = False


@dataclass(frozen=True)
class PolicyWishes:
    """What the server allows, and what an entry or a request and a task wish. `trusted`: they may
    widen it."""

    server: Policy
    first: Policy | None = None
    task: Policy | None = None
    trusted: bool = False


def session_terms(
    cages: ServerCages, ability: Ability, policies: PolicyWishes, wish: CageWish
) -> Terms:
    """All of it in one step."""
    policy = granted_policy(
        policies.server,
        policies.first,
        policies.task,
        trusted=policies.trusted,
        offers_cage=cages.are_offered,
    )
    return cage_terms(cages, ability, policy, wish)


def cage_terms(cages: ServerCages, ability: Ability, policy: Policy, wish: CageWish) -> Terms:
    """Of a policy that is granted. A chat that cannot be caged asks; a task has nobody to ask."""
    is_named = wish.cage is not None or cages.use == "always"
    if policy != "caged" and not is_named:
        return Uncaged(policy)
    held = held_here(cages, ability)
    if held.kind != "none":
        return InCage(policy, _reaching(wish.cage or wish.usual, held.kind), held.kind)
    if is_named or wish.is_of_task:
        return Refused(_refusal(cages, held))
    return Uncaged("ask", f"It is not caged, and asks instead: {held.why}")


def _reaching(cage: CageSetup, kind: CageKind) -> CageSetup:
    """A narrow one has no network, whatever its profile says."""
    if kind == "strong":
        return cage
    terms = cage.terms.model_copy(update={"hosts": (), "unknown_hosts": "refuse"})
    return cage.model_copy(update={"terms": terms})


def _refusal(cages: ServerCages, held: Ability) -> str:
    must = (
        'Every session has to work in a cage here (cage = "always" in the settings), and none holds'
        if cages.use == "always"
        else "It is to work in a cage, and none holds here"
    )
    return " ".join(filter(None, (f"{must}: {held.why}", held.advice)))
