"""What an entry says about sessions: what it comes to, and what is wrong with it, and where."""

from typing import Any

import pytest

from airboss.entry.bounds import ungranted
from airboss.entry.session_words import keys_of
from airboss.entry.validate import check_entry, validate_entry
from airboss.session_keys import NOTHING_SAID, SessionKeys, ToolKeys

TASK: dict[str, Any] = {"prompt": ["Do it."], "requireUserInput": False}


def entry(task: dict[str, Any] | None = None, **said: Any) -> dict[str, Any]:
    return {
        "models": {"driving": "m"},
        "promptVariables": {"rule": ["Use tabs."], "rules": ["$rule", "Be terse."]},
        "tasks": {"a": {**TASK, **(task or {})}},
        "jobs": {},
        "grid": [],
        **said,
    }


def mistakes(task: dict[str, Any] | None = None, **said: Any) -> list[str]:
    return [str(found) for found in check_entry(entry(task, **said)).violations]


def test_without_a_word_nothing_is_said() -> None:
    found = validate_entry(entry())
    assert keys_of(found) is NOTHING_SAID
    assert keys_of(found.tasks["a"]) is NOTHING_SAID


def test_every_key_is_read_and_variables_are_filled_in() -> None:
    said: dict[str, Any] = {
        "reasoningEffort": "max",
        "systemMessage": {"sections": {"tone": {"replace": ["$rules"]}, "safety": "remove"}},
        "instructions": "off",
        "tools": {"allow": ["@read", "edit"], "deny": ["grep"], "search": "on", "github": True},
        "directories": ["../shared"],
        "context": {"infinite": True, "compactAt": 0.5, "blockAt": 1},
    }
    found = validate_entry(entry(said, **said))
    assert keys_of(found) == keys_of(found.tasks["a"])
    sections = {"tone": {"replace": "Use tabs.\nBe terse."}, "safety": "remove"}
    assert keys_of(found) == SessionKeys.model_validate(
        {**said, "systemMessage": {"sections": sections}}
    )
    assert validate_entry(found.to_wire()) == found, "as it is kept, it is read again"


def test_a_model_is_an_id_or_an_object_with_one() -> None:
    models = {"driving": {"id": "m", "reasoningEffort": "low"}, "other": "n"}
    retries = [{"modelId": "m", "retries": 1}]
    found = validate_entry(entry(models=models, drivingSessionRetries=retries))
    assert found.model_ids == ("m", "n")
    assert found.to_wire()["models"] == models


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"reasoningEffort": "huge"}, '.reasoningEffort: Should be "low", "medium", "high"'),
        ({"instructions": "no"}, '.instructions: Should be "auto" or "off".'),
        (
            {"systemMessage": {"append": ["a"], "replace": ["b"]}},
            ".systemMessage: Should have exactly one of append, replace and sections.",
        ),
        ({"systemMessage": {"append": "a"}}, ".systemMessage.append: Should be a list."),
        ({"systemMessage": {"append": []}}, ".systemMessage.append: Prompt is empty."),
        (
            {"systemMessage": {"append": ["$nothing"]}},
            ".systemMessage.append: Cannot find prompt variable: $nothing.",
        ),
        (
            {"systemMessage": {"append": ["$user-input"]}},
            ".systemMessage.append: Should not use $user-input: it has a value in prompts only.",
        ),
        (
            {"systemMessage": {"sections": {"ton": "remove"}}},
            '.systemMessage.sections.ton: "ton" is not a section of the system message.',
        ),
        (
            {"systemMessage": {"sections": {"tone": "delete"}}},
            '.systemMessage.sections.tone: Should be "remove".',
        ),
        (
            {"systemMessage": {"sections": {"tone": {"with": ["a"]}}}},
            ".systemMessage.sections.tone.with: There is no such field.",
        ),
        ({"tools": {"allow": ["wiew"]}}, '.tools.allow[0]: "wiew" is not a tool.'),
        ({"tools": {"deny": ["@reed"]}}, '.tools.deny[0]: "@reed" is not a group of tools.'),
        ({"tools": {"deny": ["wiki/*"]}}, '.tools.deny[0]: There is no MCP server "wiki".'),
        ({"tools": {"only": []}}, ".tools.only: There is no such field."),
        ({"directories": "../a"}, ".directories: Should be a list."),
        ({"directories": [""]}, ".directories[0]: Should not be empty."),
        ({"context": {"compactAt": 0}}, ".context.compactAt: Should be greater than 0."),
        (
            {"context": {"compactAt": 0.9, "blockAt": 0.5}},
            ".context.compactAt: Should be less than blockAt, which is 0.95 unless it is said.",
        ),
        ({"context": {"at": 1}}, ".context.at: There is no such field."),
    ],
)
def test_what_nobody_can_have_is_a_mistake_with_its_place(said: Any, words: str) -> None:
    [of_entry] = mistakes(**said)
    assert of_entry.startswith(f"entry{words}")
    [of_task] = mistakes(said)
    assert of_task.startswith(f'entry.tasks["a"]{words}')


@pytest.mark.parametrize(
    ("commands", "words"),
    [
        ({"plan": {"description": "d", "prompt": ["p"]}}, '"plan" is a command of its own already'),
        ({"Not It": {"description": "d", "prompt": ["p"]}}, ""),
        ({"go": {"prompt": ["p"]}}, ".description: Should exist."),
        ({"go": {"description": "d", "prompt": "p"}}, ".prompt: Should be a list."),
        ({"go": {"description": "d", "prompt": []}}, ".prompt: Prompt is empty."),
        ({"go": {"description": "d", "prompt": ["$no"]}}, "Cannot find prompt variable: $no."),
        ({"go": {"description": "d", "prompt": ["p"], "run": "x"}}, ".run: There is no such field"),
    ],
)
def test_a_command_that_cannot_be_is_a_mistake_with_its_place(commands: Any, words: str) -> None:
    for where, found in (
        ("entry.commands", mistakes(commands=commands)),
        ('entry.tasks["a"].commands', mistakes({"commands": commands})),
    ):
        assert len(found) == 1, found
        assert found[0].startswith(where)
        assert words in found[0]


def test_what_follows_a_crash_is_said_by_a_task_alone() -> None:
    found = validate_entry(entry({"onUnsafeRetry": "ask"}))
    assert found.tasks["a"].on_unsafe_retry == "ask"
    [of_task] = mistakes({"onUnsafeRetry": "never"})
    said = 'entry.tasks["a"].onUnsafeRetry: Should be "retry", "ask" or "fail".'
    assert of_task.startswith(said)
    assert mistakes(onUnsafeRetry="ask")[0].startswith("entry.onUnsafeRetry: There is no such")


def test_a_model_that_is_neither_is_told_in_the_same_words_as_before() -> None:
    assert mistakes(models={"driving": "m", "deep": 5}) == ['entry.models["deep"]: Should be text.']
    assert mistakes(models={"driving": {}}) == ["entry.models.driving.id: Should exist."]
    [said] = mistakes(models={"driving": {"id": "m", "effort": "low"}})
    assert said == "entry.models.driving.effort: There is no such field."


def test_a_name_that_is_nearly_right_is_offered_with_all_there_are() -> None:
    [found] = check_entry(entry(tools={"allow": ["veiw"]})).violations
    assert found.hint == 'Did you mean "view"?'
    assert found.advice
    assert "@delegate" in found.advice
    [found] = check_entry(entry(systemMessage={"sections": {"tones": "remove"}})).violations
    assert found.hint == 'Did you mean "tone"?'
    assert found.advice
    assert found.advice.startswith("The sections are: preamble, identity, tone")


def test_wishes_that_are_not_granted_are_told_with_their_places() -> None:
    wishes: dict[str, Any] = {
        "systemMessage": {"sections": {"safety": "remove", "tone": {"append": ["Short."]}}},
        "tools": {"allow": ["@read", "bash"], "github": True},
        "directories": ["../shared"],
    }
    server = SessionKeys(tools=ToolKeys(allow=("@read",)))
    found = ungranted(validate_entry(entry(wishes)), "ask", session=server)
    assert [(one.place.where.removeprefix('entry.tasks["a"].'), one.wished) for one in found] == [
        ("systemMessage.sections.safety", "to remove the section safety of the system message"),
        ("tools.github", "for the MCP server of GitHub"),
        ("tools.allow", "for tools that the settings leave out: bash"),
        ("directories", "to read without asking in ../shared"),
    ]
    narrower = validate_entry(entry(tools={"allow": ["view"], "deny": ["grep"]}))
    assert list(ungranted(narrower, "ask", session=server)) == []


LONG = "x" * 5_000
SERVED = {"s": {"command": ["run"]}}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"directories": [LONG]}, ".directories[0]: Should have at most 4096 characters."),
        ({"directories": ["a"] * 101}, ".directories: Should have at most 100 of them."),
        ({"tools": {"deny": ["view"] * 501}}, ".tools.deny: Should have at most 500 of them."),
        ({"systemMessage": {"append": [""]}}, ".systemMessage.append: Should have at least 1"),
        (
            {"systemMessage": {"sections": {"tone": {"replace": [""]}}}},
            ".systemMessage.sections.tone.replace: Should have at least 1 character.",
        ),
        (
            {"agents": {"my_own": {"description": "d", "prompt": [""]}}},
            ".agents.my_own.prompt: Should have at least 1 character.",
        ),
        ({"mcpServers": {"s": {"command": [LONG]}}}, ".mcpServers.s.command[0]: Should have at"),
        (
            {"mcpServers": {"s": {"command": ["run"], "env": {"MY_OWN": LONG}}}},
            ".mcpServers.s.env.MY_OWN: Should have at most 4096 characters.",
        ),
        ({"mcpServers": {"s": {"url": "http://[::1/mcp"}}}, ".mcpServers.s.url: Should be an"),
        ({"mcpServers": {"s": {"url": "https://h:99999/x"}}}, ".mcpServers.s.url: Should be an"),
        ({"mcpServers": {"s": {"url": "https://256.1.1.1/"}}}, ".mcpServers.s.url: Should be an"),
        (
            {"hooks": {"preToolUse": [{"command": ["run", LONG]}]}},
            ".hooks.preToolUse[0].command[1]: Should have at most 4096 characters.",
        ),
        (
            {"hooks": {"preToolUse": [{"command": ["run", "a\0b"]}]}},
            ".hooks.preToolUse[0].command[1]: Should have no NUL in it.",
        ),
        (
            {"context": {"infinite": False, "blockAt": 0.9}},
            ".context.blockAt: Should not be there: with `infinite: false` nothing is summarized.",
        ),
        ({"context": {"compactAt": 1, "blockAt": 1}}, ".context.compactAt: Should be less than"),
    ],
)
def test_what_is_too_long_or_too_much_for_a_session_is_a_mistake_with_its_place(
    said: dict[str, Any], words: str
) -> None:
    assert mistakes(**said)[0].startswith(f"entry{words}")
    assert mistakes(said)[0].startswith(f'entry.tasks["a"]{words}')
