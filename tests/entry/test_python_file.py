"""Entries in Python: only where a person trusts them, in a process of their own."""

import os
from pathlib import Path

import pytest

from airboss.entry.load import check_file, load_entry
from airboss.entry.python_file import run_python
from airboss.entry.validate import validate_entry
from airboss.entry.violations import EntryUnparsed, EntryUnreadable
from tests.entry.example import entry

PROGRAM = """
from airboss.entry.build import alt, loop, par, ref, retry, seq
from airboss.entry.document import Criteria, Entry, Job, Model, Task

print("what I print is my own business")
reviewers = ["a", "b"]
entry = Entry(
    models={"driving": "m", **{name: f"model-{name}" for name in reviewers}},
    prompt_variables={},
    tasks={
        "build": Task(
            model=Model(category="driving"),
            prompt=("Build it.",),
            require_user_input=False,
            criteria=Criteria(condition=("job_boolean_true",), failure_action=retry(2, "More.")),
        ),
        "review": Task(prompt=("Review it.",), require_user_input=False),
    },
    jobs={
        "all": Job(
            work=loop(
                seq(ref("build"), par(*(ref("review", category=name) for name in reviewers))),
                after=(False, ref("review", model="final")),
            )
        )
    },
    grid=(),
)
"""


def file_with(folder: Path, text: str) -> Path:
    file = folder / "airboss.py"
    file.write_text(text, encoding="utf-8")
    return file


def refused(folder: Path, text: str) -> tuple[str, int | None]:
    with pytest.raises(EntryUnparsed) as caught:
        check_file(file_with(folder, text), trusted=True)
    return str(caught.value), caught.value.violations[0].line


def test_a_program_builds_its_entry_with_the_helpers(tmp_path: Path) -> None:
    wire = load_entry(file_with(tmp_path, PROGRAM), trusted=True).to_wire()
    assert wire["jobs"]["all"]["work"] == {
        "kind": "Loop",
        "body": {
            "kind": "Seq",
            "works": [
                {"kind": "Ref", "workIdInJob": 1, "taskId": "build"},
                {
                    "kind": "Par",
                    "works": [
                        {
                            "kind": "Ref",
                            "workIdInJob": 2 + i,
                            "taskId": "review",
                            "modelOverride": {"category": name},
                        }
                        for i, name in enumerate("ab")
                    ],
                },
            ],
        },
        "postCondition": [
            False,
            {
                "kind": "Ref",
                "workIdInJob": 0,
                "taskId": "review",
                "modelOverride": {"id": "final"},
            },
        ],
    }
    assert wire["tasks"]["build"]["criteria"] == {
        "condition": ["job_boolean_true"],
        "failureAction": {"retryTimes": 2, "additionalPrompt": ["More."]},
    }


def test_a_program_may_also_export_plain_objects(tmp_path: Path) -> None:
    file = file_with(tmp_path, f"entry = {entry()!r}")
    assert load_entry(file, trusted=True) == validate_entry(entry())


def test_a_program_is_not_run_unless_it_is_trusted(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    file = file_with(tmp_path, f"open({str(trace)!r}, 'w')\nentry = {{}}")
    with pytest.raises(EntryUnreadable) as caught:
        load_entry(file)
    said = "is a Python program, and runs only after a person has trusted it."
    assert str(caught.value) == f"{file}: {said}"
    assert not trace.exists()


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("x = 1\nentry = 1 / 0", "The program failed: ZeroDivisionError: division by zero", 2),
        ("def f():\n  raise KeyError('a')\n\nf()", "The program failed: KeyError: 'a'", 2),
        ("entry = (", "Is not Python: '(' was never closed.", 1),
        ("import sys\nsys.exit(0)", "The program ended itself before it had an entry.", None),
        ("x = 1", "The program does not export `entry`.", None),
        (
            "import os\nos._exit(7)",
            "The program ended with exit code 7, without an entry.",
            None,
        ),
        (
            "entry = {'models': {1, 2}}",
            "`entry` holds what JSON cannot write: Object of type set is not JSON serializable.",
            None,
        ),
    ],
)
def test_a_program_that_fails_says_why_and_where(
    tmp_path: Path, text: str, said: str, line: int | None
) -> None:
    assert refused(tmp_path, text) == (f"entry: {said}", line)


def test_a_program_that_gives_no_entry_has_the_faults_of_its_shape(tmp_path: Path) -> None:
    checked = check_file(file_with(tmp_path, "entry = 5"), trusted=True)
    assert [str(told) for told in checked.violations] == ["entry: Should be an object."]


def test_works_that_hold_too_much_of_themselves_are_refused(tmp_path: Path) -> None:
    text = (
        "from airboss.entry.document import Seq\nfrom airboss.entry.build import ref\n"
        "work = ref('a')\nfor _ in range(5000):\n    work = Seq(works=(work,))\n"
        "entry = {'jobs': {'a': {'work': work}}}"
    )
    said, _ = refused(tmp_path, text)
    assert said.endswith("Is nested more than 200 levels deep.")


def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    file = file_with(tmp_path, "while True: pass")
    with pytest.raises(EntryUnparsed) as caught:
        run_python(file, seconds=0.5)
    assert str(caught.value) == "entry: The program did not end within 0.5 seconds."


def test_a_program_sees_no_secret_of_the_servers_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GH_TOKEN", "secret")
    assert os.environ["GH_TOKEN"] == "secret"
    file = file_with(tmp_path, "import os\nentry = sorted(os.environ)")
    seen = run_python(file)
    assert isinstance(seen, list)
    assert "GH_TOKEN" not in seen
