"""The commands of a session: which there are, and what comes of one that somebody sends."""

from dataclasses import dataclass

from airboss.harness.commands import Named, OfferedCommand, must_have_words, text_of
from airboss.harness.prompts import NOTHING_MORE, Extras
from airboss.model.setup import CommandSetup
from airboss.model.words import Frozen
from airboss.service.entries import Entries
from airboss.service.session_notes import noted
from airboss.service.session_setup import setup_of
from airboss.service.sessions import Sessions


class CommandDone(Frozen):
    """What came of a command: `prompt` is what was sent to the agent, where something was; `text`
    is what it answers, for people."""

    prompt: str | None = None
    seq: int | None = None
    text: str | None = None


@dataclass(frozen=True)
class SessionCommands:
    """Of the session, and of the entry in use."""

    sessions: Sessions
    entries: Entries

    async def offered(self, session: str) -> list[OfferedCommand]:
        return list((await self._named(session)).offered())

    async def invoke(self, session: str, name: str, words: str, who: str) -> CommandDone:
        """Refused by name where it is none of those that are offered."""
        named, words = await self._named(session), words.strip()
        if own := named.find(name):
            return await self._send(session, text_of(own, words), who)
        must_have_words(name, words)
        match name:
            case "plan":
                return await self._send(session, words, who, Extras(mode="plan"))
            case "rename":
                said = noted(words, None, who, self.sessions.redactor)
                view = await self.sessions.say_of(session, *said)
                return CommandDone(text=f"The session is called “{view.title}” now.")
            case "compact":
                done = await self.sessions.compact(session, words or None, who)
                told = "There was nothing to compact." if done is None else _compacted(done.removed)
                return CommandDone(text=told)
            case _:
                return await self._ask_runtime(session, name, words, who)

    async def _ask_runtime(self, session: str, name: str, words: str, who: str) -> CommandDone:
        """It answers people, or has a prompt for the agent."""
        answer = await self.sessions.command(session, name, words)
        if answer.prompt is not None:
            return await self._send(session, answer.prompt, who)
        return CommandDone(text=self.sessions.redactor.text(answer.text or "Done."))

    async def _send(
        self, session: str, text: str, who: str, more: Extras = NOTHING_MORE
    ) -> CommandDone:
        receipt = await self.sessions.prompt(session, text, who, more=more)
        return CommandDone(prompt=receipt.prompt, seq=receipt.seq)

    async def _named(self, session: str) -> Named:
        view = await self.sessions.show(session)
        setup = await setup_of(self.sessions.log, view)
        return Named(setup.commands, await self._of_entry())

    async def _of_entry(self) -> dict[str, CommandSetup]:
        from airboss.entry.session_words import keys_of

        installed = await self.entries.to_run()
        said = keys_of(installed.entry).commands if installed else None
        clean = self.sessions.redactor.text
        return {
            name: CommandSetup(description=clean(one.description), prompt=clean(one.prompt))
            for name, one in (said or {}).items()
        }


def _compacted(removed: int) -> str:
    if not removed:
        return "The history was left as it was."
    return f"{removed} messages of the history were replaced with a summary."
