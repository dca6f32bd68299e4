"""The way to the owners of streams: what is asked here of another process's stream is done there,
once; and what others ask of this one's streams is done here."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from airboss.background import Background
from airboss.errors import AirbossError, RuntimeUnavailable, StoreUnavailable
from airboss.log.changes import ChangedStreams
from airboss.log.log import EventLog
from airboss.log.said_for import said_for
from airboss.model.ids import new_id
from airboss.model.redaction import Redactor
from airboss.service.verbs import VERBS, Verb, refusal, told
from airboss.store.commands import CommandStore, OwnerCommand
from airboss.store.notices import ANSWERS, COMMANDS

# Where no notice came: so often it is looked for an answer.
_LOOK_SECONDS: Final = 1.0
_CLEAN_SECONDS: Final = 3600.0
_NOT_TAKEN: Final = (
    "The server that has {target} did not answer within {seconds:g} s. Nothing was done. Try again "
    "in a moment."
)
_NOT_DONE: Final = (
    "The server that has {target} did not answer within {seconds:g} s. It may still be done: look "
    "before you try again."
)
_FAULT: Final = (
    "The server that has {target} failed at this. This is a bug in Airboss. See that server's log "
    "for details."
)
_UNKNOWN: Final = (
    "The server that has {target} does not know how to do this. Upgrade it, then try again."
)

_log = logging.getLogger(__name__)


@dataclass
class Owners:
    """Of one worker. `services` have the verbs, by the names of their classes."""

    log: EventLog
    store: CommandStore
    redactor: Redactor
    # Gives a session that nobody has to a worker who can open it, where this one cannot.
    find_opener: Callable[[str], Awaitable[str | None]] | None = None
    services: dict[str, object] = field(default_factory=dict[str, object])
    asked: int = 0
    done: int = 0
    _work: Background = field(default_factory=lambda: Background("commands"))

    # Asking.

    async def is_elsewhere(self, target: str, *, opens: bool = False) -> bool:
        if self.log.is_own(target):
            return False
        owner = await self.store.owner_of(target)
        if owner is None and opens and self.find_opener is not None:
            owner = await self.find_opener(target)
        return owner is not None and owner != self.store.worker

    async def has_owner(self, target: str) -> bool:
        """Whether somebody has it: another worker, or this one."""
        return await self.store.owner_of(target) is not None

    async def ask(
        self, verb: Verb, target: str, given: Mapping[str, Any], key: str | None = None
    ) -> Any:
        """Waits for the answer of whoever has the stream by then. With a `key` that was asked with
        before it is the answer to that."""
        body = json.dumps(_without_secrets(verb.packed(given), self.redactor))
        command = OwnerCommand(key or new_id("cmd"), target, verb.name, body)
        self.asked += 1
        with self.log.changes(ANSWERS) as heard:
            await self.store.add(command, str(given.get("who", "")), verb.seconds)
            self.log.announce(COMMANDS)
            state, answer = await self._answered(command, heard, verb.seconds)
        said = json.loads(answer or "null")
        if state == "failed":
            raise refusal(said)
        return verb.answer(said)

    async def _answered(
        self, command: OwnerCommand, heard: ChangedStreams, seconds: float
    ) -> tuple[str, str | None]:
        try:
            async with asyncio.timeout(seconds):
                while True:
                    found = await self.store.look(command.id)
                    if found is not None and found[0] in ("done", "failed"):
                        return found
                    await heard.within(_LOOK_SECONDS)
        except TimeoutError:
            is_withdrawn = await self.store.withdraw(command.id)
        words = _NOT_TAKEN if is_withdrawn else _NOT_DONE
        raise RuntimeUnavailable(words.format(target=command.target, seconds=seconds))

    # Doing.

    @contextlib.asynccontextmanager
    async def open(self, *services: object) -> AsyncGenerator[None]:
        """What others ask is done here from now on, by these."""
        for one in services:
            for kind in type(one).__mro__:
                self.services[kind.__name__] = one
        self._work.start(self._serve(), "serving")
        self._work.start(self._clean(), "cleaning")
        try:
            yield
        finally:
            await self._work.close(cancel=True)

    async def _serve(self) -> None:
        with self.log.changes(COMMANDS) as heard:
            while not heard.is_over:
                try:
                    for command in await self.store.take():
                        self._work.start_if_open(self._do(command), command.id)
                except StoreUnavailable as error:  # it is looked again in a second
                    _log.warning("Could not look for what others ask: %s", error)
                await heard.within()

    async def _do(self, command: OwnerCommand) -> None:
        try:
            answer = json.dumps(await self._done(command))
            state = "done"
        except AirbossError as error:
            answer, state = json.dumps(told(error)), "failed"
        except Exception:  # noqa: BLE001 - who asked is told, and the others go on
            _log.exception("Could not do what was asked of %s", command.target)
            error = RuntimeUnavailable(_FAULT.format(target=command.target))
            answer, state = json.dumps(told(error)), "failed"
        await self.store.finish(command.id, state, answer)
        self.done += 1
        self.log.announce(ANSWERS)

    async def _done(self, command: OwnerCommand) -> Any:
        """Once: what an owner before this one said for it is not said again."""
        verb = VERBS.get(command.verb)
        service = self.services.get(command.verb.partition(".")[0])
        if verb is None or service is None:
            raise RuntimeUnavailable(_UNKNOWN.format(target=command.target))
        if (seq := await self.store.seq_said(command)) is not None:
            said = await self.log.after(command.target, seq - 1, 1)
            return await verb.done_before(service, command.target, said[0])
        given = json.loads(command.body)
        with said_for(command.target, command.origin):
            return await verb.do(service, command.target, given)

    async def _clean(self) -> None:
        while True:
            with contextlib.suppress(StoreUnavailable):
                await self.store.clean(_CLEAN_SECONDS)
            await asyncio.sleep(_CLEAN_SECONDS)


def _without_secrets(value: Any, redactor: Redactor) -> Any:
    match value:
        case str():
            return redactor.text(value)
        case dict():
            return {key: _without_secrets(one, redactor) for key, one in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case list():
            return [_without_secrets(one, redactor) for one in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value
