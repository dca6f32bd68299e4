"""The modules that lie beside an extension, in a process that has others of their names, too."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType


class FolderModules:
    """While it is entered, an import finds what lies in the folder, whoever else has the name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names = {one.name.partition(".")[0] for one in folder.glob("*")}
        self._before = set(sys.modules)
        self._wrote_bytecode = not sys.dont_write_bytecode
        # Set aside as long as another has the name.
        self._own: dict[str, ModuleType] = {}
        self._others: dict[str, ModuleType] = {}

    def __enter__(self) -> None:
        sys.path.insert(0, str(self._folder))
        self._others = {name: one for name, one in self._of_these_names() if not self._has(one)}
        for name in self._others:
            del sys.modules[name]
        sys.modules.update(self._own)

    def __exit__(self, *_: object) -> None:
        sys.path.remove(str(self._folder))
        taken = {name.partition(".")[0] for name in self._others}
        self._own = {
            name: one for name, one in self._of_these_names() if name.partition(".")[0] in taken
        }
        for name in self._own:
            del sys.modules[name]
        sys.modules.update(self._others)

    def forget(self) -> None:
        """What was there before stays, such as a test that lies in the folder."""
        if str(self._folder) in sys.path:
            sys.path.remove(str(self._folder))
        for name, module in list(sys.modules.items()):
            if name not in self._before and self._has(module):
                del sys.modules[name]
        if self._wrote_bytecode:
            sys.dont_write_bytecode = False

    def _of_these_names(self) -> Iterator[tuple[str, ModuleType]]:
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in self._names:
                yield name, module

    def _has(self, module: ModuleType) -> bool:
        file = getattr(module, "__file__", None)
        places = [file] if file else list(getattr(module, "__path__", ()))
        return any(Path(one).is_relative_to(self._folder) for one in places)
