"""Installing the agent runtime: once for real, and all that can go wrong."""

import os
from pathlib import Path

import pytest
from filelock import FileLock

from airboss.errors import RuntimeMissing
from airboss.runtime.install import install, version_of
from airboss.runtime.locate import CLI_VERSION, SINGLE_NAME, cache_folder, locate
from tests.trials import whole_only


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AIRBOSS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("COPILOT_CLI_PATH", raising=False)
    return tmp_path / "cache"


def put_npm(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    npm = folder / "npm"
    npm.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@whole_only
@pytest.mark.timeout(300)
def test_it_comes_from_the_registry_runs_and_is_there_the_second_time(cache: Path) -> None:
    said: list[str] = []
    located = install(said.append)
    assert located.native
    assert version_of(located.path) == CLI_VERSION
    assert locate() == located
    told = [line.partition(" ")[0] for line in said]
    assert [word for word in told if word != "Still"] == [
        "Installing",
        "Fetching",
        "Unpacking",
        "Agent",
    ]
    folder = cache_folder()
    assert sorted(path.name for path in folder.iterdir()) == ["LICENSE.md", SINGLE_NAME, "pkg"]
    assert sorted(path.name for path in folder.parent.iterdir()) == [".install.lock", CLI_VERSION]
    again: list[str] = []
    assert install(again.append) == located
    assert again == []


def test_without_npm_it_says_what_to_install(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeMissing, match=r"Node\.js 20 or newer.*npm"):
        install(print)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("npm error code ENOTFOUND", "Could not connect"),
        ("npm error code ETARGET", "does not offer"),
        ("npm error code ENOSPC", "disk is full"),
        ("npm error something else", "something else"),
    ],
)
def test_a_failure_of_npm_is_said_in_words(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, words: str
) -> None:
    put_npm(tmp_path / "bin", f"echo '{said}' >&2; exit 1", monkeypatch)
    with pytest.raises(RuntimeMissing, match=words):
        install(lambda _: None)
    assert sorted(path.name for path in (cache / "copilot").iterdir()) == [".install.lock"]


def test_without_a_network_it_says_which_folder_can_be_copied(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_npm(tmp_path / "bin", "echo 'npm error code EAI_AGAIN' >&2; exit 1", monkeypatch)
    with pytest.raises(RuntimeMissing, match="copy the folder") as refused:
        install(lambda _: None)
    assert str(cache_folder()) in str(refused.value)
    assert "airboss setup` again" in str(refused.value)


def test_while_npm_is_busy_it_says_that_it_goes_on(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """npm ends as soon as it was said."""
    monkeypatch.setattr("airboss.runtime.install._SAY_SECONDS", 0.05)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    put_npm(tmp_path / "bin", f"read word < {gate}; echo 'npm error late' >&2; exit 1", monkeypatch)
    said: list[str] = []

    def hear(line: str) -> None:
        said.append(line)
        if line.startswith("Still fetching") and sum("Still" in one for one in said) == 1:
            gate.write_text("go\n", "utf-8")

    with pytest.raises(RuntimeMissing, match="late"):
        install(hear)
    assert "Installing GitHub's agent runtime" in said[0]
    assert any(line.startswith("Still fetching") for line in said)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only to root")
def test_a_folder_that_cannot_be_written_is_named(cache: Path) -> None:
    cache.mkdir()
    cache.chmod(0o500)
    with pytest.raises(RuntimeMissing, match="AIRBOSS_CACHE"):
        install(lambda _: None)


def test_a_file_in_the_folders_place_is_an_error_with_advice(cache: Path) -> None:
    cache.write_text("in the way", encoding="utf-8")
    with pytest.raises(RuntimeMissing, match="AIRBOSS_CACHE"):
        install(lambda _: None)


def test_a_second_installation_waits_for_the_first(cache: Path) -> None:
    said: list[str] = []
    folder = cache_folder()
    folder.parent.mkdir(parents=True)
    lock = FileLock(folder.parent / ".install.lock")
    lock.acquire()

    def finish(line: str) -> None:
        """The first one ends while the second says that it waits."""
        said.append(line)
        folder.mkdir()
        (folder / SINGLE_NAME).write_text("", encoding="utf-8")
        lock.release()

    assert install(finish).path == folder / SINGLE_NAME
    assert said == ["Another installation is running; waiting for it"]


def test_what_does_not_run_has_no_version(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    assert version_of(broken) is None
    assert version_of(tmp_path / "missing") is None
