"""pip, npm and git in a cage that names no host: a person is asked once for each host, and the
programs get what they want."""

import asyncio
import shutil
import socket
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.model.cage_events import EgressOpened
from airboss.model.inbox_events import ApprovalAsked
from airboss.net.address_guard import Egress
from airboss.runtime.cage.ability import ability
from airboss.runtime.cage.attempt import attempt
from airboss.runtime.cage.doors import CageDoors
from airboss.runtime.cage.plan import CagePlan
from airboss.runtime.cage.way_out import WayOut
from tests.harness.opened_house import House, opened_house
from tests.pauses import pauses
from tests.runtime.cage.outside import PUBLIC, Outside, served
from tests.runtime.cage.test_package_managers import clerk, stocked
from tests.runtime.cage.test_way_out import CERTIFICATE, NAME, tls
from tests.service.test_host_decisions import hosts_of
from tests.trials import sampled, trial

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(120),
    pytest.mark.skipif(ability().kind != "strong", reason="no strong cage holds here"),
    trial,
]

PIP = (
    "PIP_CONFIG_FILE=/dev/null PIP_CERT=$PWD/cert.pem python3 -m pip download -q --no-deps "
    f"-i https://{NAME}/simple owl"
)
NPM = (
    f"npm_config_cafile=$PWD/cert.pem npm_config_registry=https://{NAME}/ "
    "npm pack owl --no-audit --fetch-retries 0"
)
GIT = f"GIT_SSL_CAINFO=$PWD/cert.pem git clone -q https://{NAME}/owl.git cloned"
PROGRAMS = [
    ("python3", PIP, "owl-1.0-py3-none-any.whl"),
    ("npm", NPM, "owl-1.0.0.tgz"),
    ("git", GIT, "cloned/.git"),
]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    async with opened_house(tmp_path / "house") as house:
        yield house


async def allow_all(house: House) -> None:
    """A person who says yes to whatever is asked, until the session ends."""
    for seconds in pauses():
        for item in list(house.services.inbox.waiting()):
            await house.services.decisions.decide(item.id, "allow-always", "me", option="session")
        await asyncio.sleep(max(seconds, 0.05))


@pytest.mark.parametrize(("program", "command", "result"), sampled(1, PROGRAMS))
async def test_a_program_gets_what_it_wants_and_its_host_is_asked_for_once(
    house: House,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    command: str,
    result: str,
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not here")
    work = tmp_path / "house" / "work"
    work.mkdir()
    shutil.copy(CERTIFICATE, work / "cert.pem")
    session, hosts = await hosts_of(house, work)
    world = Outside({NAME: [PUBLIC]})
    monkeypatch.setattr(socket, "getaddrinfo", world.look_up)
    terms = CageProfile(unknown_hosts="ask")
    way_out = WayOut(
        terms, hosts.permission("ask"), world.told.append, Egress(), connect=world.connect
    )
    plan = CagePlan("strong", "default", terms, work, "k")
    person = asyncio.create_task(allow_all(house))
    try:
        async with served(clerk(stocked(tmp_path)), ssl=tls()) as port:
            world.ports = {443: port}
            doors = CageDoors(way_out=way_out.serve)
            shell = ("bash", "-c", command)
            ended = await attempt(plan, tmp_path / "cages", shell, doors=doors)
    finally:
        person.cancel()
        await way_out.close()
    assert ended.code == 0, ended.errors.decode()
    assert (work / result).exists()
    page = await house.services.sessions.events(session, 0, 1000)
    assert sum(isinstance(one.event, ApprovalAsked) for one in page.items) == 1
    assert [one.host for one in world.told if isinstance(one, EgressOpened)] == [NAME]
    assert len(world.connected) >= 2
