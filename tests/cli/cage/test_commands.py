"""`airboss cage`: what holds here, and a command in a cage, without a server."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from airboss.cli.cage import listing, trying
from airboss.cli.trouble import CommandRefused
from airboss.runtime.cage.ability import Ability, ability
from tests.portal import Portal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has cages")

SETTINGS = """
[cages.default]
variables = ["LANG", "NAMED"]
[cages.wide]
hosts = ["example.org"]
memory_mb = 256
[cages.wrong]
read = ["~"]
"""


@pytest.fixture(autouse=True)
def strong() -> None:
    found = ability()
    if found.kind != "strong":
        pytest.fail(f"No strong cage holds here. {found.why} {found.advice}")


@pytest.fixture
def settled(nowhere: Portal) -> Portal:
    """With settings of its own, and a folder to work in."""
    nowhere.data.mkdir(mode=0o700)
    nowhere.work.mkdir()
    (nowhere.data / "settings.toml").write_text(SETTINGS, "utf-8")
    return nowhere


def told(portal: Portal, **environ: str) -> dict[str, Any]:
    done = portal.run("cage", "--json", **environ)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_holds_is_said_without_a_server_or_a_data_folder(nowhere: Portal) -> None:
    said = nowhere.run("cage").stdout
    assert said.startswith("A strong cage holds here. ")
    assert 'get a strong one (cage = "offer", cage_narrow = false).' in said
    assert "\ndefault\t-\t-\t-\trefused\tLANG\t4096 MB, 512 processes" in said
    assert not nowhere.data.exists()


def test_profiles_are_listed_with_what_is_wrong_in_them(settled: Portal) -> None:
    profiles = {one["name"]: one for one in told(settled)["profiles"]}
    assert list(profiles) == ["default", "wide", "wrong"]
    assert (profiles["wide"]["hosts"], profiles["wide"]["memory_mb"]) == (["example.org"], 256)
    assert profiles["wrong"]["wrong"] == ["read: ~ is refused: it is the home folder."]
    assert "Profile wrong: read: ~ is refused" in settled.run("cage").stdout


def test_without_bubblewrap_the_reason_and_the_advice_are_said(
    settled: Portal, tmp_path: Path
) -> None:
    found = told(settled, PATH=str(tmp_path))
    assert (found["holds"] != "strong", found["given"]) == (True, "none")
    assert found["why"].startswith("Bubblewrap (bwrap) is not installed.")
    assert "apt-get install bubblewrap" in found["advice"]
    done = settled.run("cage", "try", "true", PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "Install bubblewrap" in done.stderr


def test_a_narrow_cage_is_used_where_the_settings_allow_it(settled: Portal, tmp_path: Path) -> None:
    with (settled.data / "settings.toml").open("r+", encoding="utf-8") as file:
        file.write(f"cage_narrow = true\n{SETTINGS}")
    found = told(settled, PATH=str(tmp_path))
    if found["holds"] == "none":
        pytest.skip("this kernel has no Landlock that is enough")
    assert found["given"] == "narrow"
    done = settled.run("cage", "try", "/bin/sh", "-c", "exit 5", PATH=str(tmp_path))
    assert done.returncode == 5, done.stderr


def test_a_command_runs_inside_and_its_exit_code_is_ours(settled: Portal) -> None:
    script = "echo $NAMED; echo made >made; cat ../secret; exit 7"
    (settled.folder / "secret").write_text("secret", "utf-8")
    done = settled.run("cage", "try", "--", "sh", "-c", script, NAMED="named")
    assert (done.returncode, done.stdout) == (7, "named\n")
    assert "../secret: No such file" in done.stderr
    assert (settled.work / "made").read_text("utf-8") == "made\n"
    assert list((settled.data / "cages").iterdir()) == []


def test_options_of_the_command_are_its_own(settled: Portal) -> None:
    done = settled.run("cage", "try", "sh", "-c", "exit 4")
    assert done.returncode == 4, done.stderr


def test_a_host_that_the_profile_does_not_name_is_refused_and_said(settled: Portal) -> None:
    script = "import urllib.request as u; u.urlopen('http://other.example.net/', timeout=9)"
    done = settled.run("cage", "try", "--profile", "wide", "--", "python3", "-c", script)
    assert done.returncode == 1
    assert "other.example.net:80 was refused. " in done.stderr


def test_a_command_that_is_over_a_limit_is_ended_and_it_is_said(settled: Portal) -> None:
    script = "x = bytearray(1 << 30); import time; time.sleep(60)"
    done = settled.run("cage", "try", "--profile", "wide", "--", "python3", "-c", script)
    assert done.returncode
    assert "The cage was ended: it used more than 256 MB of memory." in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--profile", "no", "true"), "There is no profile no. There are: default, wide, wrong."),
        (("--profile", "wrong", "true"), "read: ~ is refused: it is the home folder."),
    ],
)
def test_what_cannot_be_tried_is_refused(
    settled: Portal, words: tuple[str, ...], said: str
) -> None:
    done = settled.run("cage", "try", *words)
    assert (done.returncode, done.stderr) == (2, f"error: {said}\n")


def test_where_cages_are_off_none_is_tried(settled: Portal) -> None:
    (settled.data / "settings.toml").write_text('cage = "off"\n', "utf-8")
    assert told(settled)["given"] == "none"
    assert "Cages are turned off" in settled.run("cage", "try", "true").stderr


UNBOUNDED = Ability("strong", "Namespaces, seccomp and limits hold.", "", is_unbounded=True)


def test_where_always_refuses_a_cage_without_bounds_the_reason_and_the_advice_are_said(
    settled: Portal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (settled.data / "settings.toml").write_text('cage = "always"\n', "utf-8")
    for module in (listing, trying):
        monkeypatch.setattr(module, "ability", lambda: UNBOUNDED)
    with pytest.raises(CommandRefused) as refused:
        trying.try_command(settled.data, "default", ("true",))
    listing.show_cage(settled.data, is_json=False)
    shown = capsys.readouterr().out
    for said in (str(refused.value), shown):
        assert "nothing but a watch would bound the processes of a cage" in said
        assert "Run the server as an ordinary user, or give it a control group." in said
    assert 'Sessions get no cage (cage = "always"' in shown
    assert "seccomp" not in str(refused.value), "what holds is no reason"
