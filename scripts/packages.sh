#!/usr/bin/env bash
# Installs the lock into .venv. uv does it in seconds, pip in most of a minute; pip is used where uv
# would not find the packages: a person's own index, or a certificate that only pip was told of.
# The lock names every package, so nothing is resolved again.
set -euo pipefail

lock=$1
python=.venv/bin/python
pip() { "$python" -m pip --quiet --disable-pip-version-check "$@"; }

with_uv() {
    local own
    own=$(mktemp "${TMPDIR:-/tmp}/airboss-uv.XXXXXX")
    awk '/^uv==/ { on = 1 } on { print } on && !/\\$/ { exit }' "$lock" >"$own"
    pip install --require-hashes -r "$own" &&
        .venv/bin/uv pip install --python "$python" --compile-bytecode --no-deps --require-hashes -r "$lock"
    local code=$?
    rm -f "$own"
    return "$code"
}

if pip config list | grep -qE '\.index-url=' || ! with_uv; then
    pip install --no-deps --require-hashes -r "$lock"
fi
