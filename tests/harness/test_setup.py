"""One description of a session, made of all that is said about it."""

from typing import Any

import pytest

from airboss.errors import Invalid, SettingsInvalid
from airboss.harness.setup import Said, SetupPlan, check_settings, in_settings
from airboss.model.setup import USUAL, ContextSetup, SectionChange, Setup, SystemMessageSetup
from airboss.model.setup_bounds import widening
from airboss.session_keys import SECTIONS, SessionKeys, SessionSettings
from airboss.settings import Settings


def keys(**said: Any) -> SessionKeys:
    return SessionKeys.model_validate(said)


def made(*said: Said) -> Setup:
    return SetupPlan(said).made(lambda text: text.replace("hunter2", "***"))


def appended(text: str) -> dict[str, Any]:
    return {"systemMessage": {"append": text}}


def test_where_nothing_is_said_a_session_is_as_usual() -> None:
    assert made(in_settings(SessionKeys()), Said(SessionKeys())) == USUAL


def test_what_comes_later_goes_over_what_came_before() -> None:
    settings = in_settings(keys(reasoning_effort="low", instructions="off"))
    setup = made(settings, Said(keys(reasoningEffort="high")), Said(SessionKeys()))
    assert setup == Setup(reasoning_effort="high", instructions="off")


def test_what_is_appended_adds_up_and_secrets_are_taken_out() -> None:
    setup = made(in_settings(keys(**appended("First."))), Said(keys(**appended("hunter2"))))
    assert setup.system_message == SystemMessageSetup(append="First.\n\n***")


def test_who_may_widen_puts_another_text_in_the_place_of_the_usual_one() -> None:
    replaced = keys(systemMessage={"replace": "Only this."})
    before = in_settings(keys(**appended("First.")))
    assert made(before, Said(replaced, may_widen=True)).system_message == SystemMessageSetup(
        replace="Only this."
    )
    assert made(before, Said(replaced)).system_message == SystemMessageSetup(append="First.")


def test_who_may_not_widen_only_adds_to_sections() -> None:
    sections = {"tone": {"append": "Short."}, "safety": "remove", "guidelines": {"replace": "x"}}
    wished = keys(systemMessage={"sections": sections})
    [removed, replaced] = widening(wished, SessionKeys())
    assert removed.place == ("systemMessage", "sections", "safety")
    assert replaced.what == "to replace the section guidelines of the system message"
    told = made(Said(wished)).system_message
    assert told == SystemMessageSetup(
        sections={"tone": SectionChange(action="append", text="Short.")}
    )
    assert len(made(Said(wished, may_widen=True)).system_message.sections) == 3  # pyright: ignore[reportOptionalMemberAccess]


@pytest.mark.parametrize(
    ("earlier", "then"),
    [
        ({"replace": "RULES"}, SectionChange(action="replace", text="RULES\n\nhello")),
        ({"append": "RULES"}, SectionChange(action="append", text="RULES\n\nhello")),
        ({"prepend": "RULES"}, SectionChange(action="prepend", text="RULES\n\nhello")),
        ("remove", SectionChange(action="replace", text="hello")),
    ],
)
def test_who_may_not_widen_takes_back_no_earlier_change_of_a_section(
    earlier: Any, then: SectionChange
) -> None:
    settings = in_settings(keys(system_message={"sections": {"safety": earlier}}))
    wished = keys(systemMessage={"sections": {"safety": {"append": "hello"}}})
    assert made(settings, Said(wished)).system_message == SystemMessageSetup(
        sections={"safety": then}
    )
    assert made(settings, Said(wished, may_widen=True)).system_message == SystemMessageSetup(
        sections={"safety": SectionChange(action="append", text="hello")}
    )


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({}, "Should have exactly one of append, replace and sections."),
        ({"append": "a", "replace": "b"}, "Should have exactly one of append, replace"),
        ({"sections": {"ton": "remove"}}, '"ton" is not a section of the system message: preamble'),
        ({"sections": {"tone": {}}}, "Should have exactly one of replace, append and prepend."),
    ],
)
def test_a_system_message_that_means_nothing_is_refused(message: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        keys(systemMessage=message)


def test_an_effort_that_the_model_does_not_offer_is_refused_with_its_place() -> None:
    entry = Said(keys(reasoningEffort="low"), "entry.")
    task = Said(keys(reasoningEffort="max"), 'entry.tasks["a"].')
    SetupPlan([entry]).check_effort("m", ("low", "high"))
    SetupPlan([task]).check_effort("m", None)
    with pytest.raises(Invalid) as refused:
        SetupPlan([entry, task]).check_effort("m", ("low", "high"))
    assert str(refused.value) == (
        'entry.tasks["a"].reasoningEffort: The model m does not offer the effort "max". '
        "It offers: low, high."
    )
    with pytest.raises(Invalid, match=r"^settings: session\.reasoning_effort: .*offers none"):
        SetupPlan([in_settings(keys(reasoning_effort="low"))]).check_effort("m", ())


def test_a_summary_begins_before_the_work_waits_for_it() -> None:
    with pytest.raises(ValueError, match="Should be less than blockAt"):
        keys(context={"compactAt": 0.9, "blockAt": 0.5})
    with pytest.raises(Invalid, match=r"^context\.blockAt: Should be more than compactAt, which"):
        made(in_settings(keys(context={"blockAt": 0.5})), Said(keys(context={"infinite": True})))
    setup = made(
        in_settings(keys(context={"blockAt": 0.5})), Said(keys(context={"compactAt": 0.2}))
    )
    assert setup.context == ContextSetup(compact_at=0.2, block_at=0.5)


@pytest.mark.parametrize(
    ("context", "refusal"),
    [
        ({"compactAt": 0.97}, "context.compactAt: Should be less than blockAt, which is 0.95"),
        ({"blockAt": 0.5}, "context.blockAt: Should be more than compactAt, which is 0.8"),
    ],
)
def test_settings_under_which_no_session_could_open_are_refused(
    context: dict[str, Any], refusal: str
) -> None:
    settings = Settings(session=SessionSettings.model_validate({"context": context}))
    with pytest.raises(SettingsInvalid, match=f"settings: session.{refusal}"):
        check_settings(settings)


@pytest.mark.parametrize("share", ["compactAt", "blockAt"])
def test_a_share_that_would_never_matter_is_refused(share: str) -> None:
    with pytest.raises(ValueError, match=f"{share}: Should not be there: with"):
        keys(context={"infinite": False, share: 0.5})
    said = (Said(keys(context={share: 0.85})), Said(keys(context={"infinite": False})))
    assert made(*said).context.infinite is False


def test_the_sections_are_those_of_the_runtime() -> None:
    from copilot.session import SYSTEM_MESSAGE_SECTIONS

    assert set(SECTIONS) == set(SYSTEM_MESSAGE_SECTIONS)
