"""Every rule is on its page, with a module and a test that exist, or a reason."""

from collections import Counter
from pathlib import Path

import pytest

from scripts.rule_pages import EXTENSIONS, HARNESS, RulePage

ROOT = Path(__file__).resolve().parents[2]
# How many rules each family has; they are numbered from 1.
OF_HARNESS = {
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


OF_EXTENSIONS = {
    "FLOW": 12,
    "FILE": 6,
    "JOIN": 2,
    "TOOL": 12,
    "HOOK": 4,
    "PROMPT": 3,
    "BEFORE": 8,
    "AFTER": 3,
    "START": 4,
    "END": 4,
    "ERROR": 5,
    "SEND": 4,
    "LOG": 3,
    "EVENT": 12,
    "OWN": 3,
    "CARE": 9,
}
PAGES = [(HARNESS, OF_HARNESS), (EXTENSIONS, OF_EXTENSIONS)]


@pytest.mark.parametrize(("page", "counts"), PAGES, ids=["harness", "extensions"])
def test_every_rule_is_there_once(page: RulePage, counts: dict[str, int]) -> None:
    named = Counter(rule.id for rule in page.rules())
    expected = [f"{family}-{n}" for family, count in counts.items() for n in range(1, count + 1)]
    assert named == Counter(expected)


def is_test(named: str) -> bool:
    file, _, name = named.partition("::")
    return (ROOT / file).is_file() and f"def {name}(" in (ROOT / file).read_text("utf-8")


@pytest.mark.parametrize("page", [HARNESS, EXTENSIONS], ids=["harness", "extensions"])
def test_what_a_rule_names_is_there(page: RulePage) -> None:
    rules = page.rules()
    wrong = [
        rule.id
        for rule in rules
        if rule.module
        and not ((ROOT / "src/airboss" / rule.module).is_file() and is_test(rule.test))
    ]
    assert wrong == []
    assert [rule.id for rule in rules if not rule.gist.endswith(".")] == []
    assert [rule.id for rule in rules if not rule.module and not rule.test.endswith(".")] == []
