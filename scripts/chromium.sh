#!/usr/bin/env bash
# Makes sure that a Chromium is there for the browser tests; installs Debian's when it may. The shell
# without windows is the same engine, and opens a page for a quarter of the time.
# Without one the browser tests fail and say this command; they are never skipped.
set -euo pipefail

for name in "${CHROMIUM:-}" chromium-headless-shell chromium chromium-browser google-chrome; do
    if [ -n "$name" ] && command -v "$name" >/dev/null; then exit 0; fi
done

. "$(dirname "$0")/may_install.sh"
if [ "$may" = no ]; then
    echo "No Chromium here, and this user may not install one. Run: sudo apt-get install chromium" >&2
    echo "(or set CHROMIUM to a browser's path). The browser tests will fail until then." >&2
    exit 0
fi
$may apt-get update -qq
wanted=chromium
if apt-cache show chromium-headless-shell >/dev/null 2>&1; then wanted=chromium-headless-shell; fi
$may apt-get install -y -qq --no-install-recommends "$wanted" fonts-liberation
