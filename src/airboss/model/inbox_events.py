"""What an agent asks of a person, what the person said, and the one list of all that waits.

An item is told in the stream of its session first; the stream `inbox` repeats it for those who
look after all sessions.
"""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from airboss.model.ids import ItemId, PromptId, RuleId, RunId, SessionId, TaskRunId
from airboss.model.limits import Granted
from airboss.model.rules import Rule
from airboss.model.words import Frozen, Words

INBOX: Final = "inbox"

Choice: TypeAlias = Literal["allow-once", "allow-always", "deny"]
# How an item ends. `timeout`: nobody came in time; `cancelled`: whoever asked needs it no more.
ItemOutcome: TypeAlias = Literal[
    "allow-once", "allow-always", "deny", "answered", "declined", "go-on", "timeout", "cancelled"
]
Severity: TypeAlias = Literal["low", "medium", "high"]


class Subject(Frozen):
    """What an approval is about: of these, the fields that the request has."""

    command: Words | None = None
    diff: Words | None = None
    path: Words | None = None
    address: Words | None = None
    # All that the runtime said of it, as JSON. Of what stands above, long texts are left out.
    arguments: Words = "{}"


class AlwaysOption(Frozen):
    """One way to allow more than this once: what it means in words, the rule that it comes to, and
    something else that the rule would allow. `until` the session ends, or for good."""

    id: Words
    title: Words
    rule: Rule
    until: Literal["session"] | None = None
    example: Words = ""
    note: Words = ""


class ApprovalAsked(Frozen):
    """The agent asks permission to do something, and a person decides."""

    kind: Literal["approval.asked"] = "approval.asked"
    item: ItemId
    # The runtime's own name for the request: another one after each resume of the session.
    request: Words
    # The tool call that it is about: the same after a resume.
    call: Words | None = None
    wish: Words
    tool: Words | None = None
    title: Words
    description: Words
    severity: Severity
    # What could be lost, in a sentence.
    risk: Words | None = None
    subject: Subject
    # The same request, asked again, has the same.
    fingerprint: Words
    choices: tuple[Choice, ...] = ("allow-once", "allow-always", "deny")
    # What “allow-always” would write down.
    rule: Rule | None = None
    # What it could mean, the narrowest first: that is the rule above.
    options: tuple[AlwaysOption, ...] | None = None
    prompt: PromptId | None = None
    # Without one it waits for as long as it takes.
    expires_at: int | None = None


class QuestionAsked(Frozen):
    """The agent wants to know something of a person: one of the choices, words, or a form."""

    kind: Literal["question.asked"] = "question.asked"
    item: ItemId
    call: Words | None = None
    question: Words
    choices: tuple[Words, ...] = ()
    allows_words: bool = True
    # A JSON Schema, as JSON, where the answer is a form.
    form: Words | None = None
    prompt: PromptId | None = None
    expires_at: int | None = None


class LimitReached(Frozen):
    """A limit was reached: a person says whether the work goes on."""

    kind: Literal["limit.reached"] = "limit.reached"
    item: ItemId
    # Whose limit, and which: `turns`, `tokens`, `cost`, `minutes` or `idleMinutes`.
    scope: Words
    limit: Words
    allowed: float
    used: float
    # A yes grants so much more than was used; nothing where it lifts the limit.
    more: float | None = None
    # Nothing of the request was sent to the agent yet.
    before_turn: bool = False
    prompt: PromptId | None = None
    expires_at: int | None = None


class ItemSettled(Frozen):
    """What came of an item, once."""

    kind: Literal["item.settled"] = "item.settled"
    item: ItemId
    outcome: ItemOutcome
    # Nobody where time or the session's end settled it.
    who: Words | None = None
    # The words of an answer; a form's are JSON. Of a denial: what the agent is told.
    answer: Words | None = None
    was_words: bool = False
    # The rule that was written down with it.
    rule: RuleId | None = None
    # What is allowed from now on until the session ends.
    allows: Rule | None = None
    # Why it was withdrawn, where that needs saying.
    reason: Words | None = None


Asked: TypeAlias = Annotated[
    ApprovalAsked | QuestionAsked | LimitReached, Field(discriminator="kind")
]


def granted_by(asked: LimitReached) -> Granted:
    """What a yes comes to."""
    upto = None if asked.more is None else max(asked.allowed, asked.used) + asked.more
    return Granted(scope=asked.scope, limit=asked.limit, upto=upto)


class InboxItem(Frozen):
    """One thing that waits for a person."""

    id: ItemId
    session: SessionId
    asked: Asked
    asked_at: int
    # For whom the session works, where no person opened it.
    task_run: TaskRunId | None = None
    run: RunId | None = None


class InboxArrived(Frozen):
    """Something waits for a person."""

    kind: Literal["inbox.arrived"] = "inbox.arrived"
    item: InboxItem


class InboxSettled(Frozen):
    """It waits no longer."""

    kind: Literal["inbox.settled"] = "inbox.settled"
    item: ItemId
    session: SessionId
    outcome: ItemOutcome
    who: Words | None = None


InboxEvent: TypeAlias = (
    ApprovalAsked | QuestionAsked | LimitReached | ItemSettled | InboxArrived | InboxSettled
)
