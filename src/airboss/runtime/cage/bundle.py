"""The warden as the server hands it in: compiled once here, and not at the start of each cage.

Inside, nobody can write into its folder, so Python could not keep there what it has compiled; and
to compile the warden takes longer than to start Python.
"""

import __future__

import ast
import functools
from pathlib import Path
from types import CodeType
from typing import Final

from airboss.runtime.cage.inside import warden

FOLDER: Final = Path(warden.__file__).parent
# In this order: none needs one that comes behind it.
_MODULES: Final = ("libc", "landlock", "syscalls", "seccomp", "warden")
_PACKAGE: Final = warden.__name__.rpartition(".")[0]
# Arguments: the folder of the package, for what is needed later; what the warden has to do.
BEGIN: Final = f"""
import marshal, sys
folder, place = sys.argv[1:3]
del sys.argv[1:3]
with open(place, "rb") as file:
    said = marshal.loads(file.read())
place = ""
for part in "{_PACKAGE}".split("."):
    place = (place + "." + part).lstrip(".")
    package = sys.modules[place] = type(sys)(place)
    package.__path__ = []
package.__path__ = [folder]
for name, code in said.pop("modules"):
    module = sys.modules["{_PACKAGE}." + name] = type(sys)("{_PACKAGE}." + name)
    setattr(package, name, module)
    exec(code, module.__dict__)
package.warden.main(said)
"""


@functools.cache
def modules() -> tuple[tuple[str, CodeType], ...]:
    """Blocking, the first time."""
    return tuple((name, _compiled(FOLDER / f"{name}.py")) for name in _MODULES)


def _compiled(file: Path) -> CodeType:
    """Without the import of `__future__`: that would load a module for nothing."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tree.body = [
        part
        for part in tree.body
        if not (isinstance(part, ast.ImportFrom) and part.module == "__future__")
    ]
    flags = __future__.annotations.compiler_flag
    return compile(tree, str(file), "exec", flags=flags, dont_inherit=True)
