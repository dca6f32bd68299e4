"""The parameters of a tool: JSON Schema from a function's signature, and a check of what a model
sends. It knows the types that the two have in common, and refuses all others by name."""

import inspect
import json
import math
import re
import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from airboss.extension.moments import Call

Schema: typing.TypeAlias = dict[str, Any]
# Claude models refuse a whole request for one other name.
KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
KEYS = "models take names of 1 to 64 of the characters A-Z a-z 0-9 _ . -"
_SHOWN = 60


class Misfit(ValueError):
    """Arguments that a tool cannot take, in words that a model can act on."""


class Shape(ABC):
    """One type: how a model is told of it, and which values have it."""

    @abstractmethod
    def schema(self) -> Schema: ...

    @abstractmethod
    def read(self, value: Any, where: str) -> Any:
        """The value as Python has it, or a misfit that says where."""


@dataclass(frozen=True)
class Plain(Shape):
    name: str
    words: str
    fits: Callable[[Any], bool]
    made: Callable[[Any], Any]

    def schema(self) -> Schema:
        return {"type": self.name}

    def read(self, value: Any, where: str) -> Any:
        if not self.fits(value):
            raise Misfit(f"{where}: {_shown(value)} is not {self.words}")
        return self.made(value)


@dataclass(frozen=True)
class OneOf(Shape):
    values: tuple[Any, ...]

    def schema(self) -> Schema:
        names = {_JSON_NAMES[type(value)] for value in self.values}
        return {**({"type": names.pop()} if len(names) == 1 else {}), "enum": list(self.values)}

    def read(self, value: Any, where: str) -> Any:
        for one in self.values:
            if type(one) is type(value) and one == value:
                return one
        known = ", ".join(_shown(one) for one in self.values)
        raise Misfit(f"{where}: {_shown(value)} is none of {known}")


@dataclass(frozen=True)
class Many(Shape):
    each: Shape

    def schema(self) -> Schema:
        return {"type": "array", "items": self.each.schema()}

    def read(self, value: Any, where: str) -> Any:
        if not isinstance(value, list):
            raise Misfit(f"{where}: {_shown(value)} is not a list")
        items = cast("list[Any]", value)
        return [self.each.read(one, f"{where}[{at}]") for at, one in enumerate(items)]


@dataclass(frozen=True)
class Table(Shape):
    each: Shape

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": self.each.schema()}

    def read(self, value: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise Misfit(f"{where}: {_shown(value)} is not an object")
        items = cast("dict[Any, Any]", value)
        if not all(isinstance(key, str) for key in items):
            raise Misfit(f"{where}: the keys of an object are text")
        return {key: self.each.read(one, f"{where}.{key}") for key, one in items.items()}


@dataclass(frozen=True)
class OrNone(Shape):
    other: Shape

    def schema(self) -> Schema:
        return {"anyOf": [self.other.schema(), {"type": "null"}]}

    def read(self, value: Any, where: str) -> Any:
        return None if value is None else self.other.read(value, where)


@dataclass(frozen=True)
class Told(Shape):
    """With a text about it."""

    other: Shape
    text: str

    def schema(self) -> Schema:
        return {**self.other.schema(), "description": self.text}

    def read(self, value: Any, where: str) -> Any:
        return self.other.read(value, where)


def _is_whole(value: Any) -> bool:
    return type(value) is int or (type(value) is float and value.is_integer())


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


_PLAIN: Mapping[Any, Shape] = {
    str: Plain("string", "text", lambda value: type(value) is str, str),
    int: Plain("integer", "a whole number", _is_whole, int),
    float: Plain("number", "a number", _is_number, float),
    bool: Plain("boolean", "true or false", lambda value: type(value) is bool, bool),
}
_JSON_NAMES: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    bool: "boolean",
    type(None): "null",
}
_TAKEN = (
    "str, int, float, bool, Literal, list[T], dict[str, T], T | None or Annotated[T, 'about it']"
)


def shape_of(annotation: Any, where: str) -> Shape:
    """Raises a TypeError that names the parameter."""
    if isinstance(annotation, type) and annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        texts = [part for part in parts[1:] if isinstance(part, str)]
        shape = shape_of(parts[0], where)
        return Told(shape, texts[0]) if texts else shape
    if origin is typing.Literal and all(type(part) in _JSON_NAMES for part in parts):
        return OneOf(parts)
    if origin is list:
        return Many(shape_of(parts[0], where))
    if origin is dict and parts[0] is str:
        return Table(shape_of(parts[1], where))
    if origin in (typing.Union, types.UnionType):
        others = [part for part in parts if part is not type(None)]
        if len(others) == 1:
            return OrNone(shape_of(others[0], where))
    if (named := getattr(annotation, "__value__", None)) is not None:  # type Name = …
        return shape_of(named, where)
    shown = inspect.formatannotation(annotation)
    raise TypeError(f"{where}: {shown} is no type that a tool can have; use {_TAKEN}")


@dataclass(frozen=True)
class Parameters:
    """What a function takes from a model, and where it wants to be told about the call."""

    shapes: Mapping[str, Shape]
    defaults: Mapping[str, Any]
    call: str | None

    def schema(self) -> Schema:
        properties = {
            name: {
                **shape.schema(),
                **({"default": self.defaults[name]} if name in self.defaults else {}),
            }
            for name, shape in self.shapes.items()
        }
        required = [name for name in self.shapes if name not in self.defaults]
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    def read(self, arguments: Any) -> dict[str, Any]:
        """All that is wrong is said at once."""
        given = _object(arguments)
        wrong = [f"there is no parameter {_shown(name)}" for name in given.keys() - self.shapes]
        wrong = sorted(wrong)
        taken: dict[str, Any] = {}
        for name, shape in self.shapes.items():
            if name not in given:
                if name not in self.defaults:
                    wrong.append(f"{name} is missing")
                continue
            try:
                taken[name] = shape.read(given[name], name)
            except Misfit as misfit:
                wrong.append(str(misfit))
        if wrong:
            raise Misfit("; ".join(wrong))
        return taken


def parameters_of(function: Callable[..., Any], tool: str) -> Parameters:
    """Raises a TypeError that names the tool and the parameter."""
    hints = _hints(function, tool)
    shapes: dict[str, Shape] = {}
    defaults: dict[str, Any] = {}
    call: str | None = None
    for name, parameter in inspect.signature(function).parameters.items():
        where = f"tool {tool}: parameter {name}"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{where}: arguments are passed by name, so each needs one")
        if parameter.annotation is parameter.empty:
            raise TypeError(f"{where}: it has no type; use {_TAKEN}")
        if hints[name] is Call:
            call = name
            continue
        if not KEY.fullmatch(name):
            raise TypeError(f"{where}: {KEYS}")
        shapes[name] = shape_of(hints[name], where)
        if parameter.default is not parameter.empty:
            defaults[name] = _default(shapes[name], parameter.default, where)
    return Parameters(shapes, defaults, call)


def call_parameter(function: Callable[..., Any], tool: str) -> str | None:
    """Where a function that brings its own schema wants to be told about the call."""
    return next((name for name, hint in _hints(function, tool).items() if hint is Call), None)


def bound(function: Callable[..., Any], arguments: Any) -> dict[str, Any]:
    """For a function that brings its own schema: its names are all that is checked."""
    given = _object(arguments)
    try:
        inspect.signature(function).bind(**given)
    except TypeError as misfit:
        raise Misfit(str(misfit)) from None
    return given


def _object(arguments: Any) -> dict[str, Any]:
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise Misfit(f"the arguments should be an object, not {_shown(arguments)}")
    return cast("dict[str, Any]", arguments)


def _hints(function: Callable[..., Any], tool: str) -> dict[str, Any]:
    """What it returns is left out: its type may be there for type checkers alone."""

    def known() -> None: ...

    parameters = inspect.signature(function).parameters.values()
    known.__annotations__ = {
        one.name: one.annotation for one in parameters if one.annotation is not one.empty
    }
    try:
        return typing.get_type_hints(known, _names_of(function), include_extras=True)
    except NameError as unknown:
        raise TypeError(f"tool {tool}: a type of its parameters is unknown: {unknown}") from None


def _names_of(function: Callable[..., Any]) -> dict[str, Any]:
    """What the texts of its annotations may name."""
    inner: Any = inspect.unwrap(function)
    while isinstance(inner, partial):
        inner = inspect.unwrap(cast("partial[Any]", inner).func)
    if not hasattr(inner, "__globals__"):
        inner = type(inner).__call__
    return getattr(inner, "__globals__", {})


def _default(shape: Shape, value: Any, where: str) -> Any:
    try:
        shape.read(value, "its default")
    except Misfit as misfit:
        raise TypeError(f"{where}: {misfit}") from None
    return value


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
