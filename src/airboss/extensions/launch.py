"""How an extension's process is started: with Airboss's own interpreter, or with Node on the pinned
SDK."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from airboss.errors import AirbossError
from airboss.extensions.child import Launch
from airboss.extensions.shelf import ExtensionFile
from airboss.runtime.locate import locate

BOOTSTRAP: Final = Path("preloads") / "extension_bootstrap.mjs"
SDK: Final = "copilot-sdk"
# Stands in front of the pinned one, which it finds by `SDK_PATH`.
OUR_SDK: Final = Path(__file__).parent / "sdk"
REQUIRED: Final = "required.cjs"
SDK_PATH: Final = "AIRBOSS_SDK_PATH"
# Puts the kit on the path by hand.
RUN_KIT: Final = (
    "import runpy, sys; kit, sys.argv[1:] = sys.argv[1], sys.argv[2:]; sys.path.insert(0, kit); "
    "runpy.run_module('airboss.extension', run_name='__main__', alter_sys=True)"
)
NO_NODE: Final = "It needs Node 20 or newer, and there is no `node` on the PATH of the server."
NO_SDK: Final = (
    "It needs the Copilot SDK for extensions, which the installed agent runtime does not have. "
    "Run `airboss setup`."
)


class CannotLaunch(Exception):
    """It cannot be started here, for this reason."""


def launch_of(
    file: ExtensionFile, session: str, cwd: Path, environ: Mapping[str, str], cli: Path | None
) -> Launch:
    """Blocking: it looks for programs. Raises `CannotLaunch`."""
    program = file.program
    if program is None:
        raise CannotLaunch(file.reason or "Nobody has trusted it yet.")
    more = {"SESSION_ID": session}
    if file.language == "python":
        return _python(program, cwd, {**environ, **more})
    return _javascript(program, cwd, {**environ, **more}, cli)


def _python(program: Path, cwd: Path, environ: dict[str, str]) -> Launch:
    import airboss  # found by the child where we have it from

    package = str(Path(airboss.__file__).parent.parent)
    # By words, and not by its environment: other Pythons that it starts, such as the tests of a
    # project, are not to find our packages. -P: a file of the working directory must not stand in
    # for a module.
    words = ("-E", "-P", "-B", "-X", "utf8", "-c", RUN_KIT)
    return Launch((sys.executable, *words, package, str(program)), environ, cwd)


def _javascript(program: Path, cwd: Path, environ: dict[str, str], cli: Path | None) -> Launch:
    node = shutil.which("node", path=environ.get("PATH"))
    if node is None:
        raise CannotLaunch(NO_NODE)
    package = sdk_package(cli)
    ours = {
        "EXTENSION_PATH": str(program),
        "COPILOT_SDK_PATH": str(OUR_SDK),
        SDK_PATH: str(package / SDK),
        # It ends by itself when this one does.
        "COPILOT_EXTENSION_PARENT_PID": str(os.getpid()),
    }
    command = (node, "--require", str(OUR_SDK / REQUIRED), str(package / BOOTSTRAP))
    return Launch(command, {**environ, **ours}, cwd)


def sdk_package(cli: Path | None) -> Path:
    """The folder of the runtime's package that has the SDK in it."""
    try:
        found = locate(cli).path
    except AirbossError as error:
        raise CannotLaunch(str(error)) from None
    beside = [folder / "pkg" for folder in found.parents]
    for folder in (*found.parents, *beside):
        if (folder / BOOTSTRAP).is_file() and (folder / SDK / "extension.js").is_file():
            return folder
    raise CannotLaunch(NO_SDK)
