"""The conversation of a session in a real browser: its blocks, and how one reads them."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.sessions import Person, at_page
from tests.e2e.visit import asked, is_wide, new_session, window
from tests.portal import Portal


def heading(block: Locator) -> str:
    return block.locator("> header .type").inner_text()


def is_open(block: Locator) -> bool:
    return block.locator("> header .hd").get_attribute("aria-expanded") == "true"


def height(block: Locator) -> float:
    box = block.bounding_box()
    assert box is not None
    return box["height"]


# The two parts, and the bar between them.


def test_what_was_changed_stands_beside_the_conversation_and_a_bar_moves_it(
    person: Person,
) -> None:
    panel = person.page.get_by_role("complementary", name="About this session")
    bar = person.page.get_by_role("separator", name="Width of the panel")
    is_wide(panel, 480)
    middle = bar.bounding_box()
    assert middle is not None
    x, y = middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2
    person.page.mouse.move(x, y)
    person.page.mouse.down()
    person.page.mouse.move(x - 80, y, steps=4)
    person.page.mouse.up()
    is_wide(panel, 560)
    person.page.reload()
    is_wide(panel, 560)  # a size is kept on this device
    bar.dblclick()
    is_wide(panel, 480)
    person.button("Hide the panel").click()
    expect(panel).to_be_hidden()
    person.page.get_by_role("button", name=re.compile(r"^Changes \d")).click()
    expect(panel).to_be_visible()


# Blocks.


def test_blocks_are_stacked_in_order_and_several_are_open_at_a_time(person: Person) -> None:
    person.says("say hello")
    person.is_idle()
    person.says("look around")
    person.is_idle()
    kinds = person.log.locator("article.blk > header .type").all_inner_texts()
    words = ["User", "Reasoning", "Message", "User", "Message", "Tool (view)", "Message"]
    assert kinds == words
    assert person.log.locator("article.blk > header .hd[aria-expanded=true]").count() == 5
    person.block("Reasoning").locator(".hd").click()
    person.block("Tool").locator(".hd").click()
    assert person.log.locator("article.blk > header .hd[aria-expanded=true]").count() == 7


def test_a_header_says_that_it_receives_and_stops_to_when_it_is_complete(person: Person) -> None:
    person.says("tell the tale")
    expect(person.block("Message").locator(".type")).to_have_text(
        "Message [receiving...]", timeout=10_000
    )
    person.is_idle()
    assert heading(person.block("Message")) == "Message"
    assert heading(person.block("User")) == "User"


def test_while_it_receives_a_block_is_low_and_shows_the_end_of_its_raw_text(
    person: Person,
) -> None:
    person.says("at great length")
    block = person.log.locator("article.blk.message.recv")
    expect(block).to_contain_text("line 40", timeout=10_000)
    assert height(block) <= 150
    body = block.locator("> .body").bounding_box()
    end = block.locator(".caret").bounding_box()
    assert body is not None
    assert end is not None
    assert body["y"] <= end["y"] <= body["y"] + body["height"], "its end is in view"
    person.is_idle()
    assert height(person.block("Message")) > 300


def test_markdown_is_raw_while_it_comes_and_rendered_when_it_is_complete(person: Person) -> None:
    person.says("tell the tale")
    expect(person.block("Message")).to_contain_text("**The end.**", timeout=15_000)
    expect(person.block("Message").locator("strong")).to_have_text("The end.")


def test_user_and_message_are_open_when_complete_and_the_others_closed(person: Person) -> None:
    person.says("say hello")
    person.is_idle()
    person.says("look around")
    person.is_idle()
    opens = {name: is_open(person.block(name)) for name in ("User", "Message", "Reasoning", "Tool")}
    assert opens == {"User": True, "Message": True, "Reasoning": False, "Tool": False}
    expect(person.block("Reasoning")).to_contain_text("Somebody greets me.")  # in one line
    expect(person.block("Reasoning")).not_to_contain_text("I greet back.")


def test_a_click_on_the_header_opens_and_closes(person: Person) -> None:
    person.says("say hello")
    person.is_idle()
    block = person.block("Reasoning")
    block.locator(".hd").click()
    expect(block).to_contain_text("I greet back.")
    block.locator(".hd").click()
    expect(block).not_to_contain_text("I greet back.")
    message = person.block("Message")
    message.locator(".hd").press("Enter")
    assert not is_open(message)


def test_a_document_can_be_seen_raw_and_rendered_again(person: Person) -> None:
    person.says("write a report")
    person.is_idle()
    message = person.block("Message")
    expect(message.get_by_role("heading", name="The report")).to_be_visible()
    expect(message.get_by_role("listitem")).to_have_count(2)
    message.get_by_role("button", name="View Raw Data", exact=True).click()
    expect(message).to_contain_text("# The report")
    expect(message).to_contain_text("**done**")
    message.get_by_role("button", name="View Markdown", exact=True).click()
    expect(message.get_by_role("heading", name="The report")).to_be_visible()


def test_plain_text_and_tools_have_no_such_button(person: Person) -> None:
    person.says("say hello")
    person.is_idle()
    person.says("look around")
    person.is_idle()
    person.block("Tool").locator(".hd").click()
    expect(person.block("Tool")).to_contain_text("arguments")
    expect(person.page.get_by_role("button", name="View Raw Data")).to_have_count(0)


# Tools.


def test_a_tool_shows_its_arguments_and_its_result(person: Person) -> None:
    person.says("look around")
    person.is_idle()
    tool = person.block("Tool")
    assert heading(tool) == "Tool (view)"
    tool.locator(".hd").click()
    expect(tool.locator("dt").first).to_have_text("arguments")
    expect(tool.locator("dd").first).to_contain_text(str(person.portal.work))
    expect(tool.locator("dt").nth(1)).to_have_text(re.compile("output|result"))


def test_a_tool_that_failed_shows_its_error(person: Person) -> None:
    person.says("look at nothing")
    person.is_idle()
    tool = person.block("Tool")
    expect(tool.locator(".sum")).to_contain_text("error")
    tool.locator(".hd").click()
    expect(tool.locator("dt").get_by_text("error", exact=True)).to_be_visible()


def test_a_long_output_is_folded_and_opens_in_full(person: Person) -> None:
    person.says("count far")
    person.is_idle()
    tool = person.block("Tool (bash)")
    tool.locator(".hd").click()
    expect(tool).to_contain_text("lines folded")
    expect(tool).not_to_contain_text("\n299\n")
    tool.get_by_role("button", name="Open full").first.click()
    expect(tool.locator("pre", has_text="298").first).to_contain_text("299")


def test_a_tool_that_a_tool_called_is_inside_it(person: Person) -> None:
    person.says("delegate")
    person.is_idle()
    outer = person.block("Tool (task)")
    outer.locator("> header .hd").click()
    inner = outer.locator("article.blk.tool").first
    expect(inner.locator("> header .type")).to_have_text("Tool (view)")
    inner.locator("> header .hd").click()
    expect(inner).to_contain_text("arguments")
    top = person.log.locator(".conv-in > [data-block] > article.tool")
    expect(top).to_have_count(1)


# What happened to it.


def test_a_turn_that_failed_says_so_in_the_conversation(person: Person) -> None:
    person.says("unlucky")
    person.is_idle()
    expect(person.log.locator(".note.err").last).to_be_visible()


def test_a_block_that_was_cut_off_says_so(person: Person) -> None:
    person.says("take your time")
    expect(person.block("Message")).to_contain_text("One moment.", timeout=10_000)
    person.button("Stop").click()
    person.is_idle()
    expect(person.block("Message")).to_contain_text("Cut off")


# Reading it: late, twice, again.


def test_a_page_that_is_opened_late_or_twice_shows_everything_from_the_beginning(
    portal: Portal, browser: Browser, person: Person
) -> None:
    person.says("tell the tale")
    expect(person.block("Message")).to_contain_text("Once upon", timeout=10_000)
    late = at_page(portal, window(browser, portal), person.session)
    for each in (person, late):
        each.is_idle()
        kinds = each.log.locator("article.blk > header .type").all_inner_texts()
        assert kinds == ["User", "Reasoning", "Message"]
        expect(each.block("Message")).to_contain_text("Once upon a time there was a ship.")
        expect(each.block("Message")).to_contain_text("The end.")
    person.page.reload()
    expect(person.block("Message")).to_contain_text("Once upon a time", timeout=10_000)


def test_the_address_names_the_session_in_the_title_and_says_where_there_is_none(
    portal: Portal, page: Page
) -> None:
    person = at_page(portal, page, new_session(portal, "say hello"))
    expect(person.page).to_have_title("say hello · Airboss")
    page.goto(f"{portal.url}/index.html?session=ses_nobody")
    expect(page.get_by_text("This session cannot be shown.")).to_be_visible(timeout=10_000)


# Following the end.


def many(portal: Portal, session: str, count: int) -> None:
    for n in range(count):
        path = f"/api/v1/sessions/{session}/prompts"
        assert asked(portal, "POST", path, {"text": f"say hello, number {n}"}).status_code == 202


def test_it_follows_its_end_only_while_one_is_there(person: Person) -> None:
    many(person.portal, person.session, 12)
    expect(person.log).to_contain_text("number 11", timeout=30_000)
    person.is_idle()
    at_end = "(box => box.scrollHeight - box.scrollTop - box.clientHeight < 2)"
    assert person.log.evaluate(at_end)

    person.log.hover()
    person.page.mouse.wheel(0, -400)
    person.page.wait_for_timeout(200)
    before = person.log.evaluate("box => box.scrollTop")
    many(person.portal, person.session, 2)
    new = person.page.get_by_role("button", name=re.compile(r"^\d+ new below$"))
    expect(new).to_have_text("6 new below", timeout=20_000)
    assert person.log.evaluate("box => box.scrollTop") == before, "it let go, and nothing moved"
    new.click()
    expect(new).to_have_count(0)
    assert person.log.evaluate(at_end)


def test_opening_a_block_moves_nothing(person: Person) -> None:
    many(person.portal, person.session, 8)
    expect(person.log).to_contain_text("number 7", timeout=30_000)
    person.is_idle()
    header = person.log.locator("article.reasoning .hd").last
    before = header.bounding_box()
    header.click()
    person.page.wait_for_timeout(300)
    assert header.bounding_box() == before


@pytest.mark.timeout(180)
def test_of_a_long_conversation_only_a_part_is_in_the_page(person: Person) -> None:
    many(person.portal, person.session, 80)
    expect(person.log).to_contain_text("number 79", timeout=60_000)
    person.is_idle()
    assert person.log.locator("article.blk").count() < 80
    person.log.evaluate("box => { box.scrollTop = 0; }")
    expect(person.log).to_contain_text("number 0")
    person.log.evaluate("box => { box.scrollTop = box.scrollHeight / 2; }")
    expect(person.log).to_contain_text(re.compile("number (3|4)[0-9]"))
    assert person.log.locator("article.blk").count() < 80


def test_j_and_k_go_from_block_to_block(person: Person) -> None:
    person.says("say hello")
    person.is_idle()
    person.log.focus()
    focused = "document.activeElement.closest('article')?.querySelector('.type').textContent"
    seen: list[str] = []
    for key in ("j", "j", "j", "k"):
        person.page.keyboard.press(key)
        seen.append(person.page.evaluate(focused))
    assert seen == ["User", "Reasoning", "Message", "Reasoning"]
    person.page.keyboard.press("Enter")
    assert is_open(person.block("Reasoning"))
