"""Where traces go, as the settings say it; and what is refused."""

import pytest

from airboss.errors import SettingsInvalid
from airboss.settings import checked_settings, shown_settings
from airboss.telemetry_settings import Telemetry, headers_of


def test_it_is_off_by_default_and_on_with_an_endpoint() -> None:
    assert not checked_settings({}).telemetry.is_on
    settings = checked_settings({"telemetry": {"endpoint": "https://otel.example.com/key-1/"}})
    telemetry = settings.telemetry
    assert (telemetry.is_on, telemetry.allows_private, telemetry.content) == (True, False, False)
    assert telemetry.traces_url == "https://otel.example.com/key-1/v1/traces"
    assert shown_settings(settings)["telemetry"]["endpoint"] == "otel.example.com/…"
    assert Telemetry(endpoint="http://127.0.0.1:4318").allows_private


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"endpoint": "otel.example.com"}, "no address"),
        ({"endpoint": "grpc://otel.example.com"}, "no address"),
        ({"endpoint": "https://host:99999"}, "no address"),
        ({"endpoint": "https://256.1.1.1"}, "no address"),
        ({"endpoint": "https://me:word@host"}, "No user and no password"),
        ({"endpoint": "https://host?api-key=1"}, "headers_variable"),
        ({"endpoint": "https://host/v1/traces"}, "Leave out /v1/traces"),
        ({"endpoint": "http://host:4318"}, "private = true"),
        ({"endpoint": "https://host", "protocol": "grpc"}, "http/protobuf"),
        (
            {"endpoint": "https://host", "headers_variable": "a b"},
            "Should be the name of a variable",
        ),
        ({"endpoint": "https://host", "headers": "a=b"}, "There is no such field"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(said: dict[str, str], why: str) -> None:
    with pytest.raises(SettingsInvalid, match=why) as refused:
        checked_settings({"telemetry": said})
    assert "telemetry." in str(refused.value)


def test_headers_come_from_the_variable_alone() -> None:
    telemetry = Telemetry(endpoint="https://host", headers_variable="H")
    text = "Authorization=Bearer%20abc, x-team = blue "
    assert headers_of(telemetry, {"H": text}) == {"authorization": "Bearer abc", "x-team": "blue"}
    assert headers_of(Telemetry(headers_variable="H"), {}) == {}
    with pytest.raises(SettingsInvalid, match="H is not set"):
        headers_of(telemetry, {})
    for wrong in ("word", "a b=c", "host=x", "x=%0d%0aevil: 1", "x=y%20"):
        with pytest.raises(SettingsInvalid, match="does not hold headers") as refused:
            headers_of(telemetry, {"H": wrong})
        assert wrong not in str(refused.value)
