"""The agent's questions: the tool it asks with, and how a person's answer is read. Nothing waits.

The runtime has a tool of this name, whose calls are lost with their server. Ours stands in its
place: a call that nobody has answered is there again when the session is resumed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from airboss.errors import InvalidAnswer
from airboss.model.hidden import shortened, visible_line, visible_prose
from airboss.model.ids import PromptId, new_item_id
from airboss.model.inbox_events import ItemSettled, QuestionAsked
from airboss.model.redaction import Redactor
from airboss.runtime.tools import OutsideCall, ToolOffer, ToolRefusal

ASK_USER: Final = "ask_user"
_MOST_CHOICES: Final = 50
# What is longer is refused, so that whoever answers sees all of it.
_CHOICE: Final = 2_000
_QUESTION: Final = 64_000
_FORM: Final = 32_000
_FORM_TYPES: Final = ("string", "number", "integer", "boolean", "array")

ASK_USER_OFFER: Final = ToolOffer(
    name=ASK_USER,
    description=(
        "Ask the person a question and wait for the answer. Give `choices` where there are a few "
        "good answers; give `form` where several values are needed at once. Ask only what you "
        "cannot find out yourself, and one thing at a time."
    ),
    parameters={
        "type": "object",
        "properties": {
            "question": {"type": "string", "description": "What you want to know."},
            "choices": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Answers to choose from, the best one first.",
            },
            "allow_freeform": {
                "type": "boolean",
                "description": "Whether other words than the choices are welcome; true if absent.",
            },
            "form": {
                "type": "object",
                "description": "A JSON Schema of type object with flat properties: the fields "
                "that the person fills in.",
            },
        },
        "required": ["question"],
    },
    handle=None,
    replaces=True,
)


@dataclass(frozen=True)
class Given:
    """A person's answer as it counts: a choice in its own spelling, words, or a form's JSON."""

    answer: str
    was_words: bool


def question_of(
    call: OutsideCall, *, prompt: PromptId | None, expires_at: int | None, redactor: Redactor
) -> QuestionAsked | ToolRefusal:
    """What is to be asked, or what is wrong with the call."""
    given = call.arguments
    question, choices, form = given.get("question"), given.get("choices"), given.get("form")
    if not isinstance(question, str) or not question.strip():
        return _wrong("needs a string named “question”")
    if choices is not None and not _are_texts(choices):
        return _wrong("takes “choices” as a list of strings")
    if len(question) > _QUESTION:
        return _wrong(f"takes a question of at most {_QUESTION:,} characters")
    labels = tuple(dict.fromkeys(_label(one) for one in choices or ()))
    if len(labels) > _MOST_CHOICES or any(len(label) > _CHOICE for label in labels):
        return _wrong(
            f"takes at most {_MOST_CHOICES} choices of at most {_CHOICE:,} characters each"
        )
    schema = None
    if form is not None:
        schema = json.dumps(form, ensure_ascii=False)
        if labels or len(schema) > _FORM or not _is_form(form):
            return _wrong(
                "takes “form” without “choices”, as a flat JSON Schema of type object whose "
                f"properties have one of the types {', '.join(_FORM_TYPES)}"
            )
    allows_words = given.get("allow_freeform", given.get("allowFreeform")) is not False
    return QuestionAsked(
        item=new_item_id(),
        call=call.call,
        question=visible_prose(redactor.text(question)),
        choices=tuple(redactor.text(label) for label in labels),
        allows_words=schema is None and (allows_words or not labels),
        form=None if schema is None else redactor.text(schema),
        prompt=prompt,
        expires_at=expires_at,
    )


def read_answer(asked: QuestionAsked, text: str) -> Given:
    """A choice by its number or its label, whatever its case; else words, where they are allowed.
    What is no answer is refused, and the question stays open."""
    said = text.strip()
    if asked.form is not None:
        return Given(_read_form(asked.form, said), was_words=False)
    if not said:
        raise InvalidAnswer("The answer must not be empty.")
    choices = asked.choices
    if said.isascii() and said.isdigit() and 1 <= int(said) <= len(choices):
        return Given(choices[int(said) - 1], was_words=False)
    for label in choices:
        if label.casefold() == said.casefold():
            return Given(label, was_words=False)
    if not asked.allows_words:
        numbered = ", ".join(f"{place} {label}" for place, label in enumerate(choices, 1))
        shown = shortened(visible_line(said), 80)
        raise InvalidAnswer(f"“{shown}” is not one of the choices: {numbered}.")
    return Given(said, was_words=True)


def answer_text_of(settled: ItemSettled) -> str:
    """What the agent is told."""
    match settled.outcome:
        case "answered" if settled.was_words:
            return f"The person answered: {settled.answer}"
        case "answered":
            return f"The person chose: {settled.answer}"
        case "declined":
            return "The person declined to answer. Continue with your best judgement."
        case "timeout":
            return "Nobody answered in time. Continue with your best judgement."
        case _:
            return "The question was withdrawn before anybody answered."


def _read_form(schema: str, text: str) -> str:
    from jsonschema import Draft202012Validator

    try:
        content: object = json.loads(text)
    except ValueError:
        raise InvalidAnswer("The answer to a form must be a JSON object with its fields.") from None
    checks: Any = Draft202012Validator(json.loads(schema))
    wrong = [
        f"{'.'.join(str(part) for part in error.absolute_path) or 'the form'}: {error.message}"
        for error in checks.iter_errors(content)
    ]
    if wrong:
        raise InvalidAnswer(f"The form is not valid. {'; '.join(wrong[:5])}.")
    return json.dumps(content, ensure_ascii=False)


def _is_form(form: object) -> bool:
    """Flat, as people fill in: a schema that refers elsewhere or nests is not asked of anybody."""
    if not isinstance(form, dict):
        return False
    schema = cast("Mapping[str, Any]", form)
    fields: object = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(fields, dict) or not fields:
        return False
    return all(
        isinstance(one, dict)
        and cast("Mapping[str, Any]", one).get("type") in _FORM_TYPES
        and "$ref" not in one
        for one in cast("Mapping[str, object]", fields).values()
    )


def _label(choice: str) -> str:
    return " ".join(visible_prose(choice).split())


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(part, str) and part.strip() for part in cast("list[object]", value)
    )


def _wrong(reason: str) -> ToolRefusal:
    return ToolRefusal(f"{ASK_USER} {reason}. Nobody was asked. Call it again with that.")
