"""What is wrong with the hooks that an entry or a task names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from airboss.entry.violations import At, Hints, Violation, asked, use, wrong
from airboss.model.tool_lists import mistake_in
from airboss.session_keys import (
    HOOKS,
    MOST_HOOK_SECONDS,
    MOST_HOOKS,
    NOT_OF_TOOL,
    ONE_OF_HOOK,
    PYTHON_HOOK,
    PYTHON_RULE,
    TOOL_HOOKS,
)

_PYTHON: Final = re.compile(PYTHON_HOOK)
_NAMES: Final = f"The hooks are: {', '.join(HOOKS)}."
_PROGRAM: Final = "Write the program and its arguments, such as [./check.sh]."


def hook_violations(value: object, place: At, hints: Hints) -> Iterator[Violation]:
    if not isinstance(value, Mapping):
        return
    for name, listed in cast("Mapping[str, object]", value).items():
        at = place.field(str(name))
        if name not in HOOKS:
            near = hints.nearest(str(name), HOOKS)
            remedy = use(near, "name") if near is not None else None
            yield wrong(at, f'"{name}" is not a hook.', asked(near), _NAMES, remedy=remedy)
            continue
        found = cast("Sequence[object]", listed) if isinstance(listed, list | tuple) else ()
        if len(found) > MOST_HOOKS:
            yield wrong(at, f"Should have at most {MOST_HOOKS} hooks.")
        for index, hook in enumerate(found):
            if isinstance(hook, Mapping):
                yield from _hook(str(name), cast("Mapping[str, object]", hook), at.item(index))


def _hook(name: str, hook: Mapping[str, object], at: At) -> Iterator[Violation]:
    python, seconds, tool = hook.get("python"), hook.get("seconds"), hook.get("tool")
    command = hook.get("command")
    if (command is None) == (python is None):
        yield wrong(at, ONE_OF_HOOK, None, _PROGRAM)
    if isinstance(command, list | tuple) and not (command and command[0]):
        yield wrong(at.field("command"), "Should name a program.", None, _PROGRAM)
    if isinstance(python, str) and not _PYTHON.fullmatch(python):
        yield wrong(at.field("python"), PYTHON_RULE)
    if isinstance(seconds, int | float) and not 0 < seconds <= MOST_HOOK_SECONDS:
        said = f"Should be more than 0, and at most {MOST_HOOK_SECONDS}."
        yield wrong(at.field("seconds"), said)
    if not isinstance(tool, str):
        return
    mistake = mistake_in(tool) if "/" not in tool else None
    if name not in TOOL_HOOKS:
        yield wrong(at.field("tool"), NOT_OF_TOOL, None, "Leave it out.")
    elif mistake:
        yield wrong(at.field("tool"), mistake)
