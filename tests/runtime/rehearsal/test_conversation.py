"""What the runtime sends is understood. The messages have the shapes that it was seen to send."""

import pytest

from airboss.runtime.rehearsal.conversation import Mark, Message, person_text, read

NOW = "<current_datetime>2026-11-15T08:18:53.746+00:00</current_datetime>\n\n"
SYSTEM = """You are GitHub Copilot.

<environment_context>
You are working in the following environment.
* Current working directory: /home/ann/my work
* Git repository root: Not a git repository
</environment_context>
<custom_instruction>
* Current working directory: /not/this
</custom_instruction>"""
SUMMARISE = "Please create a detailed summary of the conversation so far. The history is being"
NOTICE = '<system_notification>\nShell command "d" has completed.\n</system_notification>'


def system(text: str = SYSTEM) -> Message:
    return Message(role="system", content=text)


def user(text: str) -> Message:
    return Message(role="user", content=text)


def reply(text: str = "", *calls: str) -> Message:
    made = [{"id": call, "function": {"name": "view", "arguments": "{}"}} for call in calls]
    return Message.model_validate({"role": "assistant", "content": text, "tool_calls": made})


def result(call: str) -> Message:
    return Message.model_validate({"role": "tool", "tool_call_id": call, "content": "ok"})


@pytest.mark.parametrize(
    ("sent", "wrote"),
    [
        ("plain", "plain"),
        (f"{NOW}hello", "hello"),
        (f"{NOW}hello\n\n<system_reminder>\nhidden\n</system_reminder>", "hello"),
        (f"{NOW}read\n\n\n\n<tagged_files>\n* /w/a.txt (1 lines)\n</tagged_files>", "read"),
        (f"<ide_selection>\nFile: a.txt\n</ide_selection>\n\n{NOW}sel", "sel"),
        (f"{NOW}<reminder>\n<sql_tables>none</sql_tables>\n</reminder>\n\nhello", "hello"),
        (
            f"{NOW}<mode_changed_notice>\n\n<plan_mode>\n[[PLAN]]\n</plan_mode>\n"
            "</mode_changed_notice>\n\n[[PLAN]] think",
            "think",
        ),
        (f"{NOW}what does <tagged_files> mean in\n<b>this</b>", None),
        (f"{NOW}  two\n\nlines ", "two\n\nlines"),
    ],
)
def test_what_the_runtime_wraps_around_a_text_is_taken_off(sent: str, wrote: str | None) -> None:
    assert person_text(sent) == (wrote or sent.removeprefix(NOW))


@pytest.mark.parametrize(
    "notice",
    [
        NOTICE,
        "Additional context from preToolUse hook:\nprenote",
        f"{SUMMARISE} compacted",
        "The conversation history has been summarized to free up context.\n\n<summary>\n</summary>",
    ],
)
def test_what_the_runtime_says_as_a_user_is_passed_over(notice: str) -> None:
    talk = read([system(), user(f"{NOW}the work"), reply("done"), user(notice)])
    assert (talk.last, talk.replies) == ("the work", 1)


def test_the_folder_is_the_one_of_the_environment() -> None:
    assert read([system(), user("hi")]).cwd == "/home/ann/my work"


def test_the_folder_is_a_dot_where_the_system_message_does_not_tell() -> None:
    assert read([system("only this"), user("hi")]).cwd == "."


def test_replies_are_counted_since_the_last_text_of_the_person() -> None:
    first = [system(), user("one"), reply("a"), user("two")]
    assert read(first).replies == 0
    assert read([*first, reply("b", "call_1"), result("call_1")]).replies == 1
    assert read([*first, reply("b", "call_1"), result("call_1"), reply("c")]).replies == 2


def test_a_text_that_steers_begins_a_new_count() -> None:
    talk = read([system(), user("one"), reply("", "call_1"), result("call_1"), user("turn left")])
    assert (talk.last, talk.replies) == ("turn left", 0)


def test_a_call_that_the_runtime_makes_in_the_models_name_is_no_reply() -> None:
    own = "c41f4f0e-f0c6-4b2d-a91b-f54715ddb632"
    talk = read([system(), user("one"), reply("a"), user(NOTICE), reply("", own), result(own)])
    assert (talk.last, talk.replies) == ("one", 1)


def test_the_place_in_a_rule_is_in_the_ids_of_its_calls() -> None:
    call = "call_0a1b2c3d_4_ffff0000"
    talk = read([system(), user("one"), reply("", call), result(call), reply("text")])
    assert (talk.mark, talk.since_mark, talk.replies) == (Mark("0a1b2c3d", 4), 1, 2)


def test_a_compacted_turn_is_about_its_last_prompt() -> None:
    summary = (
        "Some of the conversation history has been summarized to free up context.\n\nYou were "
        "originally given instructions from a user over one or more turns. Here were the user "
        "messages:\n<user_message>\nfirst\n</user_message>\n<user_message>\nsecond\n"
        "</user_message>\n\nHere is a summary of the prior context:\n<summary>\nx\n</summary>\n"
    )
    talk = read([system(), user(summary), reply("", "call_1"), result("call_1")])
    assert (talk.last, talk.replies) == ("second", 1)


def test_the_words_beside_an_image_are_found_and_its_name_is_not() -> None:
    note = "<system_reminder>\nThe user mentioned images.\n</system_reminder>"
    parts = [
        {"type": "text", "text": f"{NOW}what is this\n\n{note}"},
        {"type": "text", "text": "x.png"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    sent = Message.model_validate({"role": "user", "content": parts})
    assert read([system(), sent]).last == "what is this"


def test_an_image_without_words_is_still_the_persons() -> None:
    parts = [{"type": "text", "text": NOW}, {"type": "image_url", "image_url": {"url": "data:"}}]
    sent = Message.model_validate({"role": "user", "content": parts})
    talk = read([system(), user("before"), reply("a"), sent])
    assert (talk.last, talk.replies) == ("", 0)


def test_errands_of_the_runtime_are_told_from_turns() -> None:
    aside = "You are answering a quick side question from the user about their conversation."
    title = "Output the title inside <session-title></session-title> tags"
    slug = "Output the slug inside <branch-slug></branch-slug> tags"
    purposes = [
        read([system(), user("hi"), user(f"{SUMMARISE} compacted")]).purpose,
        read([system(aside), user("hi")]).purpose,
        read([system(title), user("hi")]).purpose,
        read([system(slug), user("hi")]).purpose,
        read([system(), user("hi")]).purpose,
    ]
    assert purposes == ["summary", "aside", "title", "slug", "turn"]


def test_what_a_summary_is_to_dwell_on_is_found() -> None:
    asked = f"{SUMMARISE}\n\n<user_focus_instructions>\nkeep it\n</user_focus_instructions>\n\n---"
    assert read([system(), user("hi"), user(asked)]).focus == "keep it"
    assert read([system(), user(asked.removeprefix("Please"))]).focus == ""
