"""The documentation at /docs: reached from every page, searched, usable by all, and within the
content security policy as it was built."""

from playwright.sync_api import Browser, Page, expect

from tests.e2e.visit import fits, signed_in, usable_by_all
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import trial

# What people look for, and the page that they should find.
FOUND = {
    "approve": "Approve requests, also from your phone",
    "resume": "Stop and resume",
    "provider": "Use your own model provider",
    "schedule": "Run a job on a schedule",
}


def test_the_documentation_is_found_from_a_page_and_searched_without_a_token(
    shared_portal: Portal, page: Page, quiet: Quiet
) -> None:
    page.goto(shared_portal.url)
    page.get_by_role("link", name="Docs").click()
    expect(page).to_have_title("Airboss documentation")
    results = page.locator("ul.search > li > a")
    for word, title in FOUND.items():
        page.get_by_role("searchbox").first.fill(word)
        page.get_by_role("searchbox").first.press("Enter")
        expect(page).to_have_url(f"{shared_portal.url}/docs/search.html?q={word}")
        expect(page.locator(".search-summary")).to_contain_text("found")
        assert title in results.all_inner_texts()[:3]
    results.get_by_text(FOUND["schedule"]).click()
    expect(page.get_by_text("no scheduler of its own yet")).to_be_visible()
    expect(page.get_by_role("main").locator(".highlighted").first).to_be_visible()
    expect(page.locator("nav .highlighted")).to_have_count(0)
    expect(page.get_by_role("link", name="Open Airboss")).to_have_count(1)
    quiet.check()
    assert page.context.cookies() == []


@trial
def test_the_documentation_is_usable_by_all_and_linked_from_the_pages(
    shared_portal: Portal, browser: Browser, page: Page
) -> None:
    usable_by_all(
        browser, shared_portal, lambda page: page.goto(f"{shared_portal.url}/docs/tutorial.html")
    )
    signed_in(page, shared_portal).goto(f"{shared_portal.url}/history.html")
    expect(page.get_by_role("link", name="Docs")).to_have_attribute("href", "/docs/")
    page.set_viewport_size({"width": 730, "height": 800})
    fits(page)  # the narrowest window with all links in the top bar
    page.set_viewport_size({"width": 360, "height": 800})
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("link", name="Docs")).to_be_visible()
    page.goto(f"{shared_portal.url}/docs/operating.html")
    page.get_by_text("All pages").click()
    page.get_by_role("link", name="Open Airboss").click()
    expect(page).to_have_url(f"{shared_portal.url}/")
