"""Managers of packages: which of their commands only query, and what others are given.

Some of them take what is no command of theirs for a script of the project.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from airboss.harness.program_options import Argument, Options, any_free, each

# A name with its version and its extras, and nothing that leads elsewhere.
_PYTHON_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[\w,.-]*\])?(?:[=!~]=[\w.*+!-]+)?")
_NODE_PACKAGE = re.compile(r"(?:@[\w.-]+/)?[A-Za-z0-9][\w.-]*(?:@[\w.^~+-]+)?")
_SCRIPT = re.compile(r"[A-Za-z0-9][\w:.-]*")
_ARCHIVES: Final = (".tgz", ".tar", ".gz", ".bz2", ".xz", ".zip", ".whl", ".egg")


@dataclass(frozen=True)
class Manager:
    """A program with commands of its own, which the rule has to name unless they only `ask`. Those
    that `run` what they are given are for no wildcard; others take scripts or packages by name."""

    options: Options
    ask: frozenset[str]
    run: frozenset[str]
    package: re.Pattern[str]
    scripts: frozenset[str] = frozenset()
    # Without a command it installs, which runs scripts.
    installs_alone: bool = False

    def __call__(self, arguments: Sequence[Argument]) -> bool:
        found = self.options.read(arguments)
        if found is None or not found.operands:
            return found is not None and not self.installs_alone
        command, rest = found.operands[0], found.operands[1:]
        if command.text in self.ask:
            return True
        if command.is_free or (command.text in self.run and any_free(rest)):
            return False
        named = _SCRIPT if command.text in self.scripts else self.package
        texts = [one.text for one in rest if one.is_free]
        return all(named.fullmatch(text) and not text.endswith(_ARCHIVES) for text in texts)


_NPM: Final = Manager(
    options=Options(
        exact=each("-g -s -l -q -D -E -O -ws"),
        longs=each(
            "silent quiet json long all global parseable dry-run workspaces if-present save-dev"
            " save-exact save-optional save-prod no-save no-audit no-fund ignore-scripts version"
            " frozen-lockfile prefer-offline offline"
        ),
        long_valued=each("depth omit"),
    ),
    ask=each("ls list la ll outdated view info show explain why ping whoami root prefix bin"),
    run=each(
        "exec x explore config c set get init create innit edit dlx node pkg link ln rebuild"
        " completion set-script publish pack version"
    ),
    package=_NODE_PACKAGE,
    scripts=each("run run-script test t start stop restart"),
)
# Only what is a command in all versions: another name is that of a script, which the project has.
_YARN: Final = replace(
    _NPM,
    ask=each("why info bin"),
    run=_NPM.run | each("workspace workspaces global plugin policies npm"),
    installs_alone=True,
)
_PNPM: Final = replace(
    _NPM,
    ask=each("ls list la ll why outdated root bin"),
    run=_NPM.run | each("recursive multi m rb approve-builds patch-commit env"),
)
_BUN: Final = replace(_NPM, ask=frozenset(), run=_NPM.run | each("pm build"))
_PIP: Final = Manager(
    options=Options(
        exact=each("-q -v -U -V -l"),
        longs=each(
            "quiet verbose upgrade user local outdated uptodate no-deps pre dry-run no-input"
            " no-cache-dir no-color disable-pip-version-check force-reinstall version yes all"
        ),
        long_valued=each("format"),
    ),
    ask=each("list show freeze check inspect"),
    run=each("config"),
    package=_PYTHON_PACKAGE,
)
MANAGERS: Final[Mapping[str, Manager]] = {
    "npm": _NPM,
    "yarn": _YARN,
    "pnpm": _PNPM,
    "bun": _BUN,
    "pip": _PIP,
}
