"""A view as a row: what lists are narrowed by stands beside its text, in columns of its own."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from airboss.model.views import View

# Looks a field of a view up; none where it has none.
_Field: TypeAlias = Callable[[str], Any]
# The columns of `views`, in their order.
ViewRow: TypeAlias = tuple[Any, ...]

# What a person knows it by, beside its id.
_NAMES: Final = {
    "session": ("title", "cwd"),
    "run": ("job", "title", "short_title", "input_start", "cwd"),
    "task": ("task", "cwd"),
}


def view_row(view: View) -> ViewRow:
    def field(name: str) -> Any:
        return getattr(view, name, None)

    kind, state = view.stream_kind, view.state
    told = (view.id, kind, state, view.created_at, view.seq, view.model_dump_json())
    return told + _columns(view.id, kind, state, field)


def columns_of(stream: str, kind: str, state: str, body: Mapping[str, Any]) -> tuple[Any, ...]:
    """Of a view that is there as JSON: the columns behind `body`, in their order."""
    return _columns(stream, kind, state, body.get)


def _columns(stream: str, kind: str, state: str, field: _Field) -> tuple[Any, ...]:
    milliseconds, requests = _used(field("usage"))
    is_run = kind == "run"
    return (
        field("updated_at"),
        field("ended_at"),
        field("job") if is_run else None,
        field("model"),
        field("task"),
        field("run"),
        field("own_run"),
        int(bool(field("pinned"))),
        int(_waits_for_person(kind, state, field)),
        milliseconds if is_run else None,
        requests if is_run else None,
        _between_lines(field("tags")),
        _names(stream, kind, field),
    )


def _waits_for_person(kind: str, state: str, field: _Field) -> bool:
    if kind == "session":
        return bool(field("items")) and state != "closed"
    return bool(field("for_person")) or state == "waiting-for-person"


def _used(usage: Any) -> tuple[int, int]:
    """The time at work, and the requests of agents and sub-agents."""
    if usage is None:
        return 0, 0
    if not isinstance(usage, Mapping):
        return usage.milliseconds, usage.whole_requests
    known = cast("Mapping[str, Any]", usage)
    sub_agents: Mapping[str, Any] = known.get("sub_agents") or {}
    requests = (known.get("requests") or 0) + (sub_agents.get("requests") or 0)
    return known.get("milliseconds") or 0, requests


def _between_lines(tags: Any) -> str | None:
    return "\n" + "\n".join(tags) + "\n" if tags else None


def tags_in(column: str) -> list[str]:
    return column.split("\n")[1:-1]


def _names(stream: str, kind: str, field: _Field) -> str:
    known = [stream, *(field(name) for name in _NAMES.get(kind, ()))]
    return stored("\n".join(str(name) for name in known if name)).casefold()


def stored(text: str) -> str:
    """PostgreSQL keeps every character but this one."""
    return text.replace("\0", "\ufffd")
