"""pip, npm and git behind the way out: with nothing but the variables that name it."""

import asyncio
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from base64 import b64encode
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from airboss.model.cage_events import EgressClosed
from tests.runtime.cage.outside import PUBLIC, Outside, caged, served
from tests.runtime.cage.test_way_out import CERTIFICATE, NAME, tls

pytestmark = pytest.mark.anyio


def a_wheel(path: Path) -> None:
    facts = "Metadata-Version: 2.1\nName: owl\nVersion: 1.0\n"
    kind = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("owl.py", "HOOT = 1\n")
        wheel.writestr("owl-1.0.dist-info/METADATA", facts)
        wheel.writestr("owl-1.0.dist-info/WHEEL", kind)
        wheel.writestr("owl-1.0.dist-info/RECORD", "")


def a_package(path: Path) -> None:
    said = json.dumps({"name": "owl", "version": "1.0.0"}).encode()
    with tarfile.open(path, "w:gz") as package:
        entry = tarfile.TarInfo("package/package.json")
        entry.size = len(said)
        package.addfile(entry, io.BytesIO(said))


def stocked(tmp_path: Path) -> Path:
    """The files of a registry of wheels, one of packages, and a repository."""
    shop = tmp_path / "shop"
    (shop / "simple/owl").mkdir(parents=True)
    a_wheel(shop / "owl-1.0-py3-none-any.whl")
    (shop / "simple/owl/index.html").write_text(
        '<a href="/owl-1.0-py3-none-any.whl">owl-1.0-py3-none-any.whl</a>', encoding="utf-8"
    )
    a_package(shop / "owl-1.0.0.tgz")
    digest = hashlib.sha512((shop / "owl-1.0.0.tgz").read_bytes()).digest()
    dist = {
        "tarball": f"https://{NAME}/owl-1.0.0.tgz",
        "integrity": f"sha512-{b64encode(digest).decode()}",
    }
    version = {"name": "owl", "version": "1.0.0", "dist": dist}
    about = {"name": "owl", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    (shop / "owl").write_text(json.dumps(about), encoding="utf-8")
    made = tmp_path / "made"
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@x")
    for words in (
        ("init", "-q", str(made)),
        ("-C", str(made), "commit", "-q", "--allow-empty", "-m", "one"),
        ("clone", "-q", "--bare", str(made), str(shop / "owl.git")),
        ("-C", str(shop / "owl.git"), "update-server-info"),
    ):
        subprocess.run((*git, *words), check=True, capture_output=True)
    return shop


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return stocked(tmp_path)


def clerk(shop: Path):
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0].decode()
        path = shop / unquote(urlsplit(line.split(" ")[1]).path).strip("/")
        path = path / "index.html" if path.is_dir() else path
        status = "200 OK" if path.is_file() else "404 Not Found"
        body = path.read_bytes() if path.is_file() else b""
        kind = "text/html" if path.suffix == ".html" else "application/octet-stream"
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
        await writer.drain()

    return serve


async def run(words: tuple[str, ...], proxy: str, home: Path) -> str:
    environ = {
        **dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), proxy),
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_CERT": str(CERTIFICATE),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "GIT_SSL_CAINFO": str(CERTIFICATE),
        "GIT_TERMINAL_PROMPT": "0",
        "NODE_USE_ENV_PROXY": "1",
        "NODE_EXTRA_CA_CERTS": str(CERTIFICATE),
        "npm_config_cafile": str(CERTIFICATE),
        "npm_config_registry": f"https://{NAME}/",
        "npm_config_update_notifier": "false",
    }
    process = await asyncio.create_subprocess_exec(
        *words,
        env=environ,
        cwd=home,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    return said.decode()


PIP = (sys.executable, "-m", "pip", "download", "--no-deps", "-i", f"https://{NAME}/simple", "owl")
NPM = ("npm", "pack", "owl", "--no-audit", "--fetch-retries", "0")
GIT = ("git", "clone", "-q", f"https://{NAME}/owl.git", "cloned")


@pytest.mark.parametrize(
    ("words", "result"),
    [(PIP, "owl-1.0-py3-none-any.whl"), (NPM, "owl-1.0.0.tgz"), (GIT, "cloned/.git")],
    ids=["pip", "npm", "git"],
)
async def test_a_package_manager_gets_what_it_wants(
    words: tuple[str, ...],
    result: str,
    shop: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not here")
    world, home = Outside({NAME: [PUBLIC]}), tmp_path / "home"
    home.mkdir()
    async with (
        served(clerk(shop), ssl=tls()) as port,
        caged(world, monkeypatch, NAME) as inside,
    ):
        world.ports = {443: port}
        await run(words, inside.proxy, home)
    assert (home / result).exists()
    assert set(world.connected) == {(PUBLIC, 443)}
    assert world.looked_up == [NAME]
    [closed] = [one for one in world.told if isinstance(one, EgressClosed)]
    assert closed.connections >= 2


FETCH = f"""
fetch("https://{NAME}/owl").then(
  (answer) => answer.text(),
).then((text) => {{ console.log(text); process.exit(0); }}, () => {{ process.exit(7); }});
"""
KNOWS = 'process.allowedNodeEnvironmentFlags.has("--use-env-proxy")'


async def test_fetch_of_node_goes_the_same_way_where_node_can(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Older ones ignore the variables, and reach nothing."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here")
    asked = [node, "-p", KNOWS]
    said = await asyncio.to_thread(subprocess.run, asked, capture_output=True, text=True)
    world = Outside({NAME: [PUBLIC]})
    async with (
        served(clerk(shop), ssl=tls()) as port,
        caged(world, monkeypatch, NAME) as inside,
    ):
        world.ports = {443: port}
        if said.stdout.strip() == "true":
            assert '"latest"' in await run((node, "-e", FETCH), inside.proxy, tmp_path)
            assert set(world.connected) == {(PUBLIC, 443)}
        else:
            with pytest.raises(AssertionError):
                await run((node, "-e", FETCH), inside.proxy, tmp_path)
            assert world.connected == []
