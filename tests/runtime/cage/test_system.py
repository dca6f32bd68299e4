"""Which folders of programs go into a cage, and which would take keys along."""

from pathlib import Path

import pytest

from airboss.runtime.cage.system import system_facts, toolchain_of


@pytest.mark.parametrize(
    ("program", "folder"),
    [
        (".nvm/versions/node/v22/bin/node", ".nvm/versions/node/v22"),
        (".cargo/bin/cargo", ".cargo/bin"),  # beside it are the credentials of a registry
        (".local/bin/uv", ".local/bin"),
        ("bin/tool", "bin"),
        ("go/1.25/bin/go", "go/1.25/bin"),  # it has no libraries beside it
    ],
)
def test_of_a_toolchain_in_the_home_only_what_it_needs(
    tmp_path: Path, program: str, folder: str
) -> None:
    for top in (".nvm/versions/node/v22", ".cargo", ".local", "."):
        (tmp_path / top / "lib").mkdir(parents=True, exist_ok=True)
    assert toolchain_of(tmp_path / program, tmp_path) == tmp_path / folder


def test_what_the_system_has_is_there_anyhow() -> None:
    assert toolchain_of(Path("/usr/lib/node_modules/npm/bin/npm-cli.js"), Path("/home/ann")) is None


def test_the_interpreter_of_the_warden_is_there() -> None:
    facts = system_facts()
    places = (*facts.folders, *facts.toolchains)
    assert any(place in facts.python.parents for place in places)


def test_no_file_with_passwords_or_keys_is_handed_in() -> None:
    names = {str(path) for path in system_facts().etc}
    assert not names & {"/etc/shadow", "/etc/gshadow", "/etc/ssl", "/etc/ssh", "/etc/pki"}
