"""The pages about requests and questions: before each command, somebody asks for it."""

import shlex
import time

from airboss.cli.trouble import Exit
from airboss.settings import Settings
from tests.cli.guides.guide import Act, Guide, Visit
from tests.cli.inboxes import ask
from tests.cli.terminal import Terminal
from tests.contract.asking import SCRIPT

_ENTRY = """\
models: {driving: rehearsal}
promptVariables: {}
tasks:
  note: {model: {category: driving}, prompt: [Now touch more.], requireUserInput: false}
jobs:
  note: {work: {kind: Ref, taskId: note}}
grid: []
"""


def asked(text: str) -> Act:
    """An agent that is told this asks the person."""

    def act(visit: Visit) -> None:
        item = str(ask(visit.home, text)["id"])
        visit.reader.ids["itm"] = item
        visit.reader.names |= {"k3f9": item[-6:], "ITEM": item}

    return act


APPROVAL, QUESTION, CHOICES, FORM = (
    asked(text) for text in ("write it", "what name", "which colour", "fill in")
)


def watched(command: str, first: str) -> Act:
    """Until Ctrl-C, with this in what it shows."""

    def act(visit: Visit) -> None:
        words = shlex.split(visit.reader.meant(command))
        with Terminal(visit.home, *words[1:]) as terminal:
            terminal.see(first)
            terminal.press_ctrl_c()
            assert terminal.leave() == Exit.STOPPED, terminal.seen

    return act


def job_that_asks(visit: Visit) -> None:
    visit.said("airboss run note --detach")
    until = time.monotonic() + 20
    while visit.reader.ids["run"] not in visit.said("airboss inbox --json"):
        assert time.monotonic() < until, visit.home.log


def proxy_of_the_phone(_: Visit, shown: str) -> None:
    """It leads where a server listens by default."""
    assert f"reverse_proxy 127.0.0.1:{Settings().port} {{" in shown


def token_of_the_phone(visit: Visit) -> None:
    """The one that the command before has printed. There is no proxy in front of the server."""
    token = max(visit.reader.heard.split(), key=len)
    visit.reader.names |= {"…": token, "https://airboss.example.com": visit.home.url}


GUIDES = {
    "docs/approve-from-your-phone.md": Guide(
        script=SCRIPT,
        before={
            "airboss inbox": APPROVAL,
            "airboss approve k3f9 --always": asked("touch it"),
            'airboss deny k3f9 "use the other branch"': asked("touch more"),
            'airboss answer k3f9 "the second one"': QUESTION,
            "AIRBOSS_URL=https://airboss.example.com AIRBOSS_TOKEN=… airboss link": (
                token_of_the_phone
            ),
        },
        shown={"airboss.example.com {": proxy_of_the_phone},
    ),
    "docs/permissions.md": Guide(
        script=SCRIPT,
        files={"airboss.yaml": _ENTRY},
        before={
            "airboss answer ITEM 2": CHOICES,
            'airboss answer ITEM "call it shop"': QUESTION,
            "airboss answer ITEM --field city=Rome --field days=3": FORM,
            "airboss decline ITEM": QUESTION,
            "airboss inbox": APPROVAL,
            "airboss inbox --kind approval --run run_… --json": job_that_asks,
        },
        instead={"airboss inbox --watch": watched("airboss inbox --watch", "airboss approve")},
    ),
}
