#!/usr/bin/env bash
# Makes sure that a Chromium is there for the browser tests; installs Debian's when it may.
# Without one the browser tests fail and say this command; they are never skipped.
set -euo pipefail

for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [ -n "$name" ] && command -v "$name" >/dev/null; then exit 0; fi
done

may=""
if [ "$(id -u)" -ne 0 ]; then
    may="sudo -n"
    if ! $may true 2>/dev/null; then may="no"; fi
fi
if ! command -v apt-get >/dev/null || [ "$may" = no ]; then
    echo "No Chromium here, and this user may not install one. Run: sudo apt-get install chromium" >&2
    echo "(or set CHROMIUM to a browser's path). The browser tests will fail until then." >&2
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
$may apt-get update -qq
$may apt-get install -y -qq --no-install-recommends chromium fonts-liberation
