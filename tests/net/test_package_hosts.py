"""What pip and npm of a machine are set to use."""

import json
import os
import sys
from pathlib import Path

import pytest

from airboss.net.package_hosts import (
    PackageHosts,
    PackageHostsUnknown,
    hosts_of,
    read_npm,
    read_pip,
)

pytestmark = pytest.mark.anyio


def program(folder: Path, name: str, *lines: str) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("\n".join(("#!/bin/sh", *lines, "")), encoding="utf-8")
    path.chmod(0o755)


def test_pip_says_its_indexes_as_python_writes_them() -> None:
    said = (
        ":env:.index-url='https://me:secret@mirror.test:8443/simple'\n"
        "global.cert='/etc/x.crt'\n"
        "global.extra-index-url='https://more.test/a file:///srv/b'\n"
        "install.find-links='/opt/wheels\\nhttps://links.test/'\n"
    )
    has_index, urls = read_pip(said)
    assert has_index
    hosts = hosts_of(urls)
    assert hosts.names("mirror.test", 8443)
    assert hosts.names("more.test", 443)
    assert hosts.names("links.test", 443)
    assert len(hosts.entries) == 3


def test_without_an_index_of_its_own_pip_has_the_one_that_it_knows() -> None:
    assert read_pip("global.timeout='60'\n") == (False, [])


def test_npm_says_its_registry_and_those_of_scopes() -> None:
    said = {"registry": "https://npm.test/", "@team:registry": "http://team.test:81/", "proxy": "x"}
    hosts = hosts_of(read_npm(json.dumps(said)))
    assert hosts.names("npm.test", 443)
    assert hosts.names("team.test", 81)
    assert read_npm("no json") == []


def test_what_is_no_host_of_the_web_is_left_out() -> None:
    urls = ["file:///x", "https://", "http://[::1", "https://localhost/", "https://10.0.0.1/"]
    assert hosts_of(urls).entries == ()


async def test_pip_of_this_machine_is_asked_and_says_more_than_nothing() -> None:
    environ = {**os.environ, "PIP_INDEX_URL": "https://mirror.test/simple"}
    assert (await PackageHosts(environ).of("@python")).names("mirror.test", 443)


async def test_where_nobody_set_anything_pip_itself_knows_where_to_go(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path), "HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    assert len((await PackageHosts(environ).of("@python")).entries) >= 2


async def test_npm_of_this_machine_is_asked_away_from_any_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".npmrc").write_text("registry=https://evil.test/\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    environ = {**os.environ, "NPM_CONFIG_REGISTRY": "https://npm.test/"}
    environ.pop("npm_config_registry", None)
    hosts = await PackageHosts(environ).of("@node")
    assert hosts.names("npm.test", 443)
    assert not hosts.names("evil.test", 443)


async def test_one_that_is_missing_is_said_in_words_and_asked_again_later(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    with pytest.raises(PackageHostsUnknown, match=r"^@node: npm was not found"):
        await PackageHosts(environ).of("@node")


async def test_it_is_asked_once_for_a_while(tmp_path: Path) -> None:
    count = tmp_path / "count"
    registry = '{"registry": "https://npm.test/"}'
    program(tmp_path / "bin", "npm", f"echo x >> {count}", f"echo '{registry}'")
    hosts = PackageHosts({"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})
    for _ in range(3):
        assert (await hosts.of("@node")).names("npm.test", 443)
    assert count.read_text(encoding="utf-8") == "x\n"


async def test_a_python_without_pip_is_passed_over(tmp_path: Path) -> None:
    program(tmp_path / "bin", "python3", "exit 1")
    environ = {
        "PATH": str(tmp_path / "bin"),
        "HOME": str(tmp_path),
        "PIP_INDEX_URL": "https://mirror.test/",
    }
    assert sys.executable
    assert (await PackageHosts(environ).of("@python")).names("mirror.test", 443)
