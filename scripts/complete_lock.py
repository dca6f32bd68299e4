"""Adds other systems' optional packages to the front end's lock, where our registry lacks them.

A registry may mirror only the packages of its own system. npm then leaves the others out of the
lock, and `npm ci` refuses that lock everywhere. Those added here carry their version, not their
hash: on their own system npm takes the hash from the registry.
"""

import json
import sys
from pathlib import Path
from typing import Any

SYSTEMS = {
    "aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony",
    "sunos", "win32",
}  # fmt: skip
PROCESSORS = {
    "arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64",
}  # fmt: skip


def main(path: Path) -> None:
    lock: dict[str, Any] = json.loads(path.read_text("utf-8"))
    packages: dict[str, dict[str, Any]] = lock["packages"]
    for package in list(packages.values()):
        for name, version in package.get("optionalDependencies", {}).items():
            where = f"node_modules/{name}"
            if where not in packages:
                packages[where] = stand_in(name, version)
                print(f"added {name} {version}")
    lock["packages"] = dict(sorted(packages.items()))
    path.write_text(json.dumps(lock, indent=2, ensure_ascii=False) + "\n", "utf-8")


def stand_in(name: str, version: str) -> dict[str, Any]:
    words = set(name.split("/")[-1].split("-"))
    entry: dict[str, Any] = {"version": version.lstrip("^~"), "dev": True, "optional": True}
    if processors := sorted(words & PROCESSORS):
        entry["cpu"] = processors
    if systems := sorted(words & SYSTEMS):
        entry["os"] = systems
    if "linux" in words:
        entry["libc"] = ["musl" if "musl" in words else "glibc"]
    return dict(sorted(entry.items(), key=lambda item: (item[0] != "version", item[0])))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
