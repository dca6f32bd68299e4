"""Bubblewrap of an earlier version: `python older_bwrap.py VERSION REAL [WORD…]`.

It refuses the options that this version did not have, also those that it reads from a descriptor,
and is the real one for the others.
"""

import os
import sys
from typing import Final

# Since which version there is each option that the first ones did not have.
SINCE: Final = {
    "--clearenv": (0, 5),
    "--perms": (0, 5),
    "--chmod": (0, 5),
    "--add-seccomp-fd": (0, 6),
    "--size": (0, 7),
    "--disable-userns": (0, 8),
    "--assert-userns-disabled": (0, 8),
    "--argv0": (0, 9),
    "--bind-fd": (0, 10),
    "--ro-bind-fd": (0, 10),
    "--overlay-src": (0, 11),
    "--overlay": (0, 11),
    "--tmp-overlay": (0, 11),
    "--ro-overlay": (0, 11),
    "--level-prefix": (0, 11),
}


def read_from(descriptor: int) -> list[str]:
    """Without a trace: the real one reads it again."""
    words = os.pread(descriptor, 1 << 20, 0).decode().split("\0")
    return words[:-1]


def main() -> None:
    version, real, *words = sys.argv[1:]
    if words == ["--version"]:
        sys.stdout.write(f"bubblewrap {version}\n")
        return
    options = words[: words.index("--")]
    if "--args" in options:
        options += read_from(int(options[options.index("--args") + 1]))
    is_now = tuple(int(part) for part in version.split("."))
    for word in options:
        if SINCE.get(word, ()) > is_now:
            sys.exit(f"bwrap: Unknown option {word}")
    os.execv(real, [real, *words])  # noqa: S606 - what a shell would do


if __name__ == "__main__":
    main()
