"""Commands as an ordinary user who has nothing of root's: what a server should be run as."""

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from airboss.runtime.locate import cache_folder

USER: Final = "65500"
# Python and the runtime may lie in root's home, which is closed: they are shown at the same place
# in a home that is empty otherwise. The folder of an installed runtime is its owner's as well.
_BECOME: Final = """
closed=$1 prefix=$2 cache=$3 runtime=$4 home=$5; shift 5
if [ -n "$closed" ]; then
    t=$(mktemp -d) && mkdir "$t/p" "$t/c"
    mount --bind "$prefix" "$t/p" && mount --bind "$cache" "$t/c"
    mount -t tmpfs -o mode=755 tmpfs "$closed"
    mkdir -p "$prefix" "$cache"
    mount --move "$t/p" "$prefix" && mount --move "$t/c" "$cache"
    rmdir "$t/p" "$t/c" "$t"
fi
if [ -d "$runtime/pkg" ]; then
    t=$(mktemp -d) && mount --bind "$runtime/pkg" "$t"
    mount -t tmpfs -o mode=755 tmpfs "$runtime"
    mkdir "$runtime/pkg" && mount --move "$t" "$runtime/pkg"
    rmdir "$t"
fi
export HOME="$home"
exec setpriv --reuid USER --regid USER --clear-groups --inh-caps=-all "$@"
""".replace("USER", USER)


def as_ordinary_user(home: Path) -> tuple[str, ...]:
    """Goes before a command. `home` becomes the user's own."""
    if os.geteuid() != 0:
        return ()
    home.mkdir(parents=True, exist_ok=True)
    os.chown(home, int(USER), int(USER))
    cache, prefix = cache_folder().parents[1], Path(os.path.realpath(sys.base_prefix))
    # HOME may be another folder than root's own.
    homes = (Path(pwd.getpwuid(0).pw_dir), Path.home())
    if not shutil.which("setpriv") or {*homes} & {*Path(__file__).resolve().parents}:
        pytest.skip("no ordinary user can run these tests here")
    inside = {*prefix.parents, *cache.parents}
    closed = next((str(root) for root in homes if root in inside), "")
    words = (closed, str(prefix), str(cache), str(cache_folder()), str(home))
    command = ("unshare", "--mount", "--propagation", "private", "sh", "-euc", _BECOME, "-", *words)
    tried = subprocess.run(
        [*command, sys.executable, "-c", "import pydantic"], capture_output=True, check=False
    )
    if tried.returncode:
        pytest.skip(f"root cannot become an ordinary user here: {tried.stderr.decode()[-200:]}")
    return command
