"""Which cage sessions get on this machine: what holds here, as far as the settings use it. What the
settings say of a session is not known here."""

from typing import Final

from airboss.model.cage_bounds import ServerCages
from airboss.runtime.cage.ability import Ability

_OFF: Final = Ability("none", 'Cages are turned off (cage = "off" in the settings).', "")
_NOT_ENOUGH: Final = (
    "Only a narrow cage holds here, without any network. Set cage_narrow = true in the settings to "
    "use it."
)
_UNBOUNDED: Final = Ability(
    "none",
    "The server is root and has no control group for cages, and this kernel is older than Linux "
    "6.14: nothing but a watch would bound the processes of a cage.",
    "Run the server as an ordinary user, or give it a control group.",
)


def held_here(cages: ServerCages, ability: Ability) -> Ability:
    """What counts as a cage, as the settings have it."""
    if not cages.are_offered:
        return _OFF
    if cages.use == "always" and ability.is_unbounded:
        return _UNBOUNDED
    if ability.kind == "narrow" and not cages.narrow:
        return Ability("none", " ".join(filter(None, (ability.why, _NOT_ENOUGH))), ability.advice)
    return ability
