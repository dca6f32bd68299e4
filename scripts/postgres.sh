#!/usr/bin/env bash
# Makes sure that the programs of a PostgreSQL server are there for the tests, 15 or newer; installs
# Debian's when it may, without a cluster of its own. tests/postgres.py looks in the same places.
# Without them the tests that need one are skipped; under CI they fail.
set -euo pipefail

oldest=15

is_new_enough() {
    [ -x "$1/initdb" ] && [ -x "$1/pg_ctl" ] && [ -x "$1/postgres" ] || return 1
    major=$("$1/postgres" --version | grep -oE '[0-9]+' | head -n 1)
    [ "${major:-0}" -ge "$oldest" ]
}

is_there() {
    for folder in "${POSTGRES_BIN:-}" /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql@*/bin; do
        if [ -n "$folder" ] && is_new_enough "$folder"; then return 0; fi
    done
    command -v postgres >/dev/null && is_new_enough "$(dirname "$(command -v postgres)")"
}

if is_there; then exit 0; fi

. "$(dirname "$0")/may_install.sh"
if [ "$may" = no ]; then
    echo "No PostgreSQL $oldest or newer here, and this user may not install it. Run: sudo apt-get install" >&2
    echo "postgresql (or set POSTGRES_BIN to the folder with initdb). Its tests are skipped until then." >&2
    exit 0
fi
$may apt-get update -qq
# Nobody asked for a server that runs: Debian's package would make and start one.
$may apt-get install -y -qq --no-install-recommends postgresql-common
$may mkdir -p /etc/postgresql-common/createcluster.d
echo "create_main_cluster = false" | $may tee /etc/postgresql-common/createcluster.d/airboss.conf >/dev/null
$may apt-get install -y -qq --no-install-recommends postgresql
if ! is_there; then
    echo "This system's PostgreSQL is older than $oldest. Set POSTGRES_BIN to the folder of a newer one." >&2
fi
