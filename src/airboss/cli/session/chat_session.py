"""The session that somebody talks with in a terminal: what is sent to it and asked of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, cast

from airboss.cli.client import Client, Json
from airboss.cli.inbox.inline_answers import InlineAnswers
from airboss.cli.screen import Pen, visible_line, waited
from airboss.cli.session.queue import (
    ask,
    compact,
    compacted_in_words,
    queue_of,
    switch,
    switched_in_words,
)
from airboss.cli.session.transcript import Transcript
from airboss.cli.session.typed import COMMANDS, Typed, no_such
from airboss.cli.trouble import CommandRefused

# The server answers these itself; the agent hears of none.
_ANSWERED: Final = ("context", "usage")


class SessionClosedError(CommandRefused):
    """The session cannot be spoken to any more."""


@dataclass
class ChatSession:
    """One conversation: the session, and the place up to which it was shown."""

    reach: Callable[[], Client]
    id: str
    seq: int
    is_json: bool
    patience: float
    said: Pen
    beside: Pen
    page: Transcript
    answers: InlineAnswers
    # Begun and not finished on the keyboard when the last turn ended.
    rest: str = ""
    # Of the next message: whether the agent plans first, and the files that go with it.
    plans: bool = False
    attached: list[str] = field(default_factory=list[str])
    # A prompt that has a name, to be sent next.
    command: Json | None = None

    @property
    def path(self) -> str:
        return f"/api/v1/sessions/{self.id}"

    def send(self, client: Client, said: Typed) -> str:
        """The id of what was taken."""
        if self.command is not None:
            body, self.command = self.command, None
            return str(client.post(f"{self.path}/commands", body).get("prompt") or "")
        is_plan = self.plans or said.verb == "plan"
        is_next = said.verb in ("plan", "command")
        body: Json = {"text": said.text, "delivery": "queue" if is_next else said.verb}
        if is_plan and body["delivery"] != "steer":
            body["mode"] = "plan"
        if self.attached:
            body["files"] = self.attached
        sent = client.post(f"{self.path}/prompts", body)
        self.plans, self.attached = False, []
        if sent.get("redacted"):
            self.page.note("Secrets in your message were removed before it was stored.", "yellow")
        return str(sent.get("prompt", ""))

    def ask_aside(self, question: str) -> None:
        """A question while nothing runs."""
        client = self.reach()
        self.wake(client)
        self.page.note(waited("Asking", lambda: ask(client, self.id, question)), "cyan")

    def does(self, said: Typed) -> bool:
        """A command that is done here, and that no agent hears of; False where it is a message."""
        if said.verb == "command":
            name, _, words = said.text[1:].partition(" ")
            return self._commands(name, words)
        match said.verb:
            case "help":
                self._help()
            case "list":
                self.show_queue()
            case "rename":
                view = self.reach().patch(self.path, {"title": said.text})
                self.page.note(f"Renamed the session to “{visible_line(view['title'])}”.", "dim")
            case "model":
                view = switch(self.reach(), self.id, {"model": said.text})
                self.page.note(switched_in_words(view), "dim")
            case "compact":
                self.compact(said.text)
            case "files":
                found = self.files(said.text)
                for path in found or ["No matching file."]:
                    self.page.note(visible_line(path), "dim")
            case "unknown":
                self.page.note(no_such(said.text), "yellow")
            case _:
                return False
        return True

    def _help(self) -> None:
        for command, about in COMMANDS.items():
            self.page.note(f"{command:<16} {about}", "dim")
        for one in self._offered():
            if one["source"] != "airboss":
                told = f"/{one['name']:<15} {one['description']}"
                self.page.note(visible_line(told), "dim")

    def _offered(self) -> list[Json]:
        return cast("list[Json]", self.reach().get(f"{self.path}/commands")["items"])

    def _commands(self, name: str, words: str) -> bool:
        """False where something is to be sent: what somebody gave this name, or a message that
        only begins with a slash."""
        found = next((one for one in self._offered() if one["name"] == name), None)
        if found is None:
            if not words:
                self.page.note(no_such(f"/{name}"), "yellow")
            return not words
        if name not in _ANSWERED:
            self.command = {"name": name, "input": words.strip()}
            return False
        client = self.reach()
        self.wake(client)
        body: Json = {"name": name, "input": words.strip()}
        said = waited("Asking", lambda: client.post(f"{self.path}/commands", body))
        for line in str(said.get("text") or "").splitlines():
            self.page.note(visible_line(line), "dim")
        return True

    def compact(self, instructions: str) -> None:
        client = self.reach()
        self.wake(client)
        said = waited(
            "Compacting the history", lambda: compact(client, self.id, instructions or None)
        )
        self.page.note(compacted_in_words(said), "dim")

    def files(self, letters: str) -> list[str]:
        """Of the session's folder, by letters of their path."""
        return [str(path) for path in self.reach().get(f"{self.path}/files", text=letters)["items"]]

    def show_queue(self) -> None:
        items = queue_of(self.reach(), self.id)
        for item in items:
            self.page.note(visible_line(f"{item['prompt']} {item['text']}"), "dim")
        if not items:
            self.page.note("No messages are queued.", "dim")

    def close(self) -> None:
        self.reach().post(f"{self.path}/close")

    def wake(self, client: Client) -> None:
        """A session that a restart interrupted is taken up again before it is spoken to."""
        view = client.get(self.path)
        if view["state"] == "closed":
            raise SessionClosedError(
                f"The session {self.id} is closed. Start another with: airboss chat"
            )
        if view["state"] == "interrupted":
            self.page.note("The session was interrupted. Resuming it.", "dim")
            view = waited("Resuming the session", lambda: client.post(f"{self.path}/resume"))
        for item in view["items"]:  # from before, or of somebody else's request
            self.answers.take(item["asked"])
