"""The conversation of a session in a real browser: its blocks, and how one reads them."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.sessions import Person, at_page
from tests.e2e.visit import asked, is_wide, new_session, window
from tests.portal import Portal
from tests.trials import whole_only


def heading(block: Locator) -> str:
    return block.locator("> header .type").inner_text()


def is_open(block: Locator) -> bool:
    return block.locator("> header .hd").get_attribute("aria-expanded") == "true"


def height(block: Locator) -> float:
    box = block.bounding_box()
    assert box is not None
    return box["height"]


# The two parts, and the bar between them.


@whole_only
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
    assert kinds == ["User", "Reasoning", "Message", "User", "Message", "Message"]
    is_open = person.log.locator("[data-step][aria-expanded=true]")
    assert is_open.count() == 5
    person.block("Reasoning").locator(".hd").click()
    person.call("Listed").locator(".tog").click()
    assert is_open.count() == 7


@whole_only
def test_a_header_says_that_it_receives_and_stops_to_when_it_is_complete(person: Person) -> None:
    person.says("tell the tale")
    expect(person.block("Message").locator(".type")).to_have_text(
        "Message [receiving...]", timeout=10_000
    )
    person.is_idle()
    assert heading(person.block("Message")) == "Message"
    assert heading(person.block("User")) == "User"


@whole_only
def test_what_is_said_takes_the_room_that_it_needs_while_it_comes(person: Person) -> None:
    person.says("at great length")
    block = person.log.locator("article.blk.message")
    expect(block).to_contain_text("line 40", timeout=10_000)
    end = block.locator(".caret").bounding_box()
    log = person.log.bounding_box()
    assert height(block) > 300
    assert end is not None
    assert log is not None
    assert log["y"] <= end["y"] <= log["y"] + log["height"], "its end is in view"
    person.is_idle()
    expect(block.locator(".caret")).to_have_count(0)


@whole_only
def test_markdown_is_laid_out_while_it_comes_and_nothing_jumps_at_the_end(person: Person) -> None:
    person.says("lay it out")
    message = person.block("Message")
    expect(message.get_by_role("heading", name="The list")).to_be_visible()
    expect(message.get_by_role("listitem")).to_have_count(2)
    expect(message.locator("strong")).to_have_text("open")  # its end did not come yet
    expect(message.locator(".codebox code")).to_have_text("x = 1\n")
    expect(message.locator(".caret")).to_have_count(1)
    before = height(message)
    person.button("Stop").click()
    person.is_idle()
    body = message.locator("> .body")
    expect(message.locator(".caret")).to_have_count(0)
    assert before - 1 <= height(message), "what is there stays"
    expect(body.locator(".codebox code")).to_have_text("x = 1\n")


@whole_only
def test_user_and_message_are_open_when_complete_and_the_others_closed(person: Person) -> None:
    person.says("say hello")
    person.is_idle()
    person.says("look around")
    person.is_idle()
    opens = {name: is_open(person.block(name)) for name in ("User", "Message", "Reasoning")}
    assert opens == {"User": True, "Message": True, "Reasoning": False}
    expect(person.call("Listed").locator(".tog")).to_have_attribute("aria-expanded", "false")
    expect(person.block("Reasoning")).to_contain_text("Somebody greets me.")  # in one line
    expect(person.block("Reasoning")).not_to_contain_text("I greet back.")


@whole_only
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


@whole_only
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


@whole_only
def test_plain_text_has_no_such_button(person: Person) -> None:
    person.says("say hello")
    person.is_idle()
    expect(person.page.get_by_role("button", name="View Raw Data")).to_have_count(0)


@whole_only
def test_what_was_said_can_be_copied(person: Person) -> None:
    person.says("write a report")
    person.is_idle()
    person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    person.block("Message").get_by_role("button", name="Copy the text").click()
    expect(person.block("Message")).to_contain_text("Copied")
    copied = person.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("# The report\n\nIt is **done**")


# Calls of tools, by their kind.


def hello(person: Person) -> None:
    (person.portal.work / "hello.py").write_text("def one():\n    return 1\n", encoding="utf-8")


def test_a_command_has_its_exit_code_and_the_end_of_what_it_said(person: Person) -> None:
    person.says("fail at it")
    person.is_idle()
    row = person.call("seq 1 30; exit 3")
    expect(row.locator(".ch")).to_contain_text("exit 3")
    expect(row.locator(".ch .time")).to_have_text(re.compile(r"\d s$"))
    output = row.get_by_role("group", name="Output")  # open: it failed
    expect(output).to_have_text("\n".join(str(n) for n in range(19, 31)))
    expect(row).to_contain_text("Last 12 of 30 lines")
    expect(row).not_to_contain_text("shellId")
    row.get_by_role("button", name="Show all").click()
    expect(output).to_contain_text(re.compile(r"^1\n2\n3\n"))
    person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    row.get_by_role("button", name="Copy the output").click()
    expect(row).to_contain_text("Copied")
    assert person.page.evaluate("navigator.clipboard.readText()").startswith("1\n2\n")


@whole_only
def test_a_search_and_a_file_that_was_read_say_so_and_open_the_file_at_its_line(
    person: Person,
) -> None:
    hello(person)
    person.says("look for the word")
    person.is_idle()
    search = person.call("Searched")
    expect(search.locator(".ch")).to_contain_text("1 match in 1 file")
    search.locator(".tog").click()
    expect(search.locator(".hits mark")).to_have_text("return")
    read = person.call("Read")
    expect(read.locator(".ch")).to_contain_text("hello.py")
    expect(read.locator(".ch")).to_contain_text("line 2")
    expect(read).not_to_contain_text("return 1")  # folded
    search.get_by_role("link", name="hello.py").click()
    panel = person.page.get_by_role("complementary", name="About this session")
    lines = panel.get_by_role("list", name="Lines of hello.py").get_by_role("listitem")
    expect(lines).to_have_count(2)
    expect(panel.locator(".codelines li.at")).to_contain_text("return 1")
    expect(lines.locator(".hljs-keyword").first).to_have_text("def")
    expect(panel.get_by_role("tab", name="hello.py")).to_have_attribute("aria-selected", "true")
    expect(person.log).to_be_visible()


@whole_only
def test_three_or_more_looks_in_a_row_share_a_line(person: Person) -> None:
    hello(person)
    person.says("look at it all")
    person.is_idle()
    row = person.call("Read 1 file, listed 1 folder, searched twice")
    expect(person.log.locator(".call")).to_have_count(1)
    row.locator("> .ch .tog").click()
    expect(row.locator(".call")).to_have_count(4)


def test_an_edit_is_one_diff_shown_once(person: Person) -> None:
    hello(person)
    person.says("change it")
    person.is_idle()
    row = person.call("Edited")
    expect(row.locator(".ch")).to_contain_text("Allowed by policy approve-all")
    expect(row.locator(".ch .plus")).to_have_text("+1")
    expect(row.locator(".ch .minus")).to_have_text("\N{MINUS SIGN}1")
    expect(row.get_by_role("link", name="hello.py")).to_be_visible()
    row.locator(".tog").click()
    expect(person.log.locator(".diff")).to_have_count(1)
    expect(row.locator(".diff mark")).to_have_text(["1", "2"])
    expect(row).not_to_contain_text("old_str")


@whole_only
def test_a_to_do_list_has_ticks_and_is_changed_where_it_is(person: Person) -> None:
    person.says("make a plan")
    person.is_idle()
    row = person.call("To-do")
    expect(row.locator(".ch")).to_contain_text("1 of 2 done")
    expect(row.get_by_role("listitem")).to_have_text(["Done: Find it", "To do: Fix it"])
    expect(person.log.locator(".call")).to_have_count(1)


@whole_only
def test_a_call_that_failed_shows_why(person: Person) -> None:
    person.says("look at nothing")
    person.is_idle()
    row = person.call("nothing-is-here")
    expect(row.locator(".ch")).to_contain_text("failed")
    expect(row.get_by_role("group", name="Why it failed")).to_be_visible()


@whole_only
def test_what_another_agent_called_and_answered_is_inside_its_row(person: Person) -> None:
    person.says("delegate")
    person.is_idle()
    row = person.call("scout")
    expect(row.locator("> .ch")).to_contain_text("1 call")
    row.locator("> .ch .tog").click()
    expect(row.locator(".nest .call")).to_have_count(1)
    expect(row.locator(".nest .call .ch")).to_contain_text("Listed")
    expect(row.locator(".nest")).to_contain_text("That is all.")
    order = row.locator(".nest").inner_text()
    assert order.index("I will look.") < order.index("Listed") < order.index("That is all.")
    assert order.count("That is all.") == 1, "its last message is its answer"
    expect(person.log.locator(".conv-in > [data-block] > .calls > .call")).to_have_count(1)


# What happened to it.


def test_a_model_that_fails_is_one_card_that_says_why_and_asks_again(person: Person) -> None:
    person.says("unlucky")
    person.is_idle()
    card = person.log.get_by_role("region", name="The model isn't answering")
    expect(card).to_have_count(1)
    expect(card).to_contain_text("Rehearsal isn't answering")
    expect(card).to_contain_text("so it is safe to retry")
    expect(card.locator("q")).to_contain_text("400")
    expect(person.log.locator(".note")).to_have_count(0)
    card.get_by_role("button", name="Retry", exact=True).click()
    past = person.log.locator(".past-fail")  # what is over is one row
    expect(past).to_contain_text("Rehearsal did not answer. Tried once.")
    expect(past.locator("q")).to_be_hidden()
    past.locator("summary").click()
    expect(past.locator("q")).to_contain_text("400")
    person.is_idle()
    expect(card).to_have_count(1)
    accepted = [event["text"] for event in person.events("prompt.accepted")]
    assert accepted == ["unlucky", "unlucky"]


def test_a_request_that_failed_is_retried_with_another_model_in_a_new_session(
    person: Person,
) -> None:
    person.says("unlucky")
    person.is_idle()
    card = person.log.get_by_role("region", name="The model isn't answering")
    card.get_by_role("button", name="Retry with another model").click()
    expect(card).to_contain_text("starts a new session in the same folder with the same message")
    models = card.get_by_role("combobox", name="Model").get_by_role("option")
    expect(models).to_have_text(["Spare"])  # the one that failed is not among them
    card.get_by_role("button", name="Retry in a new session").click()
    expect(person.block("Message")).to_contain_text("Luck is back.", timeout=30_000)
    new = dict(parse_qsl(urlsplit(person.page.url).query))["session"]
    assert new != person.session
    view = Person(person.portal, person.page, new).view
    assert (view["model"], view["cwd"]) == ("spare", person.view["cwd"])


@whole_only
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
    expect(page.get_by_text("Could not show this session.")).to_be_visible(timeout=10_000)
    expect(page.get_by_role("heading", level=1)).to_have_text("Session")


# Following the end.


def many(portal: Portal, session: str, count: int) -> None:
    for n in range(count):
        path = f"/api/v1/sessions/{session}/prompts"
        assert asked(portal, "POST", path, {"text": f"say hello, number {n}"}).status_code == 202


@whole_only
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


@whole_only
def test_opening_a_block_moves_nothing(person: Person) -> None:
    many(person.portal, person.session, 8)
    expect(person.log).to_contain_text("number 7", timeout=30_000)
    person.is_idle()
    header = person.log.locator("article.reasoning .hd").last
    before = header.bounding_box()
    header.click()
    person.page.wait_for_timeout(300)
    assert header.bounding_box() == before


@whole_only
@pytest.mark.timeout(180)
def test_of_a_long_conversation_only_a_part_is_in_the_page(person: Person) -> None:
    many(person.portal, person.session, 80)
    expect(person.log).to_contain_text("number 79", timeout=60_000)
    person.is_idle()
    assert person.log.locator("article.blk").count() < 80
    around = "box => [box.parentElement.scrollHeight, box.parentElement.clientHeight]"
    inside, room = person.log.evaluate(around)
    assert inside <= room, "nothing sticks out that could be scrolled to"
    person.log.evaluate("box => { box.scrollTop = 0; }")
    expect(person.log).to_contain_text("number 0")
    person.log.evaluate("box => { box.scrollTop = box.scrollHeight / 2; }")
    expect(person.log).to_contain_text(re.compile("number (3|4)[0-9]"))
    assert person.log.locator("article.blk").count() < 80


@whole_only
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
    person.page.keyboard.press("o")
    assert not is_open(person.block("Reasoning"))
