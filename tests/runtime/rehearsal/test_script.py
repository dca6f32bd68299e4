"""A script is read whole, or refused with the place and the reason."""

from pathlib import Path

import pytest

from airboss.errors import AirbossError
from airboss.runtime.rehearsal import (
    RehearsalModel,
    ScriptInvalid,
    builtin_script,
    load_script,
    parse_script,
)

EXAMPLE = """\
models:
  - {id: gpt-4.1, name: GPT-4.1, multiplier: 0}
  - {id: gpt-5.2, name: GPT-5.2, multiplier: 1}
rules:
  - when: "write the greeting"
    model: "gpt-5.*"
    times: 1
    steps:
      - reasoning: "Let me think."
      - say: "I will write it."
      - call: {tool: create, arguments: {path: "{cwd}/hello.txt", file_text: "hi"}}
      - say: "Done."
  - when: "is it there"
    steps:
      - call: {tool: job_boolean_true, arguments: {argument: "it is"}}
      - say: "Yes."
  - when: "unlucky"
    steps: [{fail: {status: 500}}]
"""


def refusal_of(text: str) -> str:
    with pytest.raises(ScriptInvalid) as refused:
        parse_script(text, "play.yaml")
    return str(refused.value)


def test_the_example_of_the_documentation_is_valid() -> None:
    script = parse_script(EXAMPLE, "play.yaml")
    assert script.models == (
        RehearsalModel(id="gpt-4.1", name="GPT-4.1", multiplier=0),
        RehearsalModel(id="gpt-5.2", name="GPT-5.2", multiplier=1),
    )
    assert [len(rule.replies) for rule in script.rules] == [2, 2, 1]
    assert (script.chunk_ms, script.chunk_chars) == (0, 12)


def test_the_pace_is_set_at_the_top() -> None:
    script = parse_script("{chunk_ms: 2.5, chunk_chars: 3}", "play.yaml")
    assert (script.chunk_ms, script.chunk_chars) == (2.5, 3)


def test_a_model_without_a_name_is_called_by_its_id() -> None:
    (model,) = parse_script("models: [{id: tiny}]", "play.yaml").models
    assert model == RehearsalModel(id="tiny", name="tiny", multiplier=0)


def test_a_script_without_models_offers_the_built_in_one() -> None:
    script = parse_script("rules: [{steps: [{say: hi}]}]", "play.yaml")
    assert [model.id for model in script.models] == ["rehearsal"]


def test_a_date_in_an_argument_stays_text() -> None:
    script = parse_script(
        "rules: [{steps: [{call: {tool: t, arguments: {day: 2026-01-31}}}]}]", "play.yaml"
    )
    (call,) = [step.call for step in script.rules[0].steps]
    assert call
    assert call.arguments == {"day": "2026-01-31"}


def test_the_built_in_script_is_valid_and_free() -> None:
    (model,) = builtin_script().models
    assert (model.id, model.name, model.multiplier) == (
        "rehearsal",
        "Rehearsal (free, scripted)",
        0,
    )
    assert len(builtin_script().rules) >= 4


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("", "play.yaml: the script is empty."),
        ("rules: [", "play.yaml:1:9: expected the node content, but found '<stream end>'."),
        ("just words", "play.yaml:1:1: should have fields, like `name: value`."),
        ("rules: 5", "play.yaml:1:1: rules: should be a list."),
        ("rulez: []", "play.yaml:1:1: rulez: there is no such field."),
        ("models: []", "play.yaml:1:1: models: should not be empty."),
        ("models: [{name: x}]", "play.yaml:1:10: models[0].id: is missing."),
        ("models: [{id: a}, {id: a}]", "play.yaml:1:1: models: a is listed twice."),
        ("chunk_chars: 0", "play.yaml:1:1: chunk_chars: should be greater than or equal to 1."),
        ("rules:\n  - when: x", "play.yaml:2:5: rules[0].steps: is missing."),
        ("rules:\n  - steps: []", "play.yaml:2:5: rules[0].steps: should not be empty."),
        (
            "rules:\n  - when: '('\n    steps: [{say: hi}]",
            "play.yaml:2:5: rules[0].when: is not a regular expression: "
            "missing ), unterminated subpattern at position 0.",
        ),
        (
            "rules:\n  - when: 5\n    steps: [{say: hi}]",
            "play.yaml:2:5: rules[0].when: should be a regular expression, as text in quotes.",
        ),
        (
            "rules:\n  - steps:\n      - say: hi\n      - {say: hi, sleep: 1}",
            "play.yaml:4:9: rules[0].steps[1]: a step is exactly one of reasoning, say, call, "
            "calls, sleep, fail, drop; this one has 2.",
        ),
        (
            "rules:\n  - steps:\n      - shout: hi",
            "play.yaml:3:9: rules[0].steps[0].shout: there is no such field.",
        ),
        (
            "rules:\n  - steps:\n      - say: yes",
            "play.yaml:3:9: rules[0].steps[0].say: should be text; put it in quotes.",
        ),
        (
            "rules:\n  - steps:\n      - call: {arguments: {}}",
            "play.yaml:3:9: rules[0].steps[0].call.tool: is missing.",
        ),
        (
            "rules:\n  - steps:\n      - call: {tool: t, arguments: {n: .nan}}",
            "play.yaml:3:25: rules[0].steps[0].call.arguments: should not hold .nan or .inf: "
            "JSON has no such number.",
        ),
        (
            "rules:\n  - steps: [{fail: {status: 200}}]",
            "play.yaml:2:21: rules[0].steps[0].fail.status: "
            "should be greater than or equal to 400.",
        ),
        (
            "rules:\n  - steps: [{drop: false}]",
            "play.yaml:2:14: rules[0].steps[0].drop: should be True.",
        ),
        (
            "rules:\n  - steps: [{drop: true}, {say: hi}]",
            "play.yaml:2:5: rules[0]: steps[1] is never played: "
            "after fail or drop the runtime asks again from the same place.",
        ),
        (
            "rules:\n  - steps: [{say: hi}, {fail: {status: 500}}]",
            "play.yaml:2:5: rules[0]: fail is the whole HTTP answer, so nothing can be said before "
            "it in the same reply; use drop to cut off a reply that has begun.",
        ),
        (
            "rules:\n  - when: a\n    when: b\n    steps: [{say: hi}]",
            "play.yaml:3:5: when: stands here twice.",
        ),
        ("a: &a [*a]", "play.yaml:1:1: a: there is no such field."),
        ("rules: !!python/name:os.system", "could not determine a constructor"),
    ],
)
def test_a_wrong_script_is_refused_with_the_place_and_the_reason(text: str, refusal: str) -> None:
    assert refusal in refusal_of(text)


def test_all_faults_are_told_at_once_in_the_order_of_the_text() -> None:
    said = refusal_of("chunk_ms: -1\nrules:\n  - steps: [{say: 1}]\n    times: 0")
    assert said.splitlines() == [
        "play.yaml:1:1: chunk_ms: should be greater than or equal to 0.",
        "play.yaml:3:14: rules[0].steps[0].say: should be text; put it in quotes.",
        "play.yaml:4:5: rules[0].times: should be greater than or equal to 1.",
    ]


def test_a_sleep_before_a_failure_is_a_slow_failure() -> None:
    text = "rules: [{steps: [{call: {tool: t}}, {sleep: 1}, {fail: {status: 503}}]}]"
    assert len(parse_script(text, "play.yaml").rules[0].replies) == 2


def test_a_file_that_is_not_there_is_a_refusal_of_the_house(tmp_path: Path) -> None:
    missing = tmp_path / "none.yaml"
    with pytest.raises(AirbossError) as refused:
        load_script(missing)
    assert refused.value.code == "script_invalid"
    assert str(refused.value) == f"{missing}: cannot be read: No such file or directory."


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "play.yaml"
    file.write_bytes(b"rules: \xff")
    with pytest.raises(ScriptInvalid, match="is not UTF-8 text: byte 7"):
        load_script(file)


def test_aliases_of_aliases_do_not_make_a_script_huge() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    with pytest.raises(ScriptInvalid, match="has more than 200,000 parts"):
        parse_script("\n".join(lines), "script.yaml")
