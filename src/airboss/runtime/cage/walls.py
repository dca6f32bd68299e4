"""A profile as the options of bubblewrap and the rules of Landlock. Looks at no file."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.etc import ETC
from airboss.runtime.cage.folders import CageFolders
from airboss.runtime.cage.system import SystemFacts

HOME: Final = Path("/home/agent")
STATE: Final = HOME / ".copilot"
RUNTIME: Final = Path("/opt/runtime")
DOORS: Final = Path("/run/doors")
PROGRAMS: Final = Path("/run/programs")
# Where the warden finds what it loads later.
WARDEN: Final = Path("/opt/cage")
NAME: Final = "agent"
_ID: Final = "1000"
_SHARED_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - the cage's own
_SHARED_MEMORY_BYTES: Final = 256 * 1024 * 1024
# No link leads from one to the other: a folder that is worked in may be below either.
_SCRATCH: Final = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - the cage's own
# No terminals: outside of a namespace, those of people are among them.
_DEVICES: Final = ("null", "zero", "full", "random", "urandom")


@dataclass(frozen=True)
class Bind:
    """A path of this machine, and where it is inside."""

    source: Path
    target: Path
    writable: bool = False

    @property
    def options(self) -> list[str]:
        return ["--bind" if self.writable else "--ro-bind", str(self.source), str(self.target)]


@dataclass(frozen=True)
class CageLayout:
    """All that a cage is built of. `read` and `write` are the profile's, as real paths."""

    terms: CageProfile
    cwd: Path
    folders: CageFolders
    system: SystemFacts
    # The folder of the package `inside`.
    warden: Path
    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    runtime: tuple[Bind, ...] = ()
    git: tuple[Bind, ...] = ()
    # What of Airboss itself is in the working folder.
    code: tuple[Bind, ...] = ()
    # Bubblewrap before 0.8 cannot; seccomp refuses new namespaces as well.
    disables_namespaces: bool = True
    # Bubblewrap before 0.7 cannot say how large a file system in memory may be.
    bounds_memory: bool = True


def same(path: Path, *, writable: bool = False) -> Bind:
    return Bind(path, path, writable)


def strong_binds(layout: CageLayout) -> list[Bind]:
    """A later mount covers an earlier: the system first, then what the profile adds, and what is
    closed in the working folder last."""
    folders = layout.folders
    return [
        *(same(path) for path in layout.system.toolchains),
        Bind(layout.warden, WARDEN),
        *(Bind(folders.scratch, path, writable=True) for path in _SCRATCH),
        Bind(folders.home, HOME, writable=True),
        Bind(folders.state, STATE, writable=True),
        *layout.runtime,
        *(same(path) for path in layout.read),
        *(same(path, writable=True) for path in layout.write),
        same(layout.cwd, writable=True),
        *layout.code,
        *layout.git,
        Bind(folders.doors, DOORS),
        Bind(folders.programs, PROGRAMS),
    ]


def own_places(layout: CageLayout) -> list[tuple[Path, Path, Path]]:
    """What is mounted in a folder that agents wrote, and that bubblewrap would find its way in by
    their links: that folder, the place in it, and what is mounted there."""
    before: list[Bind] = []
    found: list[tuple[Path, Path, Path]] = []
    for bind in strong_binds(layout):
        around = [one for one in before if one.target in bind.target.parents]
        inner = max(reversed(around), key=lambda one: len(one.target.parts), default=None)
        if inner is not None and inner.source in layout.folders.written:
            found.append((inner.source, bind.target.relative_to(inner.target), bind.source))
        before.append(bind)
    return found


def strong_walls(layout: CageLayout) -> list[str]:
    """The options of bubblewrap; the command comes behind them."""
    binds = strong_binds(layout)
    return [
        *_namespaces(layout.disables_namespaces),
        *_system(layout),
        *(option for bind in binds for option in bind.options),
        *("--remount-ro", "/", "--chdir", str(layout.cwd)),
    ]


def _namespaces(disables: bool) -> list[str]:
    return [
        *("--unshare-user", "--uid", _ID, "--gid", _ID, "--unshare-pid", "--unshare-net"),
        *("--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "cage"),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *(("--disable-userns",) if disables else ()),
    ]


def _system(layout: CageLayout) -> list[str]:
    facts = layout.system
    binds = [
        *(same(path) for path in facts.folders),
        Bind(layout.folders.etc, ETC),
        *(same(path) for path in facts.etc if path not in facts.copied),
    ]
    return [
        *(option for bind in binds for option in bind.options),
        *(word for path, target in facts.links for word in ("--symlink", target, str(path))),
        *("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"),
        *_shared_memory(layout),
        # It is memory that counts for no process, and has no bound but half of the machine's.
        *("--remount-ro", "/dev"),
        # Of its files root's server is the owner, and their modes are the same for all of them.
        *("--remount-ro", "/proc"),
    ]


def _shared_memory(layout: CageLayout) -> list[str]:
    """Without a bound it would be half of the machine's memory, and count for no process: then it
    is on the disk, with the temporary files."""
    if layout.bounds_memory:
        return ["--size", str(_SHARED_MEMORY_BYTES), "--tmpfs", str(_SHARED_MEMORY)]
    return Bind(layout.folders.scratch, _SHARED_MEMORY, writable=True).options


@dataclass(frozen=True)
class LandlockRules:
    """Which version of Landlock must be there (0: none), what may be read and written, and which
    folders may at least be listed."""

    needs: int
    read: tuple[Path, ...]
    write: tuple[Path, ...]
    listed: tuple[Path, ...] = ()


def strong_rules(layout: CageLayout) -> LandlockRules:
    """Behind the mounts a second wall, where the kernel has it."""
    read = ("/usr", "/etc", "/opt", "/run", "/proc", *map(str, layout.system.folders))
    write = ("/dev", *_SCRATCH, HOME)
    return LandlockRules(
        needs=0,
        read=(*_paths(read), *layout.system.toolchains, *layout.read, *_of(layout.git, False)),
        write=(*_paths(write), *layout.write, layout.cwd, *_of(layout.git, True)),
        listed=(Path("/"),),
    )


def narrow_rules(layout: CageLayout, needs: int) -> LandlockRules:
    """The only wall around files: everything has the path that it has outside."""
    facts, folders = layout.system, layout.folders
    devices = [Path("/dev") / name for name in _DEVICES]
    return LandlockRules(
        needs=needs,
        read=(
            *(*facts.folders, *facts.etc, *facts.toolchains, Path("/proc"), layout.warden),
            *(
                folders.etc,
                folders.programs,
                *(bind.source for bind in layout.runtime),
                *layout.read,
            ),
        ),
        write=(
            *(*devices, folders.scratch, folders.home, folders.state),
            *(*layout.write, layout.cwd),
        ),
    )


def _paths(said: Iterable[str | Path]) -> tuple[Path, ...]:
    return tuple(Path(path) for path in said)


def _of(binds: Iterable[Bind], writable: bool) -> tuple[Path, ...]:
    return tuple(bind.target for bind in binds if bind.writable == writable)


def made_up_files(author: tuple[str, str]) -> dict[str, str]:
    """Files of /etc that say nothing about this machine. Of the person, name and address only."""
    name, address = (_plain(said) for said in author)
    user = f"{NAME}:x:{_ID}:{_ID}:{NAME}:{HOME}:/bin/bash\n"
    return {
        "passwd": f"root:x:0:0:root:/:/bin/false\n{user}nobody:x:65534:65534::/:/bin/false\n",
        "group": f"root:x:0:\n{NAME}:x:{_ID}:\nnogroup:x:65534:\n",
        "hosts": "127.0.0.1 localhost cage\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "resolv.conf": "# Names are resolved outside, by the proxy in HTTPS_PROXY.\n",
        "gitconfig": (
            "[safe]\n\tdirectory = *\n"
            f'[user]\n\tname = "{name or "Airboss"}"\n\temail = "{address or "agent@localhost"}"\n'
        ),
    }


def _plain(said: str) -> str:
    """Nothing that ends a value of git's configuration."""
    return "".join(letter for letter in said if letter.isprintable() and letter not in '"\\')
