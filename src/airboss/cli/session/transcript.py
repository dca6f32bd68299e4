"""Draws a session's events for a person: what the agent says, does, and may not do."""

import json
from dataclasses import dataclass, field
from typing import Any, cast

from airboss.cli.heard import Record
from airboss.cli.inbox.item_page import command_of, outcome_words, title_of
from airboss.cli.screen import Pen, aside, visible, visible_line
from airboss.model.excerpt import left_out_words

_SUMMARY_LENGTH = 90
# What tells most of a tool's call, by the names that tools give it.
_TELLING = ("command", "path", "pattern", "query", "url", "description", "prompt", "intent", "name")
_HOW_TO_ALLOW = "To be asked instead, start the server with: airboss serve --permissions ask"


@dataclass
class Transcript:
    """`said` gets the agent's words, `aside` all else.

    `is_full` adds what somebody who takes part knows anyway.
    """

    said: Pen
    aside: Pen
    is_full: bool = False
    tools: dict[str, Record] = field(default_factory=dict[str, Record])
    # The calls that wait for what another call asked a person.
    behind: set[str] = field(default_factory=set[str])
    is_retrying: bool = False
    denials: list[str] = field(default_factory=list[str])
    _shown: dict[str, int] = field(default_factory=dict[str, int])
    _line: tuple[str, Pen] | None = None

    @property
    def is_at_line_start(self) -> bool:
        return self._line is None

    @property
    def doing(self) -> str:
        """What the agent is at, for whoever waits."""
        if self.tools:
            return ", ".join(self._doing(block, call.event) for block, call in self.tools.items())
        return "Retrying the model" if self.is_retrying else "Working"

    def _doing(self, block: str, call: dict[str, Any]) -> str:
        end = " (waiting for another approval)" if block in self.behind else ""
        return f"{_title(call)}{end}"

    def draw(self, record: Record) -> None:
        area, _, what = record.kind.partition(".")
        event = record.event
        if draw := _DRAWN.get(record.kind):
            draw(self, event)
        elif area in ("message", "reasoning"):
            self.is_retrying = False
            self._draw_text(area, what, event)
        elif area == "tool":
            self._draw_tool(what, record)
        # A newer server may say more than we know.

    def note(self, text: str, *styles: str) -> None:
        """A line beside the conversation."""
        self._break(self.aside)
        self.aside.line(self.aside.styled(visible(text), *styles))

    def remark(self, text: str) -> None:
        """A line for the person who waits, never among what a script reads."""
        pen = aside()
        self._break(pen)
        pen.line(pen.styled(visible(text), "yellow"))

    def end_line(self) -> None:
        if self._line is not None:
            self._line[1].line()
            self._line = None

    def _break(self, pen: Pen) -> None:
        """End another's unfinished line, where both are read in one place."""
        if self._line is None:
            return
        other = self._line[1]
        if other.stream is pen.stream or (other.is_terminal and pen.is_terminal):
            self.end_line()

    def _draw_text(self, area: str, what: str, event: dict[str, Any]) -> None:
        is_reasoning = area == "reasoning"
        pen = self.aside if is_reasoning else self.said
        if is_reasoning and not (pen.is_terminal or self.is_full):
            return
        block = str(event.get("block", ""))
        text = str(event.get("text", ""))
        shown = self._shown.get(block, 0)
        if what == "delta":
            start = int(event.get("offset", shown))
        elif what == "ended":
            start = 0
        else:
            return
        self._append(block, pen, text[max(shown - start, 0) :], is_reasoning)
        self._shown[block] = max(shown, start + len(text))
        if what == "ended":
            self._end_block(block, is_cut=bool(event.get("cut")))

    def _append(self, block: str, pen: Pen, text: str, is_reasoning: bool) -> None:
        if not text:
            return
        if self._line is not None and self._line[0] != block:
            self._break(pen)
        if is_reasoning and not pen.has_colour and not self._shown.get(block):
            pen.write("(thinking) ")
        styles = ("dim",) if is_reasoning else ()
        pen.write(pen.styled(visible(text), *styles))
        self._line = None if text.endswith("\n") else (block, pen)

    def _end_block(self, block: str, *, is_cut: bool) -> None:
        self._shown.pop(block, None)
        if self._line is not None and self._line[0] == block:
            self.end_line()
        if is_cut:
            self.note("(cut off here)", "dim")

    def _draw_tool(self, what: str, record: Record) -> None:
        block = str(record.event.get("block", ""))
        if what == "started":
            self.tools[block] = record
        if what != "ended":
            return
        started = self.tools.pop(block, None)
        call = started.event if started else {"name": "tool"}
        error = cast("dict[str, Any] | None", record.event.get("error"))
        pen = self.aside
        if error:
            sign, end = pen.styled("✗", "red"), f": {self._why(str(error.get('message', '')))}"
        elif record.event.get("cut"):
            sign, end = pen.styled("✗", "yellow"), " (cut off)"
        else:
            sign, end = pen.styled("✓", "green"), ""
        self._break(pen)
        left_out = int(record.event.get("left_out") or 0)
        indent = "  " if call.get("parent") else ""
        line = visible_line(f"{_title(call)}{end}", _SUMMARY_LENGTH * 2)
        shortened = f" ({left_out_words(left_out)} of its output)" if left_out else ""
        pen.line(f"{indent}{sign} {line}{shortened}")

    def _why(self, message: str) -> str:
        """What a denial said already is not said twice."""
        is_denied = any(reason and reason in message for reason in self.denials)
        return "denied" if is_denied else message or "failed"


Event = dict[str, Any]


def _draw_permission(page: Transcript, event: Event) -> None:
    request = visible_line(f"{event.get('wish', '')} {event.get('about', '')}", _SUMMARY_LENGTH)
    reason = visible_line(str(event.get("reason", "")))
    if event.get("allowed"):
        if page.is_full:
            page.note(f"Allowed by {event.get('by', 'the policy')}: {request}", "dim")
        return
    page.note(f"✗ Denied: {request}. {reason}", "yellow")
    is_by_policy = not str(event.get("by", "")).startswith(("person", "nobody", "rule", "size"))
    if is_by_policy and not page.denials and "--permissions" not in reason:
        page.note(f"  {_HOW_TO_ALLOW}", "dim")
    page.denials.append(str(event.get("reason", "")))


def _draw_prompt(page: Transcript, event: Event) -> None:
    if page.is_full:
        page.note(f"{event.get('who', 'somebody')}> {event.get('text', '')}", "cyan")


def _draw_changed(page: Transcript, event: Event) -> None:
    if page.is_full:
        text = f"{event.get('who', 'somebody')} changed a queued message: {event.get('text')}"
        page.note(text, "dim")


def _draw_moved(page: Transcript, event: Event) -> None:
    if page.is_full:
        page.note(f"{event.get('who', 'somebody')} moved a queued message.", "dim")


def _draw_steered(page: Transcript, event: Event) -> None:
    del event
    if page.is_full:
        page.note("A message was added to the running turn.", "dim")


def _draw_aside(page: Transcript, event: Event) -> None:
    if page.is_full:
        page.note(
            f"{event.get('who', 'somebody')}, side question> {event.get('question', '')}", "cyan"
        )
        page.note(str(event.get("answer", "")), "dim")


def _draw_dropped(page: Transcript, event: Event) -> None:
    page.note(f"A message was not delivered: {event.get('reason', '')}", "yellow")


def _draw_turn_started(page: Transcript, event: Event) -> None:
    del event
    page.is_retrying = False
    page.tools.clear()


def _draw_turn_retrying(page: Transcript, event: Event) -> None:
    page.is_retrying = True
    page.note(f"The model service failed. Retrying: {event.get('reason', '')}", "yellow")


def _draw_turn_ended(page: Transcript, event: Event) -> None:
    page.tools.clear()
    match event.get("outcome"):
        case "failed":
            page.note("The turn failed.", "red")
        case "aborted":
            page.note("The turn was stopped.", "yellow")
        case "interrupted":
            page.note("The turn was interrupted.", "yellow")
        case _ if page.is_full:
            page.note(f"({_cost(event)})", "dim")
        case _:
            pass


def _draw_error(page: Transcript, event: Event) -> None:
    page.note(f"{event.get('name', 'error')}: {event.get('message', '')}", "red")


def _draw_loop(page: Transcript, event: Event) -> None:
    """One that is refused is drawn as that."""
    if event.get("level") == "warning":
        page.note(
            f"The agent is repeating itself: {visible_line(str(event.get('text', '')))}", "yellow"
        )


def _draw_veto(page: Transcript, event: Event) -> None:
    tool, reason = str(event.get("tool", "")), str(event.get("reason", ""))
    page.note(f"✗ Refused: {visible_line(tool)}. {visible_line(reason)}", "yellow")
    page.denials.append(reason)


def _draw_hook(page: Transcript, event: Event) -> None:
    """One that left all as it was is told where everything is."""
    decided, error = event.get("decided"), event.get("error")
    if not error and decided in (None, "nothing") and not page.is_full:
        return
    said = error or event.get("reason") or ""
    what = f"Hook {event.get('hook')} ({event.get('program')}, {event.get('milliseconds')} ms)"
    words = visible_line(f"{what}: {'failed' if error else decided or 'nothing'}. {said}".strip())
    page.note(words, "yellow" if error or decided == "blocked" else "dim")


def _draw_waiting(page: Transcript, event: Event) -> None:
    page.behind.add(str(event.get("block", "")))
    where = visible_line(str(event.get("session", "")))
    if title := visible_line(str(event.get("session_title", "")), _SUMMARY_LENGTH):
        where = f"{where} ({title})"
    what, item = visible_line(str(event.get("title", ""))), visible_line(str(event.get("item", "")))
    page.note(
        f"Waiting for the approval “{what}” in session {where}: both edit one file.", "yellow"
    )
    page.note(f"  Review and decide with: airboss inbox {item}", "dim")


def _draw_going(page: Transcript, event: Event) -> None:
    page.behind.discard(str(event.get("block", "")))


def _draw_opened(page: Transcript, event: Event) -> None:
    if page.is_full:
        said = f"{event.get('model')} in {event.get('cwd')}, permissions {event.get('policy')}"
        page.note(f"Session opened by {event.get('who')}: {said}", "dim")


def _draw_resumed(page: Transcript, event: Event) -> None:
    page.note(f"The session was resumed with its history (by {event.get('who', '')}).", "dim")


def _draw_interrupted(page: Transcript, event: Event) -> None:
    page.note(f"The session was interrupted: {event.get('reason', '')}", "yellow")


def _draw_closed(page: Transcript, event: Event) -> None:
    page.note(f"The session is closed: {event.get('reason', '')}", "dim")


def _draw_asked(page: Transcript, event: Event) -> None:
    """For those who only watch; whoever takes part is asked by the chat itself."""
    if page.is_full:
        page.note(f"! Waiting for a person: {title_of(event)} {command_of(event)}", "yellow")


def _draw_settled(page: Transcript, event: Event) -> None:
    """A no is told with what was denied."""
    if event.get("outcome") == "deny":
        return
    said = event.get("answer") or event.get("reason")
    words = f": {said}" if said else ""
    page.note(visible_line(f"{outcome_words(event)}{words}", _SUMMARY_LENGTH * 2), "dim")


_DRAWN = {
    "approval.asked": _draw_asked,
    "question.asked": _draw_asked,
    "limit.reached": _draw_asked,
    "plan.asked": _draw_asked,
    "switch.asked": _draw_asked,
    "sign-in.asked": _draw_asked,
    "item.settled": _draw_settled,
    "session.opened": _draw_opened,
    "session.resumed": _draw_resumed,
    "session.interrupted": _draw_interrupted,
    "session.closed": _draw_closed,
    "session.error": _draw_error,
    "prompt.accepted": _draw_prompt,
    "prompt.changed": _draw_changed,
    "prompt.moved": _draw_moved,
    "prompt.steered": _draw_steered,
    "prompt.dropped": _draw_dropped,
    "aside.answered": _draw_aside,
    "turn.started": _draw_turn_started,
    "turn.retrying": _draw_turn_retrying,
    "turn.ended": _draw_turn_ended,
    "permission.decided": _draw_permission,
    "loop.noticed": _draw_loop,
    "tool.vetoed": _draw_veto,
    "hook.ran": _draw_hook,
    "tool.waiting": _draw_waiting,
    "tool.going": _draw_going,
}


def _title(call: dict[str, Any]) -> str:
    """A tool's call in one line: its name, and what it is about."""
    name = str(call.get("name", "tool"))
    try:
        given: object = json.loads(str(call.get("arguments", "")))
    except ValueError:
        given = None
    if not isinstance(given, dict) or not given:
        return visible_line(name, _SUMMARY_LENGTH)
    arguments = cast("dict[str, Any]", given)
    said = next((arguments[key] for key in _TELLING if isinstance(arguments.get(key), str)), None)
    about = said if said is not None else json.dumps(arguments, ensure_ascii=False)
    return visible_line(f"{name} {about}", _SUMMARY_LENGTH)


def _cost(event: dict[str, Any]) -> str:
    usage = cast("dict[str, Any]", event.get("usage") or {})
    models = ", ".join(str(model) for model in event.get("models") or ("no model",))
    tokens = f"{usage.get('input_tokens', 0)} tokens in, {usage.get('output_tokens', 0)} out"
    return f"{models}: {tokens}"
