"""The environment inside."""

from pathlib import Path

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.folders import CageFolders
from airboss.runtime.cage.plan import CageKind
from airboss.runtime.cage.variables import caged_environment
from tests.runtime.cage.test_walls import SYSTEM

SERVER = {
    "PATH": "/somewhere",
    "HOME": "/home/ann",
    "LANG": "de_DE.UTF-8",
    "EDITOR": "vi",
    "GH_TOKEN": "gho_secret",
    "HTTPS_PROXY": "http://user:word@proxy:3128",
}


def inside(kind: CageKind = "strong", *names: str, way_out: bool = False) -> dict[str, str]:
    return caged_environment(
        *(SERVER, CageProfile(variables=names), kind, CageFolders(Path("/data/cages/k")), SYSTEM),
        owner="owner",
        life="life",
        secrets=("vi-secret",),
        way_out=way_out,
    )


def test_nothing_of_the_server_goes_in_but_what_is_named() -> None:
    made = inside("strong", "LANG")
    assert made["LANG"] == "de_DE.UTF-8"
    assert {"EDITOR", "GH_TOKEN", "HTTPS_PROXY"}.isdisjoint(made)
    assert made["HOME"] == "/home/agent"
    assert made["PATH"].startswith("/tools/python/bin:")
    assert (made["AIRBOSS_OWNER"], made["AIRBOSS_LIFE"]) == ("owner", "life")


def test_a_secret_does_not_go_in_even_if_it_is_named() -> None:
    assert "GH_TOKEN" not in inside("strong", "GH_TOKEN")


def test_only_where_there_is_a_way_out_programs_are_told_of_it() -> None:
    assert inside("strong", way_out=True)["npm_config_https_proxy"] == "http://127.0.0.1:17101"
    assert "https_proxy" not in inside("strong")
    assert "https_proxy" not in inside("narrow", way_out=True)


def test_in_a_narrow_cage_everything_has_its_own_path() -> None:
    made = inside("narrow")
    assert made["HOME"] == "/data/cages/k/home"
    assert made["TMPDIR"] == "/data/cages/k/scratch"
    assert made["GIT_CONFIG_SYSTEM"] == "/data/cage-etc/gitconfig"
