"""How the sessions of a cage stand behind others where no control group holds them back.

A kernel with autogroups gives each session of processes a share of the processors of its own: how
nice a process is counts only beside those of its own session. So the session itself is made nice.
"""

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_ENABLED: Final = Path("/proc/sys/kernel/sched_autogroup_enabled")


@dataclass
class Autogroups:
    """Of one cage. `top` is its outermost process, whose session may be that of others."""

    top: int
    nice: int
    _known: set[int] = field(default_factory=set[int], init=False)

    def hold_back(self, pids: Iterable[int]) -> None:
        """Blocking. Those that are new; what cannot be said now, with the next look."""
        if not is_enabled():
            return
        for pid in pids:
            with contextlib.suppress(OSError):
                session = os.getsid(pid)
                if session not in self._known and session not in self._others():
                    # Not everybody may be written to: any process of the session will do.
                    Path(f"/proc/{pid}/autogroup").write_text(f"{self.nice}", encoding="ascii")
                    self._known.add(session)

    def _others(self) -> set[int]:
        """Sessions that are not the cage's alone."""
        outer = os.getsid(self.top)
        return {os.getsid(0)} | ({outer} if outer != self.top else set())


def is_enabled() -> bool:
    """Blocking."""
    try:
        return _ENABLED.read_text(encoding="ascii").strip() == "1"
    except OSError:
        return False
