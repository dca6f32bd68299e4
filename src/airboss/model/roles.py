"""Who may do what: four roles, each with all that the ones before it may."""

from typing import Final, Literal, TypeAlias, get_args

Role: TypeAlias = Literal["view", "operate", "decide", "own"]

ROLES: Final[tuple[Role, ...]] = get_args(Role)
# What each adds to the one before it, for people.
MAY: Final[dict[Role, str]] = {
    "view": "read everything",
    "operate": "start, stop and prompt",
    "decide": "approve and answer",
    "own": "change rules, trust, tokens and settings, read the audit, delete, stop the server",
}


def includes(role: Role, needed: Role) -> bool:
    return ROLES.index(role) >= ROLES.index(needed)
