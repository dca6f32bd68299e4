"""Prompts and their variables: expanded when an entry is loaded, and again when one is sent."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, cast

from airboss.entry.advice import ASK, listed
from airboss.entry.part import Prompt
from airboss.entry.tools import BOOLEAN_TOOLS
from airboss.entry.violations import (
    At,
    EntryInvalid,
    Hints,
    Loc,
    Remedy,
    Violation,
    asked,
    wrong,
)

VARIABLE: Final = re.compile(r"\$([A-Za-z]+(?:-[A-Za-z]+)*)")

USER_INPUT: Final = "user-input"
TASK_MODEL: Final = "task-model"
REPORTED_DOCUMENT: Final = "reported-document"
REPORTED_TRUE_REASON: Final = "reported-true-reason"
REPORTED_FALSE_REASON: Final = "reported-false-reason"
RUNTIME_VARIABLES: Final = (
    USER_INPUT,
    TASK_MODEL,
    REPORTED_DOCUMENT,
    REPORTED_TRUE_REASON,
    REPORTED_FALSE_REASON,
)
MISSING: Final = "<MISSING>"

# Variables in variables multiply; these keep a small file from becoming a huge text.
MAX_NESTED: Final = 100
MAX_CHARACTERS: Final = 1_000_000
MAX_CHARACTERS_TOGETHER: Final = 50_000_000
_SHORTER: Final = "Let the prompt name files that the agent reads."


def lines_of(value: object) -> Sequence[str] | None:
    """The lines of a prompt as a file has it; none when it is no prompt."""
    if not isinstance(value, list | tuple):
        return None
    lines = cast("Sequence[object]", value)
    return cast("Sequence[str]", lines) if all(isinstance(line, str) for line in lines) else None


def variables_in(text: str) -> set[str]:
    """The names of all variables in a text, without their `$`."""
    return set(VARIABLE.findall(text))


class Expander:
    """Static expansion with the variables of one entry. Each variable is expanded once.

    What is wrong inside a variable is told for the first prompt that reaches it.
    """

    def __init__(self, variables: Mapping[str, object] | None, hints: Hints | None = None) -> None:
        self._variables = variables
        self._hints = hints or Hints()
        self._known: dict[str, str | None] = {}
        self._found: list[Violation] = []
        self._together = 0
        self.texts: dict[Loc, str] = {}

    def expand(
        self, lines: Sequence[str], place: At, *, boolean: bool = False
    ) -> tuple[str | None, list[Violation]]:
        """The text, or none where it cannot be known, and what is wrong with it."""
        self._found = []
        text = self._expand(lines, place, place.loc, ())
        if text is not None:
            self._together += len(text)
            if self._together > MAX_CHARACTERS_TOGETHER:
                reason = f"Prompts are longer than {MAX_CHARACTERS_TOGETHER:,} together."
                self._tell(place, reason, advice=_SHORTER)
                text = None
        if text is not None and boolean and not any(tool in text for tool in BOOLEAN_TOOLS):
            tools = " or ".join(BOOLEAN_TOOLS)
            advice = f"Say when each is called, for example with this line: {ASK}"
            self._tell(place, f"Boolean tool ({tools}) must be mentioned.", advice=advice)
        if text is not None:
            self.texts[place.loc] = text
        return text, self._found

    def _tell(
        self,
        place: At,
        reason: str,
        hint: str | None = None,
        advice: str | None = None,
        remedy: Remedy | None = None,
    ) -> None:
        said = wrong(place, reason, hint, advice, remedy=remedy)
        if said not in self._found:
            self._found.append(said)

    def _known_names(self) -> str:
        own, always = listed(self._variables or (), "$"), listed(RUNTIME_VARIABLES, "$")
        said = f"This entry has {own}; every prompt" if own else "Every prompt"
        return f"{said} has {always}. Add others below `promptVariables`."

    def _expand(
        self, lines: Sequence[str], place: At, loc: Loc, reached: tuple[str, ...]
    ) -> str | None:
        if not lines:
            advice = "Write at least one line, as text in the list."
            self._tell(place, "Prompt is empty.", advice=advice)
            return None
        parts: list[str | None] = []
        for number, line in enumerate(lines):
            parts.append("\n" if number else "")
            parts += self._line(line, place.from_file((*loc, number)), reached)
        texts = [part for part in parts if part is not None]
        if sum(map(len, texts)) > MAX_CHARACTERS:
            reason = f"Prompt is longer than {MAX_CHARACTERS:,} characters."
            self._tell(place, reason, advice=_SHORTER)
            return None
        return "".join(texts) if len(texts) == len(parts) else None

    def _line(self, line: str, place: At, reached: tuple[str, ...]) -> list[str | None]:
        parts: list[str | None] = []
        end = 0
        for hit in VARIABLE.finditer(line):
            parts += (line[end : hit.start()], self._value(hit[1], place, reached))
            end = hit.end()
        return [*parts, line[end:]]

    def _value(self, name: str, place: At, reached: tuple[str, ...]) -> str | None:
        if name in RUNTIME_VARIABLES:
            return f"${name}"
        if name in reached:
            cycle = (*reached[reached.index(name) :], name)
            shown = " -> ".join(f"${step}" for step in cycle)
            advice = f"Take ${cycle[-1]} out of the variable ${cycle[-2]}."
            self._tell(place, f"Prompt variable reaches itself: {shown}.", advice=advice)
            return None
        if self._variables is None:
            return None  # nobody can say which there are
        if name not in self._variables:
            near = self._hints.nearest(name, (*self._variables, *RUNTIME_VARIABLES))
            self._tell(
                place,
                f"Cannot find prompt variable: ${name}.",
                asked(near, "$"),
                self._known_names(),
                Remedy(f"Use ${near}", near, "variable", variable=name) if near else None,
            )
            return None
        if name not in self._known:
            lines = lines_of(self._variables[name])
            self._known[name] = self._variable(name, lines, place, reached)
        return self._known[name]

    def _variable(
        self, name: str, lines: Sequence[str] | None, place: At, reached: tuple[str, ...]
    ) -> str | None:
        if len(reached) == MAX_NESTED:
            reason = f"Prompt variables are nested more than {MAX_NESTED} deep."
            self._tell(place, reason, advice="Write what the inner ones hold where it is used.")
            return None
        if lines is None:
            return None  # the shape's fault, told there
        inside = At(f"{place.where}/${name}", ("promptVariables", name))
        return self._expand(lines, inside, inside.loc, (*reached, name))


def expand_static(
    prompt: Prompt, variables: Mapping[str, Prompt], path: str, *, boolean: bool = False
) -> Prompt:
    """The prompt as one string, with everything but the runtime variables filled in."""
    text, found = Expander(variables).expand(prompt, At(path), boolean=boolean)
    if found or text is None:
        raise EntryInvalid(found)
    return (text,)


def expand_dynamic(prompt: Prompt, values: Mapping[str, str]) -> str:
    """What is sent now. Values are put in as they are; their names have no `$`."""
    if len(prompt) != 1:
        raise ValueError("A prompt is expanded when its entry is loaded, before it is sent.")
    return VARIABLE.sub(lambda hit: values.get(hit[1], MISSING), prompt[0])
