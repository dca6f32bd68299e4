"""Entries from files: what each kind of file may hold, and where a mistake stands in it."""

import json
from pathlib import Path

import pytest
import yaml

from airboss.entry.load import MAX_BYTES, Format, check_file, check_text, load_entry
from airboss.entry.validate import check_entry, validate_entry
from airboss.entry.violations import EntryInvalid, EntryUnparsed, EntryUnreadable, Violation
from tests.entry.example import entry


def told(text: str, form: Format) -> list[tuple[int | None, int | None, str]]:
    found: tuple[Violation, ...]
    try:
        found = check_text(text, form).violations
    except EntryInvalid as error:
        found = error.violations
    return [(one.line, one.column, str(one)) for one in found]


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.yml", "A.YAML"])
def test_json_and_yaml_hold_exactly_the_same(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    text = json.dumps(entry()) if name.endswith("json") else yaml.safe_dump(entry())
    file.write_text(text, encoding="utf-8-sig")
    assert load_entry(file).to_wire() == validate_entry(entry()).to_wire()


def test_an_invalid_file_raises_the_first_violation_and_knows_all_with_their_places(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.json"
    data = entry()
    del data["models"]["driving"]
    data["grid"][0]["jobs"][0]["jobName"] = "al"
    file.write_text(json.dumps(data, indent=2), encoding="utf-8")
    with pytest.raises(EntryInvalid) as caught:
        load_entry(file, prefix="a.json: ")
    assert str(caught.value) == "a.json: entry.models.driving: Should exist."
    assert [(one.line, one.column) for one in caught.value.violations] == [(2, 13), (83, 22)]


YAML = """\
models: {driving: m}
promptVariables:
  a: [one, two]
  a: [three]
tasks:
  plan:
    prompt:
      - Plan it.
      - $lost
    requireUserInput: yes
    colour: red
jobs:
  all: {work: {kind: Seq, works: [{kind: Seq, works: [{kind: Ref, taskId: plan}]},
    {kind: Ref, taskId: pln}]}}
grid: []
"""


def test_every_violation_in_yaml_has_its_place() -> None:
    assert told(YAML, "yaml") == [
        (4, 3, 'entry.promptVariables["a"]: Stands here twice.'),
        (10, 23, 'entry.tasks["plan"].requireUserInput: Should be true or false.'),
        (11, 5, 'entry.tasks["plan"].colour: There is no such field.'),
        (9, 9, 'entry.tasks["plan"].prompt: Cannot find prompt variable: $lost.'),
        (
            13,
            55,
            'entry.jobs["all"].work.works[0].modelOverride: '
            'must be defined because task "plan" has no specified model.',
        ),
        (14, 25, 'entry.jobs["all"].work.works[1].taskId: "pln" is not a valid task name.'),
    ]


JSON = """\
{"models": {"driving": "m", "driving": "n"},
 "promptVariables": {"é": ["x"], "b": ["$lost"]},
 "tasks": {"plan": {"prompt": ["a",
                               "$b"],
                    "requireUserInput": false, "a b": 1}},
 "jobs": {"all": {"work": {"kind": "Par",
                           "works": []}}},
 "grid": []}
"""


def test_every_violation_in_json_has_its_place() -> None:
    assert told(JSON, "json") == [
        (1, 29, "entry.models.driving: Stands here twice."),
        (5, 48, 'entry.tasks["plan"]["a b"]: There is no such field.'),
        (2, 40, 'entry.tasks["plan"].prompt/$b: Cannot find prompt variable: $lost.'),
        (7, 37, 'entry.jobs["all"].work.works: should have at least one element.'),
    ]


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("", (1, 1), "a value should stand here"),
        ("{", (1, 2), "a field's name in double quotes should stand here"),
        ('{"a" 1}', (1, 6), "a colon should stand here"),
        ('{"a": 1\n "b": 2}', (2, 2), "a comma or } should stand here"),
        ("[1, ]", (1, 5), "] should not stand behind a comma"),
        ("[1 2]", (1, 4), "a comma or ] should stand here"),
        ("{'a': 1}", (1, 2), "a field's name in double quotes should stand here"),
        ("{} x", (1, 4), "there is more behind its end"),
        ("[NaN]", (1, 2), "a value should stand here"),
        ("[-]", (1, 2), "a value should stand here"),
        ("[01]", (1, 3), "a comma or ] should stand here"),
        ("[1" + "0" * 5000 + "]", (1, 2), "the number is too long"),
        ('["\n"]', (1, 3), "invalid control character"),
        ('["a', (1, 2), "unterminated string starting"),
        ('["\\x"]', (1, 3), "invalid \\escape"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(
    text: str, place: tuple[int, int], reason: str
) -> None:
    (found,) = told(text, "json")
    assert found[:2] == place
    assert found[2].startswith(f"entry: Is not JSON: {reason}")
    with pytest.raises(EntryUnparsed):
        check_text(text, "json")


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("a: [", (2, 1), "did not find expected node content"),
        ("a: b: c", (1, 5), "mapping values are not allowed in this context"),
        ("a: *b", (1, 4), "there is no anchor &b before"),
        ("a: &b [*b]", (1, 8), "*b stands inside itself"),
        ("a: !python/object x", (1, 4), "the tag !python/object is not known here"),
        ("a: 1\n---\nb: 2", (2, 1), "a file holds one document"),
        ("[a]: 1", (1, 1), "a name should be one word or line"),
        ("<<: 5", (1, 1), "<< should bring an object"),
        ("a: \x00", (1, 1), ""),
    ],
)
def test_what_is_not_yaml_is_refused_with_its_place(
    text: str, place: tuple[int, int], reason: str
) -> None:
    (found,) = told(text + "\n", "yaml")
    assert found[:2] == place
    assert found[2].startswith(f"entry: Is not YAML: {reason}")
    with pytest.raises(EntryUnparsed):
        check_text(text, "yaml")


def test_an_empty_yaml_is_no_entry() -> None:
    assert told("", "yaml") == [(1, 1, "entry: Should be an object.")]


def test_words_in_yaml_are_text_unless_json_has_them() -> None:
    text = YAML_FRAME.replace("LINES", "[yes, on, 2026-01-31, 1:30, 0o7, .inf, 'true', !!str 5]")
    checked = check_text(text, "yaml")
    assert checked.entry is not None
    said = checked.entry.tasks["plan"].prompt
    assert said == ("yes\non\n2026-01-31\n1:30\n0o7\n.inf\ntrue\n5",)


@pytest.mark.parametrize("word", ["true", "null", "~", "5", "-1.5e3", ""])
def test_what_json_has_is_no_text_in_yaml_either(word: str) -> None:
    text = YAML_FRAME.replace("LINES", f"\n      - {word}")
    assert told(text, "yaml")[0][2] == 'entry.tasks["plan"].prompt[0]: Should be text.'


YAML_FRAME = """\
models: &m {driving: m}
promptVariables: {}
tasks:
  plan: &base
    prompt: LINES
    requireUserInput: false
    model: {category: driving}
  again:
    <<: *base
    prompt: [Again.]
jobs: {all: {work: {kind: Ref, taskId: again}}}
grid: []
"""


def test_yaml_may_use_anchors_and_merges() -> None:
    entry = check_text(YAML_FRAME.replace("LINES", "[x]"), "yaml").entry
    assert entry is not None
    assert entry.tasks["again"].prompt == ("Again.",)
    assert entry.tasks["again"].model == entry.tasks["plan"].model


def test_aliases_cannot_blow_a_file_up() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    assert told("\n".join(rows), "yaml")[0][2] == "entry: Has more than 2,000,000 parts."


@pytest.mark.parametrize("form", ["json", "yaml"])
@pytest.mark.parametrize("levels", [300, 100_000])
def test_deep_nesting_is_refused_in_words_with_its_place(form: Format, levels: int) -> None:
    text = '{"jobs": {"a": {"work": ' + "[" * levels
    assert told(text, form) == [
        (1, 223, 'entry.jobs["a"].work: Is nested more than 200 levels deep.')
    ]


@pytest.mark.parametrize("half", ["\ud800", "x\udc00"])
def test_half_a_character_is_refused_on_every_way_in(half: str) -> None:
    data = entry()
    data["tasks"]["build"]["prompt"] = ["\N{GRINNING FACE}", half]
    why = 'entry.tasks["build"].prompt[1]: Should have no halves of characters.'
    text, raw = json.dumps(data), json.dumps(data, ensure_ascii=False)
    for written in (text, raw):
        place = written.index(json.dumps(half, ensure_ascii=written is text)) + 1
        assert told(written, "json") == [(1, place, why)]
    assert [str(one) for one in check_entry(data).violations] == [why]
    for written in (text, raw):
        with pytest.raises(EntryUnparsed, match="Is not YAML: "):
            check_text(written, "yaml")


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    def said(path: Path) -> str:
        with pytest.raises(EntryUnreadable) as caught:
            check_file(path, trusted=True)
        return str(caught.value)

    missing, folder = tmp_path / "none.yaml", tmp_path / "folder.json"
    assert said(missing) == f"{missing}: cannot be read: No such file or directory."
    missing = tmp_path / "none.py"
    assert said(missing) == f"{missing}: cannot be read: No such file or directory."
    folder.mkdir()
    assert said(folder) == f"{folder}: is not a file."
    text = tmp_path / "entry.txt"
    assert said(text) == f"{text}: should be a .yaml, .json or .py file."
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"a: \xe9")
    assert said(latin) == f"{latin}: is not UTF-8 text: byte 3."
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert said(large).startswith(f"{large}: is larger than 8 MiB, and an entry is not. Split it")


@pytest.mark.parametrize("form", ["json", "yaml"])
@pytest.mark.parametrize(
    ("written", "number"), [("3.0", 3), ("1e0", 1), ("1.0e+1", 10), ("0.0", 0), ("30e-1", 3)]
)
def test_a_whole_number_may_be_written_with_a_fraction_of_nothing(
    form: Format, written: str, number: int
) -> None:
    data = entry()
    data["tasks"]["build"]["criteria"] = {"failureAction": {"retryTimes": "HERE"}}
    data["drivingSessionRetries"] = [{"modelId": data["models"]["driving"], "retries": "HERE"}]
    checked = check_text(json.dumps(data).replace('"HERE"', written), form)
    assert checked.entry is not None, checked.violations
    criteria, retries = checked.entry.tasks["build"].criteria, checked.entry.driving_session_retries
    assert criteria is not None
    assert retries is not None
    assert (
        repr((criteria.failure_action.retry_times, retries[0].retries)) == f"({number}, {number})"
    )


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("3.5", "whole number"),
        ("true", "whole number"),
        ('"3"', "whole number"),
        ("-1.0", "0 or more"),
        ("1e999", ""),
    ],
)
def test_what_is_no_whole_number_is_refused(written: str, why: str) -> None:
    data = entry()
    data["tasks"]["build"]["criteria"] = {"failureAction": {"retryTimes": "HERE"}}
    [(_, _, said)] = told(json.dumps(data).replace('"HERE"', written), "json")
    assert "retryTimes: Should be" in said
    assert why in said
