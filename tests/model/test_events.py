"""Events come back from JSON as they went in, and nothing unknown comes with them."""

import json
from typing import get_args

import pytest
from pydantic import ValidationError

from airboss.model.account_events import AccountChanged
from airboss.model.audit_events import (
    Actor,
    AuditTrimmed,
    BrowserSignedIn,
    BrowserSignedOut,
    Deleted,
    EntryInstalled,
    EntryWritten,
    ExtensionChanged,
    ItemDecided,
    RequestRefused,
    RulesChanged,
    SecretChanged,
    ServerStarted,
    ServerStopped,
    SettingChanged,
    SourceChanged,
    TokenChanged,
    TokenFacts,
    TrustChanged,
)
from airboss.model.cage_events import (
    CageClosed,
    CageLimit,
    CageLimits,
    CageOpened,
    EgressClosed,
    EgressOpened,
    EgressRefused,
)
from airboss.model.context_events import (
    CompactionEnded,
    CompactionStarted,
    ContextMeasured,
    SessionChanged,
)
from airboss.model.events import (
    EVENT,
    AsideAnswered,
    Event,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    PermissionDecided,
    PromptAccepted,
    PromptChanged,
    PromptDropped,
    PromptMoved,
    PromptSteered,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    Recorded,
    SessionClosed,
    SessionError,
    SessionIdle,
    SessionInterrupted,
    SessionOpened,
    SessionPinned,
    SessionReady,
    SessionRenamed,
    SessionResumed,
    ToolDelta,
    ToolEnded,
    ToolError,
    ToolResult,
    ToolStarted,
    TurnEnded,
    TurnRetrying,
    TurnStarted,
    TurnUsage,
    Usage,
)
from airboss.model.extension_events import (
    ExtensionEnded,
    ExtensionHooked,
    ExtensionRefused,
    ExtensionSaid,
    ExtensionStarted,
)
from airboss.model.gate_events import LoopNoticed, ToolGoing, ToolVetoed, ToolWaiting
from airboss.model.hook_events import HookRan
from airboss.model.ids import ItemId, PromptId, RuleId, SessionId, SignInId, TaskRunId, TurnId
from airboss.model.inbox_events import (
    ApprovalAsked,
    InboxArrived,
    InboxItem,
    InboxSettled,
    ItemSettled,
    LimitReached,
    PlanAsked,
    QuestionAsked,
    SignInAsked,
    Subject,
    SwitchAsked,
)
from airboss.model.lineage_events import SessionForked, SessionRestarted
from airboss.model.mcp_events import McpChanged
from airboss.model.rules import Rule
from airboss.model.run_events import (
    RunAccepted,
    RunEnded,
    RunEnding,
    RunError,
    RunMoved,
    RunPlaced,
    RunRenamed,
    RunResumed,
    RunRetried,
    RunTagged,
    RunTreeKept,
    WorkCut,
    WorkGoing,
    WorkRetrying,
    WorkStarted,
    WorkStopped,
    WorkWaiting,
)
from airboss.model.sub_agent_events import (
    SkillInvoked,
    SubAgentEnded,
    SubAgentSaid,
    SubAgentStarted,
)
from airboss.model.task_events import (
    Mission,
    MissionEnded,
    MissionSent,
    RetryDecided,
    TaskAccepted,
    TaskChecked,
    TaskDecided,
    TaskEnded,
    TaskError,
    TaskGoing,
    TaskRetrying,
    TaskSessionFailed,
    TaskSessionStarted,
    TaskSessionStopped,
    TaskWaiting,
    ToolCall,
)

PROMPT, TURN, SESSION = PromptId("pro_1"), TurnId("trn_1"), SessionId("ses_1")
TASK = TaskRunId("tsk_1")
MISSION = Mission(kind="prompt", round=0, attempt=1)
CALL = ToolCall(tool="job_boolean_true", argument="it is")
ITEM = ItemId("itm_1")
APPROVAL = ApprovalAsked(
    item=ITEM,
    request="r",
    wish="shell",
    tool="bash",
    title="Run a command?",
    description="It lists files.",
    severity="high",
    subject=Subject(command="ls", arguments='{"command":"ls"}'),
    fingerprint="f",
    rule=Rule(verdict="allow", wish="shell", command="ls"),
)

ME = Actor(who="me", address="127.0.0.1", via="page")

ONE_OF_EACH: tuple[Event, ...] = (
    SessionOpened(model="m", cwd="/work", policy="read-only", who="me"),
    SessionReady(),
    SessionResumed(who="me"),
    SessionInterrupted(reason="The server ended."),
    SessionClosed(reason="Done.", who="me"),
    SessionRenamed(title="A better name", who="owner"),
    SessionPinned(pinned=True, who="owner"),
    SessionError(name="Quota", message="Too many", status=429, stack="…", cause="rate"),
    SessionIdle(),
    PromptAccepted(prompt=PROMPT, text="Say „hello“\n😀\x00", who="me", redacted=1),
    PromptChanged(prompt=PROMPT, text="Say less", who="me"),
    PromptMoved(prompt=PROMPT, before=PromptId("pro_2"), who="me"),
    PromptSteered(prompt=PROMPT, turn=TURN),
    PromptDropped(prompt=PROMPT, reason="Closed."),
    AsideAnswered(who="me", question="Which file?", answer="This one."),
    TurnStarted(turn=TURN, prompt=PROMPT),
    TurnRetrying(turn=TURN, reason="overloaded"),
    TurnUsage(turn=TURN, usage=Usage(requests=1, turns=1, multiplier=0.5)),
    TurnEnded(turn=TURN, outcome="done", models=("m",), usage=Usage(requests=2, cost=0.5)),
    PermissionDecided(request="r", wish="shell", about="ls", allowed=False, by="me", reason="no"),
    ReasoningStarted(block="r"),
    ReasoningDelta(block="r", offset=0, text="hm"),
    ReasoningEnded(block="r", text="hm", cut=True),
    MessageStarted(block="m"),
    MessageDelta(block="m", offset=3, text="lo"),
    MessageEnded(block="m", text="hello"),
    ToolStarted(block="t", parent="p", name="shell", arguments='{"command":"ls"}'),
    ToolDelta(block="t", offset=0, text="out"),
    ToolEnded(block="t", text="out", result=ToolResult(content="out", detailed_content="more")),
    TaskAccepted(
        task="plan", entry="e", model="m", cwd="/work", policy="ask", user_input="do", who="me"
    ),
    TaskWaiting(reason="a free place"),
    TaskGoing(),
    TaskSessionStarted(session=SESSION, model="m", is_driving=True),
    TaskSessionFailed(model="m", is_driving=False, outcome="crashed", reason="no room"),
    TaskSessionStopped(session=SESSION, succeeded=False),
    MissionSent(mission=MISSION, session=SESSION, prompt=PROMPT, text="do"),
    MissionEnded(mission=MISSION, session=SESSION, outcome="done", calls=(CALL,)),
    TaskChecked(field="criteria.condition", round=0, holds=True, content="?", reason="it is"),
    TaskRetrying(retry=1, of=3, reason="no"),
    RetryDecided(session=SESSION, again=True, who="owner"),
    TaskDecided(text="[MISC] Hm."),
    TaskError(name="OSError", message="full", stack="…", cause="disk"),
    TaskEnded(outcome="failed", reason="no", who="me"),
    RunAccepted(job="ship", entry="e", cwd="/work", user_input="it", who="me"),
    RunResumed(reason="restart"),
    RunPlaced(machine="build-1"),
    RunMoved(before="build-1", to="build-2", reason="build-1 was lost."),
    RunRetried(time=2, who="me", redo=("0.1",)),
    WorkStarted(work=0, path="0.1", task="plan", task_run=TASK),
    WorkWaiting(path="0.1", reason="a place"),
    WorkGoing(path="0.1"),
    WorkRetrying(path="0.1", task_run=TASK, retry=1, of=2),
    WorkStopped(work=0, path="0.1", task_run=TASK, succeeded=True, usage=Usage(cost=1.5)),
    WorkCut(path="0.1", task_run=TASK, usage=Usage(requests=1)),
    RunEnding(outcome="canceled", reason="Stopped by me.", who="me"),
    RunError(name="OSError", message="full", stack="…", cause="disk"),
    RunTreeKept(when="begin", tree="4b825dc", left_out=1),
    RunRenamed(short_title="Follower", who="me"),
    RunTagged(tags=("bug", "live"), who="me"),
    RunEnded(outcome="canceled", reason="Stopped by me.", who="me"),
    APPROVAL,
    QuestionAsked(item=ITEM, question="Which?", choices=("a", "b"), prompt=PROMPT),
    LimitReached(item=ITEM, scope="job ship", limit="tokens", allowed=1000, used=1200),
    PlanAsked(item=ITEM, call="c1", summary="- one", plan="# Plan", prompt=PROMPT),
    SwitchAsked(item=ITEM, model="m-1", reason="rate_limited", retry_seconds=30, prompt=PROMPT),
    SignInAsked(item=ITEM, server="wiki", address="wiki.example.com", prompt=PROMPT),
    ItemSettled(item=ITEM, outcome="deny", who="me", answer="Not now."),
    InboxArrived(item=InboxItem(id=ITEM, session=SESSION, asked=APPROVAL, asked_at=1)),
    InboxSettled(item=ITEM, session=SESSION, outcome="timeout"),
    ContextMeasured(tokens=8476, limit=128_000),
    CompactionStarted(trigger="manual", before=8476, who="me"),
    CompactionEnded(trigger="manual", before=8476, after=4000, removed=3),
    SessionChanged(model="other", reasoning_effort="high", policy="ask", who="me"),
    SessionRestarted(why="Its folder is different from before.", number=2),
    SessionForked(who="me", source=SessionId("ses_0"), before=PromptId("pro_1"), runtime="r"),
    SubAgentStarted(parent="p", agent="reviewer", model="m"),
    SubAgentSaid(block="s", parent="p", text="I look."),
    SubAgentEnded(parent="p", agent="reviewer", outcome="failed", error="No.", tool_calls=1),
    SkillInvoked(name="owl", description="All about owls", parent="p", preloaded=True),
    McpChanged(server="files", state="failed", error="It ended."),
    LoopNoticed(level="warning", detector="repeat", tool="bash", count=10, text="Again?"),
    ToolVetoed(tool="bash", block="t", reason="Not again.", denied="tool-loop"),
    HookRan(hook="preToolUse", program="check.sh", milliseconds=3, decided="blocked", reason="No."),
    ToolWaiting(block="t", item=ITEM, title="Change it?", session=SESSION, session_title="One"),
    ToolGoing(block="t"),
    AccountChanged.model_validate({"from": "work", "to": "team", "why": "its quota is used up"}),
    CageOpened(
        strength="strong",
        profile="default",
        walls=("namespaces", "seccomp"),
        limits=CageLimits(memory_mb=4096, processes=512, file_mb=2048),
    ),
    CageClosed(how="The session was closed.", peak_memory_mb=96),
    CageLimit(what="memory", text="It wanted more than 4096 MB."),
    EgressOpened(host="example.org", port=443, address="1.1.1.1", by="profile"),
    EgressClosed(host="example.org", port=443, connections=2, sent=10, received=20, seconds=0.5),
    EgressRefused(host="other.example", port=443, why="It is not in the list.", count=3),
    ExtensionStarted(
        name="guard", scope="project", language="python", digest="d", tools=("t",), hooks=("h",)
    ),
    ExtensionEnded(name="guard", reason="It ended.", crashed=True, restart_in=1),
    ExtensionRefused(name="guard", reason="Its tool bash has a name that is taken."),
    ExtensionSaid(name="guard", level="warning", text="Mind the gap."),
    ExtensionHooked(name="guard", hook="preToolUse", tool="bash", outcome="denied", text="no"),
    ServerStarted(
        by=Actor(via="server"),
        version="1",
        policy="ask",
        settings="{}",
        needs_token=True,
        tokens=(TokenFacts(name="ci", role="operate", until=1),),
    ),
    ServerStopped(by=ME),
    BrowserSignedIn(by=ME, sign_in=SignInId("sgn_1"), device="Firefox on Linux", until=1),
    BrowserSignedOut(by=ME, sign_in=SignInId("sgn_1"), name="me", why="asked"),
    RequestRefused(by=Actor(address="::1", via="api"), status=401, code="x", path="/", count=2),
    ItemDecided(by=ME, item=ITEM, session=SESSION, outcome="deny", about="Run ls"),
    RulesChanged(by=ME, change="added", rule=RuleId("rul_1"), text="deny everything"),
    TrustChanged(by=ME, change="trusted", paths=("/work/airboss.yaml",), digest="d"),
    SettingChanged(by=ME, change="changed", name="max_tasks", value="24", before="null"),
    TokenChanged(by=ME, change="removed", token=TokenFacts(name="ci", role="own"), changed_at=1),
    SecretChanged(by=ME, change="kept", name="lab", place="file"),
    SourceChanged(by=ME, change="added", source="provider", name="lab", about="openai at x"),
    EntryInstalled(by=ME, source="api", digest="d"),
    EntryWritten(by=ME, path="/work/airboss.yaml", digest="e", before="d"),
    ExtensionChanged(by=ME, change="created", name="guard", scope="user", path="/x/guard"),
    Deleted(by=ME, stream=SESSION),
    AuditTrimmed(by=Actor(via="server"), keep_days=2, before=1, count=3),
)


def test_there_is_one_example_of_every_kind() -> None:
    union, _ = get_args(Event)
    assert [type(event) for event in ONE_OF_EACH] == list(get_args(union))


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: event.kind)
def test_an_event_comes_back_as_it_was(event: Event) -> None:
    recorded = Recorded.of(7, 1234, event)
    assert EVENT.validate_json(recorded.body) == event
    assert Recorded(7, 1234, recorded.body).event == event
    told = json.loads(recorded.json)
    assert told == {"seq": 7, "at": 1234, "event": json.loads(recorded.body)}
    assert told["event"]["kind"] == event.kind


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: event.kind)
def test_a_field_that_nobody_knows_is_refused(event: Event) -> None:
    body = {**event.model_dump(), "surprise": 1}
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        EVENT.validate_python(body)


def test_a_kind_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValidationError, match="does not match any of the expected tags"):
        EVENT.validate_json('{"kind":"session.exploded"}')


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: event.kind)
def test_an_event_never_changes(event: Event) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        event.kind = "other"  # pyright: ignore[reportAttributeAccessIssue]


def test_what_is_absent_is_not_told() -> None:
    assert Recorded.of(1, 2, SessionError(name="x", message="y")).body == (
        '{"kind":"session.error","name":"x","message":"y"}'
    )


def test_half_a_character_becomes_one_that_can_be_stored() -> None:
    failed = ToolEnded(block="\udc80", text="", error=ToolError(message="a\ud83d", code="\ude00"))
    mended = ToolEnded(block="\ufffd", text="", error=ToolError(message="a\ufffd", code="\ufffd"))
    assert failed == mended
    assert Recorded.of(1, 2, failed).event == mended
    whole = MessageDelta(block="m", offset=0, text="a😀é")
    assert whole.text == "a😀é"


def test_two_records_are_the_same_when_they_say_the_same() -> None:
    said = Recorded.of(1, 2, SessionIdle())
    assert said == Recorded(1, 2, '{"kind":"session.idle"}')
    assert said != Recorded(2, 2, '{"kind":"session.idle"}')
