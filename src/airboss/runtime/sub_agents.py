"""What the runtime tells of sub-agents and skills, in our words."""

from collections.abc import Callable, Mapping
from typing import Any

from airboss.model.excerpt import MOST_OF_A_REASON, Redacting, excerpt, name_of
from airboss.model.sub_agent_events import SkillInvoked, SubAgentEnded, SubAgentStarted
from airboss.runtime.amounts import known_count_of
from airboss.runtime.blocks import Said

Raw = Mapping[str, Any]
_PRELOADED = "context-load"


class SubAgents:
    """Those of one session. `block_of` gives the block of the call that began one."""

    def __init__(self, redactor: Redacting, block_of: Callable[[str | None], str | None]) -> None:
        self._redactor = redactor
        self._block_of = block_of
        # By the runtime's ids of agents.
        self._parents: dict[str, str] = {}

    def hear(self, raw: Raw, data: Raw, said: Said) -> None:
        agent = str(raw.get("agentId") or "")
        match raw["type"]:
            case "subagent.started":
                self._start(agent, data, said)
            case "skill.invoked":
                self._invoke(agent, data, said)
            case _:
                self._end(agent, data, said, failed=raw["type"] == "subagent.failed")

    def _start(self, agent: str, data: Raw, said: Said) -> None:
        parent = self._block_of(data.get("toolCallId"))
        if parent is not None:
            self._parents[agent] = parent
            said.append(
                SubAgentStarted(
                    parent=parent, agent=name_of(str(data["agentName"])), model=_model(data)
                )
            )

    def _end(self, agent: str, data: Raw, said: Said, *, failed: bool) -> None:
        parent = self._parents.pop(agent, None)
        if parent is None:
            return
        error = self._text(data.get("error")) if failed else None
        outcome = "failed" if failed else "cancelled" if data.get("cancelled") else "done"
        said.append(
            SubAgentEnded(
                parent=parent,
                agent=name_of(str(data["agentName"])),
                model=_model(data),
                outcome=outcome,
                error=error,
                tool_calls=known_count_of(data.get("totalToolCalls")),
                milliseconds=known_count_of(data.get("durationMs")),
            )
        )

    def _invoke(self, agent: str, data: Raw, said: Said) -> None:
        said.append(
            SkillInvoked(
                name=name_of(str(data["name"])),
                description=self._text(data.get("description") or ""),
                parent=self._parents.get(agent) if agent else None,
                preloaded=data.get("trigger") == _PRELOADED,
            )
        )

    def _text(self, text: object) -> str:
        return excerpt(self._redactor, str(text), MOST_OF_A_REASON)


def _model(data: Raw) -> str | None:
    return name_of(str(data["model"])) if data.get("model") else None
