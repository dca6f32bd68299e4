"""What /metrics says, as far as it needs no server."""

from prometheus_client import CollectorRegistry

from airboss.background import Background
from airboss.http.counts import BackgroundCollector


async def fail() -> None:
    raise OSError("the disk is full")


async def test_what_failed_in_the_background_is_counted_by_its_owner() -> None:
    registry = CollectorRegistry()
    registry.register(BackgroundCollector())
    async with Background("cellar", "of one house") as background:
        background.start(fail())
        background.start(fail())
    async with Background("cellar", "of another") as background:
        background.start(fail())
    labels = {"owner": "cellar"}
    assert registry.get_sample_value("airboss_background_failures_total", labels) == 3
