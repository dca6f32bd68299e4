"""A rehearsal script: what it may say, how it is read, and why it is refused."""

import json
import re
from collections.abc import Iterator
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from airboss.errors import AirbossError

MOST_PARTS = 200_000
Location: TypeAlias = tuple[str | int, ...]

WORDS = {
    "extra_forbidden": "there is no such field",
    "missing": "is missing",
    "string_type": "should be text; put it in quotes",
    "string_too_short": "should not be empty",
    "too_short": "should not be empty",
    "model_type": "should have fields, like `name: value`",
    "tuple_type": "should be a list",
    "dict_type": "should have fields, like `name: value`",
    "recursion_loop": "contains itself",
}
"""Pydantic's sentences speak of Python; these speak of the script."""


class ScriptInvalid(AirbossError):
    """A script that cannot be played, with each place and reason."""

    code = "script_invalid"


def wrong(reason: str) -> PydanticCustomError:
    """A reason of ours, in our own words; braces would be taken for a template."""
    return PydanticCustomError("script", "{reason}", {"reason": reason})


def compile_expression(value: object) -> object:
    if not isinstance(value, str):
        raise wrong("should be a regular expression, as text in quotes")
    try:
        return re.compile(value)
    except re.error as error:
        raise wrong(f"is not a regular expression: {error}") from None


Expression: TypeAlias = Annotated[re.Pattern[str], BeforeValidator(compile_expression)]
Name: TypeAlias = Annotated[str, Field(min_length=1)]


class ScriptPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class RehearsalModel(ScriptPart):
    """A model as the portal lists it."""

    id: Name
    name: Name = Field(default_factory=lambda fields: fields.get("id", ""))
    multiplier: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0
    # The reasoning efforts that may be asked of it; without a list, all.
    efforts: Annotated[tuple[Name, ...], Field(strict=False)] | None = None


class ScriptedCall(ScriptPart):
    """A tool that the model asks for."""

    tool: Name
    arguments: dict[str, JsonValue] = Field(default_factory=dict)

    @field_validator("arguments")
    @classmethod
    def fit_the_wire(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        try:
            json.dumps(value, allow_nan=False)
        except ValueError:
            raise wrong("should not hold .nan or .inf: JSON has no such number") from None
        return value


class ScriptedFailure(ScriptPart):
    """An HTTP answer that is not a reply."""

    status: Annotated[int, Field(ge=400, le=599)]
    message: str = "The rehearsal script says that this request fails."


class Step(ScriptPart):
    """One thing that the model does; exactly one field is set."""

    reasoning: str | None = None
    say: str | None = None
    call: ScriptedCall | None = None
    calls: Annotated[tuple[ScriptedCall, ...], Field(min_length=1, strict=False)] | None = None
    sleep: Annotated[float, Field(ge=0, le=86_400)] | None = None
    fail: ScriptedFailure | None = None
    drop: Literal[True] | None = None

    @model_validator(mode="after")
    def be_one_thing(self) -> "Step":
        given = sorted(self.model_fields_set)
        if len(given) != 1 or getattr(self, given[0]) is None:
            choices = ", ".join(type(self).model_fields)
            raise wrong(f"a step is exactly one of {choices}; this one has {len(given)}")
        return self

    @property
    def ends_the_reply(self) -> bool:
        return self.call is not None or self.calls is not None

    @property
    def breaks_the_reply(self) -> bool:
        return self.fail is not None or self.drop is not None


class ScriptedRule(ScriptPart):
    """What is played, and for which prompts."""

    when: Expression | None = None
    model: Expression | None = None
    times: Annotated[int, Field(ge=1)] | None = None
    steps: Annotated[tuple[Step, ...], Field(min_length=1, strict=False)]

    @model_validator(mode="after")
    def be_playable(self) -> "ScriptedRule":
        for number, step in enumerate(self.steps):
            if step.breaks_the_reply and number + 1 < len(self.steps):
                raise wrong(
                    f"steps[{number + 1}] is never played: after fail or drop "
                    "the runtime asks again from the same place"
                )
        for reply in self.replies:
            if reply[-1].fail and any(step.sleep is None for step in reply[:-1]):
                raise wrong(
                    "fail is the whole HTTP answer, so nothing can be said before it "
                    "in the same reply; use drop to cut off a reply that has begun"
                )
        return self

    @cached_property
    def mark(self) -> str:
        """Its name in the ids of its tool calls: the same after a restart, another when edited."""
        return blake2b(self.model_dump_json().encode(), digest_size=4).hexdigest()

    @cached_property
    def replies(self) -> list[list[Step]]:
        """The steps, cut after each call: what follows is played when the result is back."""
        replies: list[list[Step]] = [[]]
        for step in self.steps:
            replies[-1].append(step)
            if step.ends_the_reply:
                replies.append([])
        return replies if replies[-1] else replies[:-1]


class Script(ScriptPart):
    """Everything that a rehearsal server plays."""

    models: Annotated[tuple[RehearsalModel, ...], Field(min_length=1, strict=False)] = (
        RehearsalModel(id="rehearsal", name="Rehearsal (free, scripted)"),
    )
    rules: Annotated[tuple[ScriptedRule, ...], Field(strict=False)] = ()
    chunk_ms: Annotated[float, Field(ge=0, le=60_000)] = 0
    chunk_chars: Annotated[int, Field(ge=1)] = 12

    @field_validator("models")
    @classmethod
    def have_each_model_once(cls, value: tuple[RehearsalModel, ...]) -> tuple[RehearsalModel, ...]:
        ids = [model.id for model in value]
        for number, name in enumerate(ids):
            if name in ids[:number]:
                raise wrong(f"{name} is listed twice")
        return value


class Loader(yaml.SafeLoader):
    """YAML without dates: a tool's argument like 2026-01-31 stays text."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load_script(path: Path) -> Script:
    """Read the script in a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScriptInvalid(f"{path}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ScriptInvalid(f"{path}: is not UTF-8 text: byte {error.start}.") from error
    return parse_script(text, str(path))


def parse_script(text: str, where: str) -> Script:
    """Read a script; `where` names its source in what is said about faults."""
    try:
        loader = Loader(text)
    except yaml.YAMLError as error:  # it has a character that YAML does not allow
        raise ScriptInvalid(f"{where}: is not YAML: {error}.") from error
    try:
        root = loader.get_single_node()
        if root is None:
            raise ScriptInvalid(f"{where}: the script is empty.")
        refuse_repeated_fields(root, where)
        refuse_what_multiplies(root, where)
        content: object = loader.construct_document(root)  # pyright: ignore[reportUnknownMemberType]
    except yaml.MarkedYAMLError as error:
        raise ScriptInvalid(said(where, error.problem_mark, (), str(error.problem))) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ScriptInvalid(f"{where}: is not YAML: {error}.") from error
    finally:
        loader.dispose()
    try:
        return Script.model_validate(content)
    except ValidationError as error:
        raise ScriptInvalid("\n".join(faults(error, root, where))) from error


@cache
def builtin_script() -> Script:
    """What is served when there is no sign-in and no provider."""
    return load_script(Path(__file__).with_name("builtin.yaml"))


def refuse_repeated_fields(root: Node, where: str) -> None:
    """YAML would silently keep the last of two `when:` in one rule."""
    for node in walk(root):
        if not isinstance(node, MappingNode):
            continue
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, ScalarNode) and key.value in seen:
                raise ScriptInvalid(said(where, key.start_mark, (key.value,), "stands here twice"))
            seen.add(str(key.value))


def refuse_what_multiplies(root: Node, where: str) -> None:
    """Aliases of aliases make very much of a few lines."""
    sizes: dict[int, int] = {}

    def size(node: Node) -> int:
        if id(node) not in sizes:
            sizes[id(node)] = 0  # what contains itself is refused later
            inside: list[Node] = []
            if isinstance(node, MappingNode):
                inside = [part for pair in node.value for part in pair]
            elif isinstance(node, SequenceNode):
                inside = node.value
            sizes[id(node)] = 1 + sum(map(size, inside))
        return sizes[id(node)]

    if size(root) > MOST_PARTS:
        raise ScriptInvalid(f"{where}: has more than {MOST_PARTS:,} parts.")


def walk(root: Node) -> Iterator[Node]:
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue  # an alias
        seen.add(id(node))
        yield node
        if isinstance(node, MappingNode):
            waiting.extend(part for pair in reversed(node.value) for part in reversed(pair))
        elif isinstance(node, SequenceNode):
            waiting.extend(reversed(node.value))


def faults(error: ValidationError, root: Node, where: str) -> list[str]:
    """What is wrong, in the order of the text; a list is not told off for the faults inside it."""
    found = error.errors(include_url=False)
    recorded = [f for f in found if not any(lies_within(other["loc"], f["loc"]) for other in found)]
    marked = [(mark_of(root, f["loc"]), f["loc"], reason_of(f)) for f in recorded]
    marked.sort(key=lambda fault: fault[0].index)
    return [said(where, *fault) for fault in marked]


def lies_within(inner: Location, outer: Location) -> bool:
    return len(inner) > len(outer) and inner[: len(outer)] == outer


def reason_of(found: ErrorDetails) -> str:
    return WORDS.get(found["type"], found["msg"].replace("Input should", "should"))


def mark_of(root: Node, place: Location) -> Any:
    """Where in the text a place of the script is, or the nearest thing around it that exists."""
    node, mark = root, root.start_mark
    for step in place:
        if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            mark = node.start_mark
        elif isinstance(node, MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == step), None)
            if pair is None:
                break
            mark, node = pair[0].start_mark, pair[1]
        else:
            break
    return mark


def said(where: str, mark: Any, place: Location, reason: str) -> str:
    at = f"{where}:{mark.line + 1}:{mark.column + 1}" if mark else where
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return ": ".join(part for part in (at, path.removeprefix("."), reason) if part) + "."
