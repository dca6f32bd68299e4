"""What was asked before is known again by what it is about, and in which call."""

from airboss.harness.item_marks import call_mark, mark_of, plain_mark
from airboss.model.ids import ItemId
from airboss.model.inbox_events import ApprovalAsked, LimitReached, QuestionAsked, Subject

QUESTION = QuestionAsked(item=ItemId("itm_1"), call="call_1", question="Which?")
APPROVAL = ApprovalAsked(
    item=ItemId("itm_2"),
    request="req_1",
    call="call_1",
    wish="shell",
    title="Run ls?",
    description="",
    severity="low",
    subject=Subject(command="ls"),
    fingerprint="shell ls",
)
LIMIT = LimitReached(item=ItemId("itm_3"), scope="session", limit="turns", allowed=1, used=1)


def test_the_same_asked_again_has_the_same_mark_under_another_name() -> None:
    again = APPROVAL.model_copy(update={"item": ItemId("itm_9"), "request": "req_2"})
    assert mark_of(again) == mark_of(APPROVAL) == call_mark("call_1", plain_mark(APPROVAL))


def test_a_call_of_the_same_id_that_does_something_else_is_another() -> None:
    other = APPROVAL.model_copy(update={"fingerprint": "shell rm"})
    assert mark_of(other) != mark_of(APPROVAL)
    assert mark_of(QUESTION) != mark_of(APPROVAL)


def test_a_limit_is_known_without_a_call_and_nothing_else_is() -> None:
    assert mark_of(LIMIT) == plain_mark(LIMIT) == "limit session turns"
    assert mark_of(QUESTION.model_copy(update={"call": None})) is None
    assert mark_of(APPROVAL.model_copy(update={"call": None})) is None
