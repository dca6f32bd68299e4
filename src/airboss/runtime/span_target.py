"""Where a runtime sends its own spans."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from copilot.client import TelemetryConfig


@dataclass(frozen=True)
class SpanTarget:
    """An address on this machine, and the name of their source. With `content`, what is said in a
    session is in them."""

    url: str
    source: str
    content: bool = False

    def for_the_sdk(self) -> "TelemetryConfig":
        return {
            "exporter_type": "otlp-http",
            "otlp_endpoint": self.url,
            "otlp_protocol": "http/protobuf",
            "source_name": self.source,
            "capture_content": self.content,
        }
