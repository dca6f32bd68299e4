"""What somebody wants a session to go on with is checked before it is written down."""

import pytest

from airboss.errors import Conflict, Invalid
from airboss.harness.switching import Switch, switched
from airboss.log.log import EventLog
from airboss.model.context_events import SessionChanged
from airboss.model.views import SessionView
from tests.harness.states import state_in


async def view_in(log: EventLog) -> SessionView:
    view = (await state_in(log)).view
    assert view is not None
    return view


async def test_only_what_is_another_is_said(log: EventLog) -> None:
    """What a real agent does with it is told in tests/contract/test_v1_switching.py."""
    view = await view_in(log)
    assert switched(view, Switch(view.model), None, "ada") is None
    said = switched(view, Switch(view.model, "high"), ("low", "high"), "ada")
    assert said == SessionChanged(reasoning_effort="high", who="ada")


async def test_an_effort_that_the_model_does_not_offer_is_refused(log: EventLog) -> None:
    view = await view_in(log)
    with pytest.raises(Invalid, match=r"reasoningEffort: .* It offers: low"):
        switched(view, Switch("other", "high"), ("low",), "ada")
    has_one = view.model_copy(update={"reasoning_effort": "high"})
    with pytest.raises(Invalid, match="does not offer"):
        switched(has_one, Switch("other"), ("low",), "ada")


async def test_a_closed_session_stays_as_it_is(log: EventLog) -> None:
    closed = (await view_in(log)).model_copy(update={"state": "closed"})
    with pytest.raises(Conflict, match="closed"):
        switched(closed, Switch("other"), None, "ada")
