"""The way out of a cage, with real sockets and real clients."""

import asyncio
import socket
import ssl
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from airboss.cage_settings import CageProfile
from airboss.model.cage_events import EgressClosed, EgressOpened
from airboss.net.address_guard import Egress
from airboss.net.host_lists import HostEntryInvalid
from airboss.net.package_hosts import PackageHosts
from airboss.runtime.cage.host_request import HostAnswer, HostRequest
from airboss.runtime.cage.way_out import WayOut
from tests.runtime.cage.outside import PUBLIC, Outside, as_listed, caged, quick, served, until
from tests.runtime.cage.test_tls_hello import hello

pytestmark = pytest.mark.anyio

# A certificate for this name, with its key: nobody trusts it but these tests.
NAME = "hook.example.test"
CERTIFICATE = Path(__file__).parents[2] / "fixtures/hook/both.pem"
TUNNEL = f"CONNECT {NAME}:443 HTTP/1.1\r\n\r\n".encode()
OPENED = b"HTTP/1.1 200 Connection established\r\n\r\n"


def tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Says back how it was asked."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if b"ontent-Length" in line), 0
    )
    said = head + await reader.readexactly(length)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(said) + said)
    await writer.drain()


async def all_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while said := await reader.read(65536):
        writer.write(said)
        await writer.drain()


@pytest.fixture
def world() -> Outside:
    return Outside({NAME: [PUBLIC], "a.example": [PUBLIC]})


async def test_curl_fetches_over_https_and_over_http(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        served(answer, ssl=tls()) as secure,
        served(answer) as plain,
        caged(world, monkeypatch, NAME) as inside,
    ):
        world.ports = {443: secure, 80: plain}
        trusted = ("--cacert", str(CERTIFICATE))
        code, body, wrong = await inside.curl(*trusted, f"https://{NAME}/x?y")
        assert (code, wrong) == (0, "")
        assert body.startswith("GET /x?y HTTP/1.1")
        code, body, wrong = await inside.curl("-d", "abc", f"http://{NAME}/x?y")
        assert (code, wrong) == (0, "")
        assert body.startswith(f"POST /x?y HTTP/1.1\r\nHost: {NAME}\r\n")
        assert body.endswith("Connection: close\r\n\r\nabc")
        assert "roxy" not in body
    assert world.connected == [(PUBLIC, 443), (PUBLIC, 80)]
    assert world.looked_up == [NAME]
    opened = [one for one in world.told if isinstance(one, EgressOpened)]
    assert opened[0] == EgressOpened(host=NAME, port=443, address=PUBLIC, by="profile")
    closed = {one.port: one for one in world.told if isinstance(one, EgressClosed)}
    assert closed[443].connections == 1
    assert closed[443].sent > 300
    assert closed[443].received > 1000


async def test_a_host_that_is_not_listed_is_refused_in_words_and_not_looked_up(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with caged(world, monkeypatch, NAME) as inside:
        code, body, _ = await inside.curl("http://a.example/")
        assert code == 0
        assert body == "Airboss: a.example:80: It is not listed.\n"
        code, _, wrong = await inside.curl("https://a.example/")
        assert code == 56
        assert "403" in wrong
        assert (await inside.says(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n")).startswith(
            b"HTTP/1.1 403 It is not listed.\r\nX-Airboss-Cage: refused\r\n"
        )
    assert (world.looked_up, world.connected) == ([], [])
    assert ("a.example", 443, "It is not listed.") in world.refusals


async def test_a_set_that_nobody_can_ask_for_says_nothing_of_other_hosts(
    world: Outside, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[HostRequest] = []

    async def later(request: HostRequest) -> HostAnswer:
        asked.append(request)
        return HostAnswer(None, "")

    async with caged(world, monkeypatch, "@node", "@python", permission=later) as inside:
        inside.way_out.packages = PackageHosts({"PATH": str(tmp_path), "HOME": str(tmp_path)})
        said = await inside.says(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 403 a person is asked, try again later")
        said = await inside.says(b"CONNECT a.example:25 HTTP/1.1\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 403 @node: npm was not found")
    [request] = asked
    assert not request.listed
    assert request.unclear.startswith("@node: npm was not found")


async def test_python_says_why_a_tunnel_was_refused(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with caged(world, monkeypatch) as inside:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c"),
            "import urllib.request; urllib.request.urlopen('https://a.example/')",
            env={"https_proxy": inside.proxy},
            stderr=asyncio.subprocess.PIPE,
        )
        _, wrong = await process.communicate()
    assert b"Tunnel connection failed: 403 It is not listed." in wrong


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fd00::1"],
)
async def test_a_listed_name_that_leads_to_a_private_address_is_refused(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = Outside({"a.example": [PUBLIC, address]})
    async with caged(world, monkeypatch, "a.example") as inside:
        said = await inside.says(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 403 It is ")
    assert world.connected == []


@pytest.mark.parametrize(
    "name", ["localhost", "db.internal", "metadata.google.internal", "x.local"]
)
async def test_a_name_of_this_network_is_refused_before_anybody_is_asked(
    name: str, world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[HostRequest] = []

    async def yes(request: HostRequest) -> HostAnswer:
        asked.append(request)
        return HostAnswer(True, "", "person mona")

    async with caged(world, monkeypatch, permission=yes) as inside:
        said = await inside.says(f"CONNECT {name}:443 HTTP/1.1\r\n\r\n".encode())
    assert said.startswith(b"HTTP/1.1 403 ")
    assert (asked, world.looked_up) == ([], [])


async def test_a_name_that_leads_elsewhere_a_moment_later_is_connected_to_where_it_was(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(answer) as plain, caged(world, monkeypatch, "a.example") as inside:
        world.ports = {80: plain}
        await inside.curl("http://a.example/")
        world.names["a.example"] = ["127.0.0.1", PUBLIC]
        code, _, _ = await inside.curl("http://a.example/")
        assert code == 0
    assert set(world.connected) == {(PUBLIC, 80)}
    assert world.looked_up == ["a.example"]


async def test_an_address_that_no_longer_answers_is_looked_up_and_checked_anew(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(answer) as plain, caged(world, monkeypatch, "a.example") as inside:
        world.ports = {80: plain}
        await inside.curl("http://a.example/")
        del world.names[NAME]
        world.names["a.example"] = ["8.8.8.8"]
        assert (await inside.curl("http://a.example/"))[0] == 0
        world.names["a.example"] = ["10.0.0.1"]
        assert "not a public address" in (await inside.curl("http://a.example/"))[1]
    assert world.connected == [(PUBLIC, 80), (PUBLIC, 80), ("8.8.8.8", 80), ("8.8.8.8", 80)]


async def test_only_the_ports_of_the_web_unless_another_is_named(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 hello\r\n")
        await writer.drain()

    async with (
        served(greet) as greeting,
        caged(world, monkeypatch, "a.example:25", NAME) as inside,
    ):
        world.ports = {25: greeting}
        said = await inside.says(f"CONNECT {NAME}:25 HTTP/1.1\r\n\r\n".encode())
        assert said.startswith(b"HTTP/1.1 403 Port 25 of it is not among the hosts")
        said = await inside.says(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 403 It is not listed.")
        reader, writer = await inside.open()
        writer.write(b"CONNECT a.example:25 HTTP/1.1\r\n\r\n")
        assert await reader.readexactly(len(OPENED)) == OPENED
        assert await reader.readline() == b"220 hello\r\n"
        writer.close()


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (hello("evil.example"), "names evil.example"),
        (hello(None), "names no host"),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "names no host"),
    ],
)
async def test_a_tunnel_whose_first_message_names_another_host_ends_with_nothing_sent(
    first: bytes, why: str, world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        heard.append(await reader.read())

    async with served(listen) as port, caged(world, monkeypatch, NAME) as inside:
        world.ports = {443: port}
        said = await inside.says(TUNNEL + first)
        assert said == OPENED + bytes([0x15, 3, 3, 0, 2, 2, 112])
        await until(lambda: bool(heard))
    assert heard == [b""]
    assert [one for _, _, one in world.refusals if why in one]


async def test_a_port_that_is_named_takes_no_other_name_in_tls_either(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(all_back) as port, caged(world, monkeypatch, "a.example:8443") as inside:
        world.ports = {8443: port}
        asked = b"CONNECT a.example:8443 HTTP/1.1\r\n\r\n"
        assert (await inside.says(asked + hello("evil.example"))).endswith(b"\x02\x70")
        reader, writer = await inside.open()
        fitting = hello("a.example")
        writer.write(asked + fitting)
        assert await reader.readexactly(len(OPENED + fitting)) == OPENED + fitting
        writer.close()


async def test_a_hello_that_comes_byte_by_byte_is_waited_for_whole(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(all_back) as port, caged(world, monkeypatch, NAME) as inside:
        world.ports = {443: port}
        reader, writer = await inside.open()
        said = hello(NAME)
        writer.write(TUNNEL + said[:3])
        assert await reader.readexactly(len(OPENED)) == OPENED
        for at in range(3, len(said), 100):
            writer.write(said[at : at + 100])
            await asyncio.sleep(0)
        assert await reader.readexactly(len(said)) == said
        writer.close()


async def test_one_side_that_has_said_all_still_hears_the_other(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said = await reader.read()  # to its end
        await asyncio.sleep(0.2)
        writer.write(b"got %d" % len(said))
        await writer.drain()

    async with served(late) as port, caged(world, monkeypatch, NAME) as inside:
        world.ports = {443: port}
        reader, writer = await inside.open()
        said = hello(NAME) + b"x" * 1000
        writer.write(TUNNEL + said)
        writer.write_eof()
        async with asyncio.timeout(10):
            assert await reader.read() == OPENED + b"got %d" % len(said)
        writer.close()


async def test_a_tunnel_in_which_nothing_moves_is_given_up(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()
        await asyncio.sleep(30)

    bounds = quick(idle_seconds=0.3, half_closed_seconds=0.3)
    async with (
        served(silent) as port,
        caged(world, monkeypatch, NAME, bounds=bounds) as inside,
    ):
        world.ports = {443: port}
        assert await inside.says(TUNNEL + hello(NAME)) == OPENED
        reader, writer = await inside.open()
        writer.write(TUNNEL + hello(NAME))
        writer.write_eof()
        async with asyncio.timeout(10):
            assert await reader.read() == OPENED
        writer.close()


async def test_a_direction_that_goes_on_keeps_the_other_open(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slowly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10_000)
        for _ in range(10):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.1)

    bounds = quick(idle_seconds=0.5)
    async with (
        served(slowly) as port,
        caged(world, monkeypatch, NAME, bounds=bounds) as inside,
    ):
        world.ports = {443: port}
        assert await inside.says(TUNNEL + hello(NAME)) == OPENED + b"x" * 10


async def test_a_second_request_behind_the_first_never_leaves(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n") + await reader.read(10_000))
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n")
        await writer.drain()

    async with served(listen) as port, caged(world, monkeypatch, "a.example") as inside:
        world.ports = {80: port}
        second = b"GET /admin HTTP/1.1\r\nHost: evil.example\r\n\r\n"
        said = await inside.says(
            b"POST http://a.example/ HTTP/1.1\r\nContent-Length: 2\r\n\r\nok" + second
        )
        assert said == b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
        said = await inside.says(
            b"POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"2;x=y\r\nok\r\n0\r\nTrailer: x\r\n\r\n" + second
        )
        assert said.startswith(b"HTTP/1.1 204 No Content")
    assert all(b"evil" not in one and b"Trailer" not in one for one in heard)
    assert heard[1].endswith(b"2\r\nok\r\n0\r\n\r\n")


@pytest.mark.parametrize(
    "body",
    [
        b"zz\r\nab\r\n0\r\n\r\n",
        b"+2\r\nab\r\n",
        b"2\nab\r\n",
        b"2\r\nabc\r\n0\r\n\r\n",
        b"0x2\r\nab",
    ],
)
async def test_a_chunk_that_is_none_ends_the_request(
    body: bytes, world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        heard.append((await reader.read()).partition(b"\r\n\r\n")[2])

    async with served(listen) as port, caged(world, monkeypatch, "a.example") as inside:
        world.ports = {80: port}
        asked = b"POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        reader, writer = await inside.open()
        writer.write(asked + body)
        writer.write_eof()
        async with asyncio.timeout(10):
            assert await reader.read() == b""
        await until(lambda: bool(heard))
        writer.close()
    assert heard[0] in (b"", b"2\r\nab")


async def test_a_request_that_cannot_be_read_is_refused_in_words(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with caged(world, monkeypatch, "a.example") as inside:
        for asked in (
            b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
            b"CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n",
            b"\x16\x03\x01\r\n\r\n",
            b"GET http://a.example/ HTTP/1.1\r\nX: " + b"x" * 40_000 + b"\r\n\r\n",
            b"GET http://a.example/ HTTP/1.1\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
        ):
            assert (await inside.says(asked)).startswith(b"HTTP/1.1 400 ")
    assert {host for host, _, _ in world.refusals} == {"?"}


async def test_a_head_that_does_not_come_is_not_waited_for(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with caged(world, monkeypatch, bounds=quick(head_seconds=0.2)) as inside:
        assert await inside.says(b"CONNECT a.exam") == b""
        assert await inside.says(b"") == b""


async def test_so_many_connections_at_once_and_no_more(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with caged(world, monkeypatch, bounds=quick(connections=3)) as inside:
        held = [await inside.open() for _ in range(3)]
        await until(lambda: inside.way_out.connections == 3)
        assert (await inside.says(b"")).startswith(b"HTTP/1.1 503 Too many connections at once.")
        for _, writer in held:
            writer.close()
        await until(lambda: not inside.way_out.connections)
        assert b" 403 " in await inside.says(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n")


async def test_while_a_person_is_asked_it_is_said_so_and_not_counted_as_refused(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def asked(_: HostRequest) -> HostAnswer:
        return HostAnswer(None, "")

    async with caged(world, monkeypatch, permission=asked) as inside:
        said = await inside.says(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 403 a person is asked, try again later\r\n")
        _, body, _ = await inside.curl("http://a.example/")
        assert body == "Airboss: a.example:80: a person is asked, try again later\n"
    assert world.told == []


async def test_what_is_not_there_is_said_so(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with caged(world, monkeypatch, "none.example", "a.example") as inside:
        said = await inside.says(b"CONNECT none.example:443 HTTP/1.1\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 502 Its name was not found.")
        world.ports = {443: 1}
        said = await inside.says(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 502 No connection to it could be made.")


async def test_closed_it_ends_what_is_open_and_tells_all_that_was_counted(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(all_back) as port, caged(world, monkeypatch, NAME) as inside:
        world.ports = {443: port}
        reader, writer = await inside.open()
        said = hello(NAME)
        writer.write(TUNNEL + said)
        await reader.readexactly(len(OPENED + said))
        await inside.way_out.close()
        assert await reader.read() == b""
        writer.close()
    closed = [one for one in world.told if isinstance(one, EgressClosed)]
    assert [(one.connections, one.sent, one.received) for one in closed] == [
        (1, len(said), len(said))
    ]


def test_an_entry_that_cannot_be_meant_is_refused_when_the_way_out_is_made() -> None:
    with pytest.raises(HostEntryInvalid, match=r"“https://a\.example” is an address"):
        WayOut(CageProfile(hosts=("https://a.example",)), as_listed, lambda _: None)


async def test_slow_names_of_one_cage_keep_only_its_own_waiting(
    world: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        served(answer) as plain,
        caged(world, monkeypatch, "*.slow.example") as slow,
        caged(world, monkeypatch, "a.example") as other,
    ):
        known, is_over, asked = socket.getaddrinfo, threading.Event(), list[str]()

        def look_up(host: str, *more: Any, **options: Any) -> Any:
            if host.endswith(".slow.example"):
                asked.append(host)
                is_over.wait(60)
            return known(host, *more, **options)

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        world.ports = {80: plain}
        tunnels = [f"CONNECT n{number}.slow.example:443 HTTP/1.1\r\n\r\n" for number in range(40)]
        async with asyncio.TaskGroup() as group:
            waiting = [group.create_task(slow.says(tunnel.encode())) for tunnel in tunnels]
            try:
                await until(lambda: len(asked) >= 2)
                code, _, wrong = await other.curl("http://a.example/")
                assert (code, wrong) == (0, "")
                assert await Egress().addresses("a.example", 443) == [PUBLIC]
                assert len(asked) == 2
            finally:
                is_over.set()
        assert {b"502 Its name was not found." in one.result() for one in waiting} == {True}
