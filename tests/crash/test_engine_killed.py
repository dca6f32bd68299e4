"""The engine's process is killed at random moments; the run ends as if nothing had happened."""

import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from tests.crash.engine_life import work_of
from tests.engine.walker import tour
from tests.engine.workshop import Diary, fate, repeated
from tests.trials import sampled

ROOT = Path(__file__).parents[2]
KILLS = 3


def live(folder: Path, seed: int, kill_after: float | None) -> list[str]:
    """The words of one life; killed so long after it began, or left alone until its end."""
    program = [sys.executable, "-m", "tests.crash.engine_life"]
    given = [str(folder), str(seed)]
    with subprocess.Popen([*program, *given], stdout=subprocess.PIPE, cwd=ROOT, text=True) as life:
        try:
            assert life.stdout
            life.stdout.readline()
            if kill_after is not None:
                time.sleep(kill_after)
                life.kill()
            said = life.communicate(timeout=30)[0]
        finally:
            life.kill()
    assert life.returncode in (0, -signal.SIGKILL)
    return said.splitlines()


@pytest.mark.parametrize("seed", sampled(1, [10, 30]))
def test_a_run_survives_every_kill(tmp_path: Path, seed: int) -> None:
    dice = Random(seed)  # noqa: S311
    kills = 0
    while True:
        after = dice.uniform(0, 1.2) if kills < KILLS else None
        words = live(tmp_path, seed, after)
        if any(word.startswith("ended") for word in words):
            break
        kills += 1
    assert kills > 0
    toured = tour(work_of(seed), fate)
    with closing(Diary(tmp_path / "diary.sqlite")) as diary:
        lines = diary.read("run_1")
        assert repeated(diary) == []
    ends = {path: said for path, what, said in lines if what == "end"}
    expected = {run.path: fate(run) for run in toured.runs} | {"": toured.walked.succeeded}
    assert ends == {path: "succeeded" if good else "failed" for path, good in expected.items()}
    begun = {path: said for path, what, said in lines if what == "begin"}
    assert begun == {
        run.path: f"{run.ref.task_id} after {', '.join(run.previous)}" for run in toured.runs
    }
    acts = Counter((path, what) for path, what, _ in lines if len(what.split()) == 2)
    assert all(times <= 1 + kills for times in acts.values())
