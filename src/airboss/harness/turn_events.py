"""Hears what the runtime tells of one session, and says it in the log: turns, blocks, failures."""

from airboss.background import Background
from airboss.harness.hook_facts import tell_turn_ended
from airboss.harness.limit_guard import LimitGuard
from airboss.harness.pending_items import PendingItems
from airboss.harness.prompts import Prompts
from airboss.harness.session_state import SessionState
from airboss.harness.turn import Outcome, Request, Turn, within
from airboss.model.context_events import ContextMeasured
from airboss.model.events import (
    BlockDelta,
    Event,
    MessageEnded,
    PromptSteered,
    ReasoningEnded,
    ToolEnded,
    ToolStarted,
)
from airboss.model.ids import PromptId
from airboss.model.prompt_events import TurnMode
from airboss.runtime.signals import (
    ModelAnswered,
    ModelReplaced,
    RequestRead,
    Retrying,
    RuntimeLost,
    Signal,
    TurnBegan,
    TurnFailed,
    TurnIdle,
    UsageSeen,
)

# After an error the runtime says that it is idle; one that does not is taken at its silence.
_IDLE_AFTER_ERROR_SECONDS = 5.0


class TurnEvents:
    """Begins and ends turns. That the runtime is gone is not for it to hear."""

    def __init__(
        self,
        state: SessionState,
        prompts: Prompts,
        pending: PendingItems,
        guard: LimitGuard,
        background: Background,
    ) -> None:
        self._state = state
        self._prompts = prompts
        self._pending = pending
        self._guard = guard
        self._background = background

    def start_turn(
        self, prompt: PromptId | None, request: Request | None, mode: TurnMode | None = None
    ) -> Turn:
        """Who starts it sees it through."""
        turn = self._state.begin_turn(prompt, request, mode)
        if self._state.hooks is not None:
            self._state.hooks.turn_began()
        self._guard.begin(turn)
        return turn

    def hear(self, said: Event | Signal) -> None:
        if self._state.is_over:
            return
        self._guard.hear()
        match said:
            case BlockDelta():  # first: there are more of them than of all others
                self._state.writer.say(said)
            case TurnIdle():
                self.end_turn("aborted" if said.aborted else None)
            case TurnBegan():
                self._current()
            case RequestRead():
                self._note_read(PromptId(said.tag), said.past)
            case TurnFailed() | ModelReplaced():
                self._hear_failure(said)
            case ModelAnswered() | UsageSeen() | Retrying():
                self._note(said)
            case RuntimeLost():
                raise TypeError("The end of a runtime ends the conversation.")
            case _:
                self._say(said)

    def _say(self, said: Event) -> None:
        turn = self._state.turn
        if turn is not None:
            turn.effects.hear(said)
            turn.troubles.hear(said)
        if turn is not None and isinstance(said, ToolStarted | ToolEnded):
            turn.note_tool(said)
        self._state.writer.say(said, urgent=_is_urgent(said, turn))
        match said:
            case ToolStarted():
                self._state.files.begin(self._state.writer, said, self._state.wait_behind)
            case ToolEnded():
                self._state.files.end(self._state.writer, said.block)
            case MessageEnded() if turn is not None:
                turn.note_message(said.text)
            case _:
                pass

    def _note(self, recorded: ModelAnswered | UsageSeen | Retrying) -> None:
        """What comes late makes no turn of its own, and what was used counts all the same."""
        turn = self._state.turn
        if isinstance(recorded, UsageSeen):
            self._guard.count(turn, recorded)
        elif turn is not None and (said := turn.note(recorded)):
            self._state.writer.say(said)

    def _note_read(self, prompt: PromptId, past: bool) -> None:
        """What was put into the running turn; where that has ended meanwhile, it begins one."""
        request = self._prompts.read(prompt)
        turn = self._state.turn or (self._state.last_turn if past else None)
        if request and turn:
            self._state.writer.say(PromptSteered(prompt=prompt, turn=turn.id))
        elif request:
            self._wake(prompt, request)

    def _hear_failure(self, said: TurnFailed | ModelReplaced) -> None:
        """One that comes while nothing runs is a turn of its own: nobody would end it later."""
        if isinstance(said, ModelReplaced):
            self.stop("ModelReplaced", said.words)
            return
        stands_alone = self._state.turn is None
        turn = self._current()
        self._state.fail_turn(turn, said.name, said.message, said.status, said.cause)
        if stands_alone:
            self.end_turn(None)

    def _current(self) -> Turn:
        """The running turn; where there is none, the runtime woke the agent by itself."""
        return self._state.turn or self._wake(None, None)

    def _wake(self, prompt: PromptId | None, request: Request | None) -> Turn:
        """A turn that the runtime began."""
        turn = self.start_turn(prompt, request)
        turn.is_sent = True
        turn.put.set()
        self._background.start_if_open(self.see_through(turn), "turn of its own")
        return turn

    def stop(self, name: str, message: str) -> None:
        """The running turn must not go on."""
        if not self._state.is_over:
            self._state.stop_turn(self._current(), name, message)

    async def see_through(self, turn: Turn) -> None:
        """Until it is over; one that ought to be, and is not, is aborted."""
        await turn.stirred.wait()
        if not turn.over.is_set() and not turn.must_stop:
            await within(_IDLE_AFTER_ERROR_SECONDS, turn.over)
        if not turn.over.is_set() and self._state.agent:
            await self._state.agent.abort()
            self.end_if_still(turn, "aborted")

    def end_if_still(self, turn: Turn, outcome: Outcome | None) -> None:
        if self._state.turn is turn:
            self.end_turn(outcome)

    def end_turn(self, outcome: Outcome | None) -> None:
        turn = self._state.turn
        if turn is None:
            return
        is_cut = "interrupted" in (outcome, turn.outcome)
        if not is_cut:
            self._pending.cancel()
        self._state.files.end(self._state.writer)
        self._guard.end(turn)
        self._state.end_turn(turn, outcome, is_cut=is_cut)
        tell_turn_ended(self._state.hooks, turn, outcome)
        self._prompts.turn_ended()


def _is_urgent(said: Event, turn: Turn | None) -> bool:
    """Behind the end of a text comes another block or the turn's end. A task's turn is shown a
    batch later, and costs a write less for each block; but what a tool does in the world lasts, and
    so must the word of it, even where the server is killed a moment later."""
    is_of_task = turn is not None and turn.is_of_task
    if isinstance(said, ToolStarted | ToolEnded):
        return turn is None or not is_of_task or turn.effects.may_be_of(said)
    return not (is_of_task or isinstance(said, MessageEnded | ReasoningEnded | ContextMeasured))
