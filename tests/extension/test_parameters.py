"""A signature becomes a JSON Schema, and what a model sends is checked against it."""

import json
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal, cast

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airboss.extension import Call
from airboss.extension.parameters import Misfit, Parameters, Shape, parameters_of, shape_of
from tests.trials import share


def takes(function: Callable[..., Any]) -> Parameters:
    return parameters_of(function, "buy")


def everything(
    text: str,
    pieces: Annotated[int, "how many"],
    call: Call,
    weight: float = 1.5,
    fresh: bool = True,
    kind: Literal["apple", "pear"] = "apple",
    notes: list[Annotated[str, "one of them"]] | None = None,
    prices: dict[str, list[float]] | None = None,
) -> None: ...


def test_every_type_of_a_signature_is_told() -> None:
    assert takes(everything).schema() == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "pieces": {"type": "integer", "description": "how many"},
            "weight": {"type": "number", "default": 1.5},
            "fresh": {"type": "boolean", "default": True},
            "kind": {"type": "string", "enum": ["apple", "pear"], "default": "apple"},
            "notes": {
                "anyOf": [
                    {"type": "array", "items": {"type": "string", "description": "one of them"}},
                    {"type": "null"},
                ],
                "default": None,
            },
            "prices": {
                "anyOf": [
                    {
                        "type": "object",
                        "additionalProperties": {"type": "array", "items": {"type": "number"}},
                    },
                    {"type": "null"},
                ],
                "default": None,
            },
        },
        "required": ["text", "pieces"],
        "additionalProperties": False,
    }
    assert takes(everything).call == "call"


def test_arguments_that_fit_are_taken_and_defaults_are_left_to_the_function() -> None:
    given = {"text": "x", "pieces": 3.0, "weight": 2, "prices": {"a": [1]}}
    taken = takes(everything).read(given)
    assert taken == {"text": "x", "pieces": 3, "weight": 2.0, "prices": {"a": [1.0]}}
    assert [type(taken[name]) for name in ("pieces", "weight")] == [int, float]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "text is missing; pieces is missing"),
        ({"text": 1, "pieces": 1}, "text: 1 is not text"),
        ({"text": "", "pieces": "3"}, 'pieces: "3" is not a whole number'),
        ({"text": "", "pieces": True}, "pieces: true is not a whole number"),
        ({"text": "", "pieces": 1.5}, "pieces: 1.5 is not a whole number"),
        ({"text": "", "pieces": 1, "weight": "a"}, 'weight: "a" is not a number'),
        ({"text": "", "pieces": 1, "weight": float("nan")}, "weight: NaN is not a number"),
        ({"text": "", "pieces": 1, "fresh": 1}, "fresh: 1 is not true or false"),
        ({"text": "", "pieces": 1, "kind": "egg"}, 'kind: "egg" is none of "apple", "pear"'),
        ({"text": "", "pieces": 1, "notes": "a"}, 'notes: "a" is not a list'),
        ({"text": "", "pieces": 1, "notes": ["a", 2]}, "notes[1]: 2 is not text"),
        ({"text": "", "pieces": 1, "prices": []}, "prices: [] is not an object"),
        ({"text": "", "pieces": 1, "prices": {"a": [None]}}, "prices.a[0]: null is not a number"),
        ({"text": "", "pieces": 1, "call": "x"}, 'there is no parameter "call"'),
        ({"peaces": 1, "pieces": 1, "text": ""}, 'there is no parameter "peaces"'),
        ([1], "the arguments should be an object, not [1]"),
    ],
)
def test_what_does_not_fit_is_said(arguments: Any, said: str) -> None:
    with pytest.raises(Misfit) as misfit:
        takes(everything).read(arguments)
    assert str(misfit.value) == said


def test_a_long_value_is_cut_in_what_is_said() -> None:
    with pytest.raises(Misfit) as misfit:
        takes(everything).read({"text": ["x" * 500], "pieces": 1})
    assert len(str(misfit.value)) < 100


# As text: they are wrong on purpose, in the eyes of type checkers, too.
UNTOLD = [
    "fruit",
    "fruit: list",
    "fruit: dict",
    "fruit: Any",
    "fruit: str | int",
    "fruit: Shape",
    "fruit: dict[int, str]",
    "fruit: Literal[b'x']",
    "fruit: str, /",
    "*fruit: str",
    "**fruit: str",
    "fruit: str = 3",
    "fruit: str = None",
    "fruit: list[str] = ()",
]


def made(signature: str) -> Callable[..., Any]:
    names: dict[str, Any] = {"Any": Any, "Literal": Literal, "Shape": Shape}
    exec(f"def function({signature}) -> None: ...", names)  # noqa: S102 - it is this module's
    return names["function"]


@pytest.mark.parametrize("signature", UNTOLD)
def test_what_cannot_be_told_is_refused_by_the_name_of_the_parameter(signature: str) -> None:
    with pytest.raises(TypeError, match=r"^tool buy: parameter fruit: "):
        takes(made(signature))


def test_a_type_that_nobody_knows_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^tool buy: a type of its .* is unknown: .*Nowhere"):
        takes(made("fruit: 'Nowhere'"))


def test_what_it_returns_may_be_known_to_type_checkers_alone() -> None:
    function = made("fruit: 'str', pieces: 'int' = 1")
    function.__annotations__["return"] = "Nowhere"
    assert takes(function).schema()["required"] == ["fruit"]


class Shelf:
    def __call__(self, fruit: "str", pieces: int) -> None: ...


@pytest.mark.parametrize("function", [partial(Shelf(), pieces=2), partial(Shelf.__call__, Shelf())])
def test_what_is_like_a_function_is_told_like_one(function: Callable[..., Any]) -> None:
    assert takes(function).schema()["properties"]["fruit"] == {"type": "string"}


PLAIN = [str, int, float, bool]
TYPES = st.recursive(
    st.sampled_from([*PLAIN, Literal["a", "b"], Literal[1, 2], Literal["a", 1, True, None]]),
    lambda inner: st.one_of(
        inner.map(lambda one: list[one]),
        inner.map(lambda one: dict[str, one]),
        inner.map(lambda one: one | None),
        inner.map(lambda one: Annotated[one, "about it"]),
    ),
    max_leaves=4,
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["a", "b", "", "long enough"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=share(150, 3000), deadline=None)
@given(TYPES, JSON)
def test_the_check_takes_exactly_what_the_schema_describes(annotation: Any, value: Any) -> None:
    shape = shape_of(annotation, "it")
    schema = shape.schema()
    json.dumps(schema)
    jsonschema.Draft202012Validator.check_schema(schema)
    fits = cast("Any", jsonschema.Draft202012Validator(schema)).is_valid(value)
    try:
        taken, said = shape.read(value, "it"), ""
    except Misfit as misfit:
        taken, said = None, str(misfit)
    if fits and not _is_whole_float(value):
        assert said == "", schema
        assert taken == value
    if not fits:
        assert said.startswith("it"), schema


def _is_whole_float(value: Any) -> bool:
    """JSON Schema takes 1.0 for the 1 of an enumeration; the kit wants the very value."""
    found = [value]
    while found:
        one = found.pop()
        if isinstance(one, float) and one.is_integer():
            return True
        found += one if isinstance(one, list) else one.values() if isinstance(one, dict) else ()
    return False
