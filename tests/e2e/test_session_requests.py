"""Asking on the session page: sending, queueing, steering, stopping, tasks, images."""

import base64
import re
import time
from collections.abc import Callable

from playwright.sync_api import Route, expect

from tests.e2e.sessions import Person, at_page
from tests.e2e.witness import Quiet
from tests.pauses import pauses
from tests.portal import Portal
from tests.trials import whole_only

# The smallest image that there is: one pixel.
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def at_work(person: Person, text: str = "take your time") -> None:
    person.says(text)
    expect(person.awaits).to_be_visible(timeout=10_000)
    expect(person.button("Stop")).to_be_visible()


def accepted(person: Person) -> list[str]:
    return [event["text"] for event in person.events("prompt.accepted")]


def until(holds: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    pause = pauses()
    while not holds():
        assert time.monotonic() < end
        time.sleep(next(pause))


def middle(person: Person, name: str) -> tuple[float, float]:
    box = person.button(name).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


# Sending.


def test_send_is_at_the_lower_right_and_sends_the_text(person: Person) -> None:
    x, y = middle(person, "Send")
    part = person.page.get_by_role("region", name="Message", exact=True).bounding_box()
    size = person.page.viewport_size
    assert part is not None
    assert size is not None
    assert x > part["x"] + part["width"] - 100
    assert y > size["height"] - 60
    person.says("say hello")
    expect(person.block("User")).to_contain_text("say hello", timeout=10_000)
    expect(person.block("Message")).to_contain_text("Hello, captain.", timeout=10_000)
    expect(person.request).to_have_value("")
    assert accepted(person) == ["say hello"]


def test_enter_sends_and_shift_enter_begins_a_line(person: Person) -> None:
    person.request.fill("say hello")
    person.request.press("Shift+Enter")
    person.page.keyboard.type("to me")
    assert accepted(person) == []
    person.request.press("Enter")
    expect(person.block("Message")).to_contain_text("Hello, captain.", timeout=10_000)
    assert accepted(person) == ["say hello\nto me"]


@whole_only
def test_enter_begins_a_line_where_this_device_says_so(person: Person) -> None:
    person.page.goto(f"{person.portal.url}/settings.html#appearance")
    person.page.get_by_role("button", name="Starts a new line").click()
    person.page.go_back()
    person.request.fill("say hello")
    person.request.press("Enter")
    expect(person.request).to_have_value("say hello\n")
    assert accepted(person) == []
    person.request.press("Control+Enter")
    expect(person.block("Message")).to_contain_text("Hello, captain.", timeout=10_000)


def test_while_the_agent_works_enter_queues(person: Person) -> None:
    at_work(person)
    expect(person.button("Send")).to_have_count(0)
    person.request.fill("and this too")
    person.request.press("Enter")
    queue = person.page.get_by_role("list", name="Queue, 1 message")
    expect(queue).to_contain_text("and this too")
    expect(person.request).to_have_value("")
    assert accepted(person) == ["take your time", "and this too"]


@whole_only
def test_the_box_begins_with_two_lines_and_grows_to_a_part_of_the_window(person: Person) -> None:
    size = person.page.viewport_size
    assert size is not None

    def height() -> float:
        box = person.request.bounding_box()
        assert box is not None
        return box["height"]

    assert 45 <= height() <= 60
    person.request.fill("\n".join(str(n) for n in range(8)))
    assert 150 <= height() <= 200
    person.request.fill("\n".join(str(n) for n in range(200)))
    assert height() <= 0.4 * size["height"] + 1
    expect(person.button("Send")).to_be_in_viewport()


# Commands and files.


def test_a_slash_lists_commands_and_one_is_done_here(person: Person) -> None:
    person.request.press_sequentially("/re")
    commands = person.page.get_by_role("listbox", name="Commands")
    expect(commands.get_by_role("option").first).to_contain_text("/rename")
    person.request.press("Enter")
    expect(person.request).to_have_value("/rename ")
    person.page.keyboard.type("A better name")
    person.request.press("Enter")
    expect(person.page.get_by_role("heading", name="A better name", level=1)).to_be_visible()
    expect(person.request).to_have_value("")
    person.request.fill("/hlep")
    person.request.press("Escape")
    person.request.press("Enter")
    expect(person.page.get_by_text("There is no command /hlep.")).to_be_visible()
    assert accepted(person) == [], "no model hears of a command"
    assert person.view["title"] == "A better name"


@whole_only
def test_an_at_lists_files_of_the_folder_and_puts_one_into_the_text(person: Person) -> None:
    (person.portal.work / "ledger.py").write_text("", encoding="utf-8")
    person.request.press_sequentially("look at @ledg")
    files = person.page.get_by_role("listbox", name="Files")
    expect(files.get_by_role("option")).to_have_text(["ledger.py"])
    person.request.press("Enter")
    expect(person.request).to_have_value("look at @ledger.py ")
    expect(files).to_have_count(0)
    assert accepted(person) == []


@whole_only
def test_a_session_can_be_renamed_and_pinned_by_its_head(portal: Portal, person: Person) -> None:
    person.button("Rename the session").click()
    name = person.page.get_by_role("textbox", name="Name of the session")
    name.fill("Ledger work")
    name.press("Enter")
    expect(person.page).to_have_title("Ledger work · Airboss")
    person.button("Pin the session").click()
    expect(person.button("Pin the session")).to_have_attribute("aria-pressed", "true")
    person.page.goto(f"{portal.url}/index.html")
    first = person.page.get_by_role("region", name="Recent").locator(".runs li").first
    expect(first).to_contain_text("Ledger work")


@whole_only
def test_an_empty_request_is_not_sent(person: Person) -> None:
    person.button("Send").click()
    person.request.press("Enter")
    expect(person.request).to_be_focused()
    assert accepted(person) == []


@whole_only
def test_awaits_responses_stands_below_while_the_agent_works(person: Person) -> None:
    expect(person.awaits).to_have_count(0)
    person.says("tell the tale")
    expect(person.awaits).to_be_visible()
    box = person.awaits.bounding_box()
    size = person.page.viewport_size
    assert box is not None
    assert size is not None
    assert box["x"] < size["width"] / 2
    assert box["y"] > size["height"] - 180
    person.is_idle()
    expect(person.awaits).to_have_count(0)


# Nothing lost, nothing twice.


@whole_only
def test_a_draft_outlives_a_reload_and_belongs_to_its_session(
    portal: Portal, person: Person
) -> None:
    person.request.fill("half a thought")
    person.page.reload()
    expect(person.request).to_have_value("half a thought", timeout=10_000)
    other = at_page(portal, person.page)
    expect(other.request).to_have_value("")
    assert accepted(person) == []


def test_a_request_whose_answer_is_lost_is_found_by_its_event(person: Person, quiet: Quiet) -> None:
    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    person.page.route(re.compile(r"/prompts$"), lose)
    person.says("say hello")
    expect(person.block("Message")).to_contain_text("Hello, captain.", timeout=15_000)
    expect(person.request).to_have_value("")
    person.is_idle()
    assert accepted(person) == ["say hello"]
    person.page.unroute(re.compile(r"/prompts$"))
    quiet.said[:] = [text for text in quiet.said if "ERR_FAILED" not in text]


@whole_only
def test_a_request_that_never_arrived_is_kept_to_be_sent_again(
    person: Person, quiet: Quiet
) -> None:
    person.page.route(re.compile(r"/prompts$"), lambda route: route.abort())
    person.says("say hello")
    expect(person.page.get_by_text("Your message did not arrive")).to_be_visible(timeout=10_000)
    expect(person.request).to_have_value("say hello")
    assert accepted(person) == []
    person.page.unroute(re.compile(r"/prompts$"))
    person.button("Send").click()
    expect(person.block("Message")).to_contain_text("Hello, captain.", timeout=10_000)
    assert accepted(person) == ["say hello"]
    quiet.said[:] = [text for text in quiet.said if "ERR_FAILED" not in text]


# While it works.


@whole_only
def test_a_message_can_be_queued_while_the_agent_works(person: Person) -> None:
    at_work(person, "tell the tale")
    person.request.fill("say hello")
    person.button("Queue").click()
    queue = person.page.get_by_role("list", name="Queue, 1 message")
    expect(queue).to_contain_text("say hello")
    expect(person.request).to_have_value("")
    expect(person.block("Message")).to_contain_text("Hello, captain.", timeout=20_000)
    expect(queue).to_have_count(0)
    assert accepted(person) == ["tell the tale", "say hello"]


def test_a_message_can_steer_the_run(person: Person) -> None:
    at_work(person, "in two steps")
    expect(person.block("Message")).to_contain_text("First a look.", timeout=10_000)
    person.request.fill("say hello")
    person.button("Steer now").click()
    steered = person.block("User (Steered)")
    expect(steered).to_contain_text("say hello", timeout=20_000)
    person.is_idle()
    assert len(person.events("turn.ended")) == 1
    assert len(person.events("prompt.steered")) == 1


@whole_only
def test_keys_queue_and_steer(person: Person) -> None:
    at_work(person)
    person.request.fill("first")
    person.request.press("Alt+Enter")
    expect(person.page.get_by_role("list", name="Queue, 1 message")).to_contain_text("first")
    expect(person.request).to_have_value("")
    person.request.fill("second")
    person.request.press("Control+Shift+Enter")
    expect(person.page.get_by_role("list", name="Queue, 2 messages")).to_contain_text("second")
    deliveries = [event.get("delivery") for event in person.events("prompt.accepted")]
    assert deliveries == [None, None, "steer"]


@whole_only
def test_what_waits_can_be_changed_moved_and_taken_out(person: Person) -> None:
    at_work(person)
    for text in ("one", "two", "three"):
        person.request.fill(text)
        person.button("Queue").click()
        expect(person.request).to_have_value("")
    rows = person.page.get_by_role("list", name=re.compile("^Queue")).get_by_role("listitem")
    expect(rows).to_have_count(3)
    rows.nth(2).get_by_role("button", name="Move up").click()
    expect(rows.nth(1)).to_contain_text("three")
    rows.nth(0).get_by_role("button", name="Edit").click()
    rows.nth(0).get_by_role("textbox").fill("one, changed")
    rows.nth(0).get_by_role("textbox").press("Enter")
    expect(rows.nth(0)).to_contain_text("one, changed")
    rows.nth(2).get_by_role("button", name="Remove from the queue").click()
    expect(rows).to_have_count(2)
    rows.nth(1).drag_to(rows.nth(0))
    expect(rows.nth(0)).to_contain_text("three")
    waits = [queued["text"] for queued in person.view["queue"]]
    assert waits == ["three", "one, changed"]


@whole_only
def test_what_waits_can_steer_now(person: Person) -> None:
    at_work(person, "in two steps")
    expect(person.block("Message")).to_contain_text("First a look.", timeout=10_000)
    person.request.fill("say hello")
    person.button("Queue").click()
    row = person.page.get_by_role("list", name="Queue, 1 message").get_by_role("listitem")
    row.get_by_role("button", name="Steer now").click()
    expect(person.block("User (Steered)")).to_contain_text("say hello", timeout=20_000)


def test_stop_aborts_the_turn(person: Person) -> None:
    at_work(person)
    person.button("Stop").click()
    person.is_idle()
    assert [event["outcome"] for event in person.events("turn.ended")] == ["aborted"]
    expect(person.button("Stop")).to_have_count(0)


@whole_only
def test_ctrl_dot_stops_from_anywhere_and_escape_never_does(person: Person) -> None:
    at_work(person)
    person.log.focus()
    person.page.keyboard.press("Escape")
    person.page.wait_for_timeout(300)
    expect(person.awaits).to_be_visible()
    person.page.keyboard.press("Control+.")
    person.is_idle()
    assert [event["outcome"] for event in person.events("turn.ended")] == ["aborted"]


# Tasks.


@whole_only
def test_the_tasks_of_the_entry_can_be_chosen_and_none_is_first(person: Person) -> None:
    tasks = person.page.get_by_label("Choose a Task:")
    expect(tasks.get_by_role("option")).to_have_text(["(none)", "greet", "tell"])
    expect(tasks).to_have_value("")


def test_with_a_task_chosen_send_starts_it_on_this_session(person: Person) -> None:
    person.page.get_by_label("Choose a Task:").select_option("greet")
    person.button("Send").click()
    expect(person.block("User (Task)")).to_contain_text("say hello", timeout=15_000)
    expect(person.block("Message")).to_contain_text("Hello, captain.", timeout=15_000)
    expect(person.button("Send")).to_be_enabled(timeout=15_000)
    [prompt] = person.events("prompt.accepted")
    assert prompt["task"] is not None


@whole_only
def test_the_text_is_the_tasks_input_where_it_needs_one(person: Person) -> None:
    person.page.get_by_label("Choose a Task:").select_option("tell")
    person.button("Send").click()
    expect(person.request).to_be_focused()
    person.says("wave")
    expect(person.block("User (Task)")).to_contain_text("and then: wave", timeout=15_000)
    expect(person.button("Send")).to_be_enabled(timeout=15_000)
    expect(person.request).to_have_value("")


# Images.


@whole_only
def test_images_can_be_attached_pasted_and_dropped_and_are_sent(person: Person) -> None:
    previews = person.page.get_by_role("list", name="Attached images").get_by_role("img")
    file = {"name": "pixel.png", "mimeType": "image/png", "buffer": PIXEL}
    person.page.get_by_label("Files", exact=True).set_input_files([file])  # pyright: ignore[reportArgumentType]
    expect(previews).to_have_count(1)
    put = """(element, [kind, data]) => {
      const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
      const file = new File([bytes], "p.png", {type: "image/png"});
      const transfer = new DataTransfer();
      transfer.items.add(file);
      element.dispatchEvent(kind === "paste"
        ? new ClipboardEvent("paste", {clipboardData: transfer, bubbles: true, cancelable: true})
        : new DragEvent("drop", {dataTransfer: transfer, bubbles: true, cancelable: true}));
    }"""
    for count, kind in ((2, "paste"), (3, "drop")):
        person.request.evaluate(put, [kind, base64.b64encode(PIXEL).decode()])
        expect(previews).to_have_count(count)
    person.page.get_by_role("button", name="Remove p.png").first.click()
    expect(previews).to_have_count(2)
    person.says("say hello")
    person.is_idle()
    expect(previews).to_have_count(0)
    [prompt] = person.events("prompt.accepted")
    assert [image["mime"] for image in prompt["images"]] == ["image/png"] * 2
    shown = person.block("User").get_by_role("img")
    expect(shown).to_have_count(2)
    assert shown.first.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1


@whole_only
def test_a_text_file_goes_with_a_request_and_what_is_neither_is_refused(person: Person) -> None:
    text = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"one\n```\ntwo\n"}
    other = {"name": "sound.wav", "mimeType": "audio/wav", "buffer": b"RIFF\0\0"}
    person.page.get_by_label("Files", exact=True).set_input_files([text, other])  # pyright: ignore[reportArgumentType]
    expect(person.page.get_by_text("sound.wav is not a text file or an image")).to_be_visible()
    files = person.page.get_by_role("list", name="Attached files").get_by_role("listitem")
    expect(files).to_have_count(1)
    expect(files).to_contain_text("notes.txt")
    person.says("say hello")
    expect(person.block("Message")).to_contain_text("Hello, captain.", timeout=10_000)
    assert accepted(person) == ["say hello\n\nnotes.txt:\n````\none\n```\ntwo\n````"]
    expect(files).to_have_count(0)


# The context.


@whole_only
def test_the_history_is_compacted_from_the_composer_and_the_gauge_moves(person: Person) -> None:
    for _ in range(2):
        person.says("say hello")
        expect(person.button("Compact")).to_be_visible(timeout=10_000)
    region = person.page.get_by_role("region", name="Message")
    expect(region).to_contain_text("of 128k")
    until(lambda: len(person.events("turn.ended")) == 2)
    person.button("Compact").click()
    note = person.page.get_by_text("A summary replaces")
    expect(note).to_be_visible(timeout=10_000)
    [ended] = person.events("compaction.ended")
    assert ended["removed"] > 0


def test_a_compaction_is_asked_for_by_a_command_seen_and_stopped(person: Person) -> None:
    for _ in range(2):
        person.says("say hello")
        expect(person.button("Compact")).to_be_visible(timeout=10_000)
    until(lambda: len(person.events("turn.ended")) == 2)
    person.request.fill("/compact The summary may take long.")
    person.request.press("Enter")
    awaits = person.page.get_by_text("Compacting the history ...")
    expect(awaits).to_be_visible(timeout=10_000)
    expect(person.button("Compact")).to_have_count(0)
    person.button("Stop").click()
    expect(awaits).to_have_count(0, timeout=10_000)
    expect(person.page.get_by_text("The history was not compacted")).to_be_visible()
    expect(person.button("Send")).to_be_visible()


@whole_only
def test_where_there_is_nothing_to_compact_the_page_says_so(person: Person) -> None:
    person.request.fill("/compact")
    person.request.press("Enter")
    expect(person.page.get_by_text("There is nothing to compact yet.")).to_be_visible(
        timeout=10_000
    )


def test_the_next_turn_is_that_of_the_model_that_was_picked(person: Person) -> None:
    person.says("say hello")
    expect(person.block("Message")).to_contain_text("Hello, captain.", timeout=10_000)
    model = person.page.get_by_role("combobox", name="Model")
    expect(model).to_have_value("rehearsal")
    model.select_option("spare")
    expect(person.page.get_by_text("model spare. By")).to_be_visible(timeout=10_000)
    person.page.reload()
    expect(model).to_have_value("spare")
    person.says("say hello")
    until(lambda: len(person.events("turn.ended")) == 2)
    assert [event["models"] for event in person.events("turn.ended")] == [["rehearsal"], ["spare"]]


@whole_only
def test_permissions_are_picked_in_the_composer(person: Person) -> None:
    permissions = person.page.get_by_role("combobox", name="Permissions")
    expect(permissions).to_have_value("approve-all")
    permissions.select_option("read-only")
    expect(person.page.get_by_text("permissions read-only. By")).to_be_visible(timeout=10_000)
    person.says("write it")
    until(lambda: len(person.events("turn.ended")) == 1)
    [decided] = person.events("permission.decided")
    assert (decided["allowed"], decided["by"]) == (False, "policy read-only")
