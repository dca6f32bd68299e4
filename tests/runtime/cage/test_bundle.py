"""The warden as it is handed into a cage."""

import marshal
import subprocess
from pathlib import Path
from typing import Any

from airboss.runtime.cage import bundle
from airboss.runtime.cage.inside.warden import FAILED
from airboss.runtime.cage.system import system_facts


def started(
    tmp_path: Path, *options: str, begin: str = bundle.BEGIN
) -> "subprocess.CompletedProcess[str]":
    """With nothing to do, so that it fails at once and says so."""
    place = tmp_path / "config"
    said: dict[str, Any] = {"modules": bundle.modules(), "wire": (), "mounted": [], "ports": []}
    said["hand"] = f"{tmp_path}/no"
    place.write_bytes(marshal.dumps(said))
    python = (str(system_facts().python), "-I", "-S", *options)
    command = [*python, "-c", begin, str(bundle.FOLDER), str(place)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_it_runs_as_it_was_compiled(tmp_path: Path) -> None:
    ended = started(tmp_path)
    assert ended.returncode == FAILED
    assert ended.stderr.startswith("The cage could not be closed: ")


def test_it_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    loading = bundle.BEGIN.replace("package.warden.main(said)", "")
    lines = started(tmp_path, "-X", "importtime", begin=loading).stderr.splitlines()
    loaded = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    assert {"_socket", "posix"} <= loaded
    assert not loaded & {"__future__", "os", "re", "socket", "signal", "typing", "ctypes"}


def test_it_finds_the_starter_of_programs_when_one_is_asked_for(tmp_path: Path) -> None:
    asking = "from airboss.runtime.cage.inside import starter; print(starter.Starter.__name__)"
    begin = bundle.BEGIN.replace("package.warden.main(said)", asking)
    assert started(tmp_path, begin=begin).stdout == "Starter\n"
