"""Which files of hooks are handed into a cage: none that an agent could have named."""

import hashlib
from pathlib import Path

import pytest

from airboss.model.setup import HookSetup
from airboss.runtime.cage.programs import Place
from airboss.runtime.cage.way_to import way_to
from airboss.runtime.hook_process import caged_words


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("programs", "work/hooks", "own"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "secret").write_text("canary")
    (tmp_path / "own/check.sh").write_text("#!/bin/sh\n")
    return tmp_path


def place_in(home: Path) -> Place:
    return Place(home / "programs", Path("/run/programs"), (home / "work",), (home / "work",))


def word(home: Path, file: Path, **more: str) -> str:
    hook = HookSetup(hook="preToolUse", command=(str(file),), files=more)
    return caged_words(hook, place_in(home))[0]


def test_a_script_of_a_person_is_handed_in_also_behind_a_link(home: Path) -> None:
    (home / "link.sh").symlink_to("own/check.sh")
    for name in ("own/check.sh", "link.sh"):
        assert word(home, home / name).startswith("/run/programs/")


def test_what_is_there_inside_is_not(home: Path) -> None:
    (home / "work/check.sh").write_text("#!/bin/sh\n")
    assert word(home, home / "work/check.sh") == str(home / "work/check.sh")


@pytest.mark.parametrize("link", ["work/hooks/check.sh", "work/hooks"])
@pytest.mark.parametrize("start", ["work/hooks/check.sh", "by/check.sh"])
def test_what_an_agent_could_have_led_elsewhere_is_not(home: Path, start: str, link: str) -> None:
    (home / "by").symlink_to("work/hooks")
    (home / "elsewhere").mkdir()
    (home / "elsewhere/check.sh").symlink_to(home / "secret")
    if link.endswith("hooks"):
        (home / "work/hooks").rmdir()
    (home / link).symlink_to(home / ("elsewhere" if link.endswith("hooks") else "secret"))
    assert (home / start).read_text() == "canary"
    assert word(home, home / start) == str(home / start)
    assert list((home / "programs").iterdir()) == []


def test_what_a_person_trusted_is_handed_in_as_that_alone(home: Path) -> None:
    file = home / "work/check.sh"
    file.symlink_to(home / "own/check.sh")
    trusted = hashlib.sha256((home / "own/check.sh").read_bytes()).hexdigest()
    assert word(home, file, **{str(file): trusted}).startswith("/run/programs/")
    file.unlink()
    file.symlink_to(home / "secret")
    with pytest.raises(Exception, match="has changed since the session was opened"):
        word(home, file, **{str(file): trusted})


def test_a_way_names_all_that_it_goes_through_and_ends(home: Path) -> None:
    (home / "a").symlink_to("work/../b")
    (home / "b").symlink_to(home / "own")
    (home / "round").symlink_to("round")
    said = [str(step.relative_to(home)) for step in way_to(home / "a/x") if home in step.parents]
    assert said == ["a", "work", "b", "own", "own/x"]
    assert len(list(way_to(home / "round"))) < 100
