"""A question beside the work: answered from the session's history, which it is no part of."""

from airboss.errors import Conflict, Invalid, RuntimeUnavailable
from airboss.harness.session_state import SessionState
from airboss.model.events import AsideAnswered
from airboss.model.excerpt import excerpt

# Whoever waits for an answer sits in front of it.
_ANSWER_SECONDS = 60.0
_NO_HISTORY = (
    "This session has no history yet to answer from. "
    "Send a message first, or send this question as a message."
)


async def answered(state: SessionState, question: str, who: str) -> AsideAnswered:
    view, agent, redactor = state.view, state.agent, state.redactor
    if view and not view.turns and view.turn is None:
        raise Conflict(_NO_HISTORY)
    if agent is None:
        raise Conflict("The session is not open yet.")
    if not question.strip():
        raise Invalid("The question must not be empty.")
    clean = redactor.text(question)
    answer = excerpt(redactor, await agent.aside(clean, _ANSWER_SECONDS)).strip()
    if not answer:
        raise RuntimeUnavailable("The model did not answer the question.")
    return AsideAnswered(who=who, question=clean, answer=answer)


async def ask_aside(state: SessionState, question: str, who: str) -> str:
    """The answer, which is on disk then. The session may have ended in the meantime."""
    said = await answered(state, question, who)
    state.must_be_open()
    await state.writer.commit(said)
    return said.answer
