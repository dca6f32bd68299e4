"""What an extension may register, and how it is told when it may not: at the line, in words."""

import sys
from pathlib import Path

import pytest

from airboss.extension.testing import Fault, load

HEAD = "from airboss.extension import *\nfrom airboss.extension import hook, session, tool\n"


def fault(folder: Path, code: str) -> str:
    file = folder / "extension.py"
    file.write_text(HEAD + code, encoding="utf-8")
    with pytest.raises(Fault) as wrong:
        load(file)
    return str(wrong.value)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "@tool\ndef a(x): 'y'\n",
            "3: TypeError: tool a: parameter x: it has no type; use str, int",
        ),
        (
            "@tool\ndef a(): pass\n",
            "3: ValueError: tool a: say what it does, in its docstring or with",
        ),
        (
            "@tool(name='a b')\ndef a(): 'y'\n",
            "3: ValueError: tool 'a b': a name has 1 to 64 of the",
        ),
        ("@tool\ndef a(): 'y'\n" * 2, "5: ValueError: tool a: there are two of this name"),
        (
            "@tool(seconds=0)\ndef a(): 'y'\n",
            "3: ValueError: tool a: seconds= should be more than 0",
        ),
        (
            "@tool(seconds=float('inf'))\ndef a(): 'y'\n",
            "3: ValueError: tool a: seconds= should be more than 0, and finite",
        ),
        (
            "@tool(parameters={'type': 'object', 'x': float('inf')})\ndef a(): 'y'\n",
            "3: ValueError: tool a: its parameters cannot be written as JSON: ",
        ),
        (
            "@tool\ndef a(größe: int): 'y'\n",
            "3: TypeError: tool a: parameter größe: models take names of 1 to 64 of the characters",
        ),
        (
            "@tool(parameters={'type': 'object', 'properties': {'a b': {}}})\ndef a(**x): 'y'\n",
            "3: ValueError: tool a: parameter a b: models take names of 1 to 64 of the characters",
        ),
        (
            "@tool(parameters={'type': 'string'})\ndef a(): 'y'\n",
            '3: ValueError: tool a: parameters= is a JSON Schema with "type": "object"',
        ),
        (
            "@tool(parameters={'type': 'object', 'x': {1}})\ndef a(): 'y'\n",
            "3: ValueError: tool a: its parameters cannot be written as JSON: ",
        ),
        (
            "@tool(parameters={'type': 'object', 'x': 'y' * 40_000})\ndef a(): 'y'\n",
            "3: ValueError: tool a: its parameters have more than 32,768 bytes",
        ),
        (
            "@tool(description='x' * 4001)\ndef a(): 'y'\n",
            "3: ValueError: tool a: its description has over 4,000 characters",
        ),
        (
            "for n in range(65):\n    tool(name=f'a{n}')(lambda: 1) if n else None\n",
            "4: ValueError: tool a1: say what it does",
        ),
        (
            "for n in range(65):\n    tool(name=f'a{n}', description='x')(lambda: 1)\n",
            "4: ValueError: tool a64: an extension has at most 64 tools",
        ),
        (
            "@hook.pre_tool_use(tools='bash')\ndef a(use): ...\n",
            "3: TypeError: hook.pre_tool_use: tools= is a list of names, such as ['bash']",
        ),
        (
            "@hook.pre_tool_use(tools=[tool])\ndef a(use): ...\n",
            "3: TypeError: hook.pre_tool_use: tools= is a list of names, and <function tool at",
        ),
        (
            "@hook.session_start\ndef a(): ...\n",
            "3: TypeError: hook.session_start: its function takes one object, and nothing more",
        ),
        (
            "@hook.pre_tool_use(tools=['bash'])\ndef a(use, more): ...\n",
            "3: TypeError: hook.pre_tool_use: its function takes one object, and nothing more",
        ),
        ("hook.session_start(None)\n", "3: TypeError: hook.session_start: put it above a function"),
        (
            "import asyncio\nasyncio.run(session.log('x'))\n",
            "4: RuntimeError: The session can be used",
        ),
        ("session.on('idle', print)\n", "3: ValueError: on: there are no events 'idle'; there are"),
        (
            "@tool('a')\ndef b(): 'y'\n",
            "3: TypeError: tool: put it above a function, as @tool or as",
        ),
        (
            "import functools\ntool(functools.partial(print))\n",
            "4: TypeError: tool: its function has no name; give it one with name=",
        ),
        (
            "@hook.pre_tool_use(['bash'])\ndef a(use): ...\n",
            "3: TypeError: hook.pre_tool_use: give the names of tools as tools=['bash']",
        ),
        ("@tool(name=7)\ndef a(): 'y'\n", "3: TypeError: tool 7: name= should be a str, not 7"),
        (
            "@tool(description=7)\ndef a(): 'y'\n",
            "3: TypeError: tool a: description= should be a str, not 7",
        ),
        (
            "@tool(seconds='60')\ndef a(): 'y'\n",
            "3: TypeError: tool a: seconds= should be a number, not '60'",
        ),
        (
            "@tool(parameters=[])\ndef a(): 'y'\n",
            "3: TypeError: tool a: parameters= should be a JSON Schema, as a dict, not []",
        ),
        (
            "@hook.pre_tool_use('bash')\ndef a(use): ...\n",
            "3: TypeError: hook.pre_tool_use: give the names of tools as tools=['bash']",
        ),
        ("def a(:\n", "3: SyntaxError: "),
        (
            "import nowhere_at_all\n",
            "3: ModuleNotFoundError: No module named 'nowhere_at_all'; it was looked for in the"
            f" folder of the extension and in {sys.executable}, which runs it",
        ),
        (
            "from . import helper\n",
            "3: ImportError: attempted relative import with no known parent package; a file beside"
            " it is imported by its name, as in: import helper",
        ),
        ("from json import nothing\n", "3: ImportError: cannot import name 'nothing' from 'json'"),
        ("raise SystemExit\n", "3: SystemExit"),
        ("raise KeyboardInterrupt\n", "3: KeyboardInterrupt"),
        ("import asyncio\nraise asyncio.CancelledError('x')\n", "4: CancelledError: x"),
        ("raise ValueError('two\\nlines')\n", "3: ValueError: two lines"),
    ],
)
def test_a_fault_is_one_line_with_its_place(tmp_path: Path, code: str, said: str) -> None:
    line = fault(tmp_path, code)
    assert line.startswith(f"extension.py:{said}")
    assert "\n" not in line


def test_a_fault_in_a_file_beside_it_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "deep.py").write_text("\n1 / 0\n", encoding="utf-8")
    assert fault(tmp_path, "import lib.deep\n") == (
        "lib/deep.py:2: ZeroDivisionError: division by zero"
    )


def test_a_file_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"^extension\.py:1: there is no such file$"):
        load(tmp_path)


def test_nothing_is_registered_after_the_file_was_read(tmp_path: Path) -> None:
    file = tmp_path / "extension.py"
    code = "@tool\ndef late():\n    'Registers a tool.'\n    tool(late)\n"
    file.write_text(HEAD + code, encoding="utf-8")
    with load(file) as extension:
        said = extension.call("late")
    assert said.type == "failure"
    assert said.text.startswith("Tools and hooks are registered while the file is read")


def test_the_host_is_told_which_hooks_care_about_which_tools(tmp_path: Path) -> None:
    file = tmp_path / "extension.py"
    code = (
        "@hook.pre_tool_use(tools=['bash'])\ndef a(use): ...\n"
        "@hook.pre_tool_use(tools=['edit', 'bash'])\ndef b(use): ...\n"
        "@hook.post_tool_use(tools=['bash'])\ndef c(use): ...\n"
        "@hook.post_tool_use\ndef d(use): ...\n"
        "@hook.session_end\ndef e(end): ...\n"
    )
    file.write_text(HEAD + code, encoding="utf-8")
    with load(file) as extension:
        assert extension.hooks == {
            "pre_tool_use": ["bash", "edit"],
            "post_tool_use": None,
            "session_end": None,
        }
