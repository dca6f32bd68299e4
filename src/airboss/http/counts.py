"""This server's counts in Prometheus' words. Imported when somebody asks: most never do."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from airboss.background import FAILURES
from airboss.http.services import Services


class ServerCollector(Collector):
    """Reads the services; keeps nothing itself."""

    def __init__(self, use: Services) -> None:
        self._use = use

    def collect(self) -> Iterator[Metric]:
        use = self._use
        opened, working = use.sessions.open_count()
        yield GaugeMetricFamily("airboss_sessions_open", "Open sessions.", opened)
        yield GaugeMetricFamily(
            "airboss_sessions_working", "Sessions whose agent is working.", working
        )
        starts = use.status.runtime.starts
        yield CounterMetricFamily("airboss_runtime_starts", "Starts of the agent runtime.", starts)
        for name, count in use.log.counts.items():
            said = f"The log's {name} since the start."
            yield CounterMetricFamily(f"airboss_log_{name}", said, count)
        digests = use.digests
        said = "Digests requested by pages."
        yield CounterMetricFamily("airboss_page_digests", said, digests.asked)
        said = "Pages whose state differed from the log."
        yield CounterMetricFamily("airboss_page_differences", said, digests.differences)
        trouble = int(use.log.trouble is not None)
        yield GaugeMetricFamily(
            "airboss_log_trouble", "1 while the log cannot be written.", trouble
        )


class BackgroundCollector(Collector):
    """What failed beside the requests: nobody waited for it, so nobody else was told."""

    def collect(self) -> Iterator[Metric]:
        said = "Failed background tasks. See the log for the reason."
        failed = CounterMetricFamily("airboss_background_failures", said, labels=["owner"])
        for owner, count in FAILURES.items():
            failed.add_metric([owner], count)
        yield failed


def exposition(use: Services) -> bytes:
    registry = CollectorRegistry()
    registry.register(ServerCollector(use))
    registry.register(BackgroundCollector())
    ProcessCollector(registry=registry)
    return generate_latest(registry)
