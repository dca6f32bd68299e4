"""A host that a cage wants to reach, asked of a person on the page."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from playwright.sync_api import Page, expect

from airboss.app import opened_services
from airboss.http.api import build_api
from airboss.http.services import Services
from airboss.model.cage_events import EgressRefused
from airboss.model.ids import SessionId
from airboss.net.loopback import listen, served
from airboss.runtime.cage.host_request import HostAnswer, HostRequest
from airboss.service.access import Access
from airboss.settings import Settings
from airboss.store.folder import DataFolder
from tests.e2e.visit import audit, calm, signed_in
from tests.e2e.witness import Quiet
from tests.portal import Portal

HOST = "files.example.org"


@dataclass
class Server:
    """All of it inside this process, since no more of a cage is needed than its way out's word."""

    folder: Path
    url: str = ""
    token: str = ""
    session: str = ""
    services: Services | None = None
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    ready: threading.Event = field(default_factory=threading.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def run(self) -> None:
        self.loop.run_until_complete(self._serve())
        self.loop.close()

    async def _serve(self) -> None:
        folder = DataFolder(self.folder / "data")
        folder.create()
        settings, access = Settings(data=folder.path, roots=(self.folder,)), Access(folder)
        listening = listen()
        port = listening.getsockname()[1]
        self.url, self.token = f"http://localhost:{port}", access.token
        async with opened_services(settings, folder, access, self.url, _nothing) as services:
            self.services = services
            async with served(build_api(services, settings, port), listening):
                view = await services.sessions.start("rehearsal", str(self.folder), "owner")
                self.session = view.id
                self.ready.set()
                await self.over.wait()
            await services.sessions.stop()

    def connects(self) -> "Future[HostAnswer]":
        """A program in the session's cage, as its way out asks for it."""
        assert self.services is not None
        opened = self.services.sessions._open  # pyright: ignore[reportPrivateUsage]
        hosts = opened[SessionId(self.session)].hosts
        asked = hosts.permit(HostRequest(HOST, 443, listed=False), "ask")
        return asyncio.run_coroutine_threadsafe(asked, self.loop)

    def refuses(self, why: str) -> None:
        assert self.services is not None
        opened = self.services.sessions._open  # pyright: ignore[reportPrivateUsage]
        writer, told = opened[SessionId(self.session)].writer, EgressRefused(host=HOST, why=why)
        self.loop.call_soon_threadsafe(writer.say, told)


def _nothing() -> None: ...


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    thread = threading.Thread(target=server.run)
    thread.start()
    assert server.ready.wait(30)
    yield server
    server.loop.call_soon_threadsafe(server.over.set)
    thread.join(30)
    assert not thread.is_alive()


def test_a_person_is_asked_in_plain_words_and_allows_it_until_the_session_ends(
    server: Server, page: Page, quiet: Quiet
) -> None:
    signed_in(page, cast("Portal", server))
    page.goto(f"{server.url}/index.html?session={server.session}")
    connection = server.connects()
    card = page.locator(".ask").last
    expect(card).to_contain_text(f"Connect to {HOST}?", timeout=15_000)
    expect(card).to_contain_text("Programs in the cage can send")
    expect(card).to_contain_text("The agent continues meanwhile")
    expect(card).to_contain_text(f"https://{HOST}/")
    audit(calm(page))
    card.get_by_role("button", name="Always allow").click()
    expect(card).to_contain_text("This host, in every cage of this folder")
    expect(card).to_contain_text("Every host below example.org, in every cage of this folder")
    expect(card).to_contain_text("This host, from every cage")
    expect(card).to_contain_text("Every host below example.org, from every cage")
    card.get_by_text("This host, until this session ends").click()
    card.get_by_role("button", name="Allow", exact=False).last.click()
    assert connection.result(15) == HostAnswer(True, "", "session")
    assert server.connects().result(15).allowed
    server.refuses("A rule of mona refuses it.")
    expect(page.get_by_text(f"Not connected: {HOST}")).to_be_visible(timeout=15_000)
    quiet.check()
