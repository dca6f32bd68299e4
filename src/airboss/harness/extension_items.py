"""Questions of a session's extensions to people: asked beside the turn, which goes on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from airboss.errors import AirbossError, Invalid, TooMuch
from airboss.harness.item_lines import with_inbox
from airboss.harness.questions import question_of
from airboss.harness.session_state import SessionState, WaitingItem
from airboss.log.writer import commit, now_ms, say
from airboss.model.inbox_events import ItemSettled, QuestionAsked
from airboss.runtime.tools import OutsideCall, ToolRefusal

_MOST_WAITING: Final = 5


@dataclass
class ExtensionQuestions:
    """Of one session. What nobody has answered is withdrawn with the session."""

    state: SessionState

    async def ask(
        self, extension: str, question: str, choices: Sequence[str], *, allows_words: bool
    ) -> str | None:
        """The answer; None where nobody gives one."""
        if len(self._waiting()) >= _MOST_WAITING:
            raise TooMuch(f"{_MOST_WAITING} questions of extensions wait for an answer already.")
        given = {"question": question, "choices": list(choices), "allow_freeform": allows_words}
        call = OutsideCall("", None, "ask", given)
        prompt, redactor = self.state.prompt, self.state.redactor
        asked = question_of(call, prompt=prompt, expires_at=None, redactor=redactor)
        if isinstance(asked, ToolRefusal):
            raise Invalid(asked.reason)
        asked = asked.model_copy(update={"extension": extension})
        waiting = self.state.beside[asked.item] = WaitingItem(asked)
        try:
            lines = with_inbox(self.state.writer, self.state.inbox, asked, at=(at := now_ms()))
            await commit(*lines, at=at)
            settled = await waiting.answer
        except BaseException as error:
            if not isinstance(error, AirbossError):  # it may be on disk, or will be
                self._withdraw(waiting)
            raise
        finally:
            self.state.beside.pop(asked.item, None)
        return settled.answer if settled.outcome == "answered" else None

    def end(self) -> None:
        """The session ends or is cut off, and its extensions with it."""
        for waiting in self._waiting():
            self._withdraw(waiting)

    def _waiting(self) -> list[WaitingItem]:
        return [one for one in self.state.beside.values() if isinstance(one.asked, QuestionAsked)]

    def _withdraw(self, waiting: WaitingItem) -> None:
        if not waiting.is_taken:
            waiting.is_taken = True
            settled = ItemSettled(item=waiting.asked.item, outcome="cancelled")
            say(*with_inbox(self.state.writer, self.state.inbox, settled))
            if not waiting.answer.done():
                waiting.answer.set_result(settled)
