"""The policies from the narrowest to the widest, and which of several holds."""

from typing import Final

from airboss.settings import Policy

POLICIES: Final[tuple[Policy, ...]] = ("deny-all", "read-only", "ask", "caged", "approve-all")


def is_wider(policy: str, than: str) -> bool:
    """An unknown one is as narrow as can be."""
    return _width(policy) > _width(than)


def _width(policy: str) -> int:
    return next((width for width, one in enumerate(POLICIES) if one == policy), -1)


def narrowest_policy(first: Policy, *others: Policy | None) -> Policy:
    """The one that allows least; who has none does not matter."""
    given: list[Policy] = [first, *(other for other in others if other)]
    return POLICIES[min(POLICIES.index(policy) for policy in given)]


def granted_policy(
    server: Policy,
    entry: Policy | None,
    task: Policy | None,
    *,
    trusted: bool,
    offers_cage: bool = False,
) -> Policy:
    """What holds for a task. Only a file that a person trusts may widen the server's policy, except
    that `caged` is had in the place of `ask` where cages are offered: the server bounds them."""
    request = entry or task
    if trusted and request:
        return narrowest_policy(request, task)
    wished = narrowest_policy(request, task) if request else None
    if offers_cage and may_be_caged(server, wished):
        return "caged"
    return narrowest_policy(server, entry, task)


def may_be_caged(server: Policy, wished: str | None) -> bool:
    """Whether a wish for a cage counts without trust, where the server offers cages."""
    return wished == "caged" and server in ("ask", "caged", "approve-all")
