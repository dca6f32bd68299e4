"""Permissions and cages that somebody wishes for a session: wider ones need the role `own`."""

from typing import Annotated, TypeAlias

from pydantic import Field

from airboss.cage_keys import CageKeys
from airboss.errors import Invalid
from airboss.harness.session_cage import unknown_profile
from airboss.http.roles import Asker
from airboss.model.policies import is_wider, may_be_caged
from airboss.model.setup_bounds import widening
from airboss.model.views import SessionView
from airboss.service.sessions import Sessions
from airboss.session_keys import SessionKeys
from airboss.settings import Policy

CageName: TypeAlias = Annotated[
    str | None,
    Field(min_length=1, max_length=64, description="A profile of cages that it works in."),
]


def must_be_granted(
    sessions: Sessions, wished: Policy | None, now: str, by: Asker, cage: str | None = None
) -> None:
    """Not where a cage of the server's own bounds them; the session may have one that is wider."""
    if wished is None or not is_wider(wished, now):
        return
    if sessions.cages.said.are_offered and may_be_caged(sessions.policy, wished):
        if by.role != "own":
            must_be_known(sessions, cage, by)
        return
    by.must_have("own", "it widens what the session may do")


def must_be_granted_to_copy(
    sessions: Sessions, wished: Policy | None, view: SessionView, by: Asker
) -> None:
    """A copy with another policy than `caged` leaves the cage, which bounded what the session's
    policy allows: it may then do no more than a new session."""
    cage = view.cage_profile
    must_be_granted(sessions, wished, view.policy, by, cage)
    if cage is not None and wished != "caged":
        must_be_granted(sessions, wished, sessions.policy, by)


def must_be_known(sessions: Sessions, cage: str | None, by: Asker) -> None:
    """A profile of the settings; one that is wider than theirs for every session needs `own`."""
    if cage is None:
        return
    cages = sessions.cages.said
    if cages.profile(cage) is None:
        raise Invalid(f"cage: {unknown_profile(cage, cages)}")
    keys = SessionKeys(cage=CageKeys(profile=cage))
    for wish in widening(keys, sessions.session_keys, cages):
        by.must_have("own", f"it asks {wish.what}")
