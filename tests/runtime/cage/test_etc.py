"""The folder that a cage sees as /etc."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from airboss.runtime.cage import etc as etc_module
from airboss.runtime.cage.etc import furnish
from airboss.runtime.cage.system import SystemFacts, system_facts

MADE_UP = {"hosts": "127.0.0.1 localhost\n"}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SystemFacts:
    """One with an /etc of two entries."""
    etc = tmp_path / "machine"
    (etc / "ssl/certs").mkdir(parents=True)
    (etc / "ssl/openssl.cnf").write_text("one", "utf-8")
    monkeypatch.setattr(etc_module, "ETC", etc)
    conf = etc / "ssl/openssl.cnf"
    return replace(system_facts(), etc=(etc / "ssl/certs", conf), copied=frozenset({conf}))


def test_small_files_are_copied_and_folders_have_a_place(
    tmp_path: Path, machine: SystemFacts
) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    furnish(seen, machine, MADE_UP)
    assert (seen / "ssl/openssl.cnf").read_text("utf-8") == "one"
    assert os.listdir(seen / "ssl/certs") == []
    assert (seen / "hosts").read_text("utf-8") == MADE_UP["hosts"]
    assert sorted(os.listdir(seen)) == ["hosts", "ssl"]


def test_what_has_not_changed_stays_as_it_is(tmp_path: Path, machine: SystemFacts) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    furnish(seen, machine, MADE_UP)
    before = {path: path.stat().st_ino for path in seen.rglob("*")}
    furnish(seen, machine, MADE_UP)
    assert {path: path.stat().st_ino for path in seen.rglob("*")} == before


def test_a_file_that_has_changed_is_copied_again(tmp_path: Path, machine: SystemFacts) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    furnish(seen, machine, MADE_UP)
    conf = next(iter(machine.copied))
    conf.write_text("two, and longer", "utf-8")
    furnish(seen, machine, MADE_UP)
    assert (seen / "ssl/openssl.cnf").read_text("utf-8") == "two, and longer"


def test_a_file_that_is_gone_ends_nothing(tmp_path: Path, machine: SystemFacts) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    next(iter(machine.copied)).unlink()
    furnish(seen, machine, MADE_UP)
    assert not (seen / "ssl/openssl.cnf").exists()


def test_of_this_machine_only_plain_files_are_copied() -> None:
    assert all(path.is_file() for path in system_facts().copied)
