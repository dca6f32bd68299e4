"""The how-to guides, but for those about requests: what they keep, resume and start at night."""

import re
import shlex

from tests.cli import stage
from tests.cli.documents import blocks
from tests.cli.guides.guide import ROOT, Guide, Visit
from tests.systemd import complaints, read_unit

# The job that the tutorial ends in: the one that runs at night.
[_NIGHTLY] = [
    block.text
    for block in blocks((ROOT / "docs/tutorial.md").read_text("utf-8"))
    if block.title == "airboss.yaml"
]
_MODELS = "models: [{id: gpt-4.1}, {id: gpt-5.2}]\n"


def something_to_keep(visit: Visit) -> None:
    visit.said('airboss chat --keep "hello"')


def all_is_there_again(visit: Visit) -> None:
    kept = visit.said("airboss sessions")
    assert visit.reader.ids["ses"] in kept
    assert "interrupted" in kept
    assert (visit.home.data.parent / "airboss-before").is_dir()


def interrupted_session(visit: Visit) -> None:
    something_to_keep(visit)
    visit.home.serve()


def failed_run(visit: Visit) -> None:
    assert "The run failed" in visit.said("airboss run flaky || true")


def line_of_cron(visit: Visit, line: str) -> None:
    """cron starts it in the home folder, by `sh`."""
    *when, command = line.strip().split(maxsplit=5)
    assert all(re.fullmatch(r"\*|\d{1,2}", part) for part in when)
    assert visit.said(f"cd && sh -c {shlex.quote(command)}").startswith("run_")


def unit_of_systemd(visit: Visit, text: str) -> None:
    unit = read_unit(text)
    if "Timer" in unit:
        assert re.fullmatch(r"\*-\*-\* \d\d:\d\d", unit["Timer"]["OnCalendar"])
        assert unit["Install"]["WantedBy"] == "timers.target"
        return
    file = visit.write("shown.service", text.replace("%h", str(visit.home.home)))
    assert complaints(file) == []
    started, folder = (
        unit["Service"][key].replace("%h", str(visit.home.home))
        for key in ("ExecStart", "WorkingDirectory")
    )
    if unit["Service"].get("Type") == "oneshot":
        assert "The run succeeded" in visit.said(f"cd {folder} && {started}")
    else:
        visit.home.serve(started, visit.home.home / "shop")
        assert "release-notes" in visit.said("airboss entry")


GUIDES = {
    "docs/back-up.md": Guide(
        needs=("sqlite3", "tar"),
        before={"mkdir -p ~/airboss-backup": something_to_keep},
        after=all_is_there_again,
    ),
    "docs/stop-and-resume.md": Guide(
        script=stage.SCRIPT,
        files={"airboss.yaml": stage.ENTRY},
        before={
            "airboss sessions --state interrupted": interrupted_session,
            "airboss report run_…": failed_run,
        },
    ),
    "docs/run-on-a-schedule.md": Guide(
        script=_MODELS,
        files={"airboss.yaml": _NIGHTLY},
        shown={
            "30 2 * * *": line_of_cron,
            "[Unit]": unit_of_systemd,
        },
    ),
}
