#!/usr/bin/env bash
# Makes sure that bubblewrap is there, which cages are built with; installs Debian's when it may.
# Without it everything but cages works.
set -euo pipefail

if [ "$(uname -s)" != Linux ] || command -v bwrap >/dev/null; then exit 0; fi

. "$(dirname "$0")/may_install.sh"
if [ "$may" = no ]; then
    echo "No bubblewrap here, and it cannot be installed by this user. For cages, install your system's" >&2
    echo "package, for example: sudo apt-get install bubblewrap. Everything else works without it." >&2
    exit 0
fi
if ! { $may apt-get update -qq && $may apt-get install -y -qq --no-install-recommends bubblewrap; }; then
    echo "Bubblewrap could not be installed: no cages until it is. Everything else works without it." >&2
fi
