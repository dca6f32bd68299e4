"""Verbs that only the owner of a stream can do, and how they are told to another process: with all
that they are given, and with what came of them."""

import functools
import inspect
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast, get_type_hints

from pydantic import TypeAdapter

from airboss import errors
from airboss.errors import AirbossError, Conflict, OwnedElsewhere
from airboss.log.log import EventLog
from airboss.log.said_for import said_for
from airboss.model.events import Recorded
from airboss.service.callers_key import lock_of, take_key
from airboss.store.commands import origin_of

if TYPE_CHECKING:
    from airboss.service.owners import Owners

Method = TypeVar("Method", bound=Callable[..., Coroutine[Any, Any, Any]])

# So long whoever asks waits for the answer.
ANSWER_SECONDS: Final = 10.0
# Until a runtime has started, or has looked something up.
OPEN_SECONDS: Final = 75.0


# The answer to what was done already: by a service, of a stream, where this was said for it.
Again = Callable[[Any, str, Recorded], Awaitable[Any]]


async def shown(service: Any, target: str, said: Recorded) -> Any:
    del said
    return await service.show(target)


async def nothing(service: Any, target: str, said: Recorded) -> Any:
    del service, target, said


async def untold(service: Any, target: str, said: Recorded) -> Any:
    del service, said
    raise Conflict(
        f"This was done, but the server that did it was lost with the answer. Look at {target}."
    )


class HasOwners(Protocol):
    """A service whose streams may be another process's. None: all are this one's."""

    owners: "Owners | None"

    @property
    def log(self) -> EventLog: ...


class Verb:
    """A method whose first argument names a stream."""

    def __init__(self, method: Callable[..., Any], seconds: float, again: Again) -> None:
        self.method = method
        self.seconds = seconds
        self._again = again
        self.name = method.__qualname__

    @functools.cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.method)

    @functools.cached_property
    def forms(self) -> dict[str, TypeAdapter[Any]]:
        """How each of what it is given is told, and what came of it."""
        hints = get_type_hints(self.method)
        several = {
            name
            for name, one in self._signature.parameters.items()
            if one.kind is inspect.Parameter.VAR_POSITIONAL
        }
        forms: dict[str, Any] = {
            name: GenericAlias(tuple, (hint, ...)) if name in several else hint
            for name, hint in hints.items()
        }
        return {name: TypeAdapter(form) for name, form in forms.items()}

    def target_of(self, *args: Any, **kwargs: Any) -> str:
        _, first, *_ = self._signature.parameters
        return args[0] if args else kwargs[first]

    def bound(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """What it is given beside the stream, by its names."""
        _, _, *names = self._signature.parameters
        found = self._signature.bind(None, *args, **kwargs).arguments
        return {name: found[name] for name in names if name in found}

    def packed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: self.forms[name].dump_python(value, mode="json") for name, value in given.items()
        }

    def unpacked(self, packed: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: self.forms[name].validate_json(json.dumps(value))
            for name, value in packed.items()
        }

    async def do(self, service: object, target: str, packed: Mapping[str, Any]) -> Any:
        """Here, with what another process packed. Answers as JSON can tell it."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, value in self.unpacked(packed).items():
            match self._signature.parameters[name].kind:
                case inspect.Parameter.VAR_POSITIONAL:
                    args += value
                case _:
                    kwargs[name] = value
        answer = await self.method(service, target, *args, **kwargs)
        return self.forms["return"].dump_python(answer, mode="json")

    async def done_before(self, service: object, target: str, said: Recorded) -> Any:
        """The answer to what somebody did who was lost before it could tell."""
        answer = await self._again(service, target, said)
        return self.forms["return"].dump_python(answer, mode="json")

    async def once(
        self, service: HasOwners, target: str, key: str, do: Callable[[], Awaitable[Any]]
    ) -> Any:
        """Here, where nobody did it before with this key."""
        origin = origin_of(key)
        async with lock_of(key):
            said = await service.log.said_from(target, origin)
            if said is not None:
                return await self._again(service, target, said)
            with said_for(target, origin):
                return await do()

    def answer(self, packed: Any) -> Any:
        return self.forms["return"].validate_json(json.dumps(packed))


# Those there are, by name.
VERBS: Final[dict[str, Verb]] = {}


def at_owner(
    seconds: float = ANSWER_SECONDS, again: Again = shown, *, opens: bool = False
) -> Callable[[Method], Method]:
    """A method of a service that `HasOwners`, and is done where its stream is: here, or by the
    process that owns it. What nobody owns is this one's as soon as it says something there; where
    it `opens` a session that this machine cannot have, a machine that can is found first."""

    def made(method: Method) -> Method:
        verb = VERBS[method.__qualname__] = Verb(method, seconds, again)

        @functools.wraps(method)
        async def asked(self: HasOwners, *args: Any, **kwargs: Any) -> Any:
            owners, target = self.owners, verb.target_of(*args, **kwargs)
            given = verb.bound(*args, **kwargs)
            key = take_key(str(given.get("who", "")), verb.name, target)
            if key is not None:
                if owners is not None and await owners.has_owner(target):
                    return await owners.ask(verb, target, given, key)
                return await verb.once(self, target, key, lambda: method(self, *args, **kwargs))
            if owners is None or not await owners.is_elsewhere(target, opens=opens):
                try:
                    return await method(self, *args, **kwargs)
                except OwnedElsewhere:  # somebody was faster
                    if owners is None:
                        raise
            return await owners.ask(verb, target, given)

        return cast("Method", asked)

    return made


# Refusals.


def told(error: AirbossError) -> dict[str, Any]:
    """As JSON: what kind of refusal, its sentence, and what it has beside that."""
    beside = {
        name: value
        for name, value in vars(error).items()
        if value is None or isinstance(value, str | int | float | bool)
    }
    return {"kind": type(error).__name__, "said": str(error), "beside": beside}


def refusal(told: Mapping[str, Any]) -> AirbossError:
    """The same again. One that only a newer version knows is a plain refusal."""
    known = getattr(errors, str(told["kind"]), None)
    kind = known if isinstance(known, type) and issubclass(known, AirbossError) else AirbossError
    error = kind.__new__(kind)
    Exception.__init__(error, told["said"])
    vars(error).update(told["beside"])
    return error
