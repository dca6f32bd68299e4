"""An approval as a person sees it: made of what the agent asks for. Nothing is asked here."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import urlsplit

from airboss.harness.file_names import file_names
from airboss.harness.risks import Risk
from airboss.harness.rules import MORE
from airboss.harness.subjects import subject_of
from airboss.model.hidden import shortened, visible, visible_line, visible_whole
from airboss.model.ids import PromptId, new_item_id
from airboss.model.inbox_events import AlwaysOption, ApprovalAsked, Choice, ItemSettled
from airboss.model.redaction import Redactor
from airboss.runtime.permission import PermissionAnswer, PermissionRequest

_TITLE: Final = 80
_DESCRIPTION: Final = 512
# Of that the agent's own words: ours, behind them, are not pushed out.
_INTENTION: Final = 200
# A line break in a title: what follows it is another command.
_LINE_END: Final = " ⏎ "
# What the runtime says of one request only: the same request may come with another.
_PASSING: Final = frozenset(
    {"toolCallId", "intention", "canOfferSessionApproval", "warning", "requestSandboxBypass"}
)
# What tells two requests of a kind apart, where all that was said would tell too much.
_TELLING: Final[Mapping[str, tuple[str, ...]]] = {
    "shell": ("fullCommandText",),
    "write": ("fileName", "diff", "newFileContents"),
    "read": ("path",),
    "url": ("url",),
    "host": ("host",),
}
ONCE: Final[tuple[Choice, ...]] = ("allow-once", "deny")
_CLOSED: Final = "The session is closed, so nobody can decide."


def approval_of(
    requested: PermissionRequest,
    *,
    why: str,
    options: tuple[AlwaysOption, ...],
    risk: Risk,
    prompt: PromptId | None,
    expires_at: int | None,
    redactor: Redactor,
) -> ApprovalAsked:
    """Raises `TooLarge` where it is more than a person is shown."""
    redactor = redactor.sparing(file_names(requested))
    intention = requested.raw.get("intention")
    said = visible_line(redactor.text(intention)) if isinstance(intention, str) else ""
    about = shortened(said, _INTENTION)
    return ApprovalAsked(
        item=new_item_id(),
        request=requested.request_id,
        call=requested.call,
        wish=requested.kind,
        tool=requested.tool,
        title=title_of(requested, redactor),
        description=shortened(_sentences(about, visible_line(why)), _DESCRIPTION),
        severity=risk.severity,
        risk=visible_line(redactor.text(risk.sentence)),
        subject=subject_of(requested, redactor),
        fingerprint=fingerprint(requested),
        choices=("allow-once", "allow-always", "deny") if options else ONCE,
        rule=options[0].rule if options else None,
        options=options or None,
        prompt=prompt,
        expires_at=expires_at,
    )


def title_of(request: PermissionRequest, redactor: Redactor) -> str:
    """On one line, and short: what is decided about is shown beside it."""
    lines = visible(redactor.text(_title(request))).split("\n")
    whole = _LINE_END.join(" ".join(line.split()) for line in lines)
    return shortened(whole, _TITLE)


def _sentences(*said: str) -> str:
    """What an agent says of its intention seldom has a full stop."""
    whole = [part if part.endswith((".", "!", "?", "…")) else f"{part}." for part in said if part]
    return " ".join(whole)


def fingerprint(request: PermissionRequest) -> str:
    """The same for the same kind, tool and arguments, whenever it is asked."""
    raw = request.raw
    if request.kind in _TELLING:
        said = {name: raw.get(name) for name in _TELLING[request.kind]}
    else:
        said = {name: value for name, value in raw.items() if name not in _PASSING}
    # Who wants out of a sandbox wants something else, although it is the same command.
    more = [name for name in MORE if raw.get(name)]
    text = json.dumps([request.kind, request.tool, said, *more], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def answer_of(settled: ItemSettled) -> PermissionAnswer:
    """What the agent is told."""
    match settled.outcome:
        case "allow-once" | "allow-always":
            return PermissionAnswer(True, f"{settled.who} allowed it.")
        case "deny":
            words = f": {settled.answer}" if settled.answer else "."
            return PermissionAnswer(False, f"{settled.who} denied it{words}")
        case "timeout":
            return PermissionAnswer(False, "Nobody decided in time, so it is denied.")
        case _:
            return PermissionAnswer(False, _CLOSED)


def _title(request: PermissionRequest) -> str:
    return _TITLES.get(request.kind, _of_unknown)(request)


def _of_unknown(request: PermissionRequest) -> str:
    return f"Allow “{request.kind}”: {request.about}?"


def _of_tool(request: PermissionRequest) -> str:
    server = _text(request.raw, "serverName")
    return f"Call {request.tool} of {server}?" if server else f"Call {request.tool}?"


def _of_address(request: PermissionRequest) -> str:
    try:
        host = urlsplit(request.url or "").hostname
    except ValueError:
        host = None
    return f"Fetch from {host or request.url}?"


def _of_path(verb: str) -> Callable[[PermissionRequest], str]:
    return lambda request: f"{verb} {_name(request.paths[0]) if request.paths else 'a file'}?"


def _name(path: str) -> str:
    return visible_whole(PurePath(path).name or path)


def _of_change(request: PermissionRequest) -> str:
    """A file may also go, or get another name."""
    edits: Any = request.raw.get("fileEdits")
    match edits:
        case [{"before": {"path": str(before)}, "after": {"path": str(after)}}] if before != after:
            return f"Change {_name(before)}, and move it to {_name(after)}?"
        case [{"before": {"path": str(before)}, **rest}] if not rest.get("after"):
            return f"Delete {_name(before)}?"
        case _:
            return _of_path("Change")(request)


_TITLES: Final[Mapping[str, Callable[[PermissionRequest], str]]] = {
    "shell": lambda request: f"Run {request.command}?",
    "write": _of_change,
    "read": _of_path("Read"),
    "url": _of_address,
    "host": lambda request: f"Connect to {request.about}?",
    "mcp": _of_tool,
    "custom-tool": _of_tool,
    "hook": _of_tool,
    "memory": lambda _: "Remember this?",
    "extension": lambda request: f"Trust and run the extension {request.about}?",
}


def _text(raw: Mapping[str, Any], name: str) -> str | None:
    value = raw.get(name)
    return value if isinstance(value, str) else None
