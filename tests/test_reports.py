"""A test that fails is one test that failed, and not the end of the run."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# It fails shortly before its time is over, and takes longer than that to be told of.
TEST = """
import time, pytest

@pytest.mark.timeout(2)
def test_late():
    __tracebackhide__ = lambda told: time.sleep(1.5)
    time.sleep(1)
    assert False

def test_next():
    pass
"""


def test_a_failure_whose_time_is_over_while_it_is_told_ends_no_run(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests.conftest import pytest_runtest_makereport", encoding="utf-8"
    )
    (tmp_path / "test_it.py").write_text(TEST, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:schemathesis", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
