"""Providers of one's own from the terminal: tried before they are added, shown with their state."""

from typing import Final, cast
from urllib.parse import quote, urlsplit

from airboss.cli.client import Client, Json
from airboss.cli.screen import aside, moment, out, print_json, print_table, visible_line
from airboss.cli.secret.secrets import read_optional_secret
from airboss.cli.trouble import CommandRefused, Exit

_PATH: Final = "/api/v1/providers"
# A model may have to be loaded first.
_TEST_SECONDS: Final = 75.0
_SHOWN: Final = 20


def add_provider(
    client: Client, name: str, said: Json, models: list[str], *, is_tested: bool
) -> None:
    place = {key: value for key, value in said.items() if value is not None}
    key = read_optional_secret(f"Key of {name} (empty if it needs none): ")
    if key:
        place["key"] = key
    if is_tested:
        asked = {**place, "model": models[0]} if models else place
        result = client.post("/api/v1/provider-tests", asked, seconds=_TEST_SECONDS)
        if not result["ok"]:
            raise CommandRefused(f"{result['problem']} To add it anyway, pass --no-test.")
        _tell(name, result)
    if not models:
        raise CommandRefused("Name the models that people may use: --model ID, repeatable.")
    body = {**place, "name": name, "models": [{"id": model} for model in models]}
    client.post(_PATH, body)
    aside().line(visible_line(f"Added {name}. Its models are {name}/{models[0]} and so on."))


def list_providers(client: Client, *, is_json: bool) -> None:
    said = client.get(_PATH)
    if is_json:
        print_json(said)
        return
    items = cast("list[Json]", said["items"])
    if not items:
        aside().line("No providers of your own. Add one with: airboss provider add NAME --url URL")
        return
    rows = [
        (
            str(item["name"]),
            str(item["type"]),
            urlsplit(str(item["base_url"])).netloc,
            ", ".join(str(model["id"]) for model in item["models"]),
            {"set": "set", "missing": "missing", "none": "none"}[item["key"]],
            "settings.toml" if item["source"] == "file" else "added",
            _state(item),
        )
        for item in items
    ]
    print_table(("Name", "Type", "Host", "Models", "Key", "From", "State"), rows, out())


def test_provider(client: Client, name: str, model: str | None, *, is_json: bool) -> Exit:
    body = {"model": model} if model else {}
    result = client.post(f"{_PATH}/{quote(name, safe='')}/test", body, seconds=_TEST_SECONDS)
    if is_json:
        print_json(result)
    elif result["ok"]:
        _tell(name, result)
    if not result["ok"] and not is_json:
        raise CommandRefused(str(result["problem"]))
    return Exit.DONE if result["ok"] else Exit.REFUSED


def remove_provider(client: Client, name: str) -> None:
    client.delete(f"{_PATH}/{quote(name, safe='')}")
    aside().line(visible_line(f"Removed {name} and its key."))


def _tell(name: str, result: Json) -> None:
    tokens = f", {result['tokens']} tokens" if result["tokens"] else ""
    words = (
        f"{name} answered in {result['first_word_ms']} ms. One call to {result['model']}{tokens}."
    )
    aside().line(visible_line(words))
    models = cast("list[Json]", result["models"] or [])
    offered = [str(model["id"]) for model in models if model["chat"]]
    if offered:
        more = f", and {len(offered) - _SHOWN} more" if len(offered) > _SHOWN else ""
        aside().line(visible_line(f"It offers: {', '.join(offered[:_SHOWN])}{more}."))


def _state(item: Json) -> str:
    if item["state"] != "failing":
        return "fine" if item["state"] == "fine" else "not used yet"
    return f"failing since {moment(item['since'])}: {item['cause']}"
