"""The runtime's events become ours: whitelisted, in order, every start closed. Pure: no clock.

It reads the raw wire form, since building the SDK's event classes costs more than all of this.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final, TypeAlias, cast

from airboss.model.events import (
    Event,
    MessageEnded,
    ReasoningEnded,
    SubAgentSaid,
    ToolEnded,
    ToolError,
    ToolResult,
    ToolStarted,
)
from airboss.model.excerpt import (
    MOST_CHARACTERS,
    MOST_OF_A_NAME,
    MOST_OF_A_REASON,
    Redacting,
    excerpt,
    json_of,
    name_of,
)
from airboss.model.line_counts import lines_of_diff, lines_of_texts
from airboss.runtime.amounts import amount_of, count_of, known_count_of
from airboss.runtime.blocks import MESSAGE, REASONING, TOOL, Said, SpokenBlock, Voice
from airboss.runtime.context_gauge import ContextGauge
from airboss.runtime.signals import (
    ModelAnswered,
    ModelReplaced,
    Retrying,
    TurnBegan,
    TurnFailed,
    TurnIdle,
    UsageSeen,
)
from airboss.runtime.sub_agents import SubAgents

Raw: TypeAlias = Mapping[str, Any]

UNFINISHED_TOOL: Final = "The turn ended before the tool did."
# How an error begins that gives no reason.
_NO_REASON: Final = "No response was returned"
# The end of a dated release: gpt-4.1-2025-04-14 is the gpt-4.1 that was asked for.
_DATED = re.compile(r"-\d{4}-?\d{2}-?\d{2}\Z")
# A change of the model that was offered to us, and that we wanted.
_WANTED_SWITCH = "rate_limit_auto_switch"


class Translator:
    """One session's translation. `asked_model` is set where another model would be a fault. No
    block is told in more than `most` characters."""

    def __init__(
        self,
        redactor: Redacting,
        asked_model: str | None = None,
        most: int = MOST_CHARACTERS,
    ) -> None:
        self.passed_over: Counter[str] = Counter()
        self._redactor = redactor
        self._most = most
        self._asked = asked_model
        self._replaced: set[str] = set()
        self._working = False
        self._warning = ""
        self._names: Counter[str] = Counter()
        self._texts: dict[tuple[Voice, str], SpokenBlock] = {}
        self._over: set[tuple[Voice, str]] = set()
        self._calls: set[tuple[str, str]] = set()
        self._gauge = ContextGauge(redactor)
        self._sub_agents = SubAgents(redactor, self._block_of)
        # A sub-agent's calls may have the same ids as those of the agent that called it.
        self._tools: dict[tuple[str | None, str], SpokenBlock] = {}

    def ask_for(self, model: str | None) -> str | None:
        """From now on another model is meant; answers which one was."""
        before, self._asked = self._asked, model
        return before

    def hear(self, raw: Raw) -> Said:
        """What this event of the runtime means to us, in the order in which it is to be told."""
        kind = str(raw.get("type"))
        hearer = _HEARERS.get(kind)
        if hearer is None:
            self.passed_over[kind] += 1
            return []
        said: Said = []
        try:
            hearer(self, raw, raw["data"], said)
        except (KeyError, TypeError, ValueError, AttributeError):
            self.passed_over[f"malformed {kind}"] += 1
        return said

    def close(self) -> list[Event]:
        """End all that is still open: the turn was cut short."""
        said: Said = []
        self._cut_texts(said)
        for key, block in list(self._tools.items()):
            del self._tools[key]
            error = ToolError(message=UNFINISHED_TOOL)
            text, left_out = block.finish(said)
            said.append(
                ToolEnded(block=block.id, text=text, error=error, cut=True, left_out=left_out)
            )
        self._over.clear()
        self._replaced.clear()
        self._working = False
        return cast("list[Event]", said)

    # Messages and reasoning.

    def message_delta(self, raw: Raw, data: Raw, said: Said) -> None:
        self._text_delta(MESSAGE, raw, data, said)

    def reasoning_delta(self, raw: Raw, data: Raw, said: Said) -> None:
        self._text_delta(REASONING, raw, data, said)

    def message(self, raw: Raw, data: Raw, said: Said) -> None:
        if _from_sub_agent(raw):
            self._sub_agent_message(data, said)
            return
        self._text(MESSAGE, data, said)
        if model := data.get("model"):
            model = name_of(model)
            said.append(ModelAnswered(model))
            self._compare(model, "another model answered", said)

    def _sub_agent_message(self, data: Raw, said: Said) -> None:
        """The runtime tells it whole, with the call that began the agent."""
        content, parent = data.get("content") or "", self._parent_of(data)
        if content.strip() and parent is not None:
            name = self._name(data["messageId"])
            said.append(SubAgentSaid(block=name, parent=parent, text=self._excerpt(content)))

    def reasoning(self, raw: Raw, data: Raw, said: Said) -> None:
        if not _from_sub_agent(raw):
            self._text(REASONING, data, said)

    def _text_delta(self, voice: Voice, raw: Raw, data: Raw, said: Said) -> None:
        if "agentId" in raw:
            return
        key = (voice, data[voice.key])
        block = self._texts.get(key) or self._open_text(key, said)
        block.take(data["deltaContent"], said)

    def _text(self, voice: Voice, data: Raw, said: Said) -> None:
        """The closing event, with the whole text."""
        content, key = data.get("content") or "", (voice, data[voice.key])
        if key in self._over:
            return
        block = self._texts.get(key)
        if block is None:
            if not content:
                return
            block = self._open_text(key, said)
        rest = block.rest_of(content)
        if rest is not None:
            block.take(rest, said)
        elif not block.is_trimmed(content):  # the runtime trims a reasoning's closing text
            self._end_text(key, said, cut=True)
            block = self._open_text(key, said)
            block.take(content, said)
        self._end_text(key, said, cut=False)

    def _open_text(self, key: tuple[Voice, str], said: Said) -> SpokenBlock:
        voice, name = key
        if voice is MESSAGE:  # of two messages the first was given up, and no event says so
            self._cut_texts(said, MESSAGE)
        block = SpokenBlock(self._name(name), voice, self._redactor, self._most)
        said.append(voice.started(block=block.id))
        self._texts[key] = block  # only what was told has to be closed
        return block

    def _end_text(self, key: tuple[Voice, str], said: Said, *, cut: bool) -> None:
        block = self._texts.pop(key)
        self._over.add(key)
        ended = MessageEnded if key[0] is MESSAGE else ReasoningEnded
        text, left_out = block.finish(said)
        said.append(ended(block=block.id, text=text, cut=cut, left_out=left_out))

    def _cut_texts(self, said: Said, voice: Voice | None = None) -> None:
        for key in [key for key in self._texts if voice in {None, key[0]}]:
            self._end_text(key, said, cut=True)

    # Tools.

    def tool_start(self, raw: Raw, data: Raw, said: Said) -> None:
        agent, call = raw.get("agentId"), data["toolCallId"]
        parent = self._parent_of(data)
        block = SpokenBlock(self._name(call), TOOL, self._redactor, self._most)
        arguments = json_of(self._redactor, data.get("arguments"), self._most)
        said.append(
            ToolStarted(
                block=block.id,
                parent=parent,
                name=name_of(str(data["toolName"])),
                arguments=arguments,
                lines=lines_of_texts(self._redactor, data.get("arguments"), arguments),
            )
        )
        self._tools[agent, call] = block

    def _parent_of(self, data: Raw) -> str | None:
        """The block of the call that the agent was begun by; that may have ended."""
        return self._block_of(data.get("parentToolCallId"))

    def _block_of(self, above: str | None) -> str | None:
        block = self._tools.get((None, above or ""))
        return block.id if block else above and _short_id(above)

    def sub_agent(self, raw: Raw, data: Raw, said: Said) -> None:
        self._sub_agents.hear(raw, data, said)

    def shell_output(self, raw: Raw, data: Raw, said: Said) -> None:
        block = self._tools.get((raw.get("agentId"), data["toolCallId"]))
        if block is not None and data["sequence"] > block.shell:
            block.shell = data["sequence"]
            block.take(data["text"], said)

    def partial_result(self, raw: Raw, data: Raw, said: Said) -> None:
        """All of the output so far. A shell's output comes in pieces as well; those are enough."""
        block = self._tools.get((raw.get("agentId"), data["toolCallId"]))
        if block is None or block.shell >= 0:
            return
        if rest := block.rest_of(data["partialOutput"]):
            block.take(rest, said)

    def tool_complete(self, raw: Raw, data: Raw, said: Said) -> None:
        key = (raw.get("agentId"), data["toolCallId"])
        block = self._tools.get(key)
        if block is None:
            return
        if data["success"]:
            ended = self._tool_done(block, data.get("result") or {}, said)
        else:
            ended = self._tool_failed(block, data.get("error") or {}, said)
        del self._tools[key]
        said.append(ended)

    def _tool_done(self, block: SpokenBlock, result: Raw, said: Said) -> ToolEnded:
        content, detailed = result.get("content") or "", result.get("detailedContent")
        rest = block.rest_of(content)
        if rest is not None:
            block.take(rest, said)
        else:  # the runtime hides values in what it streams, and not in the whole
            detailed = detailed or content
        text, left_out = block.finish(said)
        kept = self._excerpt(detailed) if detailed else None
        added, removed = lines_of_diff(detailed or "", kept or "") or (None, None)
        kept = None if kept == text else kept
        outcome = ToolResult(content=text, detailed_content=kept, added=added, removed=removed)
        return ToolEnded(block=block.id, text=text, result=outcome, left_out=left_out)

    def _tool_failed(self, block: SpokenBlock, error: Raw, said: Said) -> ToolEnded:
        message = self._excerpt(error.get("message") or "The tool failed.")
        code = error.get("code")
        failure = ToolError(message=message, code=None if code is None else name_of(str(code)))
        text, left_out = block.finish(said)
        return ToolEnded(block=block.id, text=text, error=failure, left_out=left_out)

    # How the work goes.

    def began(self, raw: Raw, _data: Raw, said: Said) -> None:
        if not self._working and not _from_sub_agent(raw):
            self._working, self._warning = True, ""
            said.append(TurnBegan())

    def idle(self, raw: Raw, data: Raw, said: Said) -> None:
        if not _from_sub_agent(raw):
            said.extend(self.close())
            said.append(TurnIdle(aborted=bool(data.get("aborted"))))

    def failed(self, raw: Raw, data: Raw, said: Said) -> None:
        if not _from_sub_agent(raw):
            told = data["message"]
            if self._warning and str(told).startswith(_NO_REASON):
                told = self._warning
            message = self._excerpt(told, MOST_OF_A_REASON)
            name, cause = name_of(str(data.get("errorType") or "error")), data.get("errorCode")
            why = None if cause is None else self._excerpt(cause, MOST_OF_A_REASON)
            said.append(TurnFailed(name, message, known_count_of(data.get("statusCode")), why))

    def warned(self, raw: Raw, data: Raw, _said: Said) -> None:
        """The only word of why the model is not asked, as where tools fill its context."""
        if not _from_sub_agent(raw):
            self._warning = str(data["message"])

    def retrying(self, raw: Raw, data: Raw, said: Said) -> None:
        """What was streamed so far gets no end of its own: the next try has new ids."""
        if not _from_sub_agent(raw):
            self._cut_texts(said)
            reason = str(data.get("reason") or "the model's service failed")
            said.append(Retrying(self._excerpt(reason.replace("_", " "), MOST_OF_A_REASON)))

    def usage(self, raw: Raw, data: Raw, said: Said) -> None:
        tokens = (count_of(data.get("inputTokens")), count_of(data.get("outputTokens")))
        cost = amount_of(data.get("cost"))
        cached = count_of(data.get("cacheReadTokens"))
        is_below = _from_sub_agent(raw)
        parent = self._parent_of(data) if is_below else None
        seen = UsageSeen(name_of(str(data["model"])), *tokens, cost, is_below, cached, parent)
        if self._is_new_call(data.get("accounting")):
            said.append(seen)

    def _is_new_call(self, accounting: object) -> bool:
        """The same call may be told twice. Its place in its session is its own; the id that comes
        with it is the service's, which may give one twice."""
        if not isinstance(accounting, dict):
            return True
        said = cast("dict[str, object]", accounting)
        call = (str(said.get("sourceSessionId")), str(said.get("sequence")))
        is_new = call not in self._calls
        self._calls.add(call)
        return is_new

    def context(self, raw: Raw, data: Raw, said: Said) -> None:
        if not _from_sub_agent(raw):
            self._gauge.hear(raw["type"], data, said)

    def model_change(self, raw: Raw, data: Raw, said: Said) -> None:
        if not _from_sub_agent(raw):
            cause = name_of(str(data.get("cause") or "model change"))
            if cause == _WANTED_SWITCH:
                self._asked = self._asked and "auto"
                return
            self._compare(name_of(str(data["newModel"])), cause, said)

    def _compare(self, got: str, cause: str, said: Said) -> None:
        asked = self._asked
        if asked is None or got in self._replaced or same_model(asked, got):
            return
        self._replaced.add(got)
        said.append(ModelReplaced(asked, got, cause))

    # Names.

    def _name(self, name: str) -> str:
        """A provider may use an id again, a block's id is used once."""
        name = _short_id(name)
        self._names[name] += 1
        times = self._names[name]
        return name if times == 1 else f"{name}~{times}"

    def _excerpt(self, text: object, most: int | None = None) -> str:
        # `str` would make a plain text of one with a gap.
        whole = text if isinstance(text, str) else str(text)
        return excerpt(self._redactor, whole, self._most if most is None else most)


def _short_id(name: str) -> str:
    """Ids are the provider's, and stand in every event."""
    if len(name) <= MOST_OF_A_NAME:
        return name
    return f"{name[:32]}~{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"


def same_model(asked: str, got: str) -> bool:
    """Whether `got` is what was asked for: the same id, or a dated release of it."""
    asked, got = asked.lower(), got.lower()
    return asked in {"auto", got, _DATED.sub("", got)} or _DATED.sub("", asked) == got


def _from_sub_agent(raw: Raw) -> bool:
    return bool(raw.get("agentId"))


_HEARERS: dict[str, Callable[[Translator, Raw, Raw, Said], None]] = {
    "assistant.message_delta": Translator.message_delta,
    "assistant.reasoning_delta": Translator.reasoning_delta,
    "assistant.message": Translator.message,
    "assistant.reasoning": Translator.reasoning,
    "tool.execution_start": Translator.tool_start,
    "tool.shell_output": Translator.shell_output,
    "tool.execution_partial_result": Translator.partial_result,
    "tool.execution_complete": Translator.tool_complete,
    "user.message": Translator.began,
    "assistant.turn_start": Translator.began,
    "session.idle": Translator.idle,
    "session.error": Translator.failed,
    "session.warning": Translator.warned,
    "assistant.turn_retry": Translator.retrying,
    "assistant.usage": Translator.usage,
    "session.usage_info": Translator.context,
    "session.compaction_start": Translator.context,
    "session.compaction_complete": Translator.context,
    "session.model_change": Translator.model_change,
    "subagent.started": Translator.sub_agent,
    "subagent.completed": Translator.sub_agent,
    "subagent.failed": Translator.sub_agent,
    "skill.invoked": Translator.sub_agent,
}
