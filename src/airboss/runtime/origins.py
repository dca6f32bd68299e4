"""Whose tool a call is for: the runtime says so when the call starts, not when it asks for it."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

# Far more than are made at once: what nobody ever ended is forgotten behind these.
_MOST: Final = 1024
_Key: TypeAlias = tuple[str | None, str]


@dataclass(frozen=True, slots=True)
class Origin:
    """`server` is the MCP server that brought the tool; None where the runtime named none. Of a
    call that was cut off by a restart nobody said that it started."""

    server: str | None = None
    is_known: bool = False


class Origins:
    """The calls of one session that have started and are not over. Two agents may each have a call
    of the same id."""

    def __init__(self) -> None:
        self._open: OrderedDict[_Key, Origin] = OrderedDict()

    def hear(self, raw: Mapping[str, Any]) -> None:
        data = raw["data"]
        match raw.get("type"):
            case "tool.execution_start":
                server = data.get("mcpServerName")
                named = server if isinstance(server, str) and server else None
                self._open[_key(raw, data)] = Origin(named, is_known=True)
                if len(self._open) > _MOST:
                    self._open.popitem(last=False)
            case "tool.execution_complete":
                self._open.pop(_key(raw, data), None)
            case _:
                pass

    def of(self, raw: Mapping[str, Any]) -> Origin:
        """Of the call that a raw `permission.requested` is about."""
        asked: object = raw["data"].get("permissionRequest")
        request = cast("dict[str, Any]", asked if isinstance(asked, Mapping) else {})
        return self._open.get(_key(raw, request), Origin())


def _key(raw: Mapping[str, Any], named: Mapping[str, Any]) -> _Key:
    return raw.get("agentId"), str(named.get("toolCallId"))
