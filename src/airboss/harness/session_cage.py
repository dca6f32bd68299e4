"""The cage that is wished for a session, of all that is said about it: in settings, entry, task and
request. Who may not widen what the server allows can only take away from it."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from airboss.cage_keys import CageKeys, mistake_in_host
from airboss.cage_settings import DEFAULT_PROFILE, CageProfile
from airboss.errors import Invalid
from airboss.harness.cage_terms import CageWish
from airboss.model.cage_bounds import RealPath, ServerCages, narrowed, plain_path
from airboss.model.setup import CageSetup
from airboss.runtime.cage.own_code import own_code
from airboss.runtime.cage.profile import refusals
from airboss.runtime.environment import is_secret_name
from airboss.session_keys import VARIABLE

if TYPE_CHECKING:
    from airboss.harness.setup import Said

_HIDDEN: Final = "It is the name of a secret, which no shell in a cage may see. Leave it out."


@dataclass(frozen=True)
class SessionCage:
    """All that is said about it, in order."""

    said: "Sequence[Said]"
    cages: ServerCages

    def check(self) -> None:
        """Refused by name, whether it is granted or not."""
        for one in self.said:
            keys = one.keys.cage
            if keys is None:
                continue
            if keys.profile is not None and self.cages.profile(keys.profile) is None:
                raise Invalid(f"{one.place('cage')}: {unknown_profile(keys.profile, self.cages)}")
            for key, mistake in mistakes_in_cage(keys):
                raise Invalid(f"{one.place('cage')}.{key}: {mistake}")

    def wish(self, *, is_of_task: bool, real: RealPath = plain_path) -> CageWish:
        """What is named, and what `caged` means; as the disk is, where `real` looks there."""
        kept = self.cages.folders

        def as_it_is(path: str) -> str:
            """Of the server's own as it was when the server began."""
            return path if path in kept and os.path.isabs(path) else real(path)

        name, terms, is_named = DEFAULT_PROFILE, self.cages.usual, False
        for one in self.said:
            keys = one.keys.cage
            if keys is None:
                continue
            wished = keys.over((keys.profile and self.cages.profile(keys.profile)) or terms)
            terms = wished if one.may_widen else narrowed(terms, wished, as_it_is)
            name, is_named = keys.profile or name, True
        found = {
            "read": tuple(map(as_it_is, terms.read)),
            "write": tuple(map(as_it_is, terms.write)),
        }
        cage = CageSetup(profile=name, terms=terms.model_copy(update=found))
        return CageWish(cage, cage if is_named else None, is_of_task)


def check_profiles(cages: ServerCages, data: Path) -> None:
    """Those of the settings."""
    for name, profile in cages.profiles.items():
        for refusal in refusals(profile, Path.home(), data, own_code()):
            raise Invalid(f"settings: cages.{name}.{refusal}")
        for key, mistake in mistakes_in_cage(profile):
            raise Invalid(f"settings: cages.{name}.{key}: {mistake}")


def check_cage(cage: CageSetup, data: Path) -> None:
    """Refused where it would have the home, the data folder, a socket or the like inside."""
    for refusal in refusals(cage.terms, Path.home(), data, own_code()):
        raise Invalid(f"cage {cage.profile}: {refusal}")


def unknown_profile(name: str, cages: ServerCages) -> str:
    return f'There is no profile "{name}" of cages. There are: {", ".join(cages.names)}.'


def mistakes_in_cage(said: CageKeys | CageProfile) -> Iterator[tuple[str, str]]:
    """Each with the key, as settings write it."""
    for index, host in enumerate(said.hosts or ()):
        if mistake := mistake_in_host(host):
            yield f"hosts[{index}]", mistake
    for index, name in enumerate(said.variables or ()):
        if not VARIABLE.fullmatch(name):
            yield f"variables[{index}]", "Should be the name of a variable."
        elif is_secret_name(name):
            yield f"variables[{index}]", _HIDDEN
