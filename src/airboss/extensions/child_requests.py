"""What an extension may ask of its session beside joining: to log, to send, to ask a person."""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from airboss.extensions.extension import HostedExtension
from airboss.extensions.frames import MOST_FRAME, frame
from airboss.extensions.joined import EVENT_KINDS
from airboss.extensions.peer import UNKNOWN_METHOD, RpcRefusal
from airboss.harness.extension_door import ExtensionDoor
from airboss.model.excerpt import excerpt
from airboss.model.extension_events import ExtensionSaid

MOST_LOG: Final = 4_000
_LOGS_PER_SECOND: Final = 50
_LEVELS: Final = ("info", "warning", "error")
_MOST_FILES: Final = 50
_ROOM: Final = 64 << 10


@dataclass
class ChildRequests:
    """Of all extensions of one session."""

    door: ExtensionDoor
    _logged: dict[str, deque[float]] = field(default_factory=dict[str, "deque[float]"])
    _left_out: dict[str, int] = field(default_factory=dict[str, int])

    async def answer(
        self, extension: HostedExtension, method: str, params: Mapping[str, Any]
    ) -> object:
        if not extension.is_running:
            raise RpcRefusal("Join the session first.")
        match method:
            case "session.log":
                return self._log(extension, params)
            case "session.send":
                return await self._send(extension, params)
            case "session.abort":
                await self.door.abort()
                return {}
            case "session.getMessages":
                return await self._messages(params)
            case "session.ui.elicitation":
                return await self._elicit(extension, params)
            case "session.eventLog.registerInterest":
                kind = str(params.get("eventType"))
                if kind not in EVENT_KINDS:
                    raise RpcRefusal(f"Events of the kind {kind[:80]} cannot be had in Airboss.")
                extension.want(kind)
                return {"handle": kind}
            case _:
                raise RpcRefusal(f"{method[:80]} cannot be had in Airboss.", UNKNOWN_METHOD)

    def _log(self, extension: HostedExtension, params: Mapping[str, Any]) -> dict[str, str]:
        name, now = extension.name, time.monotonic()
        logged = self._logged.setdefault(name, deque(maxlen=_LOGS_PER_SECOND))
        text = str(params.get("message") or "")[: 2 * MOST_LOG]
        if len(logged) == _LOGS_PER_SECOND and now - logged[0] < 1:
            self._left_out[name] = self._left_out.get(name, 0) + 1
            return {"eventId": ""}
        clean = excerpt(self.door.redactor, text, MOST_LOG)
        logged.append(now)
        if params.get("ephemeral") is True:
            extension.passing_words = clean
            return {"eventId": ""}
        if missing := self._left_out.pop(name, 0):
            clean = excerpt(
                self.door.redactor,
                f"({missing} lines before this one were left out.) {text}",
                MOST_LOG,
            )
        level = params.get("level")
        self.door.tell(
            ExtensionSaid(name=name, level=level if level in _LEVELS else "info", text=clean)
        )
        return {"eventId": f"{name}-{now:.6f}"}

    async def _send(self, extension: HostedExtension, params: Mapping[str, Any]) -> dict[str, str]:
        text = params.get("prompt")
        if not isinstance(text, str) or not text.strip():
            raise RpcRefusal("The prompt must not be empty.")
        steer = params.get("mode") == "immediate"
        files = _files(params.get("attachments"))
        prompt = await self.door.prompt(text, extension.name, steer=steer, files=files)
        return {"messageId": prompt}

    async def _messages(self, params: Mapping[str, Any]) -> dict[str, Any]:
        after = params.get("after")
        events = await self.door.history()
        first = after if isinstance(after, int) and after > 0 else 0
        kept: list[Mapping[str, Any]] = []
        size = 0
        for seq, event in reversed(list(enumerate(events, 1))):
            if seq <= first:
                break
            said = {**event, "seq": seq}
            size += len(frame(said))
            if size > MOST_FRAME - _ROOM:  # the newest of them
                break
            kept.append(said)
        return {"events": kept[::-1]}

    async def _elicit(
        self, extension: HostedExtension, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        field_name, schema = _one_field(params.get("requestedSchema"))
        question = params.get("message")
        if not isinstance(question, str) or not question.strip():
            raise RpcRefusal("The question must not be empty.")
        is_yes_or_no = schema.get("type") == "boolean"
        choices = ["yes", "no"] if is_yes_or_no else _choices(schema)
        answer = await self.door.ask(extension.name, question, choices, allows_words=not choices)
        if answer is None:
            return {"action": "decline"}
        value = answer == "yes" if is_yes_or_no else _value(answer, schema)
        return {"action": "accept", "content": {field_name: value}}


def _files(attachments: object) -> tuple[str, ...]:
    if not attachments:
        return ()
    if not isinstance(attachments, list):
        raise RpcRefusal("The attachments are not a list.")
    paths: list[str] = []
    for one in cast("list[object]", attachments):
        said = cast("dict[str, Any]", one) if isinstance(one, dict) else {}
        path = said.get("path")
        if said.get("type") not in ("file", "directory") or not isinstance(path, str):
            raise RpcRefusal("Only files and folders can be attached in Airboss.")
        paths.append(path)
    if len(paths) > _MOST_FILES:
        raise RpcRefusal(f"At most {_MOST_FILES} files can be attached.")
    return tuple(paths)


def _one_field(schema: object) -> tuple[str, Mapping[str, Any]]:
    said = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
    fields: object = said.get("properties")
    if not isinstance(fields, dict) or len(cast("dict[str, Any]", fields)) != 1:
        raise RpcRefusal("A form of several fields cannot be had in Airboss. Ask for one value.")
    ((name, one),) = cast("dict[str, Any]", fields).items()
    return name, cast("Mapping[str, Any]", one) if isinstance(one, dict) else {}


def _choices(schema: Mapping[str, Any]) -> Sequence[str]:
    given: object = schema.get("enum")
    if given is None and isinstance(schema.get("oneOf"), list):
        given = [cast("Any", one).get("const") for one in schema["oneOf"] if isinstance(one, dict)]
    if not isinstance(given, list):
        return ()
    return [str(one) for one in cast("list[object]", given)]


def _value(answer: str, schema: Mapping[str, Any]) -> object:
    try:
        match schema.get("type"):
            case "integer":
                return int(answer)
            case "number":
                return float(answer)
            case _:
                return answer
    except ValueError:
        return answer
