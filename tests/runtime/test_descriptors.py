"""As many descriptors as the system lets us have; what we start begins as we did."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.conftest import SCRIPT
from tests.crash.witness import ask, start_session, until
from tests.portal import Portal
from tests.security.flood import descriptor_limit

PROGRAM = """
import json, resource, subprocess
from airboss.runtime.descriptors import give_back_descriptor_limit, raise_descriptor_limit

told = [raise_descriptor_limit(), resource.getrlimit(resource.RLIMIT_NOFILE)]
with subprocess.Popen(["sleep", "60"]) as child:
    told.append(resource.prlimit(child.pid, resource.RLIMIT_NOFILE))
    give_back_descriptor_limit(child.pid)
    told.append(resource.prlimit(child.pid, resource.RLIMIT_NOFILE))
    child.kill()
give_back_descriptor_limit(child.pid)
print(json.dumps(told))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of other processes are Linux's")
def test_the_limit_is_raised_for_us_and_given_back_to_a_child() -> None:
    with descriptor_limit(300):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
        )
    raised, (soft, hard), inherited, given_back = json.loads(done.stdout)
    assert raised == soft == min(hard, 65_536)
    assert inherited == [soft, hard]
    assert given_back == [300, hard]


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux changes a child's limit")
async def test_what_agents_start_has_the_limit_that_the_server_began_with(tmp_path: Path) -> None:
    few = ("sh", "-c", 'ulimit -Sn 700; exec "$@"', "sh")
    portal = Portal(tmp_path, ("--permissions", "approve-all"), SCRIPT, prefix=few)
    portal.start()
    try:
        assert resource.prlimit(portal.pid, resource.RLIMIT_NOFILE)[0] > 700
        async with portal.client() as client:
            session = await start_session(client, portal.work)
            receipt = await ask(client, session, "shell ulimit -Sn > limit.txt")
            await until(client, session, "session.idle", receipt["seq"])
    finally:
        portal.stop()
    assert (portal.work / "limit.txt").read_text("utf-8").split() == ["700"]
