"""Every way out that we know, tried in a cage and without one; and each wall taken away in turn."""

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.cage.attempts import ATTEMPTS
from tests.runtime.cage.ordinary import as_ordinary_user
from tests.trials import sampled, trial

pytestmark = [pytest.mark.usefixtures("strong"), trial]

ROOT = Path(__file__).parents[3]
CASES = [("strong", "own"), ("strong", "ordinary"), ("narrow", "own"), ("narrow", "ordinary")]


def tried(
    folder: Path, kind: str, user: str = "own", without: tuple[str, ...] = (), *names: str
) -> dict[str, Any]:
    """All attempts, in a cage and free, by this user or by an ordinary one; or those that are
    named, in a cage only."""
    prefix = as_ordinary_user(folder / "home-of-theirs") if user == "ordinary" else ()
    program = [sys.executable, "-m", "tests.runtime.cage.escape"]
    only = ["--", *names] if names else []
    command = [*prefix, *program, kind, str(folder / "scene"), *without, *only]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=120)
    assert said.returncode == 0, said.stderr.decode()
    return json.loads(said.stdout)


def got_through(answers: dict[str, Any], *, is_narrow: bool = False) -> dict[str, str]:
    return {
        name: answer["said"]
        for name, answer in answers.items()
        if answer["through"] and not (is_narrow and ATTEMPTS[name].narrow)
    }


@pytest.mark.timeout(180)
@pytest.mark.parametrize(("kind", "user"), sampled(2, CASES))
def test_nothing_gets_out_and_everything_would_without_a_cage(
    open_to_all: Path, kind: str, user: str
) -> None:
    found = tried(open_to_all, kind, user)
    assert found["attempts"] == len(ATTEMPTS) >= 82
    assert got_through(found["caged"], is_narrow=kind == "narrow") == {}
    assert found["damage"] == []
    is_root = found["user"] == 0
    assert is_root == (os.geteuid() == 0 and user == "own")
    controls = {"anyone", "root"} if is_root else {"anyone"}
    without = [
        f"{name}: {answer['said']}"
        for name, answer in found["free"].items()
        if ATTEMPTS[name].control in controls and not answer["through"]
    ]
    assert without == [], "a control that does not succeed proves nothing"


# For each wall one of those that it alone holds back.
ALONE = [
    ("strong", "mounts", "a socket in the home"),
    ("strong", "net", "a port of this machine"),
    ("strong", "pid", "the list of processes"),
    ("strong", "ipc", "a queue of the system"),
    ("strong", "uts", "the name that the kernel has for the machine"),
    ("strong", "cgroup", "ones place among the control groups"),
    ("strong", "capabilities", "a capability"),
    ("strong", "git", "a hook of git"),
    ("narrow", "seccomp", "a socket in the home"),
    ("narrow", "landlock", "a key in the home"),
]


@pytest.mark.timeout(180)
@pytest.mark.parametrize(("kind", "wall", "name"), sampled(4, ALONE))
def test_a_wall_that_is_taken_away_lets_something_through(
    open_to_all: Path, request: pytest.FixtureRequest, kind: str, wall: str, name: str
) -> None:
    if wall == "cgroup":
        request.getfixturevalue("group")
    answers = tried(open_to_all, kind, "own", (wall,), name)["caged"]
    assert name in got_through(answers), answers[name]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has walls without a namespace of users")
@pytest.mark.parametrize(
    ("without", "is_through"),
    [(("user", "capabilities"), True), (("user",), False), (("capabilities",), False)],
)
def test_the_namespace_of_users_and_the_lack_of_capabilities_hold_each_by_itself(
    open_to_all: Path, without: tuple[str, ...], is_through: bool
) -> None:
    """Two walls in front of what the kernel asks root for: only with both away it is had."""
    name = "a rank above others"
    answers = tried(open_to_all, "strong", "own", without, name)["caged"]
    assert (name in got_through(answers)) == is_through, answers[name]


@pytest.mark.parametrize(
    ("without", "is_through"),
    [(("proc", "landlock"), True), (("proc",), False), (("landlock",), False)],
)
def test_the_mount_of_proc_and_landlock_hold_each_by_itself(
    open_to_all: Path, without: tuple[str, ...], is_through: bool
) -> None:
    name = "whom the kernel ends first"
    answers = tried(open_to_all, "strong", "own", without, name)["caged"]
    assert (name in got_through(answers)) == is_through, answers[name]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has files of /proc")
def test_only_the_mount_of_proc_holds_what_is_in_it_as_it_is(open_to_all: Path) -> None:
    name = "the mode of what the kernel shows"
    answers = tried(open_to_all, "strong", "own", ("proc",), name)["caged"]
    assert name in got_through(answers), answers[name]


def test_without_landlock_nobody_inside_has_the_wire_of_the_runtime(open_to_all: Path) -> None:
    """Older kernels have none. What is around the runtime then has nothing of its pipes."""
    name = "the wire of the first process"
    answers = tried(open_to_all, "strong", "own", ("landlock",), name)["caged"]
    assert got_through(answers) == {}


SECCOMP = {
    "a debugger on ones own child",
    "a key of the kernels ring",
    "the handle of a file",
    "the ring of calls",
    "a program with the rights of its owner",
    "such a program made at once",
    "a file that others wait for",
    "a queue for the disk",
}


def had_without_a_cage() -> set[str]:
    """Of those that not every machine has."""
    found = {"a call of 32 bits"} if os.uname().machine == "x86_64" else set[str]()
    with contextlib.suppress(OSError), socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM):
        found.add("a socket to the host of a machine")
    return found


@pytest.mark.timeout(180)
def test_seccomp_holds_back_more_than_one_kind(open_to_all: Path) -> None:
    wanted = SECCOMP | had_without_a_cage()
    answers = tried(open_to_all, "strong", "own", ("seccomp",), *wanted)["caged"]
    assert got_through(answers).keys() == wanted


def test_every_attempt_has_a_control_or_says_why_not() -> None:
    said = [one.control for one in ATTEMPTS.values()]
    assert all(said)
    assert sum(control in {"anyone", "root"} for control in said) >= 80
    assert {one.kind for one in ATTEMPTS.values()} == {
        *("reading", "writing", "privileges", "processes", "network")
    }
