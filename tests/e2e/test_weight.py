"""A page is light: what its first view loads fits into 150 KiB on the wire. The editor's code is no
part of any other page, and the page with it has 250 KiB."""

import pytest
from playwright.sync_api import Page, Response, expect

from tests.e2e.visit import calm, new_session, signed_in
from tests.portal import Portal

MOST_BYTES = 150 * 1024
MOST_WITH_EDITOR = 250 * 1024
EDIT = "/edit.html"
# What CodeMirror writes into the page, in whatever way it is built.
EDITOR_MARK = b"cm-activeLine"

PATHS = (
    "/",
    "/jobs.html?wb={work}",
    EDIT,
    "/jobTracking.html?jobName=sample",
    "/history.html",
    "/compare.html",
    "/inbox.html",
    "/machines.html",
    "/settings.html",
    "/index.html?session={session}",
)


@pytest.mark.parametrize("path", PATHS)
def test_the_first_view_of_a_page_is_light(shared_portal: Portal, page: Page, path: str) -> None:
    session = new_session(shared_portal, "hello")
    loaded: list[Response] = []
    page.on("response", lambda answer: loaded.append(answer))
    where = path.format(work=shared_portal.work, session=session)
    signed_in(page, shared_portal).goto(f"{shared_portal.url}{where}")
    expect(page.locator(".fresh")).to_be_visible()
    calm(page)
    files = [answer for answer in loaded if "/api/" not in answer.url and answer.status == 200]
    sizes = {answer.url: answer.request.sizes()["responseBodySize"] for answer in files}
    assert sum(sizes.values()) < (MOST_WITH_EDITOR if path == EDIT else MOST_BYTES), sizes
    assert any(EDITOR_MARK in answer.body() for answer in files) == (path == EDIT)
    assert {answer.headers.get("content-encoding") for answer in files} == {"br"}
    assert all(0 < sizes[answer.url] < len(answer.body()) for answer in files)
