"""What of this machine every cage sees: programs, libraries, a few files of /etc, toolchains."""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Nothing that has keys in it: whoever runs as root owns /etc/shadow inside, too.
_ETC: Final = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "timezone"),
    *("ssl/certs", "ssl/openssl.cnf", "ca-certificates", "ca-certificates.conf"),
    *("pki/tls/certs", "pki/tls/cert.pem", "pki/ca-trust", "crypto-policies"),
    *("mime.types", "protocols", "services", "shells", "terminfo", "inputrc", "magic"),
    *("debian_version", "os-release", "lsb-release", "redhat-release", "alpine-release"),
    *("bash.bashrc", "bashrc", "profile", "python3", "perl", "fonts", "java", "maven"),
)
_LINKS: Final = ("bin", "sbin", "lib", "lib64", "lib32", "libx32")
_TOOLS: Final = (
    *("python3", "node", "npm", "pnpm", "yarn", "deno", "bun", "uv", "go", "cargo", "rustc"),
    *("java", "mvn", "gradle", "ruby", "php", "dotnet", "git", "make", "cmake", "gcc", "clang"),
)
_GIT_SECONDS: Final = 5
_MOST_COPIED_BYTES: Final = 1024 * 1024


@dataclass(frozen=True)
class SystemFacts:
    """Found once. `links` are folders of the root that are links, with what they point at."""

    folders: tuple[Path, ...]
    links: tuple[tuple[Path, str], ...]
    etc: tuple[Path, ...]
    # The interpreter that runs the warden, and the folder that it needs.
    python: Path
    toolchains: tuple[Path, ...]
    # Where the programs of the toolchains are, for the search path.
    programs: tuple[Path, ...]
    author: tuple[str, str]
    # Where programs of it look that would look in the home.
    variables: tuple[tuple[str, str], ...] = ()
    # Those of `etc` that are small files: they are copied, and all others mounted.
    copied: frozenset[Path] = frozenset()


def _interpreter(prefix: Path) -> Path:
    """What runs the warden: the program itself, and no script around it, which no cage has."""
    started = Path(os.path.realpath(sys.executable))
    own = prefix / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    return own if own.exists() and not started.is_relative_to(prefix) else started


@functools.cache
def system_facts() -> SystemFacts:
    """Blocking. What is installed later is seen by the next server."""
    home = Path(os.path.realpath(Path.home()))
    roots = [Path("/") / name for name in _LINKS]
    prefix = Path(os.path.realpath(sys.base_prefix))
    found = [Path(os.path.realpath(path)) for name in _TOOLS if (path := _which(name))]
    rust = Path(os.environ.get("RUSTUP_HOME") or home / ".rustup")
    chains = tuple(dict.fromkeys(filter(None, (toolchain_of(path, home) for path in found))))
    programs = (prefix / "bin", *(path.parent for path in found))
    etc = tuple(place for name in _ETC if (place := Path("/etc") / name).exists())
    return SystemFacts(
        folders=(
            Path("/usr"),
            *(root for root in roots if root.is_dir() and not root.is_symlink()),
        ),
        links=tuple((root, str(root.readlink())) for root in roots if root.is_symlink()),
        etc=etc,
        python=_interpreter(prefix),
        toolchains=_apart((prefix, *chains, *((rust,) if rust.is_dir() else ()))),
        programs=tuple(dict.fromkeys(path for path in programs if not _is_of_the_system(path))),
        author=(_git_says("user.name"), _git_says("user.email")),
        variables=(("RUSTUP_HOME", str(rust)),) if rust.is_dir() else (),
        copied=frozenset(path for path in etc if _is_copied(path)),
    )


def _is_copied(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= _MOST_COPIED_BYTES


def _which(name: str) -> str | None:
    """Not a version manager's script in front of the program: what that reads is not there."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return shutil.which(name, path=os.pathsep.join(x for x in folders if Path(x).name != "shims"))


def toolchain_of(program: Path, home: Path) -> Path | None:
    """The folder that a program of somebody's own needs; none for one of the system. A folder
    that lies in the home itself may have keys beside programs: of such only the programs."""
    if _is_of_the_system(program):
        return None
    top = program.parent.parent
    is_whole = program.parent.name == "bin" and (top / "lib").is_dir()
    is_private = top in (home, home / ".local", Path("/")) or top.parent == home
    return top if is_whole and not is_private else program.parent


def _is_of_the_system(path: Path) -> bool:
    return any(Path(root) in path.parents for root in ("/usr", "/bin", "/sbin", "/lib"))


def _apart(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Without those that are in another, and without the system's own."""
    known = [path for path in dict.fromkeys(paths) if path.exists() and path != Path("/usr")]
    return tuple(
        path
        for path in known
        if not _is_of_the_system(path) and not any(other in path.parents for other in known)
    )


def _git_says(key: str) -> str:
    """Of the person's own configuration nothing but this goes in."""
    git = shutil.which("git")
    if git is None:
        return ""
    try:
        said = subprocess.run(  # noqa: S603 - git, with words of ours
            [git, "config", "--global", "--get", key],
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=False,
            cwd="/",
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout.strip()
