"""Settings that take effect while a server runs: each goes to the part that works by it."""

from dataclasses import dataclass

from airboss.engine.slots import Slots
from airboss.extensions.shelf import Shelf
from airboss.service.retention import Retention
from airboss.service.sessions import Sessions
from airboss.settings import Settings


@dataclass(frozen=True)
class SettingsInForce:
    """`fitting` is how many agents fit into this machine's memory, where nobody says how many."""

    sessions: Sessions
    slots: Slots
    fitting: int
    retention: Retention
    shelf: Shelf

    def take(self, settings: Settings) -> None:
        sessions = self.sessions
        sessions.max_sessions = settings.max_sessions
        # These hold for sessions that are opened or resumed from now on.
        sessions.approval_seconds = settings.approval_seconds
        sessions.quiet_seconds = settings.quiet_seconds
        sessions.mcp_wait_seconds = settings.mcp_wait_seconds
        sessions.session_keys = settings.session
        sessions.loop_detection = settings.loop_detection
        sessions.auto_switch = settings.auto_switch
        sessions.max_block = settings.max_block_characters
        self.shelf.settings = settings.extensions
        self.slots.resize(settings.max_tasks or self.fitting)
        most = settings.keep_megabytes
        self.retention.keep(settings.keep_days, most and most * 1024 * 1024)
