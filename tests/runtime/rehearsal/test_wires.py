"""Responses and messages, over real HTTP. Chat completions are in `test_server`."""

import json
from typing import Any

import httpx2
import pytest

from tests.runtime.rehearsal.conftest import Serve

pytestmark = pytest.mark.anyio

SCRIPT = """
chunk_chars: 4
rules:
  - when: look
    steps:
      - reasoning: Hmm.
      - say: I look.
      - reasoning: Now.
      - call: {tool: view, arguments: {path: a}}
      - say: Looked.
  - {when: bad, steps: [{fail: {status: 429, message: Slowly}}]}
"""


ODD: list[dict[str, Any]] = [{}, {"model": "m"}, {"model": 1, "input": {}, "messages": [{}]}]


async def events(client: httpx2.AsyncClient, path: str, body: Any) -> list[dict[str, Any]]:
    answer = await client.post(path, json={"model": "m", "stream": True, **body})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream")
    found: list[dict[str, Any]] = []
    for frame in filter(None, answer.text.split("\n\n")):
        name, data = frame.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


async def test_a_response_is_streamed_item_by_item(serve: Serve) -> None:
    async with serve(SCRIPT) as client:
        first, *parts, last = await events(client, "/responses", {"input": "look"})
    assert first["response"]["output"] == []
    items = [part["item"] for part in parts if part["type"] == "response.output_item.done"]
    assert items == last["response"]["output"]
    assert [item["type"] for item in items] == [
        "reasoning",
        "message",
        "reasoning",
        "function_call",
    ]
    thoughts = [p["delta"] for p in parts if p["type"] == "response.reasoning_summary_text.delta"]
    assert thoughts == ["Hmm.", "Now."]
    said = [p["delta"] for p in parts if p["type"] == "response.output_text.delta"]
    assert said == ["I lo", "ok."]
    assert items[1]["content"][0]["text"] == "I look."
    assert json.loads(items[3]["arguments"]) == {"path": "a"}
    assert last["response"]["usage"]["total_tokens"] > 2


async def test_a_message_is_streamed_block_by_block(serve: Serve) -> None:
    asked = {"messages": [{"role": "user", "content": "look"}]}
    async with serve(SCRIPT) as client:
        parts = await events(client, "/messages", asked)
    begun = [part["content_block"] for part in parts if part["type"] == "content_block_start"]
    assert [block["type"] for block in begun] == ["thinking", "text", "thinking", "tool_use"]
    assert [part["index"] for part in parts if part["type"] == "content_block_stop"] == [0, 1, 2, 3]
    deltas = [part["delta"] for part in parts if part["type"] == "content_block_delta"]
    assert "".join(delta.get("text", "") for delta in deltas) == "I look."
    assert "".join(delta.get("thinking", "") for delta in deltas) == "Hmm.Now."
    assert json.loads("".join(d.get("partial_json", "") for d in deltas)) == {"path": "a"}
    assert [part["type"] for part in parts][-2:] == ["message_delta", "message_stop"]
    assert parts[-2]["delta"]["stop_reason"] == "tool_use"


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/responses", {"input": [{"role": "user", "content": "look"}]}),
        ("/messages", {"messages": [{"role": "user", "content": "look"}]}),
    ],
)
async def test_a_call_that_was_answered_leads_on_in_the_script(
    serve: Serve, path: str, asked: dict[str, Any]
) -> None:
    async with serve(SCRIPT) as client:
        first = (await client.post(path, json={"model": "m", **asked})).json()
        answered: dict[str, Any] = {"model": "m"}
        if path == "/responses":
            (call,) = (item for item in first["output"] if item["type"] == "function_call")
            result = {"type": "function_call_output", "call_id": call["call_id"], "output": "b"}
            answered["input"] = [*asked["input"], *first["output"], result]
        else:
            (call,) = (block for block in first["content"] if block["type"] == "tool_use")
            result = {"type": "tool_result", "tool_use_id": call["id"], "content": "b"}
            reply = {"role": "assistant", "content": first["content"]}
            back = {"role": "user", "content": [result]}
            answered["messages"] = [*asked["messages"], reply, back]
        second = (await client.post(path, json=answered)).json()
    parts = second["output"][0]["content"] if path == "/responses" else second["content"]
    assert [part["text"] for part in parts] == ["Looked."]


async def test_a_refusal_is_worded_as_its_wire_has_it(serve: Serve) -> None:
    async with serve(SCRIPT) as client:
        asked = {"model": "m", "messages": [{"role": "user", "content": "bad"}]}
        answer = await client.post("/messages", json=asked)
        error = {"type": "rehearsed_failure", "message": "Slowly"}
        assert (answer.status_code, answer.json()) == (429, {"type": "error", "error": error})
        other = await client.post("/responses", json={"model": "m", "input": "bad"})
        assert (other.status_code, other.json()["error"]["message"]) == (429, "Slowly")
        for path in ("/responses", "/messages"):
            for odd in ODD:
                assert (await client.post(path, json=odd)).status_code == 400
            assert (await client.post(path, content=b"\xff")).status_code == 400
            assert (await client.get(path)).status_code == 404


@pytest.mark.parametrize("header", ["authorization", "api-key", "x-api-key"])
async def test_the_key_is_found_where_each_service_has_it(serve: Serve, header: str) -> None:
    async with serve(SCRIPT) as client:
        key = client.headers.pop("authorization").removeprefix("Bearer ")
        asked = {"model": "m", "input": "hi"}
        assert (await client.post("/responses", json=asked)).status_code == 401
        wrong = await client.post("/responses", json=asked, headers={header: "no"})
        assert wrong.status_code == 401
        given = f"Bearer {key}" if header == "authorization" else key
        right = await client.post("/responses", json=asked, headers={header: given})
        assert right.status_code == 200
