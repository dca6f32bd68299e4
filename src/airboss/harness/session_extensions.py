"""What a session has of extensions, as its other parts see it. Who hosts them is not known here."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast

from airboss.harness.gate import Change, GateRefusal
from airboss.harness.plans import EXIT_PLAN_MODE
from airboss.harness.questions import ASK_USER
from airboss.model.events import Event, ToolEnded, ToolStarted
from airboss.runtime.hooks import MoreHooks, ToolUse
from airboss.runtime.session_request import Overhear
from airboss.runtime.signals import Signal
from airboss.runtime.tools import AnswerCall, OutsideCall, ToolOffer, ToolSaid
from airboss.session_keys import HookName

if TYPE_CHECKING:
    from airboss.harness.extension_door import ExtensionDoor
    from airboss.harness.hooks import SessionHooks

# Who sends what an extension sends: its name stands behind it.
BY_EXTENSION: Final = "extension "
_BLOCKED: Final = "decision"
# The agent's questions to people.
_ASKING: Final = frozenset({ASK_USER, EXIT_PLAN_MODE})


class HookSources(Protocol):
    """The hooks that extensions bring."""

    @property
    def names(self) -> frozenset[str]: ...

    def seconds_of(self, kind: HookName) -> float:
        """So long those of this name take together at most."""
        ...


class SessionExtensions(Protocol):
    """The extensions of one session."""

    @property
    def hooks(self) -> HookSources: ...

    @property
    def offers(self) -> tuple[ToolOffer, ...]: ...

    def begin(self) -> None: ...

    async def ready(self) -> None: ...

    async def offer(self) -> None: ...

    async def reload(self) -> None: ...

    async def stop(self) -> None: ...

    def leave(self) -> None:
        """As `stop`, beside whoever says so."""
        ...

    @property
    def is_in_cage(self) -> bool:
        """Whether one of them runs inside the session's cage."""
        ...

    def asking(self, tools: Iterable[object]) -> int:
        """How many of these calls may ask a person."""
        ...

    def is_told_again(self, tool: str) -> bool:
        """Whether a call of it that was cut off is made a second time, and told so."""
        ...

    def cares(self, tool: str) -> bool: ...

    async def before(self, use: ToolUse) -> GateRefusal | Change | None: ...

    def has(self, tool: str) -> bool: ...

    def brings(self, tool: str) -> bool: ...

    def owner(self, tool: str) -> str | None: ...

    async def call(self, call: OutsideCall) -> ToolSaid: ...

    def wants(self, kind: str) -> bool: ...

    def hear(self, event: Mapping[str, Any]) -> None: ...

    async def answer_hook(self, name: HookName, said: Mapping[str, Any]) -> dict[str, Any]: ...

    async def look(self) -> Sequence[Any]: ...


MakeExtensions: TypeAlias = Callable[["ExtensionDoor"], SessionExtensions]


class OwnOrBrought:
    """The names of the tools whose calls are asked for by the runtime itself, or by nobody."""

    def __init__(self, own: Sequence[ToolOffer], extensions: SessionExtensions | None) -> None:
        self._own = frozenset(offer.name for offer in own)
        self._extensions = extensions

    def __contains__(self, tool: object) -> bool:
        if tool in self._own:
            return True
        found, name = self._extensions, str(tool)
        return found is not None and (found.brings(name) or found.has(name))


def answer_with(extensions: SessionExtensions | None, others: AnswerCall) -> AnswerCall:
    """Calls of extensions' tools go there, all others where they went before."""
    if extensions is None:
        return others

    async def answer(call: OutsideCall) -> ToolSaid:
        return await (others(call) if call.tool in _ASKING else extensions.call(call))

    return answer


def overhearing(extensions: SessionExtensions, door: "ExtensionDoor") -> Overhear:
    """The runtime's own events, for those who want them."""

    def overhear(raw: Mapping[str, Any], steering: Mapping[str, str]) -> None:
        if extensions.wants(str(raw.get("type"))):
            extensions.hear(door.in_our_words(raw, steering))

    return overhear


class JoinedHooks:
    """What the runtime asks beside calls of tools: settings' and entry's hooks first, then those of
    extensions, which come and go while the session is open."""

    def __init__(self, first: "SessionHooks | None", extensions: SessionExtensions) -> None:
        self._first = first
        self._extensions = extensions

    @property
    def names(self) -> frozenset[str]:
        own = self._first.names if self._first else frozenset[str]()
        return own | self._extensions.hooks.names

    def seconds(self, name: HookName) -> float:
        own = self._first.seconds(name) if self._first else 0.0
        return own + self._extensions.hooks.seconds_of(name)

    async def answer(self, name: str, said: Mapping[str, Any] | None) -> dict[str, Any]:
        output: dict[str, Any] = {}
        if self._first is not None and name in self._first.names:
            output = await self._first.answer(name, said)
        if said is None or _BLOCKED in output or name not in self._extensions.hooks.names:
            return output
        hook = cast("HookName", name)
        brought = await self._extensions.answer_hook(hook, {**said, **_changed(output)})
        context = [text for text in (_context(output), _context(brought)) if text]
        more = {"additionalContext": "\n\n".join(context)} if context else {}
        return {**output, **brought, **more}


def _changed(output: Mapping[str, Any]) -> dict[str, Any]:
    """What the first ones left of the input."""
    changed = {"modifiedPrompt": "prompt", "modifiedResult": "toolResult"}
    return {key: output[word] for word, key in changed.items() if word in output}


def _context(output: Mapping[str, Any]) -> str | None:
    return output.get("additionalContext")


def joined_hooks(
    first: "SessionHooks | None", extensions: SessionExtensions | None
) -> MoreHooks | None:
    return first if extensions is None else JoinedHooks(first, extensions)


class NamedCalls:
    """Says of each call of an extension's tool whose it is."""

    def __init__(self, extensions: SessionExtensions | None) -> None:
        self._extensions = extensions
        self._blocks: dict[str, str] = {}

    def name(self, said: Event | Signal) -> Event | Signal:
        if self._extensions is None:
            return said
        if isinstance(said, ToolStarted) and (owner := self._extensions.owner(said.name)):
            self._blocks[said.block] = owner
            return said.model_copy(update={"extension": owner})
        if isinstance(said, ToolEnded) and (owner := self._blocks.pop(said.block, None)):
            return said.model_copy(update={"extension": owner})
        return said
