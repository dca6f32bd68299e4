"""A session's view is a fold over its events: each kind does its part, and a story adds up."""

from collections.abc import Sequence
from typing import Any

import pytest

from airboss.model.events import (
    AsideAnswered,
    Event,
    MessageEnded,
    MessageStarted,
    Overtaking,
    PermissionDecided,
    PromptAccepted,
    PromptChanged,
    PromptDropped,
    PromptMoved,
    PromptSteered,
    ReasoningEnded,
    ReasoningStarted,
    SessionClosed,
    SessionError,
    SessionIdle,
    SessionInterrupted,
    SessionOpened,
    SessionReady,
    SessionResumed,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnRetrying,
    TurnStarted,
    Usage,
)
from airboss.model.ids import PromptId, SessionId, TurnId
from airboss.model.views import QueuedPrompt, SessionView, View, fold

STREAM = "ses_1"
FIRST, SECOND, TURN = PromptId("pro_1"), PromptId("pro_2"), TurnId("trn_1")
OPENED = SessionOpened(model="m", cwd="/work", policy="read-only", who="me")
ASKED = PromptAccepted(prompt=FIRST, text="\n  Count to three\nand stop", who="me")
ASKED_AGAIN = PromptAccepted(prompt=SECOND, text="And four", who="me")
WAITING, WAITING_AGAIN = (
    QueuedPrompt(prompt=asked.prompt, text=asked.text, who="me") for asked in (ASKED, ASKED_AGAIN)
)

CHANGED = WAITING.model_copy(update={"text": "Count to two"})


def view_of(events: Sequence[Event]) -> View | None:
    view: View | None = None
    for seq, event in enumerate(events, start=1):
        view = fold(view, STREAM, seq, 1000 + seq, event)
    return view


def expected(seq: int, **changes: Any) -> SessionView:
    opened: dict[str, Any] = {
        "id": SessionId(STREAM),
        "state": "opening",
        "model": "m",
        "cwd": "/work",
        "policy": "read-only",
        "who": "me",
        "created_at": 1001,
        "updated_at": 1000 + seq,
        "seq": seq,
    }
    return SessionView.model_validate(opened | changes)


def test_only_its_opening_makes_a_session() -> None:
    assert view_of([SessionReady(), SessionIdle()]) is None
    assert view_of([OPENED]) == expected(1)


TITLE = {"title": "Count to three"}
WORKING: dict[str, Any] = {"state": "working", "turn": TURN}
STARTED = [OPENED, TurnStarted(turn=TURN)]


@pytest.mark.parametrize(
    ("before", "event", "changes"),
    [
        ([OPENED], OPENED, {}),
        ([OPENED, SessionError(name="e", message="m")], SessionReady(), {"state": "idle"}),
        ([OPENED], SessionResumed(who="me"), {}),
        ([OPENED], SessionInterrupted(reason="gone"), {"state": "interrupted", "error": "gone"}),
        (
            [OPENED, ASKED, TurnStarted(turn=TURN)],
            SessionClosed(reason="done", who="me"),
            {"state": "closed", **TITLE},
        ),
        ([OPENED], SessionError(name="e", message="It failed"), {"error": "It failed"}),
        ([OPENED, SessionReady()], SessionIdle(), {"state": "idle"}),
        ([OPENED], ASKED, {"queue": (WAITING,), **TITLE}),
        ([OPENED, ASKED], ASKED_AGAIN, {"queue": (WAITING, WAITING_AGAIN), **TITLE}),
        (
            [OPENED, ASKED, ASKED_AGAIN],
            PromptDropped(prompt=FIRST, reason=""),
            {"queue": (WAITING_AGAIN,), **TITLE},
        ),
        (
            [OPENED, ASKED, ASKED_AGAIN],
            PromptSteered(prompt=FIRST, turn=TURN),
            {"queue": (WAITING_AGAIN,), **TITLE},
        ),
        (
            [OPENED, ASKED, ASKED_AGAIN],
            PromptChanged(prompt=FIRST, text="Count to two", who="you"),
            {"queue": (CHANGED, WAITING_AGAIN), **TITLE},
        ),
        (
            [OPENED, ASKED, ASKED_AGAIN],
            PromptMoved(prompt=SECOND, before=FIRST, who="you"),
            {"queue": (WAITING_AGAIN, WAITING), **TITLE},
        ),
        (
            [OPENED, ASKED, ASKED_AGAIN],
            PromptMoved(prompt=FIRST, who="you"),
            {"queue": (WAITING_AGAIN, WAITING), **TITLE},
        ),
        ([OPENED, ASKED], PromptMoved(prompt=SECOND, who="you"), {"queue": (WAITING,), **TITLE}),
        (
            [OPENED, ASKED],
            AsideAnswered(who="me", question="?", answer="!"),
            {"queue": (WAITING,), **TITLE},
        ),
        (
            [OPENED, ASKED, ASKED_AGAIN],
            TurnStarted(turn=TURN, prompt=FIRST),
            {**WORKING, "queue": (WAITING_AGAIN,), **TITLE},
        ),
        ([OPENED, ASKED], TurnStarted(turn=TURN), {**WORKING, "queue": (WAITING,), **TITLE}),
        (STARTED, TurnRetrying(turn=TURN, reason="busy"), WORKING),
        (
            [
                *STARTED,
                TurnEnded(turn=TURN, outcome="done", models=("a", "b"), usage=Usage(cost=1)),
            ],
            TurnEnded(
                turn=TURN, outcome="failed", models=("b", "c"), usage=Usage(requests=2, cost=2)
            ),
            {
                "state": "working",
                "turns": 2,
                "models": ("a", "b", "c"),
                "usage": Usage(requests=2, cost=3),
            },
        ),
        (
            STARTED,
            PermissionDecided(request="r", wish="w", about="a", allowed=True, by="b", reason=""),
            WORKING,
        ),
        (STARTED, ReasoningStarted(block="r"), WORKING),
        (STARTED, ReasoningEnded(block="r", text="hm"), WORKING),
        (STARTED, MessageStarted(block="m"), WORKING),
        (STARTED, MessageEnded(block="m", text="hi"), WORKING),
        (STARTED, ToolStarted(block="t", name="shell", arguments="{}"), WORKING),
        (STARTED, ToolEnded(block="t", text=""), WORKING),
    ],
    ids=lambda value: value.kind if hasattr(value, "kind") else "",
)
def test_each_kind_of_event_does_its_part(
    before: list[Event], event: Event, changes: dict[str, Any]
) -> None:
    assert view_of([*before, event]) == expected(len(before) + 1, **changes)


def test_a_story_of_two_requests_an_interruption_and_a_resumption() -> None:
    story: list[Event] = [
        OPENED,
        SessionReady(),
        ASKED,
        TurnStarted(turn=TURN, prompt=FIRST),
        ASKED_AGAIN,
        MessageStarted(block="m"),
        MessageEnded(block="m", text="1 2 3"),
        TurnEnded(
            turn=TURN, outcome="done", models=("m-1",), usage=Usage(requests=1, input_tokens=9)
        ),
        SessionIdle(),
    ]
    done: dict[str, Any] = {
        "state": "idle",
        "queue": (WAITING_AGAIN,),
        "turns": 1,
        "models": ("m-1",),
        "usage": Usage(requests=1, input_tokens=9),
        **TITLE,
    }
    assert view_of(story) == expected(9, **done)
    story += [SessionInterrupted(reason="The server ended.")]
    interrupted = {**done, "state": "interrupted", "error": "The server ended."}
    assert view_of(story) == expected(10, **interrupted)
    story += [SessionResumed(who="you"), SessionReady(), TurnStarted(turn=TURN, prompt=SECOND)]
    assert view_of(story) == expected(13, **(done | WORKING | {"queue": ()}))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Short", "Short"),
        ("\n\n  second line first  \nrest", "second line first"),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 79 + "…"),
        ("  \n ", ""),
    ],
)
def test_the_title_is_the_first_line_of_the_first_request(text: str, title: str) -> None:
    asked = PromptAccepted(prompt=FIRST, text=text, who="me")
    view = view_of([OPENED, asked])
    waiting = QueuedPrompt(prompt=FIRST, text=text, who="me")
    assert view == expected(2, title=title, queue=(waiting,))


def test_a_view_comes_back_from_json_as_it_was() -> None:
    view = expected(3, queue=(WAITING,), error="x", usage=Usage(cost=0.1))
    assert SessionView.model_validate_json(view.model_dump_json()) == view


def test_what_steers_goes_before_what_does_not_and_what_interrupts_before_all() -> None:
    def asked(name: str, delivery: Overtaking | None) -> PromptAccepted:
        return PromptAccepted(prompt=PromptId(name), text=name, who="me", delivery=delivery)

    story = [
        asked("first", None),
        asked("steer", "steer"),
        asked("second", None),
        asked("steer again", "steer"),
        asked("interrupt", "interrupt"),
    ]
    view = view_of([OPENED, *story])
    assert isinstance(view, SessionView)
    names = [queued.prompt for queued in view.queue]
    assert names == ["interrupt", "steer", "steer again", "first", "second"]
