"""What a request of the runtime tells: the person's text, the place in the turn, the folder. Pure.

The runtime wraps a person's text in notes of its own and sends some notices as user messages. The
names and sentences here are those of the CLI 1.0.102, seen in recorded requests.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import BaseModel

WRAPPERS = (
    "current_datetime",
    "system_reminder",
    "reminder",
    "system_notification",
    "tagged_files",
    "ide_selection",
    "selection_context",
    "mode_changed_notice",
    "plan_mode",
    "autopilot_mode",
    "autopilot_objective",
    "tools_changed_notice",
    "working_directory_changed",
    "additional_directories_changed",
    "environment_context",
    "extension_context",
    "dynamic_context_board",
    "session_search_context",
    "session_limits_status",
    "session_memory_recovery",
    "session_memory_thread_hint",
    "context_window_reminder",
    "todo_status",
    "active_workflows",
    "lsp_servers",
    "github_references",
    "invoked_skills",
    "skill-context",
    "user_shell_command_output",
)
NOTICE = re.compile(r"\AAdditional (?:context|guidance) from \w+ hooks?:")
SUMMARISED = re.compile(r"\A(?:Some of the|The) conversation history has been summarized")
SUMMARISED_PROMPT = re.compile(r"<user_message>\n(.*?)\n</user_message>", re.DOTALL)
SUMMARISE = "Please create a detailed summary of the conversation so far."
FOCUS = re.compile(r"<user_focus_instructions>\n(.*?)\n</user_focus_instructions>", re.DOTALL)
ASIDE = "You are answering a quick side question"
TITLE = "<session-title></session-title>"
SLUG = "<branch-slug></branch-slug>"
DIRECTORY = re.compile(
    r"<environment_context>.*?Current working directory: ([^\n]+)"
    r"|^\* Current working directory: ([^\n]+)",
    re.DOTALL | re.MULTILINE,
)
MARK = re.compile(r"\Acall_([0-9a-f]{8})_(\d+)_[0-9a-f]+\Z")
UUID = re.compile(r"\A[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")

Purpose: TypeAlias = Literal["turn", "aside", "summary", "title", "slug"]


class MessagePart(BaseModel):
    type: str
    text: str = ""


class Function(BaseModel):
    name: str = ""
    arguments: str = ""


class MessageToolCall(BaseModel):
    id: str = ""
    function: Function = Function()


class Message(BaseModel):
    role: str
    content: str | list[MessagePart] | None = None
    tool_calls: list[MessageToolCall] | None = None

    @property
    def text(self) -> str:
        """The words of it. The name that the runtime puts before each image is none of them."""
        if not isinstance(self.content, list):
            return self.content or ""
        parts, following = self.content, [*self.content[1:], None]
        return "\n".join(
            part.text
            for number, (part, after) in enumerate(zip(parts, following, strict=True))
            if part.type == "text" and not (number and after and after.type != "text")
        )

    @property
    def shows_something(self) -> bool:
        return isinstance(self.content, list) and any(p.type != "text" for p in self.content)


@dataclass(frozen=True)
class Mark:
    """Which reply of which rule a tool call of ours belongs to; its id carries it."""

    rule: str
    reply: int


@dataclass(frozen=True)
class RehearsedConversation:
    """Where a conversation stands."""

    purpose: Purpose
    last: str
    cwd: str
    replies: int
    mark: Mark | None = None
    since_mark: int = 0
    answered: bool = False
    """The last reply asked for no tool, so it was an ending."""
    focus: str = ""
    """What a person wants a summary to dwell on."""


def read(messages: Sequence[Message]) -> RehearsedConversation:
    """Find the last thing that a person said, and what was answered since."""
    system = "\n".join(m.text for m in messages if m.role in ("system", "developer"))
    replies, since_mark, mark, last, answered = 0, 0, None, "", False
    for message in reversed(messages):
        if message.role == "user" and (said := person_text(message.text)) is not None:
            last = said
            break
        if message.role == "user" and message.shows_something:
            break  # an image without words
        if message.role != "assistant" or made_by_the_runtime(message):
            continue
        answered = answered or (not replies and not message.tool_calls)
        replies += 1
        if mark is None:
            mark = mark_of(message)
            since_mark += mark is None
    return RehearsedConversation(
        purpose=purpose_of(messages, system),
        last=last,
        cwd=directory_in(system),
        replies=replies,
        mark=mark,
        since_mark=since_mark if mark else 0,
        answered=answered,
        focus=focus_of(messages),
    )


def person_text(text: str) -> str | None:
    """What a person wrote in a user message, or None where the runtime wrote all of it."""
    if SUMMARISED.match(text):
        prompts = SUMMARISED_PROMPT.findall(text)
        return person_text(prompts[-1]) if prompts else None
    if NOTICE.match(text) or text.startswith(SUMMARISE):
        return None
    bare = text.strip()
    while (peeled := peel(bare)) != bare:
        bare = peeled
    return bare if bare or not text.strip() else None


def peel(text: str) -> str:
    """Take one note of the runtime off the beginning or the end."""
    for tag in WRAPPERS:
        closing = f"</{tag}>"
        if text.startswith((f"<{tag}>", f"<{tag} ")) and (end := text.find(closing)) > 0:
            return text[end + len(closing) :].strip()
        if text.endswith(closing):
            start = max(text.rfind(f"<{tag}>"), text.rfind(f"<{tag} "))
            if start >= 0:
                return text[:start].strip()
    return text.removeprefix("[[PLAN]]").strip()


def made_by_the_runtime(message: Message) -> bool:
    """After a notice the runtime reads a command's output in the model's name, under a UUID."""
    calls = message.tool_calls or []
    return bool(calls) and all(UUID.match(call.id) for call in calls)


def mark_of(message: Message) -> Mark | None:
    for call in message.tool_calls or []:
        if found := MARK.match(call.id):
            return Mark(rule=found[1], reply=int(found[2]))
    return None


def purpose_of(messages: Sequence[Message], system: str) -> Purpose:
    """The runtime also asks on its own account; scripts are not about that."""
    ending = messages[-1].text if messages else ""
    if ending.startswith(SUMMARISE):
        return "summary"
    if TITLE in system or TITLE in ending:
        return "title"
    if SLUG in system or SLUG in ending:
        return "slug"
    return "aside" if system.startswith(ASIDE) else "turn"


def focus_of(messages: Sequence[Message]) -> str:
    ending = messages[-1].text if messages else ""
    found = FOCUS.search(ending) if ending.startswith(SUMMARISE) else None
    return found[1] if found else ""


def directory_in(system: str) -> str:
    """The working directory; a dot where a system message of one's own does not name it."""
    found = DIRECTORY.search(system)
    return (found[1] or found[2]).strip() if found else "."


def weigh(messages: Iterable[Message]) -> int:
    """How many tokens this may be: a quarter of its letters."""
    letters = 0
    for message in messages:
        letters += len(message.text)
        letters += sum(len(call.function.arguments) for call in message.tool_calls or [])
    return letters // 4 + 1
