"""The system's Chromium, for the browser tests, the pictures and the benchmark."""

import os
import shutil

MISSING = "There is no Chromium. Run: sudo apt-get install chromium"
# The shell without windows first: the same engine, at a quarter of the time for each page.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Chromium's own traffic (updates, sync, look-ups) has no place in a test.
FLAGS = [
    "--no-sandbox",  # as root, in a container, it does not start with one
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str | None:
    """The one that `CHROMIUM` names, else the first that is installed; scripts/chromium.sh looks
    for the same."""
    names = (os.environ.get("CHROMIUM"), *_NAMES)
    return next(filter(None, (shutil.which(name) for name in names if name)), None)
