"""Every rule of the harness is on its page, with a module and a test that exist, or a reason."""

from collections import Counter
from pathlib import Path

from scripts.harness_rules import rules

ROOT = Path(__file__).resolve().parents[2]
# How many rules each family has; they are numbered from 1.
COUNTS = {
    "SEL": 11,
    "SDK": 5,
    "AUTH": 6,
    "PROF": 8,
    "HOME": 5,
    "POOL": 11,
    "LIFE": 4,
    "BYOK": 13,
    "PRX": 10,
    "NET": 13,
    "SES": 11,
    "RES": 5,
    "CFG": 6,
    "TMO": 7,
    "ABT": 6,
    "CLN": 5,
    "ERR": 2,
    "EVT": 12,
    "TB": 8,
    "TC": 12,
    "IMG": 3,
    "WB": 5,
    "GATE": 9,
    "APR": 7,
    "LOOP": 10,
    "PERM": 5,
    "ASK": 10,
    "CMP": 13,
    "TR": 11,
    "RPL": 6,
    "USE": 4,
    "HK": 5,
    "BTW": 5,
    "DOC": 3,
    "INT": 7,
}


def test_every_rule_is_there_once() -> None:
    named = Counter(rule.id for rule in rules())
    expected = [f"{family}-{n}" for family, count in COUNTS.items() for n in range(1, count + 1)]
    assert named == Counter(expected)


def is_test(named: str) -> bool:
    file, _, name = named.partition("::")
    return (ROOT / file).is_file() and f"def {name}(" in (ROOT / file).read_text("utf-8")


def test_what_a_rule_names_is_there() -> None:
    wrong = [
        rule.id
        for rule in rules()
        if rule.module
        and not ((ROOT / "src/airboss" / rule.module).is_file() and is_test(rule.test))
    ]
    assert wrong == []
    assert [rule.id for rule in rules() if not rule.gist.endswith(".")] == []
    assert [rule.id for rule in rules() if not rule.module and not rule.test.endswith(".")] == []
