"""Airboss without a clone: its wheel, put where the Containerfile puts it, works by itself."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from airboss.runtime.locate import cache_folder
from scripts.release import build, try_out
from tests.house.container import SYSTEM, Container, instructions
from tests.systemd import complaints, read_unit
from tests.trials import IS_WHOLE, trial

ROOT = Path(__file__).parents[2]
FILE = ROOT / "Containerfile"
UNIT = ROOT / "deploy/airboss.service"
EXAMPLES = sorted(path.parent.name for path in ROOT.glob("examples/*/airboss.yaml"))
SHOW_EXAMPLES = """
from airboss.entry import examples
print(examples._PACKAGE.parent, *(one.name for one in examples.example_entries()))
"""
COMMAND = "/opt/airboss/venv/bin/airboss"


def test_only_what_needs_an_image_is_left_out_of_the_steps() -> None:
    stages = [rest for name, rest in instructions(FILE) if name == "FROM"]
    left_out = [rest for _, rest in instructions(FILE) if rest.startswith(SYSTEM)]
    assert (len(stages), len(left_out)) == (2, 3)
    last = dict(instructions(FILE))
    assert last["USER"] == "airboss"
    assert last["COPY"] == "--from=build /opt/airboss /opt/airboss"
    assert (last["ENTRYPOINT"], last["CMD"]) == ('["airboss"]', '["serve", "--root", "/work"]')
    assert not any("/" in image.split()[0] for image in stages), "no registry is named"


@pytest.mark.timeout(180)
def test_the_wheel_has_the_examples_in_its_package(tmp_path: Path) -> None:
    (wheel,) = build(ROOT, tmp_path, "wheel")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "there")
    done = subprocess.run(
        [sys.executable, "-P", "-c", SHOW_EXAMPLES],
        cwd=tmp_path / "there",
        env={**os.environ, "PYTHONPATH": str(tmp_path / "there")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [str(tmp_path / "there"), *EXAMPLES], done.stderr


@trial
@pytest.mark.timeout(600)
def test_the_wheel_alone_serves_and_passes_the_doctor(tmp_path: Path) -> None:
    """In whole by pip, with the runtime fetched; else with the packages of this environment that
    the lock names, and the runtime of this machine."""
    context = tmp_path / "context"
    (context / "requirements").mkdir(parents=True)
    shutil.copy(ROOT / "requirements/run.txt", context / "requirements")
    build(ROOT, context / "dist", "wheel")
    image = Container(tmp_path / "image", context)
    if not IS_WHOLE:
        image.inside("/opt/airboss").mkdir(parents=True)
        image.inside("/opt/airboss/cache").symlink_to(cache_folder().parents[1])
    image.build(FILE)
    airboss = image.inside(COMMAND)
    home = tmp_path / "home"
    home.mkdir()
    try_out(airboss, version("airboss"), home, runs_a_job=IS_WHOLE)
    found = subprocess.run(
        [airboss.with_name("python"), "-c", "import airboss; print(airboss.__file__)"],
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(image.root) in found.stdout, "it is the wheel's own, and not this clone's"
    unit = tmp_path / "airboss.service"
    unit.write_text(UNIT.read_text("utf-8").replace(COMMAND, str(airboss)), "utf-8")
    assert complaints(unit) == []


def test_the_unit_starts_a_server_as_a_user_of_its_own() -> None:
    service = read_unit(UNIT.read_text("utf-8"))["Service"]
    assert service["User"] == "airboss"
    command, *words = service["ExecStart"].split()
    assert (command, words) == (COMMAND, ["serve", "--root", "/srv/airboss"])
    assert service["ReadWritePaths"] == "/srv/airboss"
    # What refuses a start has this exit code: docs/command-line.md.
    assert service["RestartPreventExitStatus"] == "2"


@pytest.mark.parametrize(("name", "verb"), [("shared", "serve"), ("worker", "worker")])
def test_the_units_of_several_machines_start_again_and_end_in_order(
    name: str, verb: str, tmp_path: Path
) -> None:
    file = ROOT / f"deploy/airboss-{name}.service"
    unit = read_unit(file.read_text("utf-8"))
    service = unit["Service"]
    assert service["User"] == "airboss"
    assert service["ExecStart"].split() == [COMMAND, verb, "--shared-root", "/srv/work"]
    assert (service["Restart"], service["RestartPreventExitStatus"]) == ("always", "2")
    assert unit["Unit"]["StartLimitIntervalSec"] == "0"
    assert (service["KillMode"], service["TimeoutStopSec"]) == ("mixed", "60")
    # systemd reads it as root: an agent's user cannot.
    assert service["EnvironmentFile"] == "/etc/airboss/environment"
    played = tmp_path / file.name
    played.write_text(file.read_text("utf-8").replace(COMMAND, sys.executable), "utf-8")
    assert complaints(played) == []


def test_the_page_says_how_to_install_and_so_does_the_readme() -> None:
    page = (ROOT / "docs/installing.md").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    for text in (page, readme):
        assert re.search(r"^pipx install \./airboss-\S+\.whl", text, re.MULTILINE)
        assert re.search(r"^airboss setup\b", text, re.MULTILINE)
    commented = re.findall(r"^#   (podman .*)$", FILE.read_text("utf-8"), re.MULTILINE)
    assert len(commented) == 2
    assert [line for line in commented if line not in page] == []
