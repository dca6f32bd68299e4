"""The programs of which we know which words run other programs or write files.

Each is asked whether what a wildcard stands for is harmless; in doubt it is not. Of other programs
nothing is known, and a rule that names one is taken at its word.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from airboss.harness.git_options import git_is_harmless
from airboss.harness.package_managers import MANAGERS
from airboss.harness.program_options import Argument, Options, any_free, each
from airboss.harness.scripts import awk_only_prints, sed_only_prints

Arguments: TypeAlias = Sequence[Argument]
Check: TypeAlias = Callable[[Arguments], bool]

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_KEYWORDS: Final = frozenset(
    {"if", "then", "elif", "else", "while", "until", "do", "for", "case", "function", "!", "[["}
)
_PYTHON = re.compile(r"python[0-9.]*")
_PIP_VERSION = re.compile(r"pip[0-9.]+")


def command_is_harmless(command: Arguments) -> bool:
    """Whether all that wildcards stand for in it is harmless."""
    while command and _ASSIGNMENT.match(command[0].text):
        if command[0].is_free:
            return False  # a variable may name a program: GIT_SSH_COMMAND, PAGER, LD_PRELOAD
        command = command[1:]
    if not any_free(command):
        return True
    if command[0].is_free:
        return _each_is_harmless(command)
    return _check(_name(command[0].text), command[1:])


def _each_is_harmless(command: Arguments) -> bool:
    """The rule names no program: each word that is one may be run."""
    if command[0].text in _KEYWORDS:
        return False
    seen = set[str]()
    for at, one in enumerate(command):
        name = _name(one.text)
        if name in seen or name not in _CHECKS:
            continue
        seen.add(name)
        if (at == 0 or name in _EVERYWHERE) and not _check(name, command[at + 1 :]):
            return False
    return True


def _name(text: str) -> str:
    name = text.rpartition("/")[2]
    if _PIP_VERSION.fullmatch(name):
        return "pip"
    return _SAME.get(name, name)


def _check(name: str, arguments: Arguments) -> bool:
    if _PYTHON.fullmatch(name):
        return _python(arguments)
    if name not in _CHECKS or not any_free(arguments):
        return True
    if any(one.is_free and one.is_unclear for one in arguments):
        return False
    return _CHECKS[name](arguments)


def _python(arguments: Arguments) -> bool:
    """`python -m pip` is pip. Of other modules, and of scripts, nothing is known."""
    is_module = len(arguments) > 1 and arguments[0].text == "-m" and not any_free(arguments[:2])
    return not is_module or command_is_harmless(arguments[1:])


_FIND_RISKS: Final = ("-exec", "-ok", "-delete", "-fprint", "-fls")


def _find(arguments: Arguments) -> bool:
    risky = [at for at, one in enumerate(arguments) if one.text.startswith(_FIND_RISKS)]
    if any(any_free(arguments[at : at + 2]) for at in risky):
        return False
    run = [arguments[at + 1 :] for at in risky if arguments[at].text.startswith(_FIND_RISKS[:2])]
    return all(command_is_harmless(command) for command in run)


_TAR: Final = Options(
    flags="tvzjJZadkwimpBnRSlhsO",
    valued="fbXN",
    spelled="xcruAPW",
    spelled_valued="CTFIgKLV",
    longs=each(
        "list verbose gzip bzip2 xz lzma zstd auto-compress diff compare wildcards no-wildcards"
        " numeric-owner full-time utc totals version help test-label"
    ),
    long_valued=each("file exclude exclude-from strip-components"),
)
_TAR_WRITES = re.compile(r"-?[A-Za-z]*[cruA]|--(?:cr|app|upd|conc|cat)")


def _tar(arguments: Arguments) -> bool:
    """`tar xf` is the same as `tar -xf`; `host:file` calls a program to get there."""
    bundle, rest = arguments[0], arguments
    if not bundle.text.startswith("-"):
        spelled = "" if bundle.is_free else _TAR.spelled
        if not set(bundle.text) <= set(_TAR.flags + _TAR.valued + spelled):
            return False
        rest = arguments[1:]
    if any(one.is_free and ":" in one.text for one in rest) or _names_another_archive(arguments):
        return False
    return _TAR.read(rest) is not None


def _names_another_archive(arguments: Arguments) -> bool:
    """Of several `-f` the last holds: where one is written, the rule says which."""
    modes = [one.text for one in arguments[:1] if not one.is_free]
    modes += [one.text for one in arguments[1:] if not one.is_free and one.text.startswith("-")]
    writes = any(_TAR_WRITES.match(text) for text in modes)
    options = [one.text for one in arguments if one.is_free and one.text.startswith("-")]
    return writes and any("f" in text for text in options)


_RSYNC: Final = Options(
    flags="avnrtpogDlLkHAXEShuiWIxzqcdPCRm46s0",
    longs=each(
        "archive verbose dry-run recursive times perms owner group links hard-links checksum update"
        " itemize-changes human-readable stats progress list-only quiet compress size-only"
        " ignore-times ignore-existing existing one-file-system relative dirs version help from0"
    ),
    long_valued=each("exclude include exclude-from include-from bwlimit max-size min-size"),
)
_SCP: Final = Options("346BCpqrTv", "cilP", "", "DFJoSX")
_SSH: Final = Options("46aCknqTtvxy", "bcilmp", "AfGgKMNsVXY", "BDEeFIJLOoPQRSWw")


def _ssh(arguments: Arguments) -> bool:
    """The rule names the host. Behind it come more options, and what is run there."""
    found = _SSH.read(arguments, stops=True)
    if found is None or not found.operands or found.operands[0].is_free:
        return False
    there = _SSH.read(found.operands[1:], stops=True)
    if there is None:
        return False
    is_named = bool(there.operands) and not there.operands[0].is_free
    return _is_harmless_in_a_shell(there.operands) if is_named else True


# What a shell that reads it once more takes for one word, and for this one.
_SAME_WORD = re.compile(r"[\w@%+=:,./-]+")


def _is_harmless_in_a_shell(command: Arguments) -> bool:
    """All words are put together and taken apart anew: `' -c'` becomes an option."""
    is_known = _is_known(_name(command[0].text))
    if is_known and any(one.is_free and not _SAME_WORD.fullmatch(one.text) for one in command):
        return False
    return command_is_harmless(command)


def _is_harmless_with_input(command: Arguments) -> bool:
    """What is read from the input becomes more words, and nobody has seen those."""
    return not _is_known(_name(command[0].text)) and command_is_harmless(command)


def _is_known(name: str) -> bool:
    return name in _CHECKS


_SED: Final = Options(
    flags="nErsuz",
    valued="el",
    spelled="i",
    spelled_valued="f",
    longs=each("quiet silent regexp-extended separate unbuffered null-data posix sandbox debug"),
    long_valued=each("expression line-length"),
)


def _sed(arguments: Arguments) -> bool:
    found = _SED.read(arguments)
    if found is None:
        return False
    scripts = [value for name, value in found.values if name in ("e", "expression")]
    scripts = scripts or found.operands[:1]
    return all(sed_only_prints(one.text) for one in scripts if one.is_free)


_AWK: Final = Options(valued="Fv", long_valued=each("field-separator assign"))


def _awk(arguments: Arguments) -> bool:
    found = _AWK.read(arguments)
    if found is None:
        return False
    return all(awk_only_prints(one.text) for one in found.operands[:1] if one.is_free)


_MAKE: Final = Options(
    flags="BdiknpqrRsSvw",
    valued="jl",
    longs=each(
        "jobs keep-going silent quiet dry-run just-print recon always-make ignore-errors question"
        " print-data-base print-directory no-print-directory no-builtin-rules stop trace version"
        " debug output-sync load-average help warn-undefined-variables"
    ),
)


def _make(arguments: Arguments) -> bool:
    """A target is a target; `SHELL=` and any other variable is not."""
    free = [one.text for one in arguments if one.is_free and not one.text.startswith("-")]
    is_set = any("=" in text for text in free)
    return not is_set and _MAKE.read(arguments) is not None


@dataclass(frozen=True)
class _Runner:
    """Runs the program that it is given: the rule has to name that one, too. Before it come
    options, and so many `others`."""

    options: Options = field(default_factory=Options)
    others: int = 0
    check: Check = command_is_harmless

    def __call__(self, arguments: Arguments) -> bool:
        found = self.options.read(arguments, stops=True)
        if found is None:
            return False
        run = found.operands
        while run and _ASSIGNMENT.match(run[0].text) and not run[0].is_free:
            run = run[1:]
        if any_free(run[: self.others + 1]) or len(run) <= self.others:
            return False
        return self.check(run[self.others :])


def _simple(options: Options) -> Check:
    return lambda arguments: options.read(arguments) is not None


def _all_but(letters: str = "", longs: tuple[str, ...] = ()) -> Check:
    """For programs that do little more than read: everything but these options, by their
    beginnings, too."""

    def is_risky(text: str) -> bool:
        if not text.startswith("--"):
            return text.startswith("-") and not set(letters).isdisjoint(text)
        name = text[2:].partition("=")[0]
        return bool(name) and any(long.startswith(name) for long in longs)

    def check(arguments: Arguments) -> bool:
        risky = [at for at, one in enumerate(arguments) if is_risky(one.text)]
        return not any(any_free(arguments[at : at + 2]) for at in risky)

    return check


def _nothing_free(_: Arguments) -> bool:
    return False


_XARGS_LONG: Final = each("arg-file delimiter max-args max-lines max-procs max-chars replace")
_CHECKS: Final[dict[str, Check]] = {
    "git": git_is_harmless,
    "find": _find,
    "tar": _tar,
    "rsync": _simple(_RSYNC),
    "scp": _simple(_SCP),
    "sftp": _nothing_free,
    "ssh": _ssh,
    "sed": _sed,
    "awk": _awk,
    "make": _make,
    **MANAGERS,
    "rg": _all_but(longs=("pre", "hostname-bin")),
    "sort": _all_but("oT", ("output", "compress-program", "temporary-directory", "files0-from")),
    "fd": _all_but("xX", ("exec", "exec-batch")),
    "tree": _all_but("oR", ("output",)),
    "xargs": _Runner(
        Options("0rtxpo", "aEILnPsdR", longs=each("null verbose exit"), long_valued=_XARGS_LONG),
        check=_is_harmless_with_input,
    ),
    "parallel": _Runner(Options("kv", "j"), check=_is_harmless_with_input),
    "flock": _Runner(Options("sxnu", "wE"), others=1),
    "env": _Runner(
        Options("i0v", "uC", longs=each("ignore-environment null"), long_valued=each("unset chdir"))
    ),
    "sudo": _Runner(Options("nEHbkS", "ughpCDRTrt", long_valued=each("user group"))),
    "doas": _Runner(Options("nL", "uC")),
    "timeout": _Runner(
        Options(
            "v",
            "ks",
            longs=each("foreground preserve-status"),
            long_valued=each("signal kill-after"),
        ),
        others=1,
    ),
    "nice": _Runner(Options("0123456789", "n", long_valued=each("adjustment"))),
    "ionice": _Runner(Options("t", "cn")),
    "nohup": _Runner(),
    "time": _Runner(Options("pv", "f")),
    "command": _Runner(Options("pvV")),
    "builtin": _Runner(),
    "exec": _Runner(Options("cl", "a")),
    "eval": _nothing_free,
    "setsid": _Runner(Options("cfw")),
    "stdbuf": _Runner(Options("", "ioe")),
    "watch": _Runner(Options("dtgcxebp", "n"), check=_is_harmless_in_a_shell),
    "strace": _Runner(Options("fqy", "e")),
    "busybox": _Runner(),
    "npx": _Runner(Options("y", longs=each("yes no-install"))),
    "bunx": _Runner(),
    "uvx": _Runner(),
    "pipx": _Runner(others=1),
}
# Those that are found anywhere in a command of which the rule names no program.
_EVERYWHERE: Final = each("git find tar rsync ssh sed awk xargs env make") | frozenset(MANAGERS)
_SAME: Final = {
    **dict.fromkeys(("gawk", "mawk", "nawk", "original-awk"), "awk"),
    **dict.fromkeys(("gtar", "bsdtar"), "tar"),
    **dict.fromkeys(("gmake", "bmake"), "make"),
    "gsed": "sed",
    "ripgrep": "rg",
    "fdfind": "fd",
    "gfind": "find",
    "genv": "env",
    "gxargs": "xargs",
}
