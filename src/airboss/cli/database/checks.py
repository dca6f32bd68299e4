"""What is judged of a database before machines share it: each fact alone, and what to do."""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from airboss.cli.doctor.checks import CheckResult
from airboss.shared_database import Examined
from airboss.store.postgres_connection import OLDEST
from airboss.store.postgres_facts import CONNECTIONS, ENGINE_SCHEMA
from airboss.store.postgres_poolers import REFUSED

_SLOW_MS: Final = 20
_CLOCK_MS: Final = 1000
_MIGRATE: Final = "Run: airboss database migrate. The first server that starts does it, too."


Check: TypeAlias = Callable[[Examined], CheckResult]


def check_version(subject: Examined) -> CheckResult:
    facts = subject.facts
    said = f"PostgreSQL {facts.version_name}, database {facts.database}, encoding {facts.encoding}."
    if facts.version < OLDEST:
        return CheckResult("fail", said, remedy="Airboss needs PostgreSQL 15 or newer: upgrade it.")
    if facts.encoding != "UTF8":
        remedy = "Create the database with ENCODING 'UTF8'."
        return CheckResult("fail", said, remedy=remedy)
    return CheckResult("ok", said)


def check_primary(subject: Examined) -> CheckResult:
    if subject.facts.is_standby:
        remedy = "Name the primary, or all of them with target_session_attrs=read-write."
        return CheckResult("fail", "It is a standby, which only reads.", remedy=remedy)
    return CheckResult("ok", "It takes writes.")


def check_pooler(subject: Examined) -> CheckResult:
    match subject.facts.pooler:
        case "unfit":
            summary, _, remedy = REFUSED.partition(". ")
            return CheckResult("fail", f"{summary}.", remedy=remedy)
        case "whole":
            remedy = "Better name PostgreSQL itself: a pooler is one more thing that can be away."
            said = "Something passes connections on to PostgreSQL."
            return CheckResult("warn", said, remedy=remedy)
        case "none":
            return CheckResult("ok", "No pooler stands between.")


def check_tls(subject: Examined) -> CheckResult:
    facts = subject.facts
    if facts.is_local:
        return CheckResult("ok", "It is on this machine.")
    if not facts.is_encrypted:
        remedy = "Turn on ssl at PostgreSQL, and add ?sslmode=verify-full to the address."
        return CheckResult("warn", "Without TLS: others on the way can read all.", remedy=remedy)
    if facts.sslmode != "verify-full":
        said = f"With TLS, but nobody checks whose certificate it is (sslmode={facts.sslmode})."
        remedy = "Add ?sslmode=verify-full to the address, and sslrootcert where it needs one."
        return CheckResult("warn", said, remedy=remedy)
    return CheckResult("ok", "With TLS, and its certificate is checked.")


def check_rights(subject: Examined) -> CheckResult:
    facts = subject.facts
    missing = {"airboss", ENGINE_SCHEMA} - facts.schemas.keys()
    if missing and not facts.may_create_schemas:
        said = f"The role {facts.role} cannot create the schemas {' and '.join(sorted(missing))}."
        remedy = f'GRANT CREATE ON DATABASE "{facts.database}" TO "{facts.role}";'
        return CheckResult("fail", said, remedy=remedy)
    for name, rights in sorted(facts.schemas.items()):
        if not rights.may_create or not rights.may_write:
            said = f"The role {facts.role} lacks rights on the schema {name}."
            remedy = (
                f'Give it to the role: ALTER SCHEMA {name} OWNER TO "{facts.role}"; tables too.'
            )
            return CheckResult("fail", said, remedy=remedy)
        if not rights.owns_all:
            said = f"Tables of the schema {name} belong to another role than {facts.role}."
            remedy = "Run `airboss database migrate` as that role before each new version."
            return CheckResult("warn", said, remedy=remedy)
    if facts.is_superuser:
        said = f"The role {facts.role} is a superuser: it can do far more than Airboss needs."
        remedy = "Give Airboss a role of its own; docs/many-machines.md has the SQL."
        return CheckResult("warn", said, remedy=remedy)
    return CheckResult("ok", f"The role {facts.role} has the rights that it needs.")


def check_schema(subject: Examined) -> CheckResult:
    state = subject.facts.schema
    if state is None:
        return CheckResult("fail", "Its tables cannot be read.", remedy="Fix the rights first.")
    if state.is_too_new:
        said = f"Schema {state.number}, of a newer Airboss; this one knows {state.latest}."
        return CheckResult("fail", said, remedy="Install the newer Airboss on this machine.")
    if state.number > state.latest:
        said = f"Schema {state.number}, of the next Airboss; this one ({state.latest}) can use it."
        return CheckResult("ok", said)
    if state.number < state.latest:
        here = f"is {state.number}" if state.number else "is not there yet"
        said = f"The schema airboss {here}; this Airboss makes it {state.latest}."
        return CheckResult("warn", said, remedy=_MIGRATE)
    return CheckResult("ok", f"Schema {state.number}, as this Airboss knows it.")


def check_engine(subject: Examined) -> CheckResult:
    engine = subject.engine
    if engine is None:
        said = f"The schema {ENGINE_SCHEMA} cannot be read."
        return CheckResult("fail", said, remedy="Fix the rights first.")
    if engine.is_behind:
        here = f"is {engine.number}" if engine.number else "is not there yet"
        said = f"The schema {ENGINE_SCHEMA} {here}; this Airboss makes it {engine.latest}."
        return CheckResult("warn", said, remedy=_MIGRATE)
    return CheckResult("ok", f"Schema {ENGINE_SCHEMA} {engine.number}.")


def check_durability(subject: Examined) -> CheckResult:
    if subject.facts.unsafe:
        said = f"What was written can be lost in a crash: {', '.join(subject.facts.unsafe)}."
        return CheckResult("warn", said, remedy="Turn it on for this database.")
    return CheckResult("ok", "Commits reach the disk.")


def check_latency(subject: Examined) -> CheckResult:
    took = subject.facts.round_trip_ms
    said = f"A round trip takes {took:.1f} ms."
    if took > _SLOW_MS:
        remedy = "Every commit waits for one. Put the machines and the database nearer together."
        return CheckResult("warn", said, remedy=remedy)
    return CheckResult("ok", said)


def check_clock(subject: Examined) -> CheckResult:
    ahead = subject.facts.ahead_ms
    if abs(ahead) > _CLOCK_MS:
        which = "ahead of" if ahead > 0 else "behind"
        said = f"The database's clock is {abs(ahead) / 1000:.1f} s {which} this machine's."
        return CheckResult("warn", said, remedy="Let both keep time by NTP.")
    return CheckResult("ok", f"Its clock is {abs(ahead)} ms off this machine's.")


def check_connections(subject: Examined) -> CheckResult:
    free = subject.facts.connections_free
    more = free // CONNECTIONS
    said = (
        f"{free} connections are free. A server or worker has up to {CONNECTIONS}: "
        f"room for {more} more."
    )
    remedy = "Raise max_connections of PostgreSQL, or the limit of the role or the database."
    if more == 0:
        return CheckResult("fail", said, remedy=remedy)
    return CheckResult("ok" if more > 1 else "warn", said, remedy="" if more > 1 else remedy)


CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("version", check_version),
    ("primary", check_primary),
    ("pooler", check_pooler),
    ("tls", check_tls),
    ("rights", check_rights),
    ("schema", check_schema),
    ("engine", check_engine),
    ("durability", check_durability),
    ("latency", check_latency),
    ("clock", check_clock),
    ("connections", check_connections),
)


def judged(subject: Examined) -> Iterator[tuple[str, CheckResult]]:
    for name, check in CHECKS:
        yield name, check(subject)
