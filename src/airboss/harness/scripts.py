"""Short scripts for sed and awk of which one can see that they only print; others are unclear."""

import re

_FLAGS = "[gpiImM0-9]*+"
# Any of these may stand around the parts of `s`; others are unclear.
_AROUND = "/#,:@!%_+="


def _expression(around: str) -> str:
    """A bracket may hold the sign that ends the expression: such a one is unclear."""
    inside = rf"(?:\[:[a-z]++:\]|[^\]\[\\{around}])*+"
    return rf"(?:\\.|\[\^?\]?{inside}\]|[^\\\[{around}])*+"


def _substitution(around: str) -> str:
    sign = re.escape(around)
    return rf"s{sign}{_expression(sign)}{sign}(?:\\.|[^\\{sign}])*+{sign}{_FLAGS}"


_ADDRESS = rf"(?:\d++(?:~\d++)?|\$|/{_expression('/')}/[IM]*+)"
_LAST = rf"(?:{_ADDRESS}|[+~]\d++)"
_COMMAND = "|".join([r"[pdDPnNhHgGxF=]", r"[qQl]\s*+\d*+", *map(_substitution, _AROUND)])
_SED = re.compile(
    rf"\s*+(?:{_ADDRESS}\s*+(?:,\s*+{_LAST}\s*+)?)?(?:!\s*+)?(?:{_COMMAND})\s*+", re.DOTALL
)
# What runs a program, reads from one, writes a file or loads code.
_AWK_RISKS = re.compile(r"system|getline|close|fflush|[|>@]")


def sed_only_prints(script: str) -> bool:
    return _SED.fullmatch(script) is not None


def awk_only_prints(program: str) -> bool:
    return _AWK_RISKS.search(program) is None
