"""The wire, over real HTTP."""

import asyncio
import json
import logging
import time
from typing import Any

import httpx2
import pytest

from airboss.errors import SettingsInvalid
from airboss.runtime.rehearsal import RehearsalServer, builtin_script, parse_script
from tests.runtime.rehearsal.conftest import Serve

pytestmark = pytest.mark.anyio

TWICE = """
rules:
  - {when: ask, times: 2, steps: [{call: {tool: view}}, {say: looked}]}
  - {when: bad, times: 1, steps: [{fail: {status: 500}}]}
  - {steps: [{say: other}]}
"""


def ask(text: str, *more: dict[str, Any], **options: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}, *more]
    return {"model": "gpt-5.2", "messages": messages, "stream": True, **options}


async def chunks(client: httpx2.AsyncClient, body: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await client.post("/chat/completions", json=body)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream")
    *lines, done = [line.removeprefix("data: ") for line in answer.text.split("\n\n") if line]
    assert done == "[DONE]"
    return [json.loads(line) for line in lines]


async def said(client: httpx2.AsyncClient, body: dict[str, Any], **headers: str) -> str:
    whole = {**body, "stream": False}
    answer = await client.post("/chat/completions", json=whole, headers=headers)
    if answer.status_code != 200:
        return str(answer.status_code)
    message = answer.json()["choices"][0]["message"]
    return message["content"] or message["tool_calls"][0]["function"]["name"]


async def test_a_reply_is_streamed_in_chunks_of_text(serve: Serve) -> None:
    text = "{chunk_chars: 4, rules: [{steps: [{reasoning: Hmm.}, {say: 'Grüße, Welt'}]}]}"
    async with serve(text) as client:
        parts = await chunks(client, ask("hi"))
    assert [part["choices"][0]["delta"] for part in parts] == [
        {"role": "assistant"},
        {"reasoning_text": "Hmm."},
        {"content": "Grüß"},
        {"content": "e, W"},
        {"content": "elt"},
        {},
    ]
    assert {part["model"] for part in parts} == {"gpt-5.2"}
    assert {part["id"] for part in parts} == {parts[0]["id"]}
    assert [part["choices"][0]["finish_reason"] for part in parts] == [None] * 5 + ["stop"]
    assert parts[-1]["usage"] == {"prompt_tokens": 1, "completion_tokens": 4, "total_tokens": 5}


async def test_usage_comes_apart_where_that_is_asked(serve: Serve) -> None:
    async with serve("rules: [{steps: [{say: hello}]}]") as client:
        parts = await chunks(client, ask("hi " * 40, stream_options={"include_usage": True}))
    assert parts[-1]["choices"] == []
    assert parts[-1]["usage"] == {"prompt_tokens": 31, "completion_tokens": 2, "total_tokens": 33}
    assert "usage" not in parts[-2]


async def test_several_calls_are_one_message(serve: Serve) -> None:
    text = "rules: [{steps: [{calls: [{tool: a, arguments: {x: 1}}, {tool: b}]}]}]"
    async with serve(text) as client:
        parts = await chunks(client, ask("hi"))
    calls = [call for part in parts for call in part["choices"][0]["delta"].get("tool_calls", [])]
    assert [(call["index"], call["function"]) for call in calls] == [
        (0, {"name": "a", "arguments": '{"x": 1}'}),
        (1, {"name": "b", "arguments": "{}"}),
    ]
    assert calls[0]["id"] != calls[1]["id"]
    assert parts[-1]["choices"][0]["finish_reason"] == "tool_calls"


async def test_a_reply_is_told_in_one_piece_where_no_stream_is_asked(serve: Serve) -> None:
    text = "rules: [{steps: [{reasoning: hmm}, {say: yes it is}, {call: {tool: view}}]}]"
    async with serve(text) as client:
        answer = await client.post("/chat/completions", json=ask("hi", stream=False))
    (choice,) = answer.json()["choices"]
    (call,) = choice["message"].pop("tool_calls")
    assert choice == {
        "index": 0,
        "message": {"role": "assistant", "content": "yes it is", "reasoning_text": "hmm"},
        "finish_reason": "tool_calls",
    }
    assert call["function"] == {"name": "view", "arguments": "{}"}


async def test_the_models_are_listed(serve: Serve) -> None:
    async with serve("models: [{id: a, name: A, multiplier: 0.5}]") as client:
        answer = await client.get("/models")
    known = {"object": "model", "created": 0, "owned_by": "rehearsal"}
    assert answer.json() == {
        "object": "list",
        "data": [{**known, "id": "a", "name": "A", "multiplier": 0.5, "efforts": None}],
    }


async def test_a_failure_is_the_http_answer(serve: Serve) -> None:
    async with serve("rules: [{steps: [{fail: {status: 429, message: slow}}]}]") as client:
        answer = await client.post("/chat/completions", json=ask("hi"))
    assert answer.status_code == 429
    assert answer.json() == {
        "error": {"message": "slow", "type": "rehearsal", "code": "rehearsed_failure"}
    }


@pytest.mark.parametrize("stream", [True, False])
async def test_a_drop_cuts_the_connection_and_nothing_is_logged(
    serve: Serve, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with serve("rules: [{steps: [{say: partial}, {drop: true}]}]") as client:
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.post("/chat/completions", json=ask("hi", stream=stream))
        assert (await client.get("/models")).status_code == 200
    assert caplog.records == []


async def test_what_was_said_before_a_drop_arrives(serve: Serve) -> None:
    heard: list[bytes] = []
    async with serve("rules: [{steps: [{say: partial}, {drop: true}]}]") as client:
        with pytest.raises(httpx2.RemoteProtocolError):
            await listen(client, heard)
    assert b'"content": "partial"' in b"".join(heard)
    assert b"DONE" not in b"".join(heard)


async def listen(client: httpx2.AsyncClient, heard: list[bytes], text: str = "hi") -> None:
    async with client.stream("POST", "/chat/completions", json=ask(text)) as answer:
        async for part in answer.aiter_bytes():
            heard.append(part)  # noqa: PERF401 -- what came before the cut is wanted


async def test_the_pace_is_kept(serve: Serve) -> None:
    text = "{chunk_ms: 20, chunk_chars: 1, rules: [{steps: [{sleep: 0.1}, {say: abcde}]}]}"
    async with serve(text) as client:
        began = time.monotonic()
        await chunks(client, ask("hi"))
    assert 0.2 <= time.monotonic() - began < 2


async def test_a_long_reply_is_fast_and_others_are_answered_meanwhile(serve: Serve) -> None:
    words = "x" * 12 * 20_000
    async with serve(f"rules: [{{when: long, steps: [{{say: {words}}}]}}]") as client:
        began = time.monotonic()
        heard: list[bytes] = []
        long = asyncio.create_task(listen(client, heard, "long"))
        while not heard:  # noqa: ASYNC110 - nothing tells of a list
            await asyncio.sleep(0)
        assert await said(client, ask("short"))
        assert not long.done()
        await long
        took = time.monotonic() - began
    assert b"".join(heard).count(b"data: ") == 20_003
    assert took < 10, f"{20_000 / took:.0f} chunks a second"


async def test_a_rule_plays_as_often_as_it_says(serve: Serve) -> None:
    async with serve(TWICE) as client:
        heard = [await said(client, ask(f"ask {n}")) for n in range(3)]
    assert heard == ["view", "view", "other"]


async def test_a_spent_rule_is_played_to_its_end(serve: Serve) -> None:
    async with serve(TWICE) as client:
        for n in range(2):
            body = ask(f"ask {n}", stream=False)
            first = (await client.post("/chat/completions", json=body)).json()
            reply = first["choices"][0]["message"]
            result = {"role": "tool", "tool_call_id": reply["tool_calls"][0]["id"], "content": "a"}
            assert await said(client, ask(f"ask {n}", reply, result)) == "looked"
        assert await said(client, ask("ask again")) == "other"


async def test_retries_count_once(serve: Serve) -> None:
    async with serve(TWICE) as client:
        heard = [await said(client, ask("bad luck")) for _ in range(6)]
        assert heard == ["500"] * 6
        assert await said(client, ask("bad again")) == "other"


async def test_conversations_that_look_alike_count_each_when_the_runtime_says_so(
    serve: Serve,
) -> None:
    first = {"x-initiator": "user"}
    async with serve(TWICE) as client:
        heard = [await said(client, ask("ask"), **first) for _ in range(3)]
    assert heard == ["view", "view", "other"]


async def test_a_notice_after_the_end_begins_no_rule(serve: Serve) -> None:
    notice = {"role": "user", "content": "<system_notification>\nx\n</system_notification>"}
    done = {"role": "assistant", "content": "first"}
    text = "rules: [{times: 1, steps: [{say: first}]}, {times: 1, steps: [{say: second}]}]"
    async with serve(text) as client:
        assert await said(client, ask("one")) == "first"
        assert await said(client, ask("one", done, notice)) == "Rehearsed: “one”"
        assert await said(client, ask("two")) == "second"


async def test_a_summary_uses_up_no_rule(serve: Serve) -> None:
    prompt = {
        "role": "user",
        "content": "Please create a detailed summary of the conversation so far.",
    }
    async with serve("rules: [{times: 1, steps: [{say: mine}]}]") as client:
        assert "<overview>" in await said(client, ask("hi", prompt))
        assert await said(client, ask("hi")) == "mine"


@pytest.mark.parametrize("key", ["", "Bearer wrong", "Basic x", "Bearer ünï"])
async def test_who_has_no_key_is_not_answered(key: str) -> None:
    async with RehearsalServer(builtin_script()) as server, httpx2.AsyncClient() as client:
        for path in ("/models", "/chat/completions", "/elsewhere"):
            answer = await client.post(
                server.base_url + path, headers=[(b"authorization", key.encode())], json=ask("hi")
            )
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "no_key")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "The request is not JSON: Expecting property name"),
        (b"[" * 100_000, "The request is not JSON"),
        (b"[]", "request: Input should be"),
        (b'{"model": "x", "messages": []}', "messages: List should have at least 1 item"),
        (b'{"messages": [{"role": "user"}]}', "model: Field required"),
    ],
)
async def test_a_request_that_makes_no_sense_is_refused(
    serve: Serve, body: bytes, reason: str
) -> None:
    async with serve("rules: []") as client:
        answer = await client.post("/chat/completions", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(reason)


async def test_a_request_that_is_too_large_is_refused(serve: Serve) -> None:
    async with serve("rules: []") as client:
        answer = await client.post("/chat/completions", content=b" " * (64 * 1024 * 1024 + 1))
    assert answer.status_code == 413


async def test_another_address_is_not_found(serve: Serve) -> None:
    async with serve("rules: []") as client:
        assert (await client.get("/nothing")).status_code == 404


async def test_leaving_does_not_wait_for_a_script_that_sleeps() -> None:
    script = parse_script("rules: [{steps: [{sleep: 3600}, {say: late}]}]", "play.yaml")
    async with asyncio.TaskGroup() as tasks, httpx2.AsyncClient(timeout=None) as client:
        async with RehearsalServer(script, api_key="k") as server:
            waiting = tasks.create_task(refused(client, server.base_url))
            await asyncio.sleep(0.2)
            began = time.monotonic()
        assert time.monotonic() - began < 2
        assert await waiting


async def refused(client: httpx2.AsyncClient, base_url: str) -> bool:
    try:
        await client.post(
            f"{base_url}/chat/completions", json=ask("hi"), headers={"authorization": "Bearer k"}
        )
    except httpx2.RemoteProtocolError:
        return True
    return False


async def test_an_error_inside_comes_out_as_it_is() -> None:
    with pytest.raises(KeyError):
        async with RehearsalServer(builtin_script()):
            raise KeyError


async def test_a_port_that_is_taken_is_refused_in_words() -> None:
    async with RehearsalServer(builtin_script()) as server:
        port = httpx2.URL(server.base_url).port
        assert port
        with pytest.raises(SettingsInvalid, match=f"Port {port} cannot be used: Address already"):
            async with RehearsalServer(builtin_script(), port=port):
                pass
