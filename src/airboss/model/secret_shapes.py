"""What secrets look like, as those who issue them say; a bare random string is not one of them.

No expression here looks at a letter more often than its bounds allow.
"""

import re
from typing import Final

SHAPES: Final = (
    r"gh[pousr]_[A-Za-z0-9]{20,255}",
    r"github_pat_[A-Za-z0-9_]{20,255}",
    r"glpat-[A-Za-z0-9_-]{20,255}",
    r"sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,255}",
    r"hf_[A-Za-z0-9]{30,255}",
    r"pypi-AgE[A-Za-z0-9_-]{30,500}",
    r"npm_[A-Za-z0-9]{36}",
    r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,255}",
    r"whsec_[A-Za-z0-9]{24,255}",
    r"xox[abcdeoprs]-[A-Za-z0-9%-]{10,255}",
    r"xoxe\.xox[bp]-[A-Za-z0-9-]{10,255}",
    r"xapp-[0-9]-[A-Za-z0-9-]{10,255}",
    r"A(?:KIA|SIA|BIA|CCA)[0-9A-Z]{16}",
    r"AIza[0-9A-Za-z_-]{35}",
    r"ya29\.[A-Za-z0-9_-]{20,500}",
    r"GOCSPX-[A-Za-z0-9_-]{20,255}",
    r"airboss_[a-z0-9]{20,255}",
)
# Looks like nothing by itself: it is known by the name in front of it.
_NAMES: Final = (
    *("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey"),
)
_SLACK: Final = "hooks.slack.com/"
_GOOGLE: Final = "//0"
NAMED: Final = (
    rf"""(?P<name>(?:{"|".join(_NAMES)})["'\\]{{0,4}}\s{{0,3}}[:=]{{1,2}}\s{{0,3}}["'\\]{{0,4}})"""
    r"[A-Za-z0-9/+]{40}",
    r"(?P<address>hooks\.slack\.com/(?:services|workflows|triggers)/)"
    r"[A-Za-z0-9]{6,24}/[A-Za-z0-9]{6,24}/[A-Za-z0-9/]{12,80}",
    # Of Google's `1//0…` the first letter stays: no text is to wait at each of its digits.
    r"(?<=1)//0[A-Za-z0-9_-]{30,255}",
)

# A private key. Its lines may stand in a diff, in JSON, or behind numbers; it may be cut off. Not
# everything behind the first line is taken: a command could hide there.
KEY_START: Final = "-----BEGIN "
_FIRST: Final = r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_GAP: Final = r"(?:(?!-----)[\s\\|>+.:\d-]){0,48}+"
_FIELD: Final = r"n?[A-Z][A-Za-z]{0,12}(?:-[A-Za-z]{0,12}){0,2}"
_HEAD: Final = rf"{_GAP}{_FIELD}: (?:(?!-----)[\w .,:;()/+=@<>-]){{0,100}}+"
_RUN: Final = "[A-Za-z0-9+/=]"
_LAST: Final = r"-----END [A-Z0-9 ]{1,60}-----"
KEY: Final = (
    rf"(?P<key>{_FIRST}(?:{_HEAD}){{0,4}}(?:{_GAP}{_RUN}{{16,16384}}+){{1,400}}+"
    rf"(?:(?:{_GAP}{_RUN}{{1,15}}+){{0,3}}+{_GAP}{_LAST})?)"
)
# A text that ends inside a key, or inside what may become one.
_PART: Final = rf"{_GAP}(?:{_RUN}{{1,15}}+|{_FIELD}:?)"
_ENDING: Final = r"(?:-----(?:E|EN|END[A-Z0-9 ]{0,61}-{0,4})?)?"
_BEGUN: Final = r"-----BEGIN [A-Z0-9 ]{0,70}-{0,5}"
KEY_IS_OPEN: Final = (
    rf"(?:{_BEGUN}|{_FIRST}(?:{_HEAD}){{0,4}}(?:{_GAP}{_RUN}{{16,16384}}+){{0,400}}+"
    rf"(?:{_PART}){{0,4}}{_GAP}{_ENDING})\Z"
)
# A line of a key that cannot be taken for a short command, or for a path from the root.
KEY_LINE: Final = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+=][A-Za-z0-9+/=]{39,}+")

# How each of them begins: the first ones never inside a word.
SHAPE_STARTS: Final = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "hf_", "pypi-"),
    *("npm_", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "xapp-", "xoxe."),
    *(f"xox{letter}-" for letter in "abcdeoprs"),
    *("AKIA", "ASIA", "ABIA", "ACCA", "AIza", "ya29.", "GOCSPX-", "airboss_"),
)
OTHER_STARTS: Final = (*_NAMES, _SLACK, _GOOGLE, KEY_START)
# A text that ends inside a shape, or inside what may become one.
_SHAPE: Final = "|".join(map(re.escape, SHAPE_STARTS))
_OTHER: Final = "|".join(map(re.escape, (*_NAMES, _SLACK, _GOOGLE)))
RUNNING: Final = (
    rf"(?:{_SHAPE})[A-Za-z0-9_%-]{{0,500}}\Z"
    rf"|(?:{_OTHER})[A-Za-z0-9_/+\\:=\"'\s-]{{0,300}}\Z"
)
# Further back no shape can have begun that is not over; a key that is longer is told in parts.
LONGEST_SHAPE: Final = 540
LONGEST_KEY: Final = 16 * 1024

# A path, as it is written in a command: not an address.
_PATH_BEFORE = re.compile(r"(?:\A|[\s'\"=<>;|&(])(?:~|\.{1,2})?/(?:[\w.+@~-]{1,255}/){0,64}\Z")
_PATH_AFTER = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w./@:-])")
_NOT_RANDOM = re.compile(r"[a-z]+(?:[_-][a-z]+){2,}")
_LONGEST_PATH: Final = 1024


def is_file_name(found: re.Match[str]) -> bool:
    """Whether what looks like a secret stands where only the name of a file does (`./…`, `….py`),
    or is made of words: no secret is."""
    text = found.string
    if _NOT_RANDOM.fullmatch(found[0]) or _PATH_AFTER.match(text, found.end()):
        return True
    before = text[max(0, found.start() - _LONGEST_PATH) : found.start()]
    return before.endswith("/") and _PATH_BEFORE.search(before) is not None
