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
# The same, and what is said of a plan.
Decision: TypeAlias = Literal["allow-once", "allow-always", "deny", "approve", "reject"]
# How an item ends. `timeout`: nobody came in time; `cancelled`: whoever asked needs it no more.
ItemOutcome: TypeAlias = Literal[
    "allow-once",
    "allow-always",
    "deny",
    "answered",
    "declined",
    "go-on",
    "approved",
    "rejected",
    "signed-in",
    "timeout",
    "cancelled",
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


Until: TypeAlias = Literal["session", "task-run"]


class AlwaysOption(Frozen):
    """One way to allow more than this once: what it means in words, the rule that it comes to, and
    something else that the rule would allow. `until` the session or the task run ends, or for
    good."""

    id: Words
    title: Words
    rule: Rule
    until: Until | None = None
    example: Words = ""
    note: Words = ""


class AskedOfPerson(Frozen):
    """Whatever waits for a person; `Asked` has them all."""


class ApprovalAsked(AskedOfPerson):
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


class QuestionAsked(AskedOfPerson):
    """The agent, or Airboss, wants to know something of a person: one of the choices, words, or a
    form."""

    kind: Literal["question.asked"] = "question.asked"
    item: ItemId
    call: Words | None = None
    question: Words
    choices: tuple[Words, ...] = ()
    allows_words: bool = True
    # A JSON Schema, as JSON, where the answer is a form.
    form: Words | None = None
    # Asked by Airboss itself, about the work of an agent that crashed.
    by: Literal["airboss"] | None = None
    # The extension that asks; the agent goes on meanwhile.
    extension: Words | None = None
    prompt: PromptId | None = None
    expires_at: int | None = None


class LimitReached(AskedOfPerson):
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


class PlanAsked(AskedOfPerson):
    """The agent has made a plan, and begins with it when a person approves. Until then it only
    reads."""

    kind: Literal["plan.asked"] = "plan.asked"
    item: ItemId
    call: Words | None = None
    # What the agent says of it in short, and the whole plan where it wrote one.
    summary: Words
    plan: Words | None = None
    prompt: PromptId | None = None
    expires_at: int | None = None


class SwitchAsked(AskedOfPerson):
    """The model's service is at its limit. With a person's yes the session goes on with whatever
    model the service chooses (`auto`)."""

    kind: Literal["switch.asked"] = "switch.asked"
    item: ItemId
    model: Words
    # The service's word for what happened, and when the model may be asked again.
    reason: Words | None = None
    retry_seconds: int | None = None
    prompt: PromptId | None = None
    expires_at: int | None = None


class SignInAsked(AskedOfPerson):
    """An MCP server of the session wants a person to sign in. Nothing of the request was sent to
    the agent yet; without a sign-in it goes on without the server."""

    kind: Literal["sign-in.asked"] = "sign-in.asked"
    item: ItemId
    server: Words
    # Where the server is: its host, and no more of its address.
    address: Words
    prompt: PromptId | None = None
    expires_at: int | None = None


class ItemSettled(Frozen):
    """What came of an item, once."""

    kind: Literal["item.settled"] = "item.settled"
    item: ItemId
    outcome: ItemOutcome
    # Nobody where time or the session's end settled it.
    who: Words | None = None
    # The words of an answer; a form's are JSON. Of a denial: what the agent is told. Of a plan:
    # what is to be changed, or why it was rejected.
    answer: Words | None = None
    was_words: bool = False
    # The rule that was written down with it.
    rule: RuleId | None = None
    # What is allowed from now on until the session ends, or the task run.
    allows: Rule | None = None
    # Why it was withdrawn, where that needs saying.
    reason: Words | None = None


Asked: TypeAlias = Annotated[
    ApprovalAsked | QuestionAsked | LimitReached | PlanAsked | SwitchAsked | SignInAsked,
    Field(discriminator="kind"),
]
ASKED_KINDS: Final = (
    "approval.asked",
    "question.asked",
    "limit.reached",
    "plan.asked",
    "switch.asked",
    "sign-in.asked",
)


def goes_on_meanwhile(asked: AskedOfPerson) -> bool:
    """Whether the agent goes on while a person is asked: about a host that a program in its cage
    wants to reach, or what an extension wants to know."""
    if isinstance(asked, QuestionAsked):
        return asked.extension is not None
    return isinstance(asked, ApprovalAsked) and asked.wish == "host"


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
    ApprovalAsked
    | QuestionAsked
    | LimitReached
    | PlanAsked
    | SwitchAsked
    | SignInAsked
    | ItemSettled
    | InboxArrived
    | InboxSettled
)
