"""Reads in the source which class is made with which others, and who is what a protocol asks."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# From the top to the bottom.
LAYERS = ("service", "engine", "extensions", "harness")


@dataclass(frozen=True)
class WiredClass:
    """A class with what it can be asked for, by the names of parameters, and what it is made of."""

    name: str
    layer: str
    bases: tuple[str, ...]
    members: dict[str, frozenset[str]]
    parts: frozenset[str]

    @property
    def is_protocol(self) -> bool:
        return "Protocol" in self.bases


def classes_below(source: Path) -> dict[str, WiredClass]:
    found: dict[str, WiredClass] = {}
    for layer in LAYERS:
        for path in sorted((source / layer).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    bases = tuple(ast.unparse(base) for base in node.bases)
                    members, parts = dict(_members(node)), frozenset(_parts(node))
                    found[node.name] = WiredClass(node.name, layer, bases, members, parts)
    return found


def _members(node: ast.ClassDef) -> Iterator[tuple[str, frozenset[str]]]:
    for part in node.body:
        match part:
            case ast.FunctionDef(name=name, args=args) | ast.AsyncFunctionDef(name=name, args=args):
                if not name.startswith("_"):
                    yield name, frozenset(arg.arg for arg in (*args.args, *args.kwonlyargs))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, frozenset()
            case _:
                pass


def _parts(node: ast.ClassDef) -> Iterator[str]:
    """The names in the annotations of its fields and of its constructor."""
    for part in node.body:
        match part:
            case ast.AnnAssign(annotation=annotation):
                yield from _names(annotation)
            case ast.FunctionDef(name="__init__", args=args):
                for arg in (*args.args, *args.kwonlyargs):
                    yield from _names(arg.annotation) if arg.annotation else ()
            case _:
                pass


def _names(annotation: ast.expr) -> Iterator[str]:
    for node in ast.walk(annotation):
        match node:
            case ast.Name(id=name):
                yield name
            case ast.Constant(value=str(quoted)):
                yield from _names(ast.parse(quoted, mode="eval").body)
            case _:
                pass


def implementers(protocol: WiredClass, among: dict[str, WiredClass]) -> list[WiredClass]:
    """By what they have, as the type checker finds them."""

    def takes(one: WiredClass, name: str, given: frozenset[str]) -> bool:
        if name in one.members:
            return given - {"self"} <= one.members[name] or not one.members[name]
        return any(takes(among[base], name, given) for base in one.bases if base in among)

    others = [one for one in among.values() if not one.is_protocol]
    asked = protocol.members.items()
    return [one for one in others if all(takes(one, name, given) for name, given in asked)]


def cycles(among: dict[str, WiredClass]) -> list[str]:
    """Classes that need, by way of others, one of their own kind to be made."""
    found: list[str] = []
    known: set[str] = set()

    def follow(name: str, way: tuple[str, ...]) -> None:
        if name in way:
            found.append(" > ".join((*way[way.index(name) :], name)))
        if name in known:
            return
        known.add(name)
        one = among[name]
        behind = implementers(one, among) if one.is_protocol else []
        parts = one.parts.union(other.name for other in behind)
        for other in sorted(part for part in parts if part in among and part != name):
            follow(other, (*way, name))

    for name in among:
        follow(name, ())
    return found
