"""What a task concluded: the first paragraph of what its agent said last."""

import re
from typing import Final

from airboss.log.log import EventLog
from airboss.model.events import MessageEnded, PromptSteered, TurnStarted
from airboss.model.run_titles import clipped
from airboss.model.task_events import ToolCall
from airboss.model.task_runs import Attempt, TaskRunStory, tell_story

_LONGEST: Final = 400
_PAGE: Final = 500
_KINDS: Final = ("turn.started", "prompt.steered", "message.ended")
_HEADING: Final = re.compile(r"\A#{1,6}\s")
_RULE: Final = re.compile(r"\A(?:-{3,}|\*{3,}|_{3,})\Z")


def first_paragraph(text: str) -> str:
    """On one line, without headings before it; shortened where it is long."""
    lines: list[str] = []
    for said in map(str.strip, text.splitlines()):
        if not lines and (not said or _HEADING.match(said) or _RULE.match(said)):
            continue
        if not said:
            break
        lines.append(said)
    return clipped(" ".join(" ".join(lines).split()), _LONGEST)


async def conclude(log: EventLog, task_run: str) -> str:
    """The conclusion of a task whose last mission has ended, read from the log."""
    said = await log.after(task_run, 0, _PAGE)
    return await conclusion_of(log, tell_story(said))


async def conclusion_of(log: EventLog, story: TaskRunStory) -> str:
    """Of the last time that the task's prompt was put to an agent. Where that said nothing, what it
    reported by its tools."""
    sent = [attempt for attempt in story.attempts if attempt.mission.kind == "prompt"]
    return await said_in(log, sent[-1]) if sent else ""


async def said_in(log: EventLog, attempt: Attempt) -> str:
    return conclusion_from(await _last_message(log, attempt), attempt.calls)


def conclusion_from(message: str, calls: tuple[ToolCall, ...]) -> str:
    said = first_paragraph(message)
    if said or not calls:
        return said
    return first_paragraph(calls[-1].argument)


async def _last_message(log: EventLog, attempt: Attempt) -> str:
    """In the turn that the attempt's prompt began: a session may have been asked more since."""
    last, after, is_own = "", 0, False
    await log.last_view(attempt.session)  # what was said a moment ago is on disk then
    while found := await log.transcript(attempt.session, after, _PAGE, _KINDS):
        after = found[-1].seq
        for recorded in found:
            match recorded.event:
                case TurnStarted(prompt=prompt):
                    is_own = prompt == attempt.prompt
                case PromptSteered(prompt=prompt) if prompt == attempt.prompt:
                    is_own = True
                case MessageEnded(text=text) if is_own and text.strip():
                    last = text
                case _:
                    pass
    return last
