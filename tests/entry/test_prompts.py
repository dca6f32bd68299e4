"""Prompts: what a variable is, and how both expansions treat it."""

from itertools import pairwise

import pytest

from airboss.entry import tools
from airboss.entry.part import Prompt
from airboss.entry.prompts import (
    MAX_CHARACTERS,
    MAX_NESTED,
    RUNTIME_VARIABLES,
    expand_dynamic,
    expand_static,
    variables_in,
)
from airboss.entry.violations import EntryInvalid


def refused(prompt: Prompt, variables: dict[str, Prompt], *, boolean: bool = False) -> list[str]:
    with pytest.raises(EntryInvalid) as caught:
        expand_static(prompt, variables, "here", boolean=boolean)
    return [str(violation) for violation in caught.value.violations]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("$user-input", {"user-input"}),
        ("$reviewBoard.", {"reviewBoard"}),
        ("$a-b-c$d", {"a-b-c", "d"}),
        ("$a-", {"a"}),
        ("$a--b", {"a"}),
        ("$a_b", {"a"}),
        ("$a1", {"a"}),
        ("$$a", {"a"}),
        ("$5 $-a $ a a$ $é", set[str]()),
    ],
)
def test_a_variable_is_words_of_ascii_letters_joined_by_hyphens(text: str, names: set[str]) -> None:
    assert variables_in(text) == names


def test_static_expansion_joins_the_lines_and_gives_one_string() -> None:
    assert expand_static(("a", "", "b"), {}, "here") == ("a\n\nb",)
    assert expand_static(("",), {}, "here") == ("",)


def test_the_runtime_variables_are_these() -> None:
    assert RUNTIME_VARIABLES == (
        "user-input",
        "task-model",
        "reported-document",
        "reported-true-reason",
        "reported-false-reason",
    )


@pytest.mark.parametrize("name", RUNTIME_VARIABLES)
def test_a_runtime_variable_stays_as_it_is(name: str) -> None:
    assert expand_static((f"a ${name} b",), {name: ("no",)}, "here") == (f"a ${name} b",)


def test_a_variable_is_replaced_by_its_prompt_expanded_the_same_way() -> None:
    variables: dict[str, Prompt] = {"a": ("1", "$b"), "b": ("2 $user-input",)}
    assert expand_static(("<$a|$b>",), variables, "here") == ("<1\n2 $user-input|2 $user-input>",)


def test_an_unknown_variable_is_an_error() -> None:
    assert refused(("x $nope y",), {}) == ["here: Cannot find prompt variable: $nope."]


def test_the_path_of_an_error_grows_with_each_variable() -> None:
    variables: dict[str, Prompt] = {"a": ("$b",), "b": ("$nope",)}
    assert refused(("$a",), variables) == ["here/$a/$b: Cannot find prompt variable: $nope."]


def test_an_empty_prompt_is_an_error() -> None:
    assert refused((), {}) == ["here: Prompt is empty."]
    assert refused(("$a",), {"a": ()}) == ["here/$a: Prompt is empty."]


def test_a_variable_that_reaches_itself_is_an_error_that_names_the_cycle() -> None:
    assert refused(("$a",), {"a": ("again $a",)}) == [
        "here/$a: Prompt variable reaches itself: $a -> $a."
    ]
    variables: dict[str, Prompt] = {"a": ("$b",), "b": ("$c",), "c": ("$b",)}
    assert refused(("$a",), variables) == [
        "here/$a/$b/$c: Prompt variable reaches itself: $b -> $c -> $b."
    ]


def test_variables_in_variables_have_an_end() -> None:
    names = ["a" * (i + 1) for i in range(MAX_NESTED + 1)]
    variables: dict[str, Prompt] = {name: (f"${after}",) for name, after in pairwise(names)}
    variables[names[-1]] = ("end",)
    path = "".join(f"/${name}" for name in names[:-1])
    assert refused(("$a",), variables) == [
        f"here{path}: Prompt variables are nested more than 100 deep."
    ]
    assert expand_static(("$aa",), variables, "here") == ("end",)


def test_variables_cannot_blow_a_prompt_up() -> None:
    names = [chr(ord("a") + i) for i in range(26)]
    variables: dict[str, Prompt] = {
        name: (f"${after} ${after}",) for name, after in pairwise(names)
    }
    variables["z"] = ("zzzzzzzz",)
    (said,) = refused(("$a",), variables)
    assert said.endswith(f": Prompt is longer than {MAX_CHARACTERS:,} characters.")


@pytest.mark.parametrize("tool", ["job_boolean_true", "job_boolean_false"])
def test_a_condition_mentions_one_of_the_two_boolean_tools(tool: str) -> None:
    assert expand_static(("$a",), {"a": (f"call {tool}",)}, "x", boolean=True) == (f"call {tool}",)


def test_a_condition_without_a_boolean_tool_is_an_error() -> None:
    assert refused(("job_boolean",), {}, boolean=True) == [
        "here: Boolean tool (job_boolean_true or job_boolean_false) must be mentioned."
    ]


def test_dynamic_expansion_puts_values_in_as_they_are() -> None:
    values = {"user-input": "$task-model & \\1", "task-model": "gpt-5.2"}
    said = expand_dynamic(("$user-input on $task-model",), values)
    assert said == "$task-model & \\1 on gpt-5.2"


def test_a_variable_without_a_value_is_missing() -> None:
    said = expand_dynamic(("$reported-document, $whatever",), {})
    assert said == "<MISSING>, <MISSING>"


def test_an_empty_value_is_a_value() -> None:
    assert expand_dynamic(("[$user-input]",), {"user-input": ""}) == "[]"


def test_values_may_change_between_two_sendings() -> None:
    prompt = expand_static(("$a",), {"a": ("See $reported-document.",)}, "here")
    assert expand_dynamic(prompt, {"reported-document": "a.md"}) == "See a.md."
    assert expand_dynamic(prompt, {"reported-document": "b.md"}) == "See b.md."


def test_only_an_expanded_prompt_is_sent() -> None:
    with pytest.raises(ValueError, match="expanded when its entry is loaded"):
        expand_dynamic(("a", "b"), {})


def test_the_four_job_tools_have_their_names() -> None:
    assert tools.JOB_TOOLS == (
        "job_prepare_document",
        "job_boolean_true",
        "job_boolean_false",
        "job_prerequisite_failed",
    )
    assert tools.ARGUMENT == "argument"
