"""Whether a session is caged: every combination of what is allowed, wished and held."""

from collections.abc import Iterator
from itertools import product
from typing import Any, get_args

import pytest

from airboss.cage_settings import CageProfile, CageUse
from airboss.harness.cage_terms import (
    CageWish,
    InCage,
    PolicyWishes,
    Refused,
    Terms,
    Uncaged,
    cage_terms,
    session_terms,
)
from airboss.model.cage_bounds import ServerCages
from airboss.model.policies import POLICIES, is_wider
from airboss.model.setup import CageSetup
from airboss.runtime.cage.ability import Ability
from airboss.settings import Policy

_USUAL = CageSetup(profile="default", terms=CageProfile())
_NAMED = CageSetup(profile="web", terms=CageProfile(hosts=("example.org",), unknown_hosts="ask"))
_ABILITIES = {
    "strong": Ability("strong", "All walls hold.", ""),
    "narrow": Ability("narrow", "There is no bwrap.", "Install it."),
    "none": Ability("none", "This is not Linux.", "Use Linux."),
    "unbounded": Ability("strong", "All walls hold.", "", is_unbounded=True),
}
_WISHES: tuple[Policy | None, ...] = (None, *POLICIES)
_USES: tuple[CageUse, ...] = get_args(CageUse)


def _every() -> Iterator[tuple[ServerCages, Ability, PolicyWishes, CageWish]]:
    choices = product(
        _USES,
        (False, True),
        _ABILITIES.values(),
        POLICIES,
        _WISHES,
        _WISHES,
        (False, True),
        (None, _NAMED),
        (False, True),
    )
    for use, narrow, ability, server, first, task, trusted, cage, is_of_task in choices:
        yield (
            ServerCages(use, narrow),
            ability,
            PolicyWishes(server, first, task, trusted),
            CageWish(_USUAL, cage, is_of_task),
        )


def _holds(cages: ServerCages, ability: Ability) -> bool:
    is_flooded = cages.use == "always" and ability.is_unbounded
    return (
        cages.use != "off"
        and not is_flooded
        and (ability.kind == "strong" or (ability.kind == "narrow" and cages.narrow))
    )


def _policy_of(terms: Terms) -> Policy | None:
    return None if isinstance(terms, Refused) else terms.policy


def test_in_no_combination_is_more_had_than_the_server_grants() -> None:
    for cages, ability, policies, wish in _every():
        terms = session_terms(cages, ability, policies, wish)
        policy = _policy_of(terms)
        if policy is None:
            continue
        wished = [one for one in (policies.first, policies.task) if one is not None]
        assert not any(is_wider(policy, one) for one in wished)
        if policies.trusted and wished:
            continue
        is_bounded = isinstance(terms, InCage) and policies.server == "ask" and policy == "caged"
        assert not is_wider(policy, policies.server) or is_bounded


def test_in_no_combination_is_caged_run_outside_of_a_cage() -> None:
    for cages, ability, policies, wish in _every():
        terms = session_terms(cages, ability, policies, wish)
        if isinstance(terms, Uncaged):
            assert terms.policy != "caged"
            assert wish.cage is None
            assert cages.use != "always"
        if isinstance(terms, InCage):
            assert _holds(cages, ability)
            assert terms.kind == ability.kind
            assert terms.cage.profile == (wish.cage or wish.usual).profile
        if isinstance(terms, Refused):
            assert not _holds(cages, ability)
            assert terms.reason.endswith(".")


def test_without_any_wish_for_a_cage_all_is_as_it_was() -> None:
    for cages, ability, policies, wish in _every():
        asked = {policies.server, policies.first, policies.task}
        if cages.use == "always" or wish.cage is not None or "caged" in asked:
            continue
        terms = session_terms(cages, ability, policies, wish)
        assert isinstance(terms, Uncaged)
        assert terms.why == ""


def _said(
    use: CageUse,
    kind: str,
    policy: Policy,
    *,
    narrow: bool = False,
    cage: CageSetup | None = None,
    is_of_task: bool = False,
) -> Terms:
    cages, wish = ServerCages(use, narrow), CageWish(_USUAL, cage, is_of_task)
    return cage_terms(cages, _ABILITIES[kind], policy, wish)


_OFF = 'Cages are turned off (cage = "off" in the settings).'
_SMALL = (
    "There is no bwrap. Only a narrow cage holds here, without any network. Set cage_narrow = true "
    "in the settings to use it."
)
_ASKS = "It is not caged, and asks instead: "
_WISHED = "It is to work in a cage, and none holds here: "
_ALWAYS = (
    'Every session has to work in a cage here (cage = "always" in the settings), and none holds: '
)
_UNBOUNDED = (
    "The server is root and has no control group for cages, and this kernel is older than Linux "
    "6.14: nothing but a watch would bound the processes of a cage. Run the server as an ordinary "
    "user, or give it a control group."
)
_BLIND = CageSetup(profile="web", terms=CageProfile())


_CASES: list[tuple[tuple[CageUse, str, Policy, dict[str, Any]], Terms]] = [
    (("offer", "strong", "caged", {}), InCage("caged", _USUAL, "strong")),
    (("offer", "strong", "caged", {"cage": _NAMED}), InCage("caged", _NAMED, "strong")),
    (("offer", "strong", "ask", {"cage": _NAMED}), InCage("ask", _NAMED, "strong")),
    (("offer", "strong", "ask", {}), Uncaged("ask")),
    (("offer", "strong", "approve-all", {}), Uncaged("approve-all")),
    (("always", "strong", "approve-all", {}), InCage("approve-all", _USUAL, "strong")),
    (("always", "strong", "read-only", {}), InCage("read-only", _USUAL, "strong")),
    (("offer", "narrow", "caged", {"narrow": True}), InCage("caged", _USUAL, "narrow")),
    (
        ("offer", "narrow", "caged", {"narrow": True, "cage": _NAMED}),
        InCage("caged", _BLIND, "narrow"),
    ),
    (("offer", "narrow", "caged", {}), Uncaged("ask", _ASKS + _SMALL)),
    (
        ("offer", "narrow", "caged", {"is_of_task": True}),
        Refused(f"{_WISHED}{_SMALL} Install it."),
    ),
    (("offer", "none", "caged", {}), Uncaged("ask", f"{_ASKS}This is not Linux.")),
    (
        ("offer", "none", "caged", {"is_of_task": True}),
        Refused(f"{_WISHED}This is not Linux. Use Linux."),
    ),
    (
        ("offer", "none", "ask", {"cage": _NAMED}),
        Refused(f"{_WISHED}This is not Linux. Use Linux."),
    ),
    (("always", "none", "deny-all", {}), Refused(f"{_ALWAYS}This is not Linux. Use Linux.")),
    (("offer", "unbounded", "caged", {}), InCage("caged", _USUAL, "strong")),
    (("always", "unbounded", "ask", {}), Refused(_ALWAYS + _UNBOUNDED)),
    (("off", "strong", "caged", {}), Uncaged("ask", _ASKS + _OFF)),
    (("off", "strong", "caged", {"is_of_task": True}), Refused(_WISHED + _OFF)),
    (("off", "strong", "ask", {"cage": _NAMED}), Refused(_WISHED + _OFF)),
]


@pytest.mark.parametrize(("given", "terms"), _CASES)
def test_each_case_in_its_words(
    given: tuple[CageUse, str, Policy, dict[str, Any]], terms: Terms
) -> None:
    use, kind, policy, more = given
    assert _said(use, kind, policy, **more) == terms
