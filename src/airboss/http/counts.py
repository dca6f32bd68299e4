"""This server's counts in Prometheus' words. Imported when somebody asks: most never do."""

from collections.abc import Iterator, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from airboss.background import FAILURES
from airboss.http.services import Services
from airboss.service.workers import WorkerList


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
        starts = use.status.pool.starts
        yield CounterMetricFamily("airboss_runtime_starts", "Starts of the agent runtime.", starts)
        yield from _runtimes(use)
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


def _runtimes(use: Services) -> Iterator[Metric]:
    said = "Processes of the agent runtime."
    running = GaugeMetricFamily("airboss_runtimes", said, labels=["identity", "mode", "account"])
    said = "Sessions on processes of the agent runtime."
    labels = ["identity", "mode", "account"]
    sessions = GaugeMetricFamily("airboss_runtime_sessions", said, labels=labels)
    counted: dict[tuple[str, str, str], list[int]] = {}
    for one in use.status.pool.states:
        place = (one.key.identity, one.key.mode, one.key.profile or "")
        counted.setdefault(place, []).append(one.sessions)
    for place, found in counted.items():
        running.add_metric(place, len(found))
        sessions.add_metric(place, sum(found))
    yield running
    yield sessions
    said = "1 while an account of Copilot rests."
    resting = GaugeMetricFamily("airboss_account_resting", said, labels=["account"])
    for account in use.sessions.accounts.states():
        resting.add_metric([account.name], int(account.state == "resting"))
    yield resting


class BackgroundCollector(Collector):
    """What failed beside the requests: nobody waited for it, so nobody else was told."""

    def collect(self) -> Iterator[Metric]:
        said = "Failed background tasks. See the log for the reason."
        failed = CounterMetricFamily("airboss_background_failures", said, labels=["owner"])
        for owner, count in FAILURES.items():
            failed.add_metric([owner], count)
        yield failed


class WorkerCollector(Collector):
    """Machines on one database, as this server sees them."""

    def __init__(self, listed: WorkerList, counts: Mapping[str, int]) -> None:
        self._listed = listed
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        said = "Workers of the database, by state; not-heard ones are alive or draining, too."
        workers = GaugeMetricFamily("airboss_workers", said, labels=["state"])
        items = self._listed.items
        for state in ("alive", "draining", "left", "lost"):
            workers.add_metric([state], sum(one.state == state for one in items))
        silent = [one for one in items if one.beat_age_ms is not None and not one.is_heard]
        workers.add_metric(["not-heard"], len(silent))
        yield workers
        said = "Seconds since this server saw the beat of a worker move."
        ages = GaugeMetricFamily("airboss_worker_beat_age_seconds", said, labels=["machine"])
        for one in items:
            if one.beat_age_ms is not None:
                ages.add_metric([one.name], one.beat_age_ms / 1000)
        yield ages
        said = "Runs that nobody works on."
        yield GaugeMetricFamily("airboss_runs_without_worker", said, len(self._listed.waiting))
        for name, count in self._counts.items():
            yield CounterMetricFamily(f"airboss_{name}", _SAID[name], count)


_SAID: Final = {
    "takeovers": "Runs that this server took over from others.",
    "fenced_writes": "Writes that were refused: this worker was lost, or the stream was another's.",
    "commands_asked": "What was asked here and done by other servers.",
    "commands_done": "What other servers asked and this one did.",
}


def exposition(use: Services, workers: WorkerList | None) -> bytes:
    registry = CollectorRegistry()
    registry.register(ServerCollector(use))
    if workers is not None and workers.is_shared:
        registry.register(WorkerCollector(workers, use.workers.counts()))
    registry.register(BackgroundCollector())
    ProcessCollector(registry=registry)
    return generate_latest(registry)
