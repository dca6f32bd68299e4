"""Errands of a session that has ended are refused in words."""

import asyncio
from typing import cast

import pytest

from airboss.errors import Conflict
from airboss.harness.cage_rest import CageRest
from airboss.harness.session_errands import SessionErrands
from airboss.harness.session_opening import SessionOpening
from tests.harness.states import unopened_state

pytestmark = pytest.mark.anyio


async def test_a_session_that_has_ended_runs_none() -> None:
    errands, state = SessionErrands(), unopened_state()
    errands._state = state  # pyright: ignore[reportPrivateUsage]
    state.is_over = True
    # It is not come to: whether the session is open is looked at first.
    errands.rest = CageRest(state, cast("SessionOpening", None), asyncio.Lock())
    for errand in (errands.aside("x", "me"), errands.command("x", ""), errands.compact(None, "me")):
        with pytest.raises(Conflict):
            await errand
    await errands.come_in("server")  # nobody is there to be told
