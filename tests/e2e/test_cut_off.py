"""A page of a server that is cut off from the database: it shows the last state, and how old that
is."""

import time

import pytest
from playwright.sync_api import Browser, expect

from tests.cut_line import cut_line_to
from tests.databases import with_tables
from tests.e2e.visit import window
from tests.machines.story import Fleet
from tests.postgres import Postgres

pytestmark = pytest.mark.timeout(240)
# It says so within five seconds on a machine with time.
BOUND_MS = 30_000


def test_a_page_of_a_server_that_is_cut_off_shows_its_age_until_the_database_is_back(
    postgres: Postgres, tmp_path_factory: pytest.TempPathFactory, browser: Browser
) -> None:
    name = with_tables(postgres)
    # Long enough for the server to live through the cut.
    fleet = Fleet(tmp_path_factory.mktemp("cut"), postgres.url(name), lease=120)
    with cut_line_to(postgres.port) as line:
        server = fleet.machine("build-1", url=postgres.url(name, port=line.port))
        try:
            server.serve()
            run = fleet.start()
            fleet.until_it_ticks()
            page = window(browser, server.portal)
            page.goto(f"{server.portal.url}/jobTracking.html?jobName=story&jobId={run}")
            expect(page.locator(".jobstate")).to_contain_text("RUNNING")
            badge = page.locator(".fresh")
            expect(badge).to_contain_text("Live")
            line.swallow()
            cut = time.monotonic()
            expect(badge).to_contain_text(
                "Not up to date: last heard from the database", timeout=BOUND_MS
            )
            said = time.monotonic()
            expect(page.locator(".jobstate")).to_contain_text("RUNNING")
            line.heal()
            healed = time.monotonic()
            expect(badge).to_contain_text("Live", timeout=BOUND_MS)
            back = time.monotonic()
            print(f"told {said - cut:.1f} s after the cut, gone {back - healed:.1f} s after it")  # noqa: T201
        finally:
            line.heal()
            fleet.end()
            postgres.drop(name)
