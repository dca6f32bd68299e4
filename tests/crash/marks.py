"""Processes as the system shows them: found by the marks that agents' processes carry."""

import time
from collections.abc import Callable, Mapping

import psutil

from tests.pauses import pauses
from tests.portal import Portal


def owner_of(portal: Portal) -> str:
    return (portal.data / "id").read_text(encoding="utf-8").strip()


def bearing(name: str, value: str) -> list[psutil.Process]:
    """Living processes with this in their environment."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            alive = process.status() != psutil.STATUS_ZOMBIE
            if alive and process.environ().get(name) == value:
                found.append(process)
        except psutil.Error:
            continue
    return found


def left_of(portal: Portal, *sessions: str) -> list[str]:
    """All that runs for this data folder or these sessions, the server itself left out."""
    marks: Mapping[str, tuple[str, ...]] = {
        "AIRBOSS_OWNER": (owner_of(portal),),
        "COPILOT_AGENT_SESSION_ID": sessions,
    }
    found = {
        process.pid: process
        for name, values in marks.items()
        for value in values
        for process in bearing(name, value)
    }
    return [_words(process) for process in found.values()]


def running(words: str) -> list[int]:
    """The processes whose command line has these words."""
    return [process.pid for process in psutil.process_iter() if words in _words(process)]


def _words(process: psutil.Process) -> str:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return ""
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def is_over(process: psutil.Process) -> bool:
    """Buried or not: that is for whoever inherits it."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def soon(condition: Callable[[], object], seconds: float = 15) -> bool:
    """Whether `condition` becomes true in time."""
    end, pause = time.monotonic() + seconds, pauses()
    while not (met := bool(condition())) and time.monotonic() < end:
        time.sleep(next(pause))
    return met
