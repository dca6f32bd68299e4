"""docs/harness-rules.md: the rules that the harness was designed by, and where each holds.

`harness_rules.txt` has a line for each: id, gist, module below `src/airboss` and test
(`FILE::FUNCTION`); or a hyphen and why there is none.
"""

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("harness_rules.txt")
_FAMILIES: Final = {
    "SEL": "Choosing the runtime",
    "SDK": "Loading the SDK",
    "AUTH": "Signing in",
    "PROF": "Accounts",
    "HOME": "Homes",
    "POOL": "Processes",
    "LIFE": "Lifetime",
    "BYOK": "Providers",
    "PRX": "The proxy",
    "NET": "The way out",
    "SES": "What a session is bound to",
    "RES": "Resuming",
    "CFG": "What a session is given",
    "TMO": "Time limits",
    "ABT": "Stopping",
    "CLN": "Cleaning up",
    "ERR": "Errors",
    "EVT": "Events",
    "TB": "Which tools",
    "TC": "Calls of tools",
    "IMG": "Images",
    "WB": "System text",
    "GATE": "The gate",
    "APR": "Approvals",
    "LOOP": "Loops",
    "PERM": "Permissions",
    "ASK": "Questions",
    "CMP": "Compaction",
    "TR": "The transcript",
    "RPL": "Replay safety",
    "USE": "Usage",
    "HK": "Hooks",
    "BTW": "Questions on the side",
    "DOC": "The doctor",
    "INT": "One product",
}
_OPENING: Final = """# The rules of the harness

The harness is the part of Airboss around one agent session. It was designed by the rules on this
page. Each has an id, its gist, the module where it holds, and the test that shows it by its
sentence and file; or the reason why it does not hold here.

This page is generated from `scripts/harness_rules.txt`. Do not edit it.
"""


@dataclass(frozen=True)
class Rule:
    """`module` is empty where the rule does not hold: then `test` is the reason."""

    id: str
    gist: str
    module: str
    test: str

    @property
    def family(self) -> str:
        return self.id.partition("-")[0]


def rules() -> list[Rule]:
    found: list[Rule] = []
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        name, gist, module, test = line.split("|")
        found.append(Rule(name, gist, "" if module == "-" else module, test))
    return found


def _where(rule: Rule) -> str:
    if not rule.module:
        return f"*Not here*: {rule.test}"
    file, _, name = rule.test.partition("::")
    sentence = name.removeprefix("test_").replace("_", " ")
    return f"`{rule.module}`. Test: {sentence} (`{file}`)"


def rules_page() -> str:
    lines, before = [_OPENING], ""
    for rule in rules():
        if rule.family != before:
            lines += [*([""] if before else []), f"## {_FAMILIES[rule.family]}", ""]
            before = rule.family
        said = f"- **{rule.id}** {rule.gist} {_where(rule)}"
        lines.append(textwrap.fill(said, 118, subsequent_indent="  ", break_on_hyphens=False))
    return "\n".join(lines) + "\n"
