"""A session in the terminal: type, watch the agent work, stop it."""

import sys
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airboss.cli.client import Client, Json
from airboss.cli.inbox.inline_answers import InlineAnswers
from airboss.cli.keyboard import Keyboard, counted_presses
from airboss.cli.screen import Pen, Waiting, aside, out, print_json, visible_line, waited
from airboss.cli.session.queue import ask, queue_of
from airboss.cli.session.transcript import Transcript
from airboss.cli.session.typed import HELP, Typed, typed
from airboss.cli.stream import End, Feed, Follower, Heard, Record, Remark
from airboss.cli.trouble import Exit, Refused, Trouble

_TICK_SECONDS = 0.1
# A turn's end and the session's rest are two events, a moment apart.
_REST_SECONDS = 2.0
_OUTCOMES = {"done": Exit.DONE, "aborted": Exit.STOPPED}
_TAKEN = {"queue": "Queued", "steer": "Steers", "interrupt": "Interrupts"}
_RESTING = ("session.idle", "session.interrupted", "session.closed", "turn.started")


@dataclass(frozen=True)
class Wish:
    """What somebody asked of `airboss chat`."""

    model: str | None
    cwd: Path | None
    session: str | None
    prompt: str | None
    is_kept: bool
    is_json: bool
    patience: float
    # How much a new session may use.
    limits: Mapping[str, float] = field(default_factory=dict[str, float])


class _Gone(Refused):
    """The session cannot be spoken to any more."""


@dataclass
class Chat:
    """One conversation: the session, and the place up to which it was shown."""

    reach: Callable[[], Client]
    wish: Wish
    id: str
    seq: int
    said: Pen
    beside: Pen
    page: Transcript
    answers: InlineAnswers
    # Begun and not finished on the keyboard when the last turn ended.
    rest: str = ""

    def turn(self, text: str, *, is_listening: bool = False) -> Exit:
        """Send one message and show what comes of it; of what is typed meanwhile, too."""
        client = self.reach()  # since the last turn the server may have moved
        self._wake(client)
        prompt = self._send(client, Typed("queue", text))
        follower = Follower(self.reach, self.id, self.wish.patience)
        feed = Feed(follower, self.seq)
        try:
            with counted_presses() as presses, Keyboard() as keys:
                if is_listening:
                    keys.open()
                outcome = self._listen(feed, prompt, presses, keys)
                self.rest = keys.text
                return outcome
        finally:
            feed.leave()
            self.page.end_line()

    def ask_aside(self, question: str) -> None:
        """A question while nothing runs."""
        client = self.reach()
        self._wake(client)
        self.page.note(waited("Asking", lambda: ask(client, self.id, question)), "cyan")

    def show_queue(self) -> None:
        items = queue_of(self.reach(), self.id)
        for item in items:
            self.page.note(visible_line(f"{item['prompt']} {item['text']}"), "dim")
        if not items:
            self.page.note("Nothing waits.", "dim")

    def _send(self, client: Client, said: Typed) -> str:
        body = {"text": said.text, "delivery": said.verb}
        sent = client.post(f"/api/v1/sessions/{self.id}/prompts", body)
        if sent.get("redacted"):
            self.page.note("Secrets in your message were removed before it was stored.", "yellow")
        return str(sent.get("prompt", ""))

    def _take(self, said: Typed, turn: "_Turn", feed: Feed) -> None:
        """What was typed while the agent works."""
        if said.verb == "btw":
            threading.Thread(target=self._ask, args=(said.text, feed), daemon=True).start()
            return
        try:
            if said.verb == "list":
                self.show_queue()
            else:
                turn.prompts.append(self._send(self.reach(), said))
                self.page.note(f"{_TAKEN[said.verb]}: {visible_line(said.text)}", "cyan")
        except Trouble as trouble:
            self.page.note(str(trouble), "red")

    def _ask(self, question: str, feed: Feed) -> None:
        try:
            feed.tell(Remark(ask(self.reach(), self.id, question)))
        except Trouble as trouble:
            feed.tell(Remark(f"The question was not answered: {trouble}"))

    def close(self) -> None:
        self.reach().post(f"/api/v1/sessions/{self.id}/close")

    def _wake(self, client: Client) -> None:
        """A session that a restart interrupted is taken up again before it is spoken to."""
        view = client.get(f"/api/v1/sessions/{self.id}")
        if view["state"] == "closed":
            raise _Gone(f"The session {self.id} is closed. Start another with: airboss chat")
        if view["state"] == "interrupted":
            self.page.note("The session was interrupted; it is resumed.", "dim")
            path = f"/api/v1/sessions/{self.id}/resume"
            view = waited("Resuming the session", lambda: client.post(path))
        for item in view["items"]:  # from before, or of somebody else's request
            self.answers.take(item["asked"])

    def _listen(self, feed: Feed, prompt: str, presses: list[int], keys: Keyboard) -> Exit:
        turn = _Turn([prompt], takes_more=keys.is_open)
        waiting = Waiting(self.beside)
        try:
            while turn.is_going:
                heard = feed.next(_TICK_SECONDS)
                if heard is not None:
                    waiting.hide()
                    self._show(heard)
                    turn.hear(heard)
                else:
                    turn.wait(_TICK_SECONDS)
                    if keys.text:
                        self.page.end_line()  # what is typed is seen on a line of its own
                    if self.page.is_at_line_start:
                        waiting.show(f"> {keys.text}" if keys.text else self._doing(turn))
                self._heed_keys(keys, turn, feed, waiting)
                self._heed(presses, turn, feed)
        finally:
            waiting.hide()
        return Exit.FAILED if turn.outcome is None else turn.outcome

    def _heed_keys(self, keys: Keyboard, turn: "_Turn", feed: Feed, waiting: Waiting) -> None:
        """A line answers what was shown before it was typed; all others are messages."""
        if self.answers.has_more:
            keys.open()
        is_answer = self.answers.is_waiting and not self.answers.has_more
        for line in keys.lines():
            waiting.hide()
            if is_answer:
                self.answers.say(line)
            elif turn.takes_more:
                self._take(typed(line), turn, feed)
        if self.answers.has_more and turn.is_going:
            waiting.hide()
            turn.begun, keys.text = turn.begun or keys.text, ""
            self.answers.show()
        elif turn.begun and not self.answers.is_waiting:
            keys.text, turn.begun = turn.begun if turn.takes_more else "", ""

    def _doing(self, turn: "_Turn") -> str:
        if turn.is_told_to_stop:
            return "Stopping (Ctrl-C again leaves)"
        return "Waiting for you …" if self.answers.is_waiting else f"{self.page.doing} …"

    def _heed(self, presses: list[int], turn: "_Turn", feed: Feed) -> None:
        if presses and not turn.is_told_to_stop:
            presses.pop(0)
            turn.is_told_to_stop = True
            threading.Thread(target=self._abort, args=(feed,), daemon=True).start()
        if presses:
            raise Trouble("Left before the agent had stopped.", Exit.STOPPED)

    def _abort(self, feed: Feed) -> None:
        """Tell the server; how the turn ended then comes as an event."""
        try:
            self.reach().post(f"/api/v1/sessions/{self.id}/abort")
        except Trouble as trouble:
            feed.tell(Remark(f"The agent could not be stopped: {trouble} Ctrl-C again leaves."))

    def _show(self, heard: Heard) -> None:
        match heard:
            case Record():
                self.seq = heard.seq
                if self.wish.is_json:
                    print_json(heard.told_of(self.id))
                else:
                    self.page.draw(heard)
                self.answers.hear(heard)
            case Remark():
                self.page.remark(heard.text)
            case End():
                pass


@dataclass
class _Turn:
    """What became of one message, and of those that were typed behind it."""

    prompts: list[str]
    # Whether what is typed meanwhile is sent as well.
    takes_more: bool = False
    # Typed and not finished when the agent asked something.
    begun: str = ""
    id: str | None = None
    outcome: Exit | None = None
    is_going: bool = True
    is_told_to_stop: bool = False
    _rest: float = 0.0

    def hear(self, heard: Heard) -> None:
        if isinstance(heard, Record):
            self._hear(heard.kind, heard.event)
        elif isinstance(heard, End):
            if heard.trouble:
                raise heard.trouble
            self.is_going = False

    def _hear(self, kind: str, event: dict[str, Any]) -> None:
        if self.outcome is not None:
            self.is_going = kind not in _RESTING
        elif kind == "turn.started" and event.get("prompt") in self.prompts:
            self.id, self.is_told_to_stop = str(event.get("turn")), False
            self.prompts.remove(str(event["prompt"]))
        elif kind == "turn.ended" and self.id is not None and event.get("turn") == self.id:
            self.id = None
            self._settle(_OUTCOMES.get(str(event.get("outcome")), Exit.FAILED))
        elif kind == "prompt.steered" and event.get("prompt") in self.prompts:
            self.prompts.remove(str(event["prompt"]))
        elif kind == "prompt.dropped" and event.get("prompt") in self.prompts:
            self.prompts.remove(str(event["prompt"]))
            self._settle(Exit.STOPPED if self.is_told_to_stop else Exit.FAILED)
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


def run(reach: Callable[[], Client], wish: Wish) -> Exit:
    """`airboss chat`: one turn when there is something to say already, else a conversation."""
    prompt = wish.prompt
    if prompt is None and not sys.stdin.isatty():
        prompt = sys.stdin.read()
    if prompt is not None and not prompt.strip():
        raise Refused('There is nothing to say. Give a message: airboss chat "look around"')
    chat = _begin(reach, wish)
    try:
        return chat.turn(prompt) if prompt is not None else _converse(chat)
    finally:
        _leave(chat)


def _begin(reach: Callable[[], Client], wish: Wish) -> Chat:
    client = reach()
    if wish.session:
        view = client.get(f"/api/v1/sessions/{wish.session}")
    else:
        asked = _asked(client, wish)
        view = waited("Starting a session", lambda: client.post("/api/v1/sessions", asked))
    said, beside = out(), aside()
    page = Transcript(said, beside)
    told = f"{view['id']} · {view['model']} · {view['cwd']} · permissions {view['policy']}"
    page.note(f"Session {visible_line(told)}", "dim")
    # A session that is continued begins behind what its view has seen, a new one at its beginning.
    seq = int(view["seq"]) if wish.session else 0
    answers = InlineAnswers.of(reach, page, beside, is_json=wish.is_json)
    return Chat(reach, wish, str(view["id"]), seq, said, beside, page, answers)


def _asked(client: Client, wish: Wish) -> Json:
    asked: Json = {"limits": dict(wish.limits)} if wish.limits else {}
    if wish.model:
        asked["model"] = wish.model
    if wish.cwd:
        asked["cwd"] = str(wish.cwd.expanduser().absolute())
    elif client.address.is_local:
        asked["cwd"] = str(Path.cwd())
    return asked


def _leave(chat: Chat) -> None:
    """What chat opened it closes; what was there before, or shall be kept, stays."""
    if chat.wish.session or chat.wish.is_kept:
        chat.page.note(f"Go on with: airboss chat --session {chat.id}", "dim")
        return
    with suppress(Trouble):
        chat.close()


def _converse(chat: Chat) -> Exit:
    with suppress(ImportError):
        # Line editing and a history of this conversation, where the system has them.
        import readline  # noqa: F401  # pyright: ignore[reportUnusedImport]
    chat.page.note("Ctrl-C stops the agent, Ctrl-D leaves, a line ending in \\ goes on.", "dim")
    chat.page.note(HELP, "dim")
    is_leaving = False
    while True:
        try:
            text = _read(chat.said, chat.rest)
        except EOFError:
            chat.said.line()
            return Exit.DONE
        except KeyboardInterrupt:
            chat.said.line()
            if is_leaving:
                return Exit.DONE
            is_leaving, chat.rest = True, ""
            chat.page.note("Ctrl-C again leaves.", "dim")
            continue
        is_leaving, chat.rest = False, ""
        if text.strip():
            _take_turn(chat, text)


def _take_turn(chat: Chat, text: str) -> None:
    """In a conversation a refusal, or a server that is away, is no reason to leave."""
    said = typed(text)
    try:
        if said.verb == "btw":
            chat.ask_aside(said.text)
        elif said.verb == "list":
            chat.show_queue()
        else:
            chat.turn(said.text, is_listening=True)
    except _Gone:
        raise
    except Trouble as trouble:
        if trouble.code == Exit.STOPPED:
            raise
        chat.page.note(str(trouble), "red")


def _read(pen: Pen, begun: str = "") -> str:
    """One message: a line, or several of which all but the last end in a backslash."""
    lines: list[str] = []
    while True:
        line = _read_line("… ", pen) if lines else _read_line("> ", pen, begun)
        if not line.endswith("\\"):
            return "\n".join([*lines, line])
        lines.append(line[:-1])


def _read_line(sign: str, pen: Pen, begun: str = "") -> str:
    if pen.is_terminal:
        with _begun(begun):
            return input(sign)
    # The output goes to a file: what belongs to the keyboard stays out of it.
    aside().write(sign)
    return input()


@contextmanager
def _begun(text: str) -> Generator[None]:
    """The line begins with what was typed while the agent worked, where lines are edited."""
    readline = sys.modules.get("readline") if text else None
    if readline is not None:
        readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        yield
    finally:
        if readline is not None:
            readline.set_startup_hook(None)
