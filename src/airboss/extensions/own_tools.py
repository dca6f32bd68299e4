"""The agent's own tools for extensions: to make one, look at them, and load them again.

Neither runs anything that no person trusted. What a reload meets and nobody trusts is shown to a
person, with the change, and no policy or rule answers in their place.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, cast

from airboss.errors import AirbossError
from airboss.extension_settings import NAME_PATTERN, NAME_RULE
from airboss.extensions.content import Content, Unusable, read
from airboss.extensions.differences import content_of, difference_of
from airboss.extensions.discovery import MAIN_FILES, Language
from airboss.extensions.guide import GUIDE
from airboss.extensions.room import ExtensionRoom
from airboss.extensions.seen import SeenExtension
from airboss.extensions.shelf import ExtensionFile
from airboss.extensions.skeletons import scaffold, skeleton
from airboss.harness.extension_door import ExtensionDoor
from airboss.model.tool_table import EXTENSIONS_MANAGE, EXTENSIONS_RELOAD
from airboss.runtime.permission import PermissionRequest
from airboss.runtime.tools import OutsideCall, ToolOffer, ToolRefusal

_OPERATIONS: Final = ("scaffold", "list", "inspect", "guide")
_NAME: Final = re.compile(NAME_PATTERN)
_LOG_SHOWN: Final = 2_000
_NONE: Final = "There are no extensions here. Make one with the operation `scaffold`."

# Every session pays for their words, in its opening and in each turn: with twice as many the
# runtime took some tenths of a millisecond more of a session. The guide has the rest.
_MANAGE: Final = ToolOffer(
    name=EXTENSIONS_MANAGE,
    description=(
        "Make and inspect extensions: files in the repository that give you more tools and hooks. "
        "Read the `guide` first."
    ),
    parameters={
        "type": "object",
        "properties": {
            "operation": {"type": "string", "enum": list(_OPERATIONS)},
            "name": {"type": "string"},
            "location": {"type": "string", "enum": ["project", "user"]},
            "language": {"type": "string", "enum": ["python", "javascript"]},
        },
        "required": ["operation"],
    },
    handle=None,
    replaces=True,
)
_RELOAD: Final = ToolOffer(
    name=EXTENSIONS_RELOAD,
    description="Start extensions anew after a change. A person is asked to trust what is new.",
    parameters={"type": "object", "properties": {}},
    handle=None,
    replaces=True,
)


class OwnTools:
    """Of one session."""

    def __init__(
        self,
        room: ExtensionRoom,
        door: ExtensionDoor,
        ready: Callable[[], Awaitable[None]],
        reload: Callable[[], Awaitable[None]],
        shown: Callable[[], Sequence[SeenExtension]],
    ) -> None:
        self._room, self._door = room, door
        self._ready, self._load_again, self._shown = ready, reload, shown
        # What a person did not want, by its content.
        self._declined: set[str] = set()

    @property
    def offers(self) -> tuple[ToolOffer, ...]:
        settings, door = self._room.shelf.settings, self._door
        is_offered = settings.enabled and settings.agents
        return (
            (_MANAGE, _RELOAD) if is_offered and (settings.in_tasks or not door.is_of_task) else ()
        )

    def has(self, tool: str) -> bool:
        return tool in (EXTENSIONS_MANAGE, EXTENSIONS_RELOAD)

    async def answer(self, call: OutsideCall) -> str | ToolRefusal:
        try:
            if call.tool == EXTENSIONS_RELOAD:
                return await self._reload(call)
            return await self._manage(call)
        except (AirbossError, OSError) as error:
            return ToolRefusal(str(error))

    # To look and to make.

    async def _manage(self, call: OutsideCall) -> str | ToolRefusal:
        given = call.arguments
        operation = given.get("operation")
        if operation == "guide":
            return GUIDE
        if operation == "list":
            await self._ready()
            return _listed(self._shown()) or _NONE
        if operation not in _OPERATIONS:
            return ToolRefusal(f"`operation` should be one of: {', '.join(_OPERATIONS)}.")
        name = given.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            return ToolRefusal(f"`name` is missing or wrong. {NAME_RULE}")
        if operation == "inspect":
            await self._ready()
            found = [one for one in self._shown() if one.file.name == name]
            if not found:
                return ToolRefusal(f"There is no extension {name}. {_NONE}")
            return "\n\n".join(_inspected(one) for one in found)
        return await self._scaffold(call, name, given)

    async def _scaffold(
        self, call: OutsideCall, name: str, given: Mapping[str, Any]
    ) -> str | ToolRefusal:
        scope, language = given.get("location") or "project", given.get("language") or "python"
        if scope not in ("project", "user") or language not in MAIN_FILES:
            return ToolRefusal(
                "`location` should be project or user, `language` python or javascript."
            )
        kind = cast("Language", language)
        place = await asyncio.to_thread(self._room.shelf.place_for, self._door.cwd, scope, name)
        if await asyncio.to_thread(place.exists):
            return ToolRefusal(f"{place} is there already. Edit it, or choose another name.")
        file = place / MAIN_FILES[kind]
        asked = _write(call, file, skeleton(name, kind))
        answer = await self._door.permit(asked)
        if not answer.allowed:
            return ToolRefusal(answer.reason, "denied")
        await asyncio.to_thread(scaffold, place, kind)
        return f"Wrote {file}. Edit it, then call {EXTENSIONS_RELOAD}."

    # To load again.

    async def _reload(self, call: OutsideCall) -> str:
        await self._ready()
        said: list[str] = []
        for file in await self._room.shelf.found(self._door.cwd):
            if file.state in ("untrusted", "changed") and file.digest:
                said += await self._ask_trust(call, file)
        await self._load_again()
        return "\n".join([*said, _listed(self._shown()) or _NONE])

    async def _ask_trust(self, call: OutsideCall, file: ExtensionFile) -> Sequence[str]:
        """About what lies there now: what is shown and what is trusted are the same bytes."""
        try:
            seen = await asyncio.to_thread(read, file.path)
        except Unusable as why:
            return [f"{file.name}: {why}"]
        digest = seen.digest
        if digest in self._declined or digest == file.copy_digest:
            return []
        before = await asyncio.to_thread(content_of, file.copy)
        diff = await asyncio.to_thread(difference_of, before or Content(()), seen)
        if diff.left_out:
            return [_too_long(file, diff.left_out)]
        who = await self._door.ask_trust(call, file.name, file.path, digest, diff.text)
        if who is None:
            self._declined.add(digest)
            return [f"{file.name}: nobody trusts what is there now, so it does not run."]
        try:
            await self._room.trust(str(file.path), digest, who)
        except AirbossError as error:
            return [f"{file.name}: {error}"]
        return [f"{file.name}: {who} trusts it."]


def _too_long(file: ExtensionFile, left_out: Sequence[str]) -> str:
    more = f" and {len(left_out) - 1} more" if len(left_out) > 1 else ""
    return (
        f"{file.name}: nobody was asked to trust what is there now, because a person cannot be "
        f"shown all of it: {left_out[0]}{more} is too long, or is no text. Make it smaller, or ask "
        f"a person to read it and to run: airboss trust {file.path}"
    )


def _listed(shown: Sequence[SeenExtension]) -> str:
    return "\n".join(_line(one) for one in shown)


def _line(one: SeenExtension) -> str:
    file = one.file
    tools = f"; tools: {', '.join(one.tools)}" if one.tools else ""
    reason = f" ({one.reason})" if one.reason else ""
    return f"{file.name} ({file.scope}, {file.language}): {one.state}{reason}{tools}"


def _inspected(one: SeenExtension) -> str:
    lines = [_line(one), f"folder: {one.file.path}"]
    lines += [f"hooks: {', '.join(one.hooks)}"] if one.hooks else []
    lines += [f"last words:\n{one.log[-_LOG_SHOWN:]}"] if one.log.strip() else []
    return "\n".join(lines)


def _write(call: OutsideCall, file: Path, content: str) -> PermissionRequest:
    """In the words in which the runtime asks for a new file."""
    kind: Literal["write"] = "write"
    raw = {
        "kind": kind,
        "toolCallId": call.call,
        "fileName": str(file),
        "newFileContents": content,
        "intention": "Create an extension",
    }
    return PermissionRequest(
        f"{call.request_id} scaffold",
        call.call,
        kind,
        call.tool,
        (str(file),),
        None,
        None,
        str(file),
        raw,
        on_host=True,
    )
