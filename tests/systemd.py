"""Units of systemd, as those read them who check what is said in one."""

import shutil
import subprocess
from configparser import RawConfigParser
from pathlib import Path


def read_unit(text: str) -> RawConfigParser:
    """A key may stand twice, as `Environment` does; the last one counts here."""
    unit = RawConfigParser(strict=False)
    # It keeps the case of names; its stub has no setter.
    unit.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    unit.read_string(text)
    return unit


def complaints(file: Path) -> list[str]:
    """What systemd itself says about a unit, where it is there."""
    if not shutil.which("systemd-analyze"):
        return []
    done = subprocess.run(
        ["systemd-analyze", "verify", file], capture_output=True, text=True, check=False
    )
    return [line for line in done.stderr.splitlines() if file.name in line]
