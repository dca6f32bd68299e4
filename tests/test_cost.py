"""The table of what the tests cost adds up."""

from typing import Literal

import pytest

from tests.cost import MOST, cost_table, costs_by_file


def took(test: str, seconds: float, when: Literal["setup", "call"] = "call") -> pytest.TestReport:
    place = (test.partition("::")[0], 1, test)
    return pytest.TestReport(test, place, {}, "passed", None, when, duration=seconds)


def test_set_up_and_every_test_of_a_file_count() -> None:
    reports = [
        took("tests/a.py::one", 1.0),
        took("tests/b.py::one", 4.0, "setup"),
        took("tests/b.py::two[x::y]", 0.5),
        took("tests/a.py::two", 2.0),
    ]
    assert costs_by_file(reports) == [("tests/b.py", 4.5), ("tests/a.py", 3.0)]


def test_the_table_has_the_slowest_files_and_the_sum_of_all() -> None:
    costs = [(f"tests/{number}.py", 10.0) for number in range(MOST + 10)]
    lines = cost_table(costs)
    assert len(lines) == MOST + 1
    assert lines[0] == "   10.0 s    5%  tests/0.py"
    assert lines[-1] == "  200.0 s        in 20 files"
