"""Scripts of sed and awk that only print are told from those that may do more."""

import pytest

from airboss.harness.scripts import awk_only_prints, sed_only_prints


@pytest.mark.parametrize(
    "script",
    ["p", "1,5p", "$d", "/from/,/to/p", "s/a/b/g", "s#/usr#/opt#", "10q", "2!d", "0~2p"],
)
def test_a_script_of_sed_that_prints_is_known(script: str) -> None:
    assert sed_only_prints(script)


@pytest.mark.parametrize(
    "script",
    ["w out", "s/a/b/w out", "s/a/b/e", "e ls", "r in", "1e", "p;e", "", "s/[^/]/x/"],
)
def test_one_that_may_write_or_run_or_is_unclear_is_not(script: str) -> None:
    assert not sed_only_prints(script)


def test_awk_prints_unless_something_in_it_could_run_write_or_load() -> None:
    assert awk_only_prints("{ print $1, $2 }")
    assert awk_only_prints("NR == 3 { n += $1 } END { print n }")
    for risky in ('{ system("ls") }', '{ print > "f" }', '"ls" | getline', "@load 'x'", "a > b"):
        assert not awk_only_prints(risky)
