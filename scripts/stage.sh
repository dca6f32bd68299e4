#!/usr/bin/env bash
# Runs one stage of the build: says what it does, how long it took, and on failure everything it printed.
# Usage: stage.sh "what it does" COMMAND...
set -uo pipefail

what=$1
shift
log=$(mktemp "${TMPDIR:-/tmp}/airboss-stage.XXXXXX")
trap 'rm -f "$log"' EXIT

printf '  %-44s ' "$what ..."
SECONDS=0
"$@" >"$log" 2>&1
code=$?
if [ "$code" -ne 0 ]; then
    printf 'failed after %s s\n\n' "$SECONDS"
    cat "$log"
    printf '\nThis failed with exit code %s: %s\n' "$code" "$*"
    exit "$code"
fi
printf 'done, %s s\n' "$SECONDS"
