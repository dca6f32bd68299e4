"""`airboss doctor`: every check with what it found, what to do, and how long it took."""

import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from airboss.cli.client import Client, Json, find
from airboss.cli.doctor.cage import check_cage
from airboss.cli.doctor.checks import CHECKS, Check, CheckedMachine, CheckResult
from airboss.cli.doctor.mcp_servers import check_mcp_servers
from airboss.cli.doctor.repairs import make_private
from airboss.cli.doctor.results import Result, print_result
from airboss.cli.screen import out, print_json, waited
from airboss.cli.trouble import Exit, Trouble

_LIMIT_SECONDS = 5.0
# The server starts the agent runtime to examine it, and bounds its checks itself.
_SERVER_SECONDS = 30.0
# It starts a cage and many processes in it.
_CAGE_SECONDS = 20.0
_TELL_US = "This is a bug in Airboss. Please report it."
_LOOK = "The machine may be very busy, or a disk or program may hang. Check these first."


def run(data: Path | None, *, is_json: bool, deep: bool = False, repair: bool = False) -> Exit:
    """Show every check as it ends; a failed one makes the command fail."""
    subject = CheckedMachine.of(data)
    pen = out()
    if repair:
        for said in make_private(subject.folder):
            if not is_json:
                pen.line(said)
    results: list[Result] = []
    for result in _results(subject, deep=deep, repair=repair):
        results.append(result)
        if not is_json:
            print_result(result, pen)
    failed = sum(result.state == "fail" for result in results)
    if is_json:
        print_json({"checks": [asdict(result) for result in results], "failed": failed})
    elif pen.is_terminal:
        warned = sum(result.state == "warn" for result in results)
        pen.line(f"{len(results)} checks: {failed} failed, {warned} with warnings.")
    return Exit.FAILED if failed else Exit.DONE


def _results(subject: CheckedMachine, *, deep: bool, repair: bool) -> Iterator[Result]:
    for name, check in (*CHECKS, ("mcp-servers", check_mcp_servers)):
        yield _timed(name, check, subject)
    yield _timed("cage", check_cage, subject, _CAGE_SECONDS)
    if subject.folder.note() is not None:
        yield from _servers_own(subject, deep=deep, repair=repair)


def _timed(
    name: str, check: Check, subject: CheckedMachine, limit: float = _LIMIT_SECONDS
) -> Result:
    """Run one check, but not longer than its limit."""
    began = time.monotonic()
    try:
        found = waited(f"Checking {name}", lambda: check(subject), limit)
    except TimeoutError:
        found = CheckResult("fail", f"No answer within {int(limit)} seconds.", remedy=_LOOK)
    except Exception as error:  # noqa: BLE001 - a check that breaks is a finding, not an end
        found = CheckResult("fail", f"The check crashed: {error!r}", remedy=_TELL_US)
    ms = round((time.monotonic() - began) * 1000)
    return Result(name, found.state, found.summary, found.detail, found.remedy, ms)


def _servers_own(subject: CheckedMachine, *, deep: bool, repair: bool) -> Iterator[Result]:
    """What the running server knows better: it has its own environment."""
    said: list[Json] = []

    def ask(subject: CheckedMachine) -> CheckResult:
        try:
            client = Client(find(subject.folder.path, subject.environ))
            path = f"/api/v1/doctor?deep={deep}&repair={repair}".lower()
            report = client.post(path) if deep or repair else client.get("/api/v1/doctor")
            said.extend(report["checks"])
            repaired = "\n".join(report.get("repaired") or ())
        except Trouble as trouble:
            return CheckResult(
                "fail", str(trouble), remedy="Restart it: airboss stop, then airboss serve"
            )
        return CheckResult("ok", "The server responds.", repaired)

    yield _timed("server.answers", ask, subject, _SERVER_SECONDS)
    for check in said:
        yield Result(
            id=f"server.{check['id']}",
            state=check["state"],
            summary=str(check["summary"]),
            detail=str(check.get("detail") or ""),
            remedy=str(check.get("remedy") or ""),
            ms=int(check.get("ms") or 0),
        )
