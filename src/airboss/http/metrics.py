"""What Prometheus may read: counts of this server, taken when it asks."""

from collections.abc import Iterator

from fastapi import APIRouter, Response
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from airboss.http.services import Services, Use

router = APIRouter(include_in_schema=False)


class ServerCollector(Collector):
    """Reads the services; keeps nothing itself."""

    def __init__(self, use: Services) -> None:
        self._use = use

    def collect(self) -> Iterator[Metric]:
        use = self._use
        opened, working = use.sessions.open_count()
        yield GaugeMetricFamily("airboss_sessions_open", "Sessions that are open.", opened)
        yield GaugeMetricFamily("airboss_sessions_working", "Sessions that work.", working)
        starts = use.status.runtime.starts
        yield CounterMetricFamily("airboss_runtime_starts", "Starts of the agent runtime.", starts)
        for name, count in use.log.counts.items():
            told = f"The log's {name} since the start."
            yield CounterMetricFamily(f"airboss_log_{name}", told, count)
        trouble = int(use.log.trouble is not None)
        yield GaugeMetricFamily("airboss_log_trouble", "1 while the log cannot write.", trouble)


@router.get("/metrics")
async def metrics(use: Use) -> Response:
    registry = CollectorRegistry()
    registry.register(ServerCollector(use))
    ProcessCollector(registry=registry)
    return Response(generate_latest(registry), media_type="text/plain; version=0.0.4")


@router.get("/healthz")
async def is_alive() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz")
async def is_ready(use: Use) -> Response:
    """Ready means: what is asked for can be kept."""
    if use.log.trouble:
        raise use.log.trouble
    return Response('{"status":"ready"}', media_type="application/json")
