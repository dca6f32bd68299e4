"""What a process and those below it take: processor, memory, descriptors."""

from dataclasses import dataclass

import psutil

_MEGABYTE = 2**20


@dataclass(frozen=True)
class Taken:
    """In megabytes, and counted."""

    server: float
    # The largest process below it: the agent runtime.
    runtime: float
    descriptors: int
    threads: int


def cpu_seconds(pid: int) -> float:
    """Of this process alone."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def family(pid: int) -> list[psutil.Process]:
    """It and all below it."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def taken(pid: int) -> Taken:
    process = psutil.Process(pid)
    below = [_resident(child) for child in process.children(recursive=True)]
    descriptors, threads = process.num_fds(), process.num_threads()
    return Taken(_resident(process), max(below, default=0.0), descriptors, threads)


def _resident(process: psutil.Process) -> float:
    try:
        return process.memory_info().rss / _MEGABYTE
    except psutil.NoSuchProcess:
        return 0.0
