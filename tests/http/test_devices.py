"""What a browser says about itself, in the words that people use."""

import pytest

from airboss.http.devices import device

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
         "Firefox on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/150.0 Safari/537.36",
         "Chrome on Windows"),
        (f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/150.0 Safari/537.36 Edg/150.0",
         "Edge on Windows"),
        (f"Mozilla/5.0 (Linux; Android 15) {WEBKIT} Chrome/150.0 Mobile Safari/537.36",
         "Chrome on Android"),
        (f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {WEBKIT} Version/19.0 Safari/605.1.15",
         "Safari on macOS"),
        (f"Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) {WEBKIT} CriOS/150 Safari/604.1",
         "Chrome on iPhone"),
        ("python-httpx2/2.7", "python-httpx2/2.7"),
        ("\x1b[31mred\u202e" + "x" * 500, "[31mred" + "x" * 53),
        ("", "unknown"),
        ("\x00\x01", "unknown"),
    ],
)  # fmt: skip
def test_a_browser_has_a_short_name(agent: str, name: str) -> None:
    assert device(agent) == name
