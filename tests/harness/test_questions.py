"""What an agent may ask, how it is shown, and which words are an answer to it."""

import json
from typing import Any

import pytest

from airboss.errors import Invalid
from airboss.harness.questions import (
    ASK_USER,
    ASK_USER_OFFER,
    answer_text_of,
    question_of,
    read_answer,
)
from airboss.model.ids import ItemId
from airboss.model.inbox_events import ItemSettled, QuestionAsked
from airboss.model.redaction import Redactor
from airboss.runtime.tools import OutsideCall, ToolRefusal

FORM = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city"],
}


def asked(**arguments: Any) -> QuestionAsked:
    made = made_of(**arguments)
    assert isinstance(made, QuestionAsked)
    return made


def made_of(**arguments: Any) -> QuestionAsked | ToolRefusal:
    call = OutsideCall("req", "call_1", ASK_USER, arguments)
    return question_of(call, prompt=None, expires_at=None, redactor=Redactor(("s3cret-value",)))


def test_words_are_welcome_unless_the_agent_says_that_they_are_not() -> None:
    """ASK-2: free-form is allowed by default; ASK-10: by either spelling of the runtime's word."""
    assert asked(question="Which?", choices=["a", "b"]).allows_words
    assert not asked(question="Which?", choices=["a"], allow_freeform=False).allows_words
    assert not asked(question="Which?", choices=["a"], allowFreeform=False).allows_words
    assert asked(question="What?", allow_freeform=False).allows_words, "there is no other answer"


def test_the_tool_is_ours_and_stands_in_the_place_of_the_runtimes() -> None:
    """ASK-10."""
    assert (ASK_USER_OFFER.name, ASK_USER_OFFER.replaces) == ("ask_user", True)
    assert ASK_USER_OFFER.handle is None
    assert set(ASK_USER_OFFER.parameters["properties"]) == {
        "question",
        "choices",
        "allow_freeform",
        "form",
    }


def test_what_cannot_be_seen_is_shown_by_its_number() -> None:
    """ASK-3: control, bidirectional and invisible characters."""
    made = asked(question="Delete\u202e ti?\x1b[31m", choices=["y\u200bes", "\u2066no", "x\ny"])
    assert made.question == "Delete⟨U+202E⟩ ti?⟨U+001B⟩[31m"
    assert made.choices == ("y⟨U+200B⟩es", "⟨U+2066⟩no", "x y")


def test_a_long_question_is_asked_whole_and_one_that_is_too_long_is_asked_of_nobody() -> None:
    words = "x" * 60_000 + " or not?"
    label = "y" * 2_000
    made = asked(question=words, choices=[label, label[:-1]])
    assert (made.question, made.choices) == (words, (label, label[:-1]))
    for wrong in ({"question": words + words}, {"question": "Which?", "choices": [label + "!"]}):
        refused = made_of(**wrong)
        assert isinstance(refused, ToolRefusal)
        assert "Nobody was asked." in refused.reason


def test_a_secret_is_not_asked_about() -> None:
    made = asked(question="Is s3cret-value right?", choices=["s3cret-value", "no"])
    assert "s3cret-value" not in made.model_dump_json()


@pytest.mark.parametrize(
    ("said", "answer", "was_words"),
    [
        ("1", "Red", False),
        (" 2 ", "Dark Blue", False),
        ("dark blue", "Dark Blue", False),
        ("RED", "Red", False),
        ("green", "green", True),
        ("3", "3", True),
        ("0", "0", True),
        ("٢", "٢", True),
    ],
)
def test_an_answer_is_a_number_a_label_or_words(said: str, answer: str, was_words: bool) -> None:
    """ASK-4, ASK-5: a number out of range counts as text where text is allowed."""
    given = read_answer(asked(question="Which?", choices=["Red", "Dark Blue"]), said)
    assert (given.answer, given.was_words) == (answer, was_words)


@pytest.mark.parametrize("said", ["green", "3", "0", "", "   ", "-1"])
def test_what_is_none_of_the_choices_is_refused_where_only_they_count(said: str) -> None:
    """ASK-5, ASK-9."""
    question = asked(question="Which?", choices=["Red", "Blue"], allow_freeform=False)
    with pytest.raises(Invalid):
        read_answer(question, said)


def test_a_number_that_is_a_label_too_means_the_place() -> None:
    """ASK-4: all digits and a valid index come first."""
    assert read_answer(asked(question="How many?", choices=["2", "1"]), "1").answer == "2"


def test_a_form_counts_when_its_fields_do() -> None:
    question = asked(question="Where to?", form=FORM)
    assert not question.allows_words
    given = read_answer(question, '{"city": "Rome", "days": 2}')
    assert json.loads(given.answer) == {"city": "Rome", "days": 2}
    for wrong in ("Rome", "[]", "{}", '{"city": 1}', '{"city": "Rome", "days": 0}', "{"):
        with pytest.raises(Invalid):
            read_answer(question, wrong)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"question": ""},
        {"question": 5},
        {"question": "x", "choices": "red"},
        {"question": "x", "choices": [1]},
        {"question": "x", "choices": [" "]},
        {"question": "x", "choices": [str(number) for number in range(51)]},
        {"question": "x", "form": []},
        {"question": "x", "form": {"type": "object"}},
        {"question": "x", "form": {"type": "object", "properties": {"a": {"$ref": "#"}}}},
        {"question": "x", "form": {"type": "object", "properties": {"a": {"type": "object"}}}},
        {"question": "x", "form": FORM, "choices": ["a"]},
    ],
)
def test_a_call_that_nobody_could_answer_is_refused_with_a_hint(arguments: dict[str, Any]) -> None:
    refusal = made_of(**arguments)
    assert isinstance(refusal, ToolRefusal)
    assert refusal.reason.startswith("ask_user ")
    assert refusal.reason.endswith("Nobody was asked. Call it again with that.")


def test_the_agent_is_told_what_came_of_it() -> None:
    def told(outcome: Any, answer: str | None = None, was_words: bool = False) -> str:
        item = ItemId("itm_1")
        return answer_text_of(
            ItemSettled(item=item, outcome=outcome, answer=answer, was_words=was_words)
        )

    assert told("answered", "Red") == "The person chose: Red"
    assert told("answered", "Any", was_words=True) == "The person answered: Any"
    assert "declined to answer" in told("declined")
    assert "in time" in told("timeout")
    assert "withdrawn" in told("cancelled")
