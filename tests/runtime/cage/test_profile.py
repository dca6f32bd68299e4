"""What a profile of a cage may not hand in."""

import socket
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.profile import expanded, folder_refusal, refusals

MEMORY = "/dev/shm"  # noqa: S108 - nothing is made there
HOME, DATA = Path("/home/ann"), Path("/home/ann/.local/share/airboss")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/", "it is the whole system"),
        ("/home", "the home folder is in it"),
        ("/home/ann", "it is the home folder"),
        ("/home/ann/.local", "Airboss's data folder is in it"),
        ("/home/ann/.local/share/airboss", "it is Airboss's data folder"),
        ("/home/ann/.local/share/airboss/cages/k", "it is in Airboss's data folder"),
        (MEMORY, "a cage has a /dev of its own, or none"),
        ("/proc/1", "a cage has a /proc of its own, or none"),
        ("/run", "a cage has a /run of its own, or none"),
        ("/run/user/1000", "a cage has a /run of its own, or none"),
        ("/var", "a cage has a /var/run of its own, or none"),
        ("/sys/fs/cgroup", "a cage has a /sys of its own, or none"),
    ],
)
def test_what_would_open_the_cage_is_refused(path: str, why: str) -> None:
    assert folder_refusal(Path(path), HOME, DATA) == why


@pytest.mark.parametrize(
    "path", ["/srv/data", f"{MEMORY}/x", "/home/ann/project", "/opt/tool", "/var/lib/x"]
)
def test_a_folder_beside_them_may_be_handed_in(path: str) -> None:
    assert folder_refusal(Path(path), HOME, DATA) is None


def test_a_socket_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "agent"))
        assert folder_refusal(tmp_path / "agent", HOME, DATA) == "it is a socket"


def test_a_link_leads_around_no_rule(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "link").symlink_to(home)
    said = refusals(CageProfile(read=(str(tmp_path / "link"),)), home, tmp_path / "data")
    assert said == (f"read: {tmp_path}/link is refused: it is the home folder.",)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    terms = CageProfile(
        read=("~/ok", "~"), write=("here", "/"), variables=("LANG", "MY_TOKEN", "AIRBOSS_DATA")
    )
    said = refusals(terms, HOME, DATA)
    assert [words.split(" is refused: ")[0] for words in said] == [
        "read: ~",
        "write: here",
        "write: /",
        "variables: MY_TOKEN",
        "variables: AIRBOSS_DATA",
    ]


def test_a_path_of_the_home_is_written_with_a_tilde() -> None:
    assert expanded("~/x/../y", HOME) == HOME / "y"
    assert expanded("/srv", HOME) == Path("/srv")
