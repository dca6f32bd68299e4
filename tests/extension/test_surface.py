"""The kit's surface as of its version, in `surface-1.txt`. Others build on it: what goes or means
something else needs a new major version, what is added a minor one."""

import dataclasses
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import airboss
import airboss.extension
from airboss.extension import testing

KEPT = Path(__file__).with_name("surface-1.txt")
_MODULES = re.compile(r"\b(?:[a-z_]+\.)+(?=[A-Z]|datetime)|~")


def surface(module: ModuleType) -> Iterator[str]:
    """A line for each name that others use, with its signature or its fields."""
    for name in sorted(module.__all__):
        thing: Any = getattr(module, name)
        if inspect.isclass(thing):
            bases = ", ".join(base.__name__ for base in thing.__bases__ if base is not object)
            yield f"{name}({bases}){_signature(thing) if dataclasses.is_dataclass(thing) else ''}"
            yield from _members(name, cast("type[Any]", thing))
        elif callable(thing):
            yield f"{name}{_signature(thing)}"
        elif not isinstance(thing, str):
            yield f"{name}: {type(thing).__name__}"
            yield from _members(name, cast("type[Any]", thing.__class__))


def _members(name: str, kind: type[Any]) -> Iterator[str]:
    if not dataclasses.is_dataclass(kind):
        for member, of in sorted(inspect.get_annotations(kind).items()):
            yield f"{name}.{member}: {_MODULES.sub('', inspect.formatannotation(of))}"
    for member, _ in sorted(inspect.getmembers(kind)):
        found = inspect.getattr_static(kind, member)
        is_own = any(
            member in vars(base) for base in kind.__mro__ if base.__module__.startswith("airboss")
        )
        if member.startswith("_") or not is_own:
            continue
        if isinstance(found, property):
            yield f"{name}.{member}"
        elif inspect.isfunction(found):
            word = "async " if inspect.iscoroutinefunction(found) else ""
            yield f"{word}{name}.{member}{_signature(found)}"


def _signature(thing: Any) -> str:
    return _MODULES.sub("", str(inspect.signature(thing)))


def test_names_signatures_and_fields_are_those_of_this_version() -> None:
    now = [
        f"airboss.extension {airboss.extension.__version__}",
        *surface(airboss.extension),
        "airboss.extension.testing",
        *surface(testing),
    ]
    kept = KEPT.read_text("utf-8").splitlines()
    assert now == kept, "Write a new version of the kit, and what it is like now"


def test_everything_that_others_use_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs/extensions.md").read_text("utf-8")
    names = {*airboss.extension.__all__, "load", "Fault"}
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\b", page)] == []


def _untold(module: ModuleType) -> Iterator[str]:
    """Names about which an editor has nothing to show."""
    for name in module.__all__:
        thing: Any = getattr(module, name)
        if isinstance(thing, str):
            continue
        # What dataclasses say of themselves is their signature.
        if (inspect.getdoc(thing) or f"{name}(").startswith(f"{name}("):
            yield name
        kind = cast("type[Any]", thing if inspect.isclass(thing) else type(thing))
        for member, found in vars(kind).items():
            is_shown = inspect.isfunction(found) or isinstance(found, property)
            if is_shown and not member.startswith("_") and not found.__doc__:
                yield f"{name}.{member}"


def test_editors_have_a_text_about_every_name() -> None:
    assert [*_untold(airboss.extension), *_untold(testing)] == []


def test_it_is_typed() -> None:
    assert (Path(airboss.__file__).parent / "py.typed").exists()


def test_it_stands_on_the_standard_library_alone() -> None:
    code = (
        "import sys; known = set(sys.modules); import airboss.extension, airboss.extension.testing,"
        " airboss.extension.__main__\n"
        "print(*sorted(set(sys.modules) - known), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    imported = set(done.stdout.split())
    assert "airboss.extension.child" in imported
    foreign = {
        name
        for name in imported
        if name.partition(".")[0] not in sys.stdlib_module_names
        and name != "airboss"
        and not name.startswith("airboss.extension")
    }
    assert foreign == set()
