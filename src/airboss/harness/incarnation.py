"""Which of the runtime's sessions an open session works with, and when it begins with another."""

from typing import Protocol

from airboss.background import Background
from airboss.errors import SessionGone
from airboss.harness.binding import START_OVER, BoundTo, bound_to
from airboss.harness.session_state import SessionState
from airboss.harness.session_terms import SessionTerms
from airboss.harness.switching import Switching
from airboss.model.ids import runtime_session_name
from airboss.model.lineage_events import SessionRestarted
from airboss.runtime.session import RuntimeSession
from airboss.store.bindings import BindingRow


class OpenAgain(Protocol):
    """Opens what the runtime is asked for, as of now."""

    async def __call__(self, *, resume: bool) -> RuntimeSession: ...


class Incarnation:
    """Ours keeps its id; the runtime's is another one where the last is gone, or may not be used
    any more."""

    def __init__(self, state: SessionState, terms: Switching, background: Background) -> None:
        view = state.view
        self._state = state
        self._terms = terms
        self._background = background
        self._number = view.runtime_number if view else 1
        self.runtime_id = view.runtime_id if view else state.session
        self._kept: BindingRow | None = None

    def words(self, words: str | None) -> str | None:
        """What the agent is told of us: one that began anew is told so, in every turn."""
        if self._number == 1:
            return words
        return "\n\n".join(text for text in (words, START_OVER) if text)

    async def must_fit(self) -> None:
        """Refused where the runtime may not go on with the history that it has."""
        view, terms = self._state.view, self._terms.now
        if view is None or terms.bindings is None:
            return
        if why := await terms.bindings.why_restart(view, _bound(terms)):
            raise SessionGone(why)

    def begin_anew(self, why: str) -> SessionRestarted:
        """What is to be said of it, once the runtime has it. A number whose session nobody was
        told of is used again: it has said nothing, and the runtime makes it anew."""
        self._number += 1
        self.runtime_id = runtime_session_name(self._state.session, self._number)
        return SessionRestarted(why=self._state.redactor.text(why), number=self._number)

    async def reopened(self, open_again: OpenAgain) -> RuntimeSession:
        """While ours is open: the same of the runtime at another service, or a new one."""
        try:
            return await open_again(resume=True)
        except SessionGone as gone:
            restarted = self.begin_anew(str(gone))
        agent = await open_again(resume=False)
        await self._state.record(restarted, waits=True)
        return agent

    def keep(self) -> None:
        """What it is bound to by now, written beside the work: where that is lost or fails, the
        session works all the same."""
        view, terms = self._state.view, self._terms.now
        if view is None or terms.bindings is None:
            return
        parts = vars(_bound(terms))
        row = BindingRow(view.id, self._number, self.runtime_id, view.model, parts)
        if row != self._kept:
            self._kept = row
            self._background.start(terms.bindings.keep(row), "binding")


def _bound(terms: SessionTerms) -> BoundTo:
    return bound_to(terms.route, str(terms.rule.cwd), terms.holder(terms.route, terms.setup))
