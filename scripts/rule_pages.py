"""docs/harness-rules.md and docs/extension-rules.md: rules that Airboss was designed by, and where
each holds.

A file has a line for each: id, gist, module below `src/airboss` and test (`FILE::FUNCTION`); or a
hyphen and why there is none.
"""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent
_HARNESS_FAMILIES: Final = {
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
_EXTENSION_FAMILIES: Final = {
    "FLOW": "How an agent makes one",
    "FILE": "Where the files lie",
    "JOIN": "The smallest extension",
    "TOOL": "Tools",
    "HOOK": "Hooks",
    "PROMPT": "When a prompt comes",
    "BEFORE": "Before a tool",
    "AFTER": "After a tool",
    "START": "When a session starts",
    "END": "When a session ends",
    "ERROR": "When something fails",
    "SEND": "Sending prompts",
    "LOG": "Talking to people",
    "EVENT": "Events",
    "OWN": "The session's own folder and calls",
    "CARE": "What to take care of",
}
_HARNESS_OPENING: Final = """# The rules of the harness

The harness is the part of Airboss around one agent session. It was designed by the rules on this
page. Each has an id, its gist, the module where it holds, and the test that shows it by its
sentence and file; or the reason why it does not hold here.

This page is generated from `scripts/harness_rules.txt`. Do not edit it.
"""


_EXTENSION_OPENING: Final = """# The rules of extensions

Extensions were designed by a guide for agents who write them, in JavaScript. Each sentence of it is
a rule on this page: an id, its gist, the module where it holds, and the test that shows it by its
sentence and file; or the reason why it does not hold here. How to write an extension is told in
[Extensions](extensions.md).

This page is generated from `scripts/extension_rules.txt`. Do not edit it.
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


@dataclass(frozen=True)
class RulePage:
    """`families` are its parts, by how the ids of their rules begin."""

    file: Path
    families: Mapping[str, str]
    opening: str

    def rules(self) -> list[Rule]:
        found: list[Rule] = []
        for line in self.file.read_text(encoding="utf-8").splitlines():
            name, gist, module, test = line.split("|")
            found.append(Rule(name, gist, "" if module == "-" else module, test))
        return found

    def text(self) -> str:
        lines, before = [self.opening], ""
        for rule in self.rules():
            if rule.family != before:
                lines += [*([""] if before else []), f"## {self.families[rule.family]}", ""]
                before = rule.family
            said = f"- **{rule.id}** {rule.gist} {_where(rule)}"
            lines.append(textwrap.fill(said, 118, subsequent_indent="  ", break_on_hyphens=False))
        return "\n".join(lines) + "\n"


def _where(rule: Rule) -> str:
    if not rule.module:
        return f"*Not here*: {rule.test}"
    file, _, name = rule.test.partition("::")
    sentence = name.removeprefix("test_").replace("_", " ")
    return f"`{rule.module}`. Test: {sentence} (`{file}`)"


HARNESS: Final = RulePage(_HERE / "harness_rules.txt", _HARNESS_FAMILIES, _HARNESS_OPENING)
EXTENSIONS: Final = RulePage(_HERE / "extension_rules.txt", _EXTENSION_FAMILIES, _EXTENSION_OPENING)
