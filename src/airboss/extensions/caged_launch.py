"""How an extension is started in the cage of its session: its files and the kit are handed in, and
read-only there."""

import os
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from airboss.extensions.child import Launch
from airboss.extensions.launch import (
    BOOTSTRAP,
    NO_NODE,
    OUR_SDK,
    REQUIRED,
    RUN_KIT,
    SDK,
    SDK_PATH,
    CannotLaunch,
    sdk_package,
)
from airboss.extensions.shelf import ExtensionFile
from airboss.runtime.cage.programs import Place
from airboss.runtime.cage.system import system_facts

_KIT: Final = "extension"
# Who started it is known inside only: the shell's parent becomes its own.
_UNDER_PARENT: Final = 'COPILOT_EXTENSION_PARENT_PID=$PPID exec "$@"'


def caged_launch_of(
    file: ExtensionFile, session: str, cwd: Path, place: Place, cli: Path | None
) -> Launch:
    """Blocking. Raises `CannotLaunch`."""
    if file.copy is None or file.program is None:
        raise CannotLaunch(file.reason or "Nobody has trusted it yet.")
    folder = _hand_in(place, file.copy, f"extension-{file.copy_digest[:24]}")
    program, more = folder / file.program.name, {"SESSION_ID": session}
    if file.language == "python":
        words = (str(system_facts().python), "-I", "-B", "-c", RUN_KIT, str(_kit_in(place)))
        return Launch((*words, str(program)), more, cwd)
    return _javascript(program, cwd, more, place, cli)


def _javascript(
    program: Path, cwd: Path, more: Mapping[str, str], place: Place, cli: Path | None
) -> Launch:
    node = shutil.which("node")
    if node is None or not place.sees(Path(node)):
        raise CannotLaunch(NO_NODE if node is None else "There is no Node inside the cage.")
    package = sdk_package(cli)
    begin = _hand_in(place, package / BOOTSTRAP.parent, f"sdk-{_of(package)}/{BOOTSTRAP.parent}")
    sdk = _hand_in(place, package / SDK, f"sdk-{_of(package)}/{SDK}")
    our_sdk = _our_sdk_in(place)
    ours = {"COPILOT_SDK_PATH": str(our_sdk), SDK_PATH: str(sdk)}
    environ = {**more, **ours, "EXTENSION_PATH": str(program)}
    words = (node, "--require", str(our_sdk / REQUIRED), str(begin / BOOTSTRAP.name))
    return Launch(("/bin/sh", "-c", _UNDER_PARENT, "sh", *words), environ, cwd)


def _kit_in(place: Place) -> Path:
    """The folder that has the kit as a package, and nothing else of Airboss."""
    import airboss

    source = Path(airboss.__file__).parent / _KIT
    inside = _hand_in(place, source, f"kit-{_mark_of(source, '*.py')}/airboss/{_KIT}")
    return inside.parent.parent


def _our_sdk_in(place: Place) -> Path:
    return _hand_in(place, OUR_SDK, f"our-sdk-{_mark_of(OUR_SDK, '*js')}")


def _mark_of(folder: Path, names: str) -> str:
    files = sorted(folder.glob(names))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:24]


def _of(package: Path) -> str:
    return sha256(str(package).encode()).hexdigest()[:12]


def _hand_in(place: Place, source: Path, name: str) -> Path:
    """A copy that nobody inside can change; the path that it has there."""
    here = place.here / name
    if not here.exists():
        here.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = here.with_name(f".{here.name}-{os.getpid()}-{os.urandom(4).hex()}")
        shutil.copytree(source, written, ignore=shutil.ignore_patterns("__pycache__", "docs"))
        try:
            written.rename(here)
        except OSError:  # somebody was faster
            shutil.rmtree(written, ignore_errors=True)
    return place.inside / name
