"""From a script and a conversation follows the reply, and from nothing else."""

from dataclasses import replace

import pytest

from airboss.runtime.rehearsal import Script, builtin_script, parse_script
from airboss.runtime.rehearsal.conversation import Mark, RehearsedConversation
from airboss.runtime.rehearsal.player import (
    Drop,
    FilledCall,
    PlayedText,
    Reason,
    Reply,
    Sleep,
    continued,
    errand,
    matching,
    play,
)

SCRIPT = parse_script(
    """
    rules:
      - when: "write (it|this)"
        model: "gpt-5.*"
        steps:
          - reasoning: "In {cwd}."
          - say: "I will."
          - call:
              tool: create
              arguments: {path: "{cwd}/a", lines: ["{last}", 1], deep: {x: "{cwd}"}}
          - sleep: 0.5
          - calls: [{tool: view}, {tool: bash, arguments: {command: ls}}]
          - say: "Done."
      - when: "cut"
        steps: [{say: "par"}, {drop: true}]
      - when: "fail"
        steps: [{sleep: 1}, {fail: {status: 503, message: "busy"}}]
      - when: "call only"
        steps: [{call: {tool: view}}]
    """,
    "play.yaml",
)


def talk(last: str, replies: int = 0, mark: Mark | None = None) -> RehearsedConversation:
    return RehearsedConversation("turn", last, "/w", replies, mark)


def reply_to(script: Script, said: RehearsedConversation, model: str = "gpt-5.2") -> Reply:
    number = matching(script, said, model, ())
    return play(None if number is None else script.rules[number], said)


def test_a_reply_ends_with_its_call_and_goes_on_with_the_result() -> None:
    name = SCRIPT.rules[0].mark
    assert [reply_to(SCRIPT, talk("write it", n)) for n in range(4)] == [
        Reply(
            (Reason("In /w."), PlayedText("I will.")),
            (
                FilledCall(
                    "create", {"path": "/w/a", "lines": ["write it", 1], "deep": {"x": "/w"}}
                ),
            ),
            rule=name,
        ),
        Reply(
            (Sleep(0.5),),
            (FilledCall("view", {}), FilledCall("bash", {"command": "ls"})),
            rule=name,
            number=1,
        ),
        Reply((PlayedText("Done."),), rule=name, number=2),
        Reply((PlayedText("Rehearsed: “write it”"),)),
    ]


def test_the_expression_is_searched_and_the_model_is_matched_whole() -> None:
    assert matching(SCRIPT, talk("please write this now"), "gpt-5.2", ()) == 0
    assert matching(SCRIPT, talk("please write this now"), "my-gpt-5.2", ()) is None
    assert matching(SCRIPT, talk("nothing"), "gpt-5.2", ()) is None


def test_a_rule_without_when_takes_everything() -> None:
    script = parse_script("rules: [{steps: [{say: always}]}]", "play.yaml")
    assert reply_to(script, talk("")).beats == (PlayedText("always"),)


def test_the_first_rule_that_is_not_spent_plays() -> None:
    script = parse_script("rules: [{steps: [{say: a}]}, {steps: [{say: b}]}]", "play.yaml")
    assert [matching(script, talk("x"), "m", spent) for spent in ((), {0}, {0, 1})] == [0, 1, None]


def test_a_drop_and_a_failure_are_what_the_script_says() -> None:
    assert reply_to(SCRIPT, talk("cut")).beats == (PlayedText("par"), Drop())
    failed = reply_to(SCRIPT, talk("fail"))
    assert failed.beats == (Sleep(1),)
    assert failed.failure
    assert (failed.failure.status, failed.failure.message) == (503, "busy")


def test_a_rule_that_ends_with_a_call_is_closed_with_a_line() -> None:
    assert reply_to(SCRIPT, talk("call only", 1)).beats == (PlayedText("Rehearsed: “call only”"),)


def test_what_is_filled_in_is_not_filled_in_again() -> None:
    script = parse_script('rules: [{steps: [{say: "{last} {other}"}]}]', "play.yaml")
    assert reply_to(script, talk("{cwd}")).beats == (PlayedText("{cwd} {other}"),)


def test_the_marked_rule_goes_on_whatever_else_matches() -> None:
    marked = talk("anything", 1, Mark(SCRIPT.rules[0].mark, 1))
    assert continued(SCRIPT, marked) == SCRIPT.rules[0]
    assert play(SCRIPT.rules[0], marked).beats == (PlayedText("Done."),)


def test_the_mark_of_a_rule_that_was_edited_is_forgotten() -> None:
    assert continued(SCRIPT, talk("anything", 1, Mark("ffffffff", 1))) is None


@pytest.mark.parametrize("tool", ["job_boolean_true", "job_boolean_false"])
def test_without_a_rule_a_condition_holds(tool: str) -> None:
    prompt = f"Is it so? Answer with {tool}."
    assert reply_to(SCRIPT, talk(prompt)).calls == (
        FilledCall("job_boolean_true", {"argument": "rehearsed"}),
    )
    assert reply_to(SCRIPT, talk(prompt, 1)).beats == (PlayedText(f"Rehearsed: “{prompt}”"),)


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ('call shop_price {"fruit": "apple"}', (FilledCall("shop_price", {"fruit": "apple"}),)),
        ("call job-tool", (FilledCall("job-tool", {}),)),
        ("call me later, please", ()),
        ("call me {later}", ()),
        ("call me [1]", ()),
    ],
)
def test_without_a_rule_a_call_that_is_spelled_out_is_made(
    said: str, calls: tuple[FilledCall, ...]
) -> None:
    assert play(None, talk(said)).calls == calls
    assert play(None, talk(said, replies=1)).calls == ()


def test_without_a_rule_a_document_is_prepared() -> None:
    assert reply_to(SCRIPT, talk("Then call job_prepare_document.")).calls == (
        FilledCall("job_prepare_document", {"argument": "/w/rehearsal.md"}),
    )


def test_without_a_rule_a_prompt_with_both_tools_gets_both() -> None:
    reply = reply_to(SCRIPT, talk("job_prepare_document, then job_boolean_true"))
    assert [call.tool for call in reply.calls] == ["job_prepare_document", "job_boolean_true"]


def test_without_a_rule_one_line_quotes_the_beginning() -> None:
    reply = reply_to(SCRIPT, talk("Fix\n  the bug. " + "Quickly. " * 20))
    (said,) = reply.beats
    assert isinstance(said, PlayedText)
    assert said.text.startswith("Rehearsed: “Fix the bug. Quickly. Quickly.")
    assert said.text.endswith("…”")
    assert len(said.text) <= 93


def test_a_side_question_is_answered_without_tools() -> None:
    aside = replace(talk("write it"), purpose="aside")
    assert reply_to(SCRIPT, aside).beats == (
        Reason("In /w."),
        PlayedText("I will."),
        Sleep(0.5),
        PlayedText("Done."),
    )
    assert reply_to(SCRIPT, aside).calls == ()
    other = replace(talk("Use job_boolean_true"), purpose="aside")
    assert reply_to(SCRIPT, other) == Reply((PlayedText("Rehearsed: “Use job_boolean_true”"),))


def test_the_runtime_gets_its_summary_and_its_title() -> None:
    summary = errand(replace(talk("the work"), purpose="summary"))
    title = errand(replace(talk("the work"), purpose="title"))
    assert summary == Reply(
        (
            PlayedText(
                "<overview>\nA rehearsal. The last request was: the work\n</overview>\n"
                "<checkpoint_title>Rehearsal</checkpoint_title>"
            ),
        )
    )
    assert title == Reply((PlayedText("<session-title>Rehearsal</session-title>"),))
    assert errand(talk("the work")) is None


@pytest.mark.parametrize(
    ("said", "tools"),
    [
        ("hello", []),
        ("Hi there!", []),
        ("Please look around", ["view"]),
        ("read the readme", ["view"]),
        ("write a note", ["create"]),
        ("how do I sign in?", []),
        ("Say hello, look around and decide with job_boolean_true.", ["job_boolean_true"]),
    ],
)
def test_the_built_in_script_shows_what_there_is(said: str, tools: list[str]) -> None:
    reply = reply_to(builtin_script(), talk(said), "rehearsal")
    assert [call.tool for call in reply.calls] == tools
    assert not any("Rehearsed:" in str(beat) for beat in reply.beats)
