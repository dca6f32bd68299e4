#!/usr/bin/env bash
# Runs pytest with its temporary files in memory, if there is room for them. Tests start hundreds of
# servers with a database each, and wait for the disk more than for anything else.
# Usage: pytest_in_memory.sh PYTEST [OPTION...]
set -euo pipefail

memory=/dev/shm
enough=6000000 # KB: a whole run writes about 2,300,000

has_room() {
	[ -z "${TMPDIR:-}" ] && [ -w "$memory" ] && [ -r /proc/meminfo ] || return 1
	[ "$(df -Pk "$memory" | awk 'NR == 2 { print $4 }')" -ge "$enough" ] || return 1
	[ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -ge "$((2 * enough))" ]
}

# Some systems run no program from there.
runs_programs() {
	printf '#!/bin/sh\n' >"$1/try" && chmod +x "$1/try" && "$1/try" 2>/dev/null && rm "$1/try"
}

if has_room; then
	TMPDIR=$(mktemp -d "$memory/airboss.XXXXXX")
	trap 'rm -rf "$TMPDIR"' EXIT
	if runs_programs "$TMPDIR"; then
		export TMPDIR
		set -- "$@" --basetemp "$TMPDIR/t" # short: some tests look at lines with a path in them
	fi
fi
"$@"
