"""Reading the file of an extension, and saying in one line what is wrong with it and where."""

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType


class Fault(Exception):
    """One line: `file:line: message`, the file as seen from the extension's folder."""


def read_extension(file: Path, name: str) -> ModuleType:
    """Runs the file as a module, its folder first on the path. Raises a Fault."""
    file = file.absolute()
    spec = importlib.util.spec_from_file_location(name, file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise Fault(f"{file.name}:1: there is no such file")
    sys.dont_write_bytecode = True  # what was trusted stays as it is
    sys.path.insert(0, str(file.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        sys.modules.pop(name, None)
        raise Fault(fault_of(error, file)) from error
    return module


def fault_of(error: BaseException, file: Path) -> str:
    """Where in the extension's own files it happened, and what."""
    where, line = file, 1
    for frame in traceback.extract_tb(error.__traceback__):
        path = Path(frame.filename)
        if path.is_relative_to(file.parent):
            where, line = path, frame.lineno or 1
    if isinstance(error, SyntaxError) and error.filename:
        where, line = Path(error.filename), error.lineno or 1
    if where.is_relative_to(file.parent):
        where = where.relative_to(file.parent)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    said = " ".join(f"{type(error).__name__}: {text}".split()).removesuffix(":")
    return f"{where}:{line}: {said}{_help_for(error)}"


def _help_for(error: BaseException) -> str:
    """With imports: the file is no part of a package, and runs with our Python."""
    if isinstance(error, ModuleNotFoundError):
        places = f"the folder of the extension and in {sys.executable}, which runs it"
        return f"; it was looked for in {places}"
    if isinstance(error, ImportError) and "no known parent package" in str(error):
        return "; a file beside it is imported by its name, as in: import helper"
    return ""
