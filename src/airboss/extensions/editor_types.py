"""The pinned SDK's types, where an editor looks for them: beside extensions in JavaScript.

They lie in `node_modules`, which git does not see. Nothing that runs is found there.
"""

import contextlib
import json
import os
from pathlib import Path
from typing import Final

from airboss.extensions.launch import SDK, sdk_package

_PACKAGE: Final = Path("node_modules", "@github", "copilot-sdk")
_LINK: Final = "sdk"
# The link's, of the files that the package is read from.
_DESCRIPTION: Final = {
    "name": "@github/copilot-sdk",
    "description": "The types of the SDK for extensions, put here by Airboss for editors.",
    "private": True,
    "type": "module",
    "exports": {
        ".": {"types": f"./{_LINK}/index.d.ts"},
        "./extension": {"types": f"./{_LINK}/extension.d.ts"},
    },
}


def lend_types(folder: Path, cli: Path | None = None) -> bool:
    """Whether editors find them for the extensions in this folder. Blocking.

    A package that somebody has installed there is left as it is. Raises `CannotLaunch` where the
    agent runtime is not installed, which has the types, and `OSError`.
    """
    package = folder / _PACKAGE
    link = package / _LINK
    if os.path.lexists(package) and not link.is_symlink():
        return package.is_dir()
    sdk = sdk_package(cli) / SDK
    if not (sdk / "extension.d.ts").is_file():
        return False
    modules = folder / _PACKAGE.parts[0]
    if not os.path.lexists(modules):
        modules.mkdir()
        (modules / ".gitignore").write_text("*\n", "utf-8")
    package.mkdir(parents=True, exist_ok=True)
    (package / "package.json").write_text(json.dumps(_DESCRIPTION, indent=2) + "\n", "utf-8")
    with contextlib.suppress(FileNotFoundError):
        link.unlink()
    link.symlink_to(sdk, target_is_directory=True)
    return True
