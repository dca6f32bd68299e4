"""Which sessions work in a cage, and how one crosses its border."""

from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.errors import CageRefused, Conflict
from airboss.harness.cage_terms import CageWish, Uncaged
from airboss.harness.cages import Cages, builtin_is_caged, cages_of, must_stay
from airboss.model.cage_bounds import ServerCages
from airboss.model.setup import USUAL, CageSetup, Setup
from airboss.runtime.cage.ability import Ability
from airboss.settings import Policy, Settings

CAGE = CageSetup(profile="web", terms=CageProfile(hosts=("example.org",)))
DEFAULT = CageSetup(profile="default", terms=CageProfile())
CAGED = Setup(cage=CAGE)
HELD = Cages(ability=lambda: Ability("strong", "All walls hold.", ""))
NOT_HELD = Cages(ability=lambda: Ability("none", "This is a test.", "Use Linux."))


NARROW = Cages(
    ServerCages(narrow=True), lambda: Ability("narrow", "There is no bwrap.", "Install it.")
)


@pytest.mark.parametrize(
    ("cages", "policy", "is_caged"),
    [
        (HELD, "ask", True),
        (HELD, "caged", True),
        (HELD, "approve-all", True),
        (HELD, "read-only", False),
        (HELD, "deny-all", False),
        (NARROW, "ask", False),
        (NOT_HELD, "ask", False),
        (Cages(ServerCages(use="off"), HELD.ability), "ask", False),
    ],
)
def test_the_built_in_entry_is_caged_where_a_strong_one_holds_and_is_granted(
    cages: Cages, policy: Policy, is_caged: bool
) -> None:
    assert builtin_is_caged(cages, policy) is is_caged


def _never() -> Ability:
    raise AssertionError("nobody wants a cage")


async def test_nobody_looks_at_the_machine_where_no_cage_is_wanted(tmp_path: Path) -> None:
    cages = Cages(ability=_never)
    assert await cages.terms("ask", CageWish(DEFAULT)) == Uncaged("ask")
    assert await cages.plan(USUAL, tmp_path, "ses_1") is None


async def test_a_session_has_the_same_cage_again_and_others_have_another(tmp_path: Path) -> None:
    first = await HELD.plan(CAGED, tmp_path, "ses_1")
    assert first is not None
    assert (first.kind, first.profile, first.terms) == ("strong", "web", CAGE.terms)
    assert await HELD.plan(CAGED, tmp_path, "ses_1") == first
    assert await HELD.plan(CAGED, tmp_path, "ses_2") != first


async def test_one_that_was_caged_never_goes_on_without(tmp_path: Path) -> None:
    for cages in (NOT_HELD, Cages(ServerCages(use="off"), HELD.ability)):
        with pytest.raises(CageRefused, match="none holds here"):
            await cages.plan(CAGED, tmp_path, "ses_1")


async def test_where_all_are_caged_one_that_is_not_has_to_be_forked(tmp_path: Path) -> None:
    cages = Cages(ServerCages(use="always"), HELD.ability)
    with pytest.raises(CageRefused, match="Fork it"):
        await cages.plan(USUAL, tmp_path, "ses_1")
    assert await cages.place(USUAL, tmp_path, "ses_1") is None
    assert (await cages.copied(USUAL, "ask", CageWish(DEFAULT))).cage == DEFAULT


async def test_a_copy_enters_a_cage_keeps_it_or_leaves_it() -> None:
    assert (await HELD.copied(USUAL, "caged", CageWish(DEFAULT))).cage == DEFAULT
    assert (await HELD.copied(CAGED, "caged", CageWish(DEFAULT))).cage == CAGE
    assert (await HELD.copied(CAGED, "ask", CageWish(DEFAULT))).cage is None
    with pytest.raises(CageRefused, match="This is a test"):
        await NOT_HELD.copied(USUAL, "caged", CageWish(DEFAULT))


@pytest.mark.parametrize(
    ("setup", "policy", "is_refused"),
    [
        (USUAL, "caged", True),
        (USUAL, "approve-all", False),
        (USUAL, None, False),
        (CAGED, "approve-all", True),
        (CAGED, "caged", False),
        (CAGED, "ask", False),
        (CAGED, "deny-all", False),
    ],
)
def test_a_change_of_policy_across_the_border_is_refused(
    setup: Setup, policy: Policy | None, is_refused: bool
) -> None:
    if not is_refused:
        must_stay(setup, policy)
        return
    with pytest.raises(Conflict, match=r"airboss fork ID --permissions"):
        must_stay(setup, policy)


async def test_a_runtime_of_somebody_else_is_never_caged() -> None:
    cages = cages_of(Settings(runtime_url="127.0.0.1:4321"))
    assert (await cages.held()).kind == "none"
    with pytest.raises(CageRefused, match="somebody else started"):
        await cages.terms("caged", CageWish(DEFAULT, is_of_task=True))
