"""What a wildcard behind a program's name may stand for."""

import pytest

from airboss.harness.known_programs import command_is_harmless
from airboss.harness.program_options import Argument


def harmless(program: str, rest: str) -> bool:
    """Of the rule `program *`."""
    free = [Argument(text, is_free=True) for text in rest.split()]
    return command_is_harmless([Argument(program, is_free=False), *free])


@pytest.mark.parametrize(
    "command",
    [
        "find . -name *.py",
        "tar -tf a.tar",
        "sed -n 1,5p file",
        "awk {print$1} file",
        "sort -u file",
        "rg words",
    ],
)
def test_what_only_looks_is_harmless(command: str) -> None:
    assert harmless(*command.split(maxsplit=1))


@pytest.mark.parametrize(
    "command",
    [
        "find . -exec sh",
        "find . -delete",
        "tar -xf a.tar --to-command=sh",
        "sed -i s/a/b/ file",
        "sed e file",
        "awk {system($1)} file",
        "sort -o out file",
        "rg --pre sh words",
        "fd -x sh",
        "xargs sh -c x",
        "ssh -oProxyCommand=sh host",
        "make SHELL=x",
        "timeout 5 ls",
        "env LANG=C ls",
    ],
)
def test_what_runs_or_writes_something_else_is_not(command: str) -> None:
    assert not harmless(*command.split(maxsplit=1))
