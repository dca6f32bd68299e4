"""`airboss check` and `airboss chart`: every mistake with its place, and a job made visible."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.test_main import HEAVY, modules_of
from tests.portal import Portal

TEN_MISTAKES = """\
models: {drivin: gpt-4.1, coding: gpt-5.2}
promptVariables:
  board: ["Ask $everybody."]
tasks:
  design:
    model: {category: codin}
    prompt: ["Design it. $board"]
    requireUserInput: yes
    retry: 3
  build:
    model: {category: coding}
    prompt: ["Build $user-input"]
    requireUserInput: false
    criteria:
      toolExecuted: [job_bolean_true]
      failureAction: {}
jobs:
  all:
    work:
      kind: Seq
      works:
        - {kind: Ref, taskId: desing}
        - {kind: Ref, taskId: build}
grid:
  - keyword: do
    jobs: [{name: All, jobName: al}, null]
"""
BY_A_BEGINNER = """\
models:
  driving: rehearsal
  coding: null
promptVariables:
  ask: ["Answer with job_boolean_true or job_boolean_false, and the reason."]
  loop: ["See $loop"]
tasks:
  look:
    model: {categry: driving}
    prompt: "Look around."
    requireUserInput: false
  greet:
    model: {category: driving, id: rehearsal}
    prompt: ["Greet $user-input. $loop"]
    requireUserInput: true
    permissions: write
    criteria:
      condition: ["Was it friendly?"]
      failureAction: {retryTimes: -1}
  tidy:
    prompt: []
    requireUserInput: false
    availability: {previousTasks: [lok]}
    limits: {minutes: ten}
jobs:
  all:
    requireUserInput: false
    work:
      kind: Sequence
      works: [{kind: Ref, taskId: greet}]
  some:
    work: {kind: Seq, works: []}
  more:
    work: {kind: Ref, taskId: tidy}
grid:
  - keyword: Go
    jobs: [{name: All, jobName: all, color: red}]
"""
VALID = """\
models: {driving: gpt-4.1}
promptVariables: {}
tasks:
  build: {model: {category: driving}, prompt: [Build it.], requireUserInput: false}
permissions: approve-all
jobs:
  all:
    work:
      kind: Loop
      body: {kind: Ref, taskId: build}
      postCondition: [false, {kind: Ref, taskId: build}]
grid: []
"""


def file_with(portal: Portal, text: str, name: str = "airboss.yaml") -> str:
    (portal.folder / name).write_text(text, encoding="utf-8")
    return name


def messages(text: str) -> list[str]:
    """The line of each mistake that tools read, without the lines around the place."""
    return [line for line in text.splitlines() if line.startswith("airboss.yaml:")]


def test_ten_mistakes_are_named_with_their_places(nowhere: Portal) -> None:
    done = nowhere.run("check", file_with(nowhere, TEN_MISTAKES))
    assert done.returncode == 1
    assert done.stderr == "10 errors.\n"
    assert messages(done.stdout) == [
        "airboss.yaml:1:9: entry.models.driving: Should exist.",
        'airboss.yaml:3:11: entry.tasks["design"].prompt/$board: '
        "Cannot find prompt variable: $everybody.",
        'airboss.yaml:6:23: entry.tasks["design"].model.category: '
        '"codin" is not a valid model key. Did you mean "coding"?',
        'airboss.yaml:8:23: entry.tasks["design"].requireUserInput: Should be true or false.',
        'airboss.yaml:9:5: entry.tasks["design"].retry: There is no such field.',
        'airboss.yaml:13:23: entry.tasks["build"].requireUserInput: '
        "Prompt should not use $user-input when requireUserInput is false.",
        'airboss.yaml:15:22: entry.tasks["build"].criteria.toolExecuted[0]: '
        '"job_bolean_true" is not an available tool. Did you mean "job_boolean_true"?',
        'airboss.yaml:16:22: entry.tasks["build"].criteria.failureAction.retryTimes: Should exist.',
        'airboss.yaml:22:31: entry.jobs["all"].work.works[0].taskId: '
        '"desing" is not a valid task name. Did you mean "design"?',
        'airboss.yaml:26:33: entry.grid[0].jobs[0].jobName: "al" is not a valid job name. '
        'Did you mean "all"?',
    ]


def test_each_mistake_comes_with_its_lines_and_with_what_to_write_instead(
    nowhere: Portal,
) -> None:
    text = TEN_MISTAKES.replace("retry: 3", "\u202eretry: 3")
    done = nowhere.run("check", file_with(nowhere, text), PYTHONUTF8="1")
    for said in (
        """\
airboss.yaml:8:23: entry.tasks["design"].requireUserInput: Should be true or false.
   6 |     model: {category: codin}
   7 |     prompt: ["Design it. $board"]
>  8 |     requireUserInput: yes
     |                       ^^^
   9 |     ⟨U+202E⟩retry: 3
  10 |   build:
  Write this:
    requireUserInput: true
""",
        """\
>  9 |     ⟨U+202E⟩retry: 3
     |     ^^^^^^^^^^^^^
""",
        """\
> 22 |         - {kind: Ref, taskId: desing}
     |                               ^^^^^^
  23 |         - {kind: Ref, taskId: build}
  24 | grid:
  The tasks of this entry are: design, build.
""",
    ):
        assert said in done.stdout


def test_what_a_beginner_gets_wrong_is_told_all_at_once(nowhere: Portal) -> None:
    done = nowhere.run("check", file_with(nowhere, BY_A_BEGINNER))
    assert (done.returncode, done.stderr) == (1, "15 errors.\n")
    assert [line.removeprefix("airboss.yaml:") for line in messages(done.stdout)] == [
        '3:11: entry.models["coding"]: Should be text.',
        '6:10: entry.tasks["greet"].prompt/$loop: Prompt variable reaches itself: $loop -> $loop.',
        '9:13: entry.tasks["look"].model.categry: There is no such field. Did you mean "category"?',
        '10:13: entry.tasks["look"].prompt: Should be a list.',
        '13:12: entry.tasks["greet"].model: Should have either category or id.',
        '16:18: entry.tasks["greet"].permissions: '
        'Should be "ask", "caged", "approve-all", "read-only" or "deny-all".',
        '18:18: entry.tasks["greet"].criteria.condition: '
        "Boolean tool (job_boolean_true or job_boolean_false) must be mentioned.",
        '19:35: entry.tasks["greet"].criteria.failureAction.retryTimes: Should be 0 or more.',
        '21:13: entry.tasks["tidy"].prompt: Prompt is empty.',
        '23:36: entry.tasks["tidy"].availability.previousTasks[0]: '
        '"lok" is not a valid task name. Did you mean "look"?',
        '24:23: entry.tasks["tidy"].limits.minutes: Should be a number.',
        '29:13: entry.jobs["all"].work.kind: '
        '"Sequence" is not a kind of work: Ref, Seq, Par, Loop, Alt.',
        '32:30: entry.jobs["some"].work.works: should have at least one element.',
        '34:11: entry.jobs["more"].work.modelOverride: '
        'must be defined because task "tidy" has no specified model.',
        "37:38: entry.grid[0].jobs[0].color: There is no such field.",
    ]


def test_a_script_gets_the_mistakes_as_json(nowhere: Portal) -> None:
    done = nowhere.run("check", file_with(nowhere, TEN_MISTAKES), "--json")
    assert (done.returncode, done.stderr) == (1, "")
    said = json.loads(done.stdout)
    assert {name: said[name] for name in ("file", "valid", "ungranted")} == {
        "file": "airboss.yaml",
        "valid": False,
        "ungranted": [],
    }
    assert len(said["violations"]) == 10
    assert said["violations"][2] == {
        "where": 'entry.tasks["design"].model.category',
        "reason": '"codin" is not a valid model key.',
        "hint": 'Did you mean "coding"?',
        "line": 6,
        "column": 23,
        "advice": "The models of this entry are: drivin, coding.",
        "excerpt": [
            {"line": 4, "before": "tasks:", "marked": "", "after": ""},
            {"line": 5, "before": "  design:", "marked": "", "after": ""},
            {"line": 6, "before": "    model: {category: ", "marked": "codin", "after": "}"},
            {"line": 7, "before": '    prompt: ["Design it. $board"]', "marked": "", "after": ""},
            {"line": 8, "before": "    requireUserInput: yes", "marked": "", "after": ""},
        ],
    }


def test_a_valid_entry_is_said_to_be_so_with_the_wishes_that_are_not_granted(
    nowhere: Portal,
) -> None:
    file = file_with(nowhere, VALID)
    done = nowhere.run("check", file)
    assert (done.returncode, done.stdout) == (0, "airboss.yaml: no errors. Tasks: 1, jobs: 1.\n")
    assert done.stderr == (
        'note: entry.permissions: "approve-all" is not granted: the server allows "ask", '
        "until a person trusts this file.\n"
    )
    for words in (["--trust"], ["--permissions", "approve-all"]):
        assert nowhere.run("check", file, *words).stderr == ""
    said = json.loads(nowhere.run("check", file, "--json").stdout)
    asked_for = {"where": "entry.permissions", "wished": "approve-all", "granted": "ask"}
    assert said == {"file": file, "valid": True, "violations": [], "ungranted": [asked_for]}


def test_a_text_that_is_no_yaml_has_its_place_too(nowhere: Portal) -> None:
    done = nowhere.run("check", file_with(nowhere, "a: b: c"))
    assert done.returncode == 1
    assert done.stdout == (
        "airboss.yaml:1:5: entry: Is not YAML: mapping values are not allowed in this context.\n"
        "> 1 | a: b: c\n"
        "    |     ^\n"
        '  Put a text that has ": " in it in quotes, and check the indentation.\n'
    )


def test_a_file_that_is_not_there_is_a_refusal(nowhere: Portal) -> None:
    done = nowhere.run("check", "none.yaml")
    said = "error: none.yaml: cannot be read: No such file or directory.\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_a_python_file_runs_only_when_it_is_trusted(nowhere: Portal) -> None:
    file = file_with(nowhere, "entry = {}", "jobs.py")
    done = nowhere.run("check", file)
    assert done.returncode == 2
    assert "runs only after a person has trusted it" in done.stderr
    done = nowhere.run("check", file, "--trust")
    assert done.returncode == 1
    assert done.stdout.startswith("jobs.py: entry.models: Should exist.\n")


def test_what_a_file_says_cannot_drive_the_terminal(nowhere: Portal) -> None:
    file = file_with(nowhere, TEN_MISTAKES.replace("desing", '"\\e[31m\\u202e"'))
    done = nowhere.run("check", file)
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout


def test_the_schema_is_printed_for_editors(nowhere: Portal) -> None:
    done = nowhere.run("check", "--schema")
    assert done.returncode == 0
    assert json.loads(done.stdout)["properties"]["jobs"]


def test_a_chart_is_drawn_for_the_terminal(nowhere: Portal) -> None:
    file = file_with(nowhere, VALID)
    done = nowhere.run("chart", file, "all", PYTHONUTF8="1")
    assert done.stdout == "┌ loop\n│ ■ build\n├ then\n│ ◆ build\n└ false: repeat\n"
    plain = nowhere.run("chart", file, "all", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert plain.stdout == "+ loop\n| * build\n+ then\n| ? build\n+ false: repeat\n"


def test_a_chart_is_printed_as_mermaid_or_svg(nowhere: Portal) -> None:
    file = file_with(nowhere, VALID)
    done = nowhere.run("chart", file, "all", "--format", "mermaid")
    assert done.stdout.startswith('flowchart TD\n  n0["build"]:::TaskNode\n')
    done = nowhere.run("chart", file, "all", "--format", "svg")
    assert ET.fromstring(done.stdout).tag.endswith("svg")  # noqa: S314 - our own


def test_a_job_that_is_not_there_is_a_refusal_with_a_hint(nowhere: Portal) -> None:
    file = file_with(nowhere, VALID)
    done = nowhere.run("chart", file, "al")
    said = f'error: There is no job al in {file}. Did you mean "all"?\n'
    assert (done.returncode, done.stderr) == (2, said)
    said = f"error: There is no job whatever in {file}. It has: all.\n"
    assert nowhere.run("chart", file, "whatever").stderr == said


def test_without_a_file_the_projects_own_entry_is_meant(nowhere: Portal) -> None:
    (nowhere.folder / ".git").mkdir()
    nowhere.work.mkdir()
    done = nowhere.run("check")
    said = (
        f"error: {nowhere.folder} has no airboss.yaml. "
        "Create one with `airboss init`, or pass the file.\n"
    )
    assert (done.returncode, done.stderr) == (2, said)
    (nowhere.folder / ".github").mkdir()
    file_with(nowhere, VALID, ".github/airboss.yml")
    for name in (".github/airboss.yml", "airboss.yaml"):
        file_with(nowhere, VALID, name)
        told = f"{nowhere.folder / name}: no errors. Tasks: 1, jobs: 1.\n"
        assert nowhere.run("check").stdout == told
    assert nowhere.run("chart", "all", PYTHONUTF8="1").stdout.startswith("┌ loop\n")
    done = nowhere.run("chart", "a", "b", "c")
    assert (done.returncode, done.stdout) == (2, "")


def test_the_chart_of_an_invalid_entry_says_what_is_wrong(nowhere: Portal) -> None:
    done = nowhere.run("chart", file_with(nowhere, TEN_MISTAKES), "all")
    assert (done.returncode, done.stderr) == (1, "10 errors.\n")


@pytest.mark.parametrize("words", [["check", "--help"], ["chart", "--help"]], ids=" ".join)
def test_help_loads_nothing_of_the_language(nowhere: Portal, words: list[str]) -> None:
    assert modules_of(nowhere, *words).isdisjoint((*HEAVY, "airboss.entry", "yaml"))


def test_checking_needs_no_server_and_leaves_no_data_folder(
    nowhere: Portal, tmp_path: Path
) -> None:
    nowhere.run("check", file_with(nowhere, VALID))
    assert not nowhere.data.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["airboss.yaml"]
