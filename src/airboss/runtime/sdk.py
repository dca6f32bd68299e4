"""Loads the SDK in half of its time and two thirds of its memory: without what nobody calls.

Its generated modules make 1,850 dataclasses, and each would compile a way to compare itself and one
to print itself. That is most of the second that importing it takes, and it is never used. Neither
is what each keeps to describe itself. None of them inherits from another, which would ask for it.
"""

import builtins
import dataclasses
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType, SimpleNamespace
from typing import Any

from airboss.tuning import give_back_freed, is_on

_GENERATED = frozenset({"copilot.generated.rpc", "copilot.generated.session_events"})
_DESCRIPTIONS = frozenset({"__dataclass_fields__", "__dataclass_params__", "__match_args__"})
_loading = threading.Lock()


def load_sdk() -> None:
    """Blocks for about a second, once: not for the event loop."""
    with _loading:
        if "copilot" in sys.modules:
            return
        with _leanly() if is_on("lean-sdk") else nullcontext():
            import_module("copilot")
        give_back_freed()


@contextmanager
def _leanly() -> Generator[None]:
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _lean(kind: Any = None, /, **options: Any) -> Any:
    if kind is None:
        return partial(_lean, **options)
    made: type = dataclasses.dataclass(kind, **{"eq": False, "repr": False, **options})
    for said in _DESCRIPTIONS & vars(made).keys():
        delattr(made, said)
    made.__doc__ = None
    return made


_dataclasses = SimpleNamespace(**{**vars(dataclasses), "dataclass": _lean})


def _import(name: str, *rest: Any, **named: Any) -> Any:
    return _dataclasses if name == "dataclasses" else builtins.__import__(name, *rest, **named)


class _Loader(SourceFileLoader):
    """Gives a module an `import` of its own, so that nobody else's dataclasses change."""

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname in _GENERATED else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(fullname, spec.loader.path)
        return spec
