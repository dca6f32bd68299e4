"""Finds in a module's source what it uses of other packages that they keep private."""

import ast
import inspect
import re
from collections.abc import Generator, Iterable, Iterator
from importlib import import_module
from typing import Any

# Whose inside is used at all, each in one module.
PACKAGES = ("asyncio", "copilot", "dbos")
_DOTTED = re.compile(rf"\b(?:{'|'.join(PACKAGES)})(?:\.\w+)*\._\w+")
_BY_NAME = {"getattr", "setattr", "hasattr", "delattr", "attrgetter", "methodcaller"}
_OWN = {"self", "cls"}
# Documented, in spite of its name.
_PUBLIC = {"os._exit"}


def private_use(source: str, tables: Iterable[str] = (), *, is_far: bool = False) -> Iterator[str]:
    """A dotted name where the package is known, `._name` where only the attribute is, and the name
    of a table of DBOS. Where a module is far from the packages' objects, it may use what its own
    classes define on any object."""
    tree = ast.parse(source)
    theirs = _foreign_names(tree)
    own = _defined(tree) if is_far else set[str]()
    words = re.compile("|".join(rf"\b{table}\b" for table in tables) or r"(?!)")
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from (part.name for part in node.names if _is_private_path(part.name))
            case ast.ImportFrom(module=str(module), level=0):
                paths = [f"{module}.{part.name}" for part in node.names]
                yield from (path for path in paths if _is_private_path(path))
            case ast.Attribute(value=value, attr=name) if _is_private(name) and name not in own:
                yield from _attribute(value, name)
            case ast.Call(func=func, args=args) if _called(func) in _BY_NAME:
                yield from _by_name(args)
            case ast.Subscript(value=value, slice=key) if _is_namespace(value):
                yield from _by_name([key])
            case ast.ClassDef(bases=bases):
                yield from _inherited(bases, theirs)
            case ast.Constant(value=str(text)):
                yield from _DOTTED.findall(text)
                yield from words.findall(text)
            case _:
                pass


def found(path: str) -> Any:
    """The thing behind a dotted name; what an object only has when it is made, in the source."""
    parts = path.split(".")
    size = 1
    thing: Any = import_module(parts[0])
    while size < len(parts) and inspect.ismodule(thing):
        name = ".".join(parts[: size + 1])
        if not hasattr(thing, parts[size]):
            import_module(name)
        thing = getattr(thing, parts[size])
        size += 1
    for name in parts[size:]:
        if not hasattr(thing, name):
            assert re.search(rf"self\.{name}(?:: [^\n=]+)? = ", inspect.getsource(thing)), path
            return None
        thing = getattr(thing, name)
    return thing


def _is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def _is_private_path(path: str) -> bool:
    package, *rest = path.split(".")
    return package in PACKAGES and any(_is_private(part) for part in rest)


def _foreign_names(tree: ast.Module) -> set[str]:
    """What this module calls the things that it imports from the packages."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            names |= {part.asname or part.name for part in node.names}
        elif isinstance(node, ast.Import):
            found = (part for part in node.names if part.name.split(".")[0] in PACKAGES)
            names |= {part.asname or part.name.split(".")[0] for part in found}
    return names


def _defined(tree: ast.Module) -> set[str]:
    """The methods and fields of this module's own classes."""
    found = [
        part for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body
    ]
    methods = {part.name for part in found if isinstance(part, ast.FunctionDef)}
    fields = {ast.unparse(part.target) for part in found if isinstance(part, ast.AnnAssign)}
    return methods | fields | _set_on_self(tree)


def _set_on_self(tree: ast.Module) -> set[str]:
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if isinstance(node.value, ast.Name) and node.value.id == "self"
    }


def _attribute(value: ast.expr, name: str) -> Generator[str]:
    """Only of oneself; whose any other object is, nobody can tell from the text."""
    is_own = isinstance(value, ast.Name) and value.id in _OWN
    if not is_own and f"{ast.unparse(value)}.{name}" not in _PUBLIC:
        is_package = isinstance(value, ast.Name) and value.id in PACKAGES
        yield f"{ast.unparse(value)}.{name}" if is_package else f".{name}"


def _by_name(given: list[ast.expr]) -> Generator[str]:
    """`getattr(x, "_name")`, also where the name is put together."""
    for part in (text for one in given for text in ast.walk(one)):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from (f".{name}" for name in part.value.split(".") if _is_private(name))


def _called(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def _is_namespace(value: ast.expr) -> bool:
    """`vars(x)["_name"]` and `x.__dict__["_name"]`."""
    if isinstance(value, ast.Call):
        return _called(value.func) == "vars"
    return isinstance(value, ast.Attribute) and value.attr == "__dict__"


def _inherited(bases: list[ast.expr], foreign: set[str]) -> Generator[str]:
    """A class of theirs that is inherited from has its inside as one's own."""
    for base in bases:
        root = base
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name) and root.id in foreign and not _is_open(root, base):
            yield f"class of {ast.unparse(base)}"


def _is_open(root: ast.Name, base: ast.expr) -> bool:
    """What asyncio and the SDK make to be inherited from."""
    is_protocol = root.id == "asyncio" and ast.unparse(base).endswith("Protocol")
    return is_protocol or ast.unparse(base) == "CopilotRequestHandler"
