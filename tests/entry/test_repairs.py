"""What an editor offers to repair a mistake with, put into the text as an editor does it."""

import json
import re

import pytest

from airboss.entry.draft import Draft, find_draft
from airboss.entry.load import Format
from airboss.entry.violations import Repair

HEAD = """\
models: {driving: gpt-4.1}
promptVariables: {ask: [Call job_boolean_true or not.]}
tasks:
  fix-tests:
    model: {category: driving}
    prompt: [Fix it.]
    requireUserInput: false
  free: {prompt: [Look.], requireUserInput: false}
"""
JOBS = "jobs: {all: {work: {kind: Ref, taskId: fix-tests}}}\n"
GRID = "grid: [{keyword: k, jobs: [{name: All, jobName: all}]}]\n"


def draft(text: str, form: Format = "yaml") -> Draft:
    return find_draft(text.encode(), form)


def repairs(text: str, form: Format = "yaml") -> list[Repair]:
    return [repair for said in draft(text, form).violations for repair in said.repairs]


def repaired(text: str, repair: Repair) -> str:
    starts = [0, *(hit.end() for hit in re.finditer("\r\n|\n", text))]
    begin = starts[repair.line - 1] + repair.column - 1
    end = starts[repair.end_line - 1] + repair.end_column - 1
    return text[:begin] + repair.text + text[end:]


def by_one_click(text: str, form: Format = "yaml") -> tuple[str, str]:
    """The title of the only repair, and the lines that it changes."""
    [repair] = repairs(text, form)
    before = text.splitlines()
    after = repaired(text, repair)
    assert draft(after, form).violations == (), after
    changed = (line for line in after.splitlines() if line and line not in before)
    return repair.title, "\n".join(changed)


@pytest.mark.parametrize(
    ("old", "new", "title", "line"),
    [
        (
            "taskId: fix-tests",
            "taskId: fix-test",
            "Use fix-tests",
            "jobs: {all: {work: {kind: Ref, taskId: fix-tests}}}",
        ),
        ("jobName: all", "jobName: 'al'", "Use all", GRID.strip()),
        ("kind: Ref", "kind: ref", "Use Ref", JOBS.strip()),
        ("category: driving", "category: drivng", "Use driving", "    model: {category: driving}"),
        ("prompt: [Fix it.]", "promt: [Fix it.]", "Use prompt", "    prompt: [Fix it.]"),
        (
            "prompt: [Fix it.]",
            "prompt: Fix it.",
            'Write ["Fix it."]',
            '    prompt: ["Fix it."]',
        ),
        (
            "prompt: [Fix it.]",
            "prompt: |\n      Fix\n      it # now.\n",
            'Write [Fix, "it # now."]',
            '    prompt: [Fix, "it # now."]',
        ),
        (
            "prompt: [Fix it.]",
            "prompt: [Fix it., 'é $aks $asks']",
            "Use $ask",
            "    prompt: [Fix it., 'é $ask $asks']",
        ),
        (
            "requireUserInput: false\n  free",
            "requireUserInput: 'no'\n  free",
            "Write false",
            "    requireUserInput: false",
        ),
        (
            "requireUserInput: false\n  free",
            "requireUserInput: true\n  free",
            "Set requireUserInput to false",
            "    requireUserInput: false",
        ),
        (
            "    requireUserInput: false\n  free",
            "  free",
            "Add requireUserInput",
            "    requireUserInput: false",
        ),
        (
            "taskId: fix-tests",
            "taskId: free",
            "Add modelOverride",
            "jobs: {all: {work: {modelOverride: {category: driving}, kind: Ref, taskId: free}}}",
        ),
        ("driving: gpt", "Driving: gpt", 'Rename "Driving" to driving', HEAD.splitlines()[0]),
        (GRID, "# the end", "Add grid", "grid: []"),
    ],
)
def test_a_mistake_is_repaired_by_one_click(old: str, new: str, title: str, line: str) -> None:
    text = HEAD + JOBS + GRID
    assert draft(text).violations == ()
    wrong = text.replace(old, new, 1)
    assert wrong != text
    if "$asks" in new:  # a second mistake in the same line, that no near name repairs
        told = repairs(wrong)[0]
        assert (told.title, line in repaired(wrong, told)) == (title, True)
        return
    if title.startswith("Rename"):
        told = next(repair for repair in repairs(wrong) if repair.title == title)
        assert draft(repaired(wrong, told)).violations == ()
        return
    assert by_one_click(wrong) == (title, line)
    windows = wrong.replace("\n", "\r\n")
    [told] = repairs(windows)
    assert draft(repaired(windows, told)).violations == ()


@pytest.mark.parametrize(
    ("old", "new", "title"),
    [
        ('"taskId": "fix-tests"', '"taskId": "fix-testz"', "Use fix-tests"),
        ('"prompt": ["Fix \\u00e9."]', '"promt": ["Fix \\u00e9."]', "Use prompt"),
        ('"prompt": ["Fix \\u00e9."]', '"prompt": "Fix."', 'Write ["Fix."]'),
        ('"requireUserInput": false', '"requireUserInput": "false"', "Write false"),
        (', "requireUserInput": false', "", "Add requireUserInput"),
        (', "grid": []', "", "Add grid"),
    ],
)
def test_json_is_repaired_too(old: str, new: str, title: str) -> None:
    entry: dict[str, object] = {
        "models": {"driving": "m"},
        "promptVariables": {},
        "tasks": {
            "fix-tests": {
                "model": {"id": "m"},
                "prompt": ["Fix é."],
                "requireUserInput": False,
            }
        },
        "jobs": {"all": {"work": {"kind": "Ref", "taskId": "fix-tests"}}},
        "grid": [],
    }
    text = json.dumps(entry)
    wrong = text.replace(old, new, 1)
    assert wrong != text
    assert by_one_click(wrong, "json")[0] == title


def test_a_name_that_is_there_already_is_not_written_twice() -> None:
    text = (HEAD + JOBS + GRID).replace("prompt: [Fix it.]", "prompt: [Fix it.]\n    promt: [x]", 1)
    assert repairs(text) == []


def test_what_an_alias_or_a_merge_brings_is_left_alone_where_a_click_would_hit_something_else() -> (
    None
):
    text = """\
models: {driving: m}
promptVariables: {}
tasks:
  base: &base
    prompt: [x]
    requireUserInput: false
    promt: [y]
  other:
    <<: *base
    model: {id: m}
  third: &third
    prompt: [x]
jobs: {}
grid: []
"""
    for repair in repairs(text):
        after = draft(repaired(text, repair))
        assert after.mistakes < draft(text).mistakes
    assert "requireUserInput" not in "".join(repair.text for repair in repairs(text))


def test_only_the_first_of_very_many_mistakes_have_repairs() -> None:
    cells = ", ".join("{name: All, jobName: al}" for _ in range(300))
    text = HEAD + JOBS + f"grid: [{{keyword: k, jobs: [{cells}]}}]\n"
    told = draft(text)
    assert told.mistakes == 300
    assert 0 < sum(bool(said.repairs) for said in told.violations) <= 100
