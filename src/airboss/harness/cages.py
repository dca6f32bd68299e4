"""The cages of one server: which sessions work in one, and which one that is."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from airboss.errors import CageRefused, Conflict
from airboss.harness.cage_guests import terms_with_folders
from airboss.harness.cage_terms import (
    CageWish,
    InCage,
    Refused,
    Uncaged,
    cage_terms,
)
from airboss.model.cage_bounds import ServerCages, real_path
from airboss.model.policies import granted_policy
from airboss.model.setup import CageSetup, Setup
from airboss.runtime.cage.ability import Ability, ability
from airboss.runtime.cage.given_cage import held_here
from airboss.runtime.cage.plan import CagePlan, cage_key
from airboss.settings import Policy, Settings

_OUTSIDE_RUNTIME = Ability(
    "none",
    "This server uses an agent runtime that somebody else started (runtime_url), and nobody can "
    "shut that in.",
    "Remove runtime_url from the settings.",
)
_ENTER = (
    "A session enters a cage only as a copy of itself. Fork it with permissions caged "
    "(airboss fork ID --permissions caged)."
)
_LEAVE = (
    "This session works in a cage, where caged allows everything. A session leaves a cage only as "
    "a copy of itself: fork it with other permissions (airboss fork ID --permissions approve-all)."
)
_FORK = (
    'This session does not work in a cage, and every session has to here (cage = "always" in the '
    "settings). Fork it: the copy works in a cage, with its history."
)


@dataclass(frozen=True)
class Cages:
    """`ability` may look at the machine, so that it is asked in a thread."""

    said: ServerCages = field(default_factory=ServerCages)
    ability: Callable[[], Ability] = ability

    async def terms(self, policy: Policy, wish: CageWish) -> Uncaged | InCage:
        """For a session that is to be opened."""
        found = cage_terms(self.said, await self._ability(policy, wish.cage), policy, wish)
        if isinstance(found, Refused):
            raise CageRefused(found.reason)
        return found

    async def plan(self, setup: Setup, cwd: Path, owner: str) -> CagePlan | None:
        """For a session as it was opened: it works in its cage again, or not at all. `owner` is the
        task run whose sessions share a cage, or the session that has its own."""
        if setup.cage is None and self.said.use == "always":
            raise CageRefused(_FORK)
        return await self.place(setup, cwd, owner)

    async def place(self, setup: Setup, cwd: Path, owner: str) -> CagePlan | None:
        """Where the runtime keeps such a session; none where that is in no cage."""
        if setup.cage is None:
            return None
        wish = CageWish(setup.cage, setup.cage)
        terms = cage_terms(self.said, await self._ability("caged", setup.cage), "caged", wish)
        if not isinstance(terms, InCage):
            reason = terms.reason if isinstance(terms, Refused) else terms.why
            raise CageRefused(reason)
        key = cage_key(setup.identity, cwd, terms.cage.profile, owner)
        folders = terms_with_folders(terms.cage.terms, setup, cwd)
        return CagePlan(terms.kind, terms.cage.profile, folders, cwd, key, owner)

    async def copied(self, setup: Setup, policy: Policy, usual: CageWish) -> Setup:
        """A fork of a session: with `caged` it has a cage, and with others only where all have one.
        `usual` is what the settings say."""
        is_caged = policy == "caged"
        wish = CageWish(usual.usual, setup.cage if is_caged else usual.cage)
        found = await self.terms(policy, wish)
        if isinstance(found, Uncaged) and is_caged:
            raise CageRefused(found.why)
        return setup.model_copy(update={"cage": found.cage if isinstance(found, InCage) else None})

    async def held(self) -> Ability:
        """What counts as a cage here, as the settings have it."""
        return held_here(self.said, await asyncio.to_thread(self.ability))

    async def _ability(self, policy: Policy, cage: CageSetup | None) -> Ability:
        """Not looked for where nobody wants one."""
        if policy != "caged" and cage is None and self.said.use != "always":
            return Ability("none", "", "")
        return await asyncio.to_thread(self.ability)


def must_stay(setup: Setup, policy: Policy | None) -> None:
    """A session enters or leaves a cage only as a copy: what the runtime keeps of it lies inside,
    or outside."""
    if policy == "caged" and setup.cage is None:
        raise Conflict(_ENTER)
    if policy == "approve-all" and setup.cage is not None:
        raise Conflict(_LEAVE)


def builtin_is_caged(cages: Cages, policy: Policy) -> bool:
    """Blocking. Whether the built-in entry's jobs work in cages on a server with this policy: only
    where a strong one holds, and where `caged` would be granted."""
    held = held_here(cages.said, cages.ability())
    granted = granted_policy(
        policy, "caged", None, trusted=False, offers_cage=cages.said.are_offered
    )
    return held.kind == "strong" and granted == "caged"


def cages_of(settings: Settings) -> Cages:
    known = ServerCages.of(settings).pinned(real_path)
    if settings.runtime_url is not None:
        return Cages(known, lambda: _OUTSIDE_RUNTIME)
    return Cages(known)
