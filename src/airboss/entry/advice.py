"""What to write instead of a mistake: a sentence, an example, the names that there are."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Final, NamedTuple, cast

from airboss.entry.part import Part
from airboss.entry.violations import Loc, Remedy, Writing

MOST_NAMES: Final = 12
LONGEST_NAME: Final = 60
LONGEST_EXAMPLE: Final = 200

WORK: Final = {"kind": "Ref", "taskId": "build"}
_LINES: Final = ["Run the tests and fix what fails."]
_TOLD: Final = ["Answer in English, in short sentences."]
ASK: Final = "Call job_boolean_true if it is so, else job_boolean_false with the reason."
_TASK: Final = {"model": {"category": "driving"}, "prompt": _LINES, "requireUserInput": False}
_SERVER: Final[Mapping[str, object]] = {"command": ["npx", "server-files", "docs"]}
_COMMAND: Final = {"description": "Say what changed.", "prompt": ["What changed this week?"]}
_AGENT: Final = {"description": "Reviews changes.", "prompt": ["Review the last commit."]}
_HOOK: Final = {"tool": "bash", "command": ["./check.sh"]}
_CELL: Final = {"name": "Build", "jobName": "build"}
_EXAMPLES: Final[Mapping[str, object]] = {
    "models": {"driving": "gpt-5-mini"},
    "promptVariables": {},
    "tasks": {"build": _TASK},
    "jobs": {"build": {"work": WORK}},
    "grid": [{"keyword": "Build", "jobs": [_CELL]}],
    "drivingSessionRetries": [{"modelId": "gpt-5-mini", "retries": 2}],
    "permissions": "ask",
    "limits": {"minutes": 30},
    "reasoningEffort": "high",
    "systemMessage": {"append": _TOLD},
    "append": _TOLD,
    "replace": _TOLD,
    "prepend": _TOLD,
    "sections": {"tone": {"replace": _TOLD}},
    "instructions": "off",
    "tools": {"allow": ["@read", "edit"]},
    "allow": ["@read", "edit"],
    "deny": ["web_fetch"],
    "search": "auto",
    "github": False,
    "directories": ["../shared"],
    "context": {"compactAt": 0.7},
    "infinite": True,
    "compactAt": 0.8,
    "blockAt": 0.95,
    "agents": {"reviewer": _AGENT},
    "commands": {"changes": _COMMAND},
    "plan": True,
    "onUnsafeRetry": "ask",
    "agent": "reviewer",
    "skills": ["skills"],
    "account": "work",
    "identity": "builder",
    "cage": "default",
    "profile": "default",
    "read": ["/opt/tools"],
    "write": ["/srv/cache"],
    "hosts": ["example.org"],
    "unknownHosts": "ask",
    "variables": ["LANG"],
    "memoryMb": 2048,
    "processes": 256,
    "fileMb": 512,
    "debuggers": False,
    "mcpServers": {"files": _SERVER},
    "command": _SERVER["command"],
    "env": {"LOG_LEVEL": "info"},
    "url": "https://wiki.example.com/mcp",
    "seconds": 30,
    "hooks": {"preToolUse": [_HOOK]},
    "python": "hooks.py:check",
    "tool": "bash",
    "subAgents": True,
    "turns": 50,
    "tokens": 200_000,
    "cost": 5,
    "idleMinutes": 10,
    "minutes": 30,
    "description": "Runs the tests and fixes what fails.",
    "model": {"category": "driving"},
    "modelOverride": {"category": "driving"},
    "category": "driving",
    "id": "gpt-5-mini",
    "prompt": _LINES,
    "requireUserInput": False,
    "availability": {"previousTasks": ["plan"]},
    "previousTasks": ["plan"],
    "condition": [f"Do all tests pass? {ASK}"],
    "criteria": {"failureAction": {"retryTimes": 1}},
    "toolExecuted": ["job_prepare_document"],
    "runConditionInSameSession": False,
    "failureAction": {"retryTimes": 1},
    "retryTimes": 1,
    "additionalPrompt": ["It is not done yet: $reported-false-reason"],
    "work": WORK,
    "kind": "Ref",
    "taskId": "build",
    "works": [WORK],
    "body": WORK,
    "preCondition": [True, WORK],
    "postCondition": [False, WORK],
    "trueWork": WORK,
    "falseWork": WORK,
    "keyword": "Build",
    "name": "Build",
    "jobName": "build",
    "modelId": "gpt-5-mini",
    "retries": 2,
}
# What may stand there until people have written what they want.
_EMPTY: Final[Mapping[str, object]] = {"promptVariables": {}, "tasks": {}, "jobs": {}, "grid": []}
_FIRST: Final[Mapping[str, object]] = {
    "requireUserInput": False,
    "failureAction": {"retryTimes": 1},
    "retryTimes": 1,
}
# What a name that people chose stands for, by the part that it is in.
_NAMED: Final[Mapping[str, object]] = {
    "models": "gpt-5-mini",
    "promptVariables": _LINES,
    "tasks": _TASK,
    "jobs": {"work": WORK},
    "agents": _AGENT,
    "mcpServers": _SERVER,
    "commands": _COMMAND,
}
_YES: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
# Plain in YAML, without quotes.
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")


class Fix(NamedTuple):
    """What to do, and what that looks like in the file."""

    advice: str
    example: str | None = None
    remedy: Remedy | None = None


def shown(value: object, writing: Writing) -> str:
    """A value as one writes it on one line."""
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return f"{{{', '.join(pair(name, part, writing) for name, part in pairs)}}}"
    if isinstance(value, list):
        parts = (shown(part, writing) for part in cast("list[object]", value))
        return f"[{', '.join(parts)}]"
    if writing == "python" and isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and writing == "yaml" and _is_plain(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def pair(name: str, value: object, writing: Writing) -> str:
    """A field as one writes it."""
    head = name if writing == "yaml" and _is_plain(name) else json.dumps(name, ensure_ascii=False)
    return f"{head}: {shown(value, writing)}"


def _is_plain(text: str) -> bool:
    return bool(_PLAIN.fullmatch(text)) and text.lower() not in (*_YES, "null")


def listed(names: Collection[str], sign: str = "") -> str:
    """As many as somebody reads, and how many more there are."""
    first = [f"{sign}{_short(name)}" for name in islice(names, MOST_NAMES)]
    left = len(names) - len(first)
    return ", ".join(first) + (f" and {left} more" if left else "")


def _short(name: object) -> str:
    text = str(name)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def existing(kind: str, names: Collection[str]) -> str:
    """Which names there are, of tasks, jobs, models or tools."""
    if kind in ("tools", "sections"):
        return f"The {kind} are: {listed(names)}."
    if not names:
        return f"This entry has no {kind} yet. Add one below `{kind}`."
    return f"The {kind} of this entry are: {listed(names)}."


@cache
def unknown_field(owner: type[Part]) -> str:
    """Which fields there are where somebody wrote one that there is not."""
    names = [field.alias or name for name, field in owner.model_fields.items()]
    offered = [name for name in names if name != "workIdInJob"]
    if not offered:
        return "Remove it."
    return f"Remove it, or use one of these fields: {', '.join(offered)}."


def of_shape(fault: str, loc: Loc, given: object, writing: Writing) -> Fix:
    """For what is missing, or has another type than it should have."""
    if fault in ("missing", "union_tag_not_found"):
        fix = _field("Add it, for example:", loc, _usual(loc), writing)
        return Fix(fix.advice, fix.example, _added(fault, loc))
    meant = _meant(fault, given)
    if meant is not None:
        fix = _field("Write this:", loc, meant, writing)
        if len(fix.example or "") <= LONGEST_EXAMPLE:
            title = f"Write {_short(shown(meant, writing))}"
            return Fix(fix.advice, fix.example, Remedy(title, meant))
    return _field("Write, for example:", loc, _usual(loc), writing)


def _added(fault: str, loc: Loc) -> Remedy | None:
    """Only what is right as it stands: nobody wants an example's task in a file."""
    name = str(loc[-1]) if loc else ""
    is_section = name in _EMPTY
    if fault != "missing" or is_section != (len(loc) == 1) or name not in {**_EMPTY, **_FIRST}:
        return None
    return Remedy(f"Add {name}", (_EMPTY if is_section else _FIRST)[name], "add")


def _field(advice: str, loc: Loc, value: object, writing: Writing) -> Fix:
    if not loc:
        return Fix("An entry has these fields: models, promptVariables, tasks, jobs, grid.")
    if value is None:
        return Fix("Leave it out.")
    name = loc[-1]
    if isinstance(name, int):
        return Fix(advice, shown(value, writing))
    return Fix(advice, pair(name, value, writing))


def _usual(loc: Loc) -> object:
    """An example of what stands there."""
    if not loc:
        return None
    around, name = loc[:-1], loc[-1]
    if len(around) == 1 and around[0] in _NAMED:
        return _NAMED[str(around[0])]
    if isinstance(name, int):
        return _element(loc)
    if name == "mcpServers" and around[-2:-1] == ("agents",):
        return ["files"]
    if name == "jobs" and around:
        return [_CELL]
    if name == "condition" and around[0] == "jobs":
        return WORK  # an Alt's, not a task's
    return _EXAMPLES.get(name)


def _element(loc: Loc) -> object:
    if loc[0] == "promptVariables":
        return _LINES[0]
    around = _usual(loc[:-1])
    elements = cast("Sequence[object]", around) if isinstance(around, list) else ()
    index = cast("int", loc[-1])
    return elements[min(index, len(elements) - 1)] if elements else None


def _meant(fault: str, given: object) -> object:
    """The same value in the type that it should have; none where nobody can say."""
    if fault == "tuple_type" and isinstance(given, str) and given.strip():
        return given.splitlines() if "\n" in given else [given]
    if fault == "bool_type":
        return _YES.get(str(given).lower())
    if fault in ("int_type", "float_type") and isinstance(given, str):
        return _number(given)
    if fault == "string_type" and isinstance(given, int | float):
        return json.dumps(given)
    if fault == "greater_than_equal":
        return 0
    return None


def _number(text: str) -> int | float | None:
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,15})?", text.strip()):
        return None
    value = float(text)
    return int(value) if value.is_integer() else value


# Of texts that cannot be read at all.

_YAML: Final = (
    (r"tab", "Indent with spaces. YAML takes no tabs there."),
    (r"cannot start any token", "Put the text in quotes. Indent with spaces, not with tabs."),
    (r"mapping values", 'Put a text that has ": " in it in quotes, and check the indentation.'),
    (r"end of stream", "Close the quotes that were opened."),
    (r"expected ',' or", "Close the bracket, or put a comma between two values."),
    (r"expected '-'", "Indent the lines of a list alike, and begin each with `- `."),
    (r"expected key|expected ':'", "Indent the fields of an object alike, and end names with `:`."),
    (r"escape", "Write a backslash in double quotes twice, or use single quotes."),
    (r"anchor", "Define it above this line with `&name`, or write the value itself."),
    (r"document", "Remove the line `---`, or write a second file."),
    (r"tag", "Put a text that begins with `!` in quotes."),
    (r"half of a character", "Save the file as UTF-8."),
)
_JSON: Final = (
    (r"behind a comma", "Remove the comma: JSON has none after the last value."),
    (r"in double quotes", "Write the name in double quotes. JSON takes no comments."),
    (r"control character", 'Write a line break inside a text as "\\n".'),
    (r"escape", "Write a backslash twice."),
    (r"unterminated", "Close the quotes that were opened."),
)
_PYTHON: Final = (
    (r"does not export", "Give the variable at the end of the file the name `entry`."),
    (r"Is not Python", "Run the file with `python` to see the whole message."),
    (r"failed|ended|did not end", "Run the file with `python` to see what happens in it."),
    (r"cannot write", "Use text, numbers, true and false, lists and dictionaries."),
    (r"changed while", "Save the file once more."),
    (r"larger", "Let its prompts name files that the agents read."),
    ("", "Change what the program puts there."),
)
_OTHERWISE: Final = "Look at this line and at the end of the line before it."


def of_text(writing: Writing, reason: str, begun: int | None = None) -> str:
    """For a text that is no YAML, no JSON or no Python. `begun`: where the open part began."""
    table = {"yaml": _YAML, "json": _JSON, "python": _PYTHON}[writing]
    said = next((say for sign, say in table if re.search(sign, reason)), _OTHERWISE)
    where = f" It began in line {begun}." if begun is not None else ""
    return f"{said}{where}"
