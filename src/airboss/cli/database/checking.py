"""`airboss database check`: whether machines can share this database, a line for each thing."""

from collections.abc import Iterator

from airboss.cli.database.checks import judged
from airboss.cli.doctor.checks import CheckResult
from airboss.cli.doctor.results import Result, print_result
from airboss.cli.screen import out, print_json, waited
from airboss.cli.trouble import Exit
from airboss.errors import StoreUnavailable
from airboss.shared_database import examine
from airboss.store.postgres_poolers import REFUSED

_REACH = (
    "Check the address, that PostgreSQL runs and lets this machine in (pg_hba.conf), the role and "
    "its password (AIRBOSS_DATABASE or PGPASSFILE), and the certificates."
)


def check(url: str, *, is_json: bool) -> Exit:
    pen = out()
    results = list(waited("Checking the database", lambda: list(_results(url))))
    failed = sum(result.state == "fail" for result in results)
    if is_json:
        told = [
            {name: getattr(one, name) for name in ("id", "state", "summary", "remedy")}
            for one in results
        ]
        print_json({"checks": told, "failed": failed})
    else:
        for result in results:
            print_result(result, pen)
    return Exit.FAILED if failed else Exit.DONE


def _results(url: str) -> Iterator[Result]:
    try:
        examined = examine(url)
    except StoreUnavailable as error:
        summary, _, remedy = str(error).partition(". ")
        said = summary if summary.endswith((".", "?")) else f"{summary}."
        found = CheckResult("fail", said, remedy=remedy or _REACH)
        yield _result("pooler" if str(error) == REFUSED else "reach", found)
        return
    yield _result("reach", CheckResult("ok", "The database answers."))
    for name, found in judged(examined):
        yield _result(name, found)


def _result(name: str, found: CheckResult) -> Result:
    return Result(name, found.state, found.summary, found.detail, found.remedy)
