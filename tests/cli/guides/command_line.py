"""The page of the command line: every command, with what it is about prepared before it."""

import shlex

from tests.cli.guides.asking import APPROVAL, CHOICES, FORM, QUESTION, asked, watched
from tests.cli.guides.guide import Act, Guide, Visit
from tests.cli.inboxes import http
from tests.cli.terminal import Terminal
from tests.contract.asking import SCRIPT

_MODELS = "models:\n  - {id: gpt-5.2}\n"
_RULES = """\
  - when: "take your time"
    steps: [{say: "One moment. "}, {sleep: 60}, {say: Done.}]
  - when: "unlucky question"
    steps: [{fail: {status: 400}}]
"""
_NO_JOBS = "models: {driving: rehearsal}\npromptVariables: {}\ntasks: {}\njobs: {}\ngrid: []\n"


def run_to_show(visit: Visit) -> None:
    run = visit.said("airboss run sample --detach").strip()
    visit.reader.names |= {"run_01kxyzabcd0000000000001234": run, "1234": run[-6:]}


def only_the_roots_of_this_home(visit: Visit) -> None:
    for name in ("work/shop", "repos"):
        (visit.home.home / name).mkdir(parents=True, exist_ok=True)
    visit.reader.names["/srv/repos"] = str(visit.home.home / "repos")


def conversation(command: str) -> Act:
    def act(visit: Visit) -> None:
        with Terminal(visit.home, *shlex.split(command)[1:]) as terminal:
            terminal.rest_at("> ")
            terminal.type("hello\n")
            terminal.see("Hello, captain.")
            terminal.rest_at("> ")
            terminal.press_ctrl_d()
            assert terminal.leave() == 0

    return act


def confirmed(command: str) -> Act:
    """A person is asked first."""

    def act(visit: Visit) -> None:
        with Terminal(visit.home, *shlex.split(visit.reader.meant(command))[1:]) as terminal:
            terminal.see("[y/N]")
            terminal.type("y\n")
            assert terminal.leave() == 0, terminal.seen

    return act


def default_server(visit: Visit) -> None:
    visit.home.serve()


def something_to_commit(visit: Visit) -> None:
    visit.write("README.md", "# The shop\n")


def session_to_go_on(visit: Visit) -> None:
    visit.said('airboss chat --keep "hello"')


def session_with_a_queue(visit: Visit) -> None:
    with http(visit.home) as client:
        session = client.post("/api/v1/sessions", json={"cwd": str(visit.home.work)}).json()["id"]
        for text in ("take your time", "first", "second"):
            client.post(f"/api/v1/sessions/{session}/prompts", json={"text": text})
    visit.reader.ids["ses"] = session


def failed_task(visit: Visit) -> None:
    visit.said("airboss task run ask --input 'unlucky question'; test $? = 1")
    with http(visit.home) as client:
        tasks = client.get("/api/v1/task-runs").json()["items"]
    visit.reader.ids["tsk"] = next(one["id"] for one in tasks if one["state"] == "failed")


GUIDES = {
    "docs/command-line.md": Guide(
        script=SCRIPT.replace("models:\n", _MODELS) + _RULES,
        files={
            "task.md": "Add an option.\n",
            "question.md": "Where is the log?\n",
            "script.yaml": "rules: []\n",
            "jobs.yaml": _NO_JOBS,
        },
        before={
            "airboss show run_01kxyzabcd0000000000001234": run_to_show,
            "airboss serve --root ~/work --root /srv/repos": only_the_roots_of_this_home,
            'airboss chat "look around"': default_server,
            "git diff | airboss chat": something_to_commit,
            'airboss chat --session ses_… "and now?"': session_to_go_on,
            'airboss ask ses_… "which file was that?"': session_with_a_queue,
            "airboss inbox": APPROVAL,
            'airboss deny itm_… "use the other branch"': asked("touch more"),
            "airboss answer itm_… 2": CHOICES,
            "airboss answer itm_… --field city=Rome --field days=3": FORM,
            "airboss decline itm_…": QUESTION,
            "airboss task run ask --input x --session ses_…": session_to_go_on,
            "airboss task retry tsk_…": failed_task,
        },
        codes={"airboss task retry tsk_…": 1},
        instead={
            "airboss queue ses_… --drop pro_…": confirmed("airboss queue ses_… --drop pro_…"),
            "airboss chat": conversation("airboss chat"),
            "airboss chat --limit tokens=50000": conversation("airboss chat --limit tokens=50000"),
            "airboss inbox --watch": watched("airboss inbox --watch", "airboss approve"),
        },
    ),
}
