"""A session in the terminal: type, watch the agent work, stop it."""

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from airboss.cli.client import Client, Json
from airboss.cli.extension.listing import untrusted
from airboss.cli.inbox.inline_answers import InlineAnswers
from airboss.cli.screen import Pen, aside, out, visible_line, waited
from airboss.cli.session.chat_session import ChatSession, SessionClosedError
from airboss.cli.session.completing import Completing, complete_with
from airboss.cli.session.queue import switch
from airboss.cli.session.transcript import Transcript
from airboss.cli.session.turn import take_turn
from airboss.cli.session.typed import HELP, typed
from airboss.cli.trouble import CommandRefused, Exit, Trouble


@dataclass(frozen=True)
class ChatStart:
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
    effort: str | None = None
    # What else it is given, as requests have it.
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    # Of the first message.
    plans: bool = False
    files: tuple[Path, ...] = ()


def run(reach: Callable[[], Client], request: ChatStart) -> Exit:
    """`airboss chat`: one turn when there is something to say already, else a conversation."""
    prompt = request.prompt
    if prompt is None and not sys.stdin.isatty():
        prompt = sys.stdin.read()
    if prompt is not None and not prompt.strip():
        raise CommandRefused('The message is empty. Pass one: airboss chat "look around"')
    chat = _begin(reach, request)
    try:
        return take_turn(chat, prompt) if prompt is not None else _converse(chat)
    finally:
        _say_goodbye(chat, request)


def _begin(reach: Callable[[], Client], request: ChatStart) -> ChatSession:
    client = reach()
    if request.session:
        view = client.get(f"/api/v1/sessions/{request.session}")
        if request.model is not None or request.effort is not None:
            other = {"model": request.model, "reasoningEffort": request.effort}
            view = switch(client, request.session, other)
    else:
        asked = _asked(client, request)
        view = waited("Starting a session", lambda: client.post("/api/v1/sessions", asked))
    said, beside = out(), aside()
    page = Transcript(said, beside)
    recorded = f"{view['id']} · {view['model']} · {view['cwd']} · permissions {view['policy']}"
    page.note(f"Session {visible_line(recorded)}", "dim")
    if not (request.session or request.is_json) and (line := untrusted(client, str(view["cwd"]))):
        page.note(visible_line(line), "dim")
    # A session that is continued begins behind what its view has seen, a new one at its beginning.
    seq = int(view["seq"]) if request.session else 0
    answers = InlineAnswers.of(reach, page, beside, is_json=request.is_json)
    return ChatSession(
        reach,
        str(view["id"]),
        seq,
        request.is_json,
        request.patience,
        said,
        beside,
        page,
        answers,
        plans=request.plans,
        attached=[_attached(client, path) for path in request.files],
    )


def _attached(client: Client, path: Path) -> str:
    """A server on another machine looks for it in the session's folder."""
    return str(path.expanduser().absolute()) if client.address.is_local else str(path)


def _asked(client: Client, request: ChatStart) -> Json:
    asked: Json = {"limits": dict(request.limits)} if request.limits else {}
    if request.effort is not None:
        asked["reasoningEffort"] = request.effort
    asked.update(request.keys)
    if request.model is not None:
        asked["model"] = request.model
    if request.cwd:
        asked["cwd"] = str(request.cwd.expanduser().absolute())
    elif client.address.is_local:
        asked["cwd"] = str(Path.cwd())
    return asked


def _say_goodbye(chat: ChatSession, request: ChatStart) -> None:
    """What chat opened it closes; what was there before, or shall be kept, stays."""
    if request.session or request.is_kept:
        chat.page.note(f"Continue with: airboss chat --session {chat.id}", "dim")
        return
    with suppress(Trouble):
        chat.close()


def _converse(chat: ChatSession) -> Exit:
    with suppress(ImportError):
        # Line editing and a history of this conversation, where the system has them.
        import readline

        complete_with(readline, Completing(chat.files))
    chat.page.note(
        "Ctrl-C stops the agent. Ctrl-D exits. End a line with \\ to continue on the next.", "dim"
    )
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
            chat.page.note("Press Ctrl-C again to exit.", "dim")
            continue
        is_leaving, chat.rest = False, ""
        if text.strip():
            _take_turn(chat, text)


def _take_turn(chat: ChatSession, text: str) -> None:
    """In a conversation a refusal, or a server that is away, is no reason to leave."""
    said = typed(text)
    try:
        if said.verb == "btw":
            chat.ask_aside(said.text)
        elif not chat.does(said):
            chat.plans = chat.plans or said.verb == "plan"
            take_turn(chat, said.text, is_listening=True)
    except SessionClosedError:
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
