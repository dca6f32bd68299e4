"""The extensions of all sessions of this server: how many run, and whether one takes too much."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from airboss.background import Background
from airboss.extensions.extension import HostedExtension
from airboss.extensions.shelf import ExtensionFile, Shelf
from airboss.runtime.descendants import Descendants, process_table
from airboss.runtime.process_threads import SWEEPS, in_threads
from airboss.runtime.sweep import processes_of_extensions

MOST_MEMORY: Final = 1 << 30
MOST_PROCESSES: Final = 64
_LOOK_SECONDS: Final = 2.0
_END_SECONDS: Final = 5.0

# Keeps a copy of this very content (path, digest) for whoever trusts it, and lets it run; raises
# where it is not there any more.
TrustContent: TypeAlias = Callable[[str, str, str], Awaitable[None]]

_log = logging.getLogger(__name__)


@dataclass
class ExtensionRoom:
    """`environ` is that of agents: without secrets. `cli` is the runtime that the settings name."""

    shelf: Shelf
    environ: Mapping[str, str]
    trust: TrustContent
    cli: Path | None = None
    memory: int = MOST_MEMORY
    look_seconds: float = _LOOK_SECONDS
    # Of sessions that are gone already.
    ending: Background = field(default_factory=lambda: Background("extensions ending"))
    _running: dict[int, HostedExtension] = field(default_factory=dict[int, HostedExtension])
    _failed: dict[int, HostedExtension] = field(default_factory=dict[int, HostedExtension])
    _beside: Background = field(default_factory=lambda: Background("extensions"))
    _watch: "asyncio.Task[None] | None" = None

    def __post_init__(self) -> None:
        self.shelf.in_use = self._digests

    def _digests(self) -> Collection[str]:
        return {one.file.copy_digest for one in self._running.values()}

    def enter(self, extension: HostedExtension) -> str | None:
        """A place for one more, or why there is none."""
        most = self.shelf.settings.most
        if len(self._running) >= most:
            return (
                f"{most} extensions are running already, which is the limit. Close a session, or "
                "raise `most` under [extensions] in the settings."
            )
        self._running[id(extension)] = extension
        if self._watch is None or self._watch.done():
            self._watch = self._beside.start(self._look_after(), "watch")
        return None

    def leave(self, extension: HostedExtension) -> None:
        """One that failed is still told of, until its session ends or reloads."""
        self._running.pop(id(extension), None)
        self._failed.pop(id(extension), None)
        if extension.state == "failed":
            self._failed[id(extension)] = extension

    def sessions_of(self, file: ExtensionFile) -> list[tuple[str, HostedExtension]]:
        """Where it runs now, or failed. Several projects may have one of the same name."""
        return [
            (one.door.session, one)
            for one in (*self._running.values(), *self._failed.values())
            if (one.file.scope, one.file.path) == (file.scope, file.path)
        ]

    async def _look_after(self) -> None:
        """As long as any runs."""
        while self._running:
            await asyncio.sleep(self.look_seconds)
            try:
                found = await in_threads(SWEEPS, _measured, self._descendants())
            except (OSError, ValueError) as error:  # the next look may be luckier
                _log.warning("The processes of extensions could not be looked at: %s", error)
                continue
            self._judge(found)

    def _descendants(self) -> Mapping[str, Descendants]:
        """By mark."""
        found = {one.mark: one.descendants for one in self._running.values()}
        return {mark: below for mark, below in found.items() if mark and below}

    def _judge(self, found: Mapping[str, tuple[int, int]]) -> None:
        for one in list(self._running.values()):
            count, memory = found.get(one.mark or "", (0, 0))
            if count > MOST_PROCESSES:
                one.end(f"It had {count} processes; {MOST_PROCESSES} are the most.")
            elif memory > self.memory:
                one.end(
                    f"It took {memory >> 20:,} MiB of memory; {self.memory >> 20:,} are the most."
                )

    async def close(self) -> None:
        await self.ending.close(seconds=_END_SECONDS)
        await self._beside.close(cancel=True, seconds=1)


def _measured(descendants: Mapping[str, Descendants]) -> dict[str, tuple[int, int]]:
    """By mark, how many processes there are, and their memory together."""
    page = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
    table, marked = process_table(), processes_of_extensions()
    found: dict[str, tuple[int, int]] = {}
    for mark in {*marked, *descendants}:
        pids = {*marked.get(mark, ())}
        if below := descendants.get(mark):
            below.look(table)
            pids |= below.noted.keys()
        found[mark] = len(pids), sum(_resident(pid) for pid in pids) * page
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
