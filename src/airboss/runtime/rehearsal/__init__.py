"""The rehearsal model: an OpenAI-compatible server on loopback whose mind is a script."""

from airboss.runtime.rehearsal.script import (
    RehearsalModel,
    Script,
    ScriptInvalid,
    builtin_script,
    load_script,
    parse_script,
)
from airboss.runtime.rehearsal.server import RehearsalServer

__all__ = [
    "RehearsalModel",
    "RehearsalServer",
    "Script",
    "ScriptInvalid",
    "builtin_script",
    "load_script",
    "parse_script",
]
