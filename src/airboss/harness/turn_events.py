"""Hears what the runtime tells of one session, and says it in the log: turns, blocks, failures."""

from airboss.harness.limit_guard import LimitGuard
from airboss.harness.prompts import Prompts
from airboss.harness.turn import Outcome, Request, Turn
from airboss.log.writer import Writer
from airboss.model.events import (
    BlockDelta,
    Event,
    MessageEnded,
    PromptSteered,
    ReasoningEnded,
    SessionError,
    SessionIdle,
    ToolEnded,
    ToolStarted,
    TurnStarted,
)
from airboss.model.excerpt import MOST_OF_A_REASON, excerpt
from airboss.model.ids import PromptId, new_turn_id
from airboss.model.redaction import Redactor
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


class TurnEvents:
    """Knows the turn that runs. That the runtime is gone is not for it to hear."""

    def __init__(
        self, writer: Writer, redactor: Redactor, prompts: Prompts, guard: LimitGuard
    ) -> None:
        self.turn: Turn | None = None
        self._guard = guard
        self._writer = writer
        self._redactor = redactor
        self._prompts = prompts

    def start_turn(self, prompt: PromptId | None = None, request: Request | None = None) -> Turn:
        self.turn = self._prompts.turn = Turn(new_turn_id(), prompt, request)
        self._writer.say(TurnStarted(turn=self.turn.id, prompt=prompt))
        self._guard.begin(self.turn)
        return self.turn

    def hear(self, said: Event | Signal) -> None:
        self._guard.hear()
        match said:
            case BlockDelta():  # first: there are more of them than of all others
                self._writer.say(said)
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
        if self.turn is not None and isinstance(said, ToolStarted | ToolEnded):
            self.turn.note_tool(said)
        # Behind the end of a text comes another block or the turn's end. A task's turn is shown a
        # batch later, and costs a write less for each block.
        is_of_task = self.turn is not None and self.turn.is_of_task
        is_soon_followed = isinstance(said, MessageEnded | ReasoningEnded)
        self._writer.say(said, urgent=not (is_soon_followed or is_of_task))

    def _note(self, recorded: ModelAnswered | UsageSeen | Retrying) -> None:
        """What comes late makes no turn of its own, and what was used counts all the same."""
        if isinstance(recorded, UsageSeen):
            self._guard.count(self.turn, recorded)
        elif self.turn is not None and (said := self.turn.note(recorded)):
            self._writer.say(said)

    def _note_read(self, prompt: PromptId, past: bool) -> None:
        """What was put into the running turn; where that has ended meanwhile, it begins one."""
        request = self._prompts.read(prompt)
        turn = self.turn or (self._prompts.last if past else None)
        if request and turn:
            self._writer.say(PromptSteered(prompt=prompt, turn=turn.id))
        elif request:
            self.start_turn(prompt, request).put.set()

    def _hear_failure(self, said: TurnFailed | ModelReplaced) -> None:
        """One that comes while nothing runs is a turn of its own: nobody would end it later."""
        if isinstance(said, ModelReplaced):
            self.stop("ModelReplaced", said.words)
            return
        stands_alone = self.turn is None
        self.fail(self._current(), said.name, said.message, said.status, said.cause)
        if stands_alone:
            self.end_turn(None)

    def _current(self) -> Turn:
        """The running turn; where there is none, the runtime woke the agent by itself."""
        turn = self.turn
        if turn is None:
            turn = self.start_turn()
            turn.put.set()
        return turn

    def fail(
        self, turn: Turn, name: str, message: str, status: int | None, cause: str | None = None
    ) -> None:
        """Told once: what else goes wrong in the same turn follows from it."""
        clean = excerpt(self._redactor, message, MOST_OF_A_REASON)
        why = excerpt(self._redactor, cause or "", MOST_OF_A_REASON)
        error = SessionError(name=name, message=clean, status=status, cause=why or None)
        if turn.fail(error):
            self._writer.say(error)

    def stop(self, name: str, message: str) -> Turn:
        """The running turn must not go on."""
        turn = self._current()
        turn.must_stop = turn.outcome != "failed"
        self.fail(turn, name, message, None)
        return turn

    def end_if_still(self, turn: Turn, outcome: Outcome | None) -> None:
        if self.turn is turn:
            self.end_turn(outcome)

    def end_turn(self, outcome: Outcome | None) -> None:
        turn = self.turn
        if turn is None:
            return
        is_cut = "interrupted" in (outcome, turn.outcome)
        if not is_cut:
            self._guard.pending.cancel()
        self._guard.end(turn)
        self.turn = None
        idle = () if is_cut else (SessionIdle(),)
        self._writer.say(turn.end(outcome), *idle, urgent=not turn.is_of_task)
        self._prompts.turn_ended()
