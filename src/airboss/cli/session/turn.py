"""A turn in the terminal: what comes of a message, what is typed meanwhile, and Ctrl-C."""

import threading
from dataclasses import dataclass
from typing import Any, Final

from airboss.cli.feed import FeedClient
from airboss.cli.heard import Heard, Record, Remark, StreamEnded
from airboss.cli.keyboard import Keyboard
from airboss.cli.screen import Spinner, print_json, visible_line
from airboss.cli.session.chat_session import ChatSession
from airboss.cli.session.queue import ask
from airboss.cli.session.typed import Typed, typed
from airboss.cli.trouble import Exit, Trouble
from airboss.cli.watcher import TICK_SECONDS, Interrupts, StopRequest, watch_to_the_end

# A turn's end and the session's rest are two events, a moment apart.
_REST_SECONDS: Final = 2.0
_OUTCOMES: Final = {"done": Exit.DONE, "aborted": Exit.STOPPED}
_TAKEN: Final = {
    "queue": "Queued",
    "steer": "Steering",
    "interrupt": "Interrupting",
    "plan": "Queued, with a plan first",
    "command": "Queued",
}
_RESTING: Final = ("session.idle", "session.interrupted", "session.closed", "turn.started")


def take_turn(chat: ChatSession, text: str, *, is_listening: bool = False) -> Exit:
    """Send one message and show what comes of it; of what is typed meanwhile, too."""
    client = chat.reach()  # since the last turn the server may have moved
    chat.wake(client)
    prompt = chat.send(client, Typed("queue", text))
    feed = FeedClient(chat.reach, {chat.id: chat.seq}, chat.patience)
    with Interrupts.of_starter() as interrupts, Keyboard() as keys:
        interrupts.stop = StopRequest(
            chat.reach,
            f"{chat.path}/abort",
            what="The agent",
            left="Exited before the agent had stopped.",
        )
        if is_listening:
            keys.open()
        turn = SentTurn([prompt], interrupts, takes_more=keys.is_open)
        viewer = TurnViewer(chat, turn, feed, keys, interrupts)
        try:
            watch_to_the_end(feed, viewer, interrupts)
        finally:
            viewer.waiting.hide()
            chat.page.end_line()
        chat.rest = keys.text
        return Exit.FAILED if turn.outcome is None else turn.outcome


@dataclass
class TurnViewer:
    """Shows a turn, and takes what is typed."""

    chat: ChatSession
    turn: "SentTurn"
    feed: FeedClient
    keys: Keyboard
    interrupts: Interrupts

    def __post_init__(self) -> None:
        self.waiting = Spinner(self.chat.beside)

    def hear(self, heard: Heard | None) -> bool:
        if heard is not None:
            self.waiting.hide()
            self._show(heard)
            self.turn.hear(heard)
        else:
            self._wait()
        self._heed_keys()
        return self.turn.is_going

    def _wait(self) -> None:
        self.turn.wait(TICK_SECONDS)
        if self.keys.text:
            self.chat.page.end_line()  # what is typed is seen on a line of its own
        if self.chat.page.is_at_line_start:
            self.waiting.show(f"> {self.keys.text}" if self.keys.text else self._doing())

    def _doing(self) -> str:
        if self.interrupts.is_stopping:
            return "Stopping (Ctrl-C again to exit)"
        return "Waiting for you …" if self.chat.answers.is_waiting else f"{self.chat.page.doing} …"

    def _show(self, heard: Heard) -> None:
        match heard:
            case Record():
                self.chat.seq = heard.seq
                if self.chat.is_json:
                    print_json(heard.labelled())
                else:
                    self.chat.page.draw(heard)
                self.chat.answers.hear(heard)
            case Remark():
                self.chat.page.remark(heard.text)
            case _:
                pass

    # What is typed.

    def _heed_keys(self) -> None:
        """A line answers what was shown before it was typed; all others are messages."""
        answers, keys, turn = self.chat.answers, self.keys, self.turn
        if answers.has_more:
            keys.open()
        is_answer = answers.is_waiting and not answers.has_more
        for line in keys.lines():
            self.waiting.hide()
            if is_answer:
                answers.say(line)
            elif turn.takes_more:
                self._take(typed(line))
        if answers.has_more and turn.is_going:
            self.waiting.hide()
            turn.begun, keys.text = turn.begun or keys.text, ""
            answers.show()
        elif turn.begun and not answers.is_waiting:
            keys.text, turn.begun = turn.begun if turn.takes_more else "", ""

    def _take(self, said: Typed) -> None:
        if said.verb == "btw":
            threading.Thread(target=self._ask, args=(said.text,), daemon=True).start()
            return
        try:
            if not self.chat.does(said):
                self.turn.prompts.append(self.chat.send(self.chat.reach(), said))
                self.chat.page.note(f"{_TAKEN[said.verb]}: {visible_line(said.text)}", "cyan")
        except Trouble as trouble:
            self.chat.page.note(str(trouble), "red")

    def _ask(self, question: str) -> None:
        try:
            self.feed.put(Remark(ask(self.chat.reach(), self.chat.id, question)))
        except Trouble as trouble:
            self.feed.put(Remark(f"The side question was not answered: {trouble}"))


@dataclass
class SentTurn:
    """What became of one message, and of those that were typed behind it."""

    prompts: list[str]
    interrupts: Interrupts
    # Whether what is typed meanwhile is sent as well.
    takes_more: bool = False
    # Typed and not finished when the agent asked something.
    begun: str = ""
    id: str | None = None
    outcome: Exit | None = None
    is_going: bool = True
    _rest: float = 0.0

    def hear(self, heard: Heard) -> None:
        if isinstance(heard, Record):
            self._hear(heard.kind, heard.event)
        elif isinstance(heard, StreamEnded):
            self.is_going = False

    def _hear(self, kind: str, event: dict[str, Any]) -> None:
        if self.outcome is not None:
            self.is_going = kind not in _RESTING
        elif kind == "turn.started" and event.get("prompt") in self.prompts:
            self.id = str(event.get("turn"))
            self.interrupts.start_anew()
            self.prompts.remove(str(event["prompt"]))
        elif kind == "turn.ended" and self.id is not None and event.get("turn") == self.id:
            self.id = None
            self._settle(_OUTCOMES.get(str(event.get("outcome")), Exit.FAILED))
        elif kind == "prompt.steered" and event.get("prompt") in self.prompts:
            self.prompts.remove(str(event["prompt"]))
        elif kind == "prompt.dropped" and event.get("prompt") in self.prompts:
            self.prompts.remove(str(event["prompt"]))
            self._settle(Exit.STOPPED if self.interrupts.is_stopping else Exit.FAILED)
        elif kind in ("session.interrupted", "session.closed"):
            self.is_going = False

    def _settle(self, outcome: Exit) -> None:
        if not self.prompts and self.id is None:
            self.outcome = outcome

    def wait(self, seconds: float) -> None:
        """Once the outcome is known, the session's rest is waited for, but not for ever."""
        if self.outcome is not None:
            self._rest += seconds
            self.is_going = self._rest < _REST_SECONDS
