"""The devices of this machine, such as /dev/null: what goes before bubblewrap, so that nobody in a
cage changes their modes and times.

Bubblewrap binds them into a cage as they are, and who has root's files inside owns them as well. It
cannot close them itself: what it makes read-only is no device any more. But what was read-only
before stays so, and a device can be written to on such a mount.
"""

import os
import re
import shutil
from pathlib import Path
from typing import Final

# In two steps, as not each `mount` knows both at once. Who mounts in a namespace of users may not
# take `nosuid` away. Then nothing is open any more that came by the way that can be written.
_CLOSE: Final = (
    '{ "$0" -o rbind /dev /dev && "$0" -o remount,bind,ro,nosuid /dev /dev; } || exit 96; '
    'exec "$@" </dev/null >/dev/null'
)
_APART: Final = ("--mount", "--propagation", "slave")
_MAY_MOUNT: Final = 1 << 21


def closing() -> tuple[str, ...]:
    """The words; none where the server is not root, who has no devices."""
    if os.geteuid() != 0:
        return ()
    by_right = () if _may_mount() else ("--user", "--map-root-user")
    return (_found("unshare"), *by_right, *_APART, "/bin/sh", "-c", _CLOSE, _found("mount"))


def _may_mount() -> bool:
    """A root without that right mounts only in a namespace of users."""
    said = Path("/proc/self/status").read_text("ascii", errors="replace")
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", said, re.MULTILINE)
    return found is not None and bool(int(found[1], 16) & _MAY_MOUNT)


def _found(program: str) -> str:
    path = os.pathsep.join((os.environ.get("PATH", ""), os.defpath))
    return shutil.which(program, path=path) or program
