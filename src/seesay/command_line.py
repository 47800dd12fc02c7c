"""The command line as a run records it: it can be typed again, and it holds no secrets.

Records are published (manifests, pages, data cards), so passwords and keys are replaced by `***`.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from seesay.errors import UserError

_MASK = "***"
_SECRET = r"(?:[\w-]*[-_])?(?:password|passwd|passphrase|secret|api[-_]?key|credential|signature)"
# not --per-token
_TOKEN = r"(?:(?:hf|api|access|auth|bearer|client|session|security|x-amz-security)[-_])?token"
_OPTION = re.compile(rf"--(?:{_SECRET}|{_TOKEN})", re.IGNORECASE)
# A password may hold @ or / that should have been percent-encoded: it ends at the last @. Digits
# before / are a port.
_USER_INFO = re.compile(r"(?<=://)(?:[^\s/?#:@]*:(?!\d+[/?#])\S*@|[^\s/?#]*@)")
_SETTING = re.compile(
    rf"(?<![\w-])((?:--)?(?:{_SECRET}|sslpassword|{_TOKEN}|key|sig|auth)=)[^&\s]+", re.IGNORECASE
)

_FLAG = re.compile(r"`seesay [^`]*`|--([a-z][a-z-]*)(?: (\d[\d.]*|[a-z-]+)(?=[ ,.;:)]|$))?")
_VALUES = frozenset({"option", "sentence", "generate", "chat"})
"""What may stand behind an option in a note; any other word goes on with the sentence."""
_SWITCHES = frozenset({"chat", "reuse", "allow-pickle", "trust-remote-code"})
_typed = False


@contextmanager
def typed_command() -> Iterator[None]:
    """Say that whoever is spoken to has typed a command: options are called as they are typed."""
    global _typed
    before = _typed
    _typed = True
    try:
        yield
    finally:
        _typed = before


def in_callers_words(text: str) -> str:
    """Return a text with the names of options as its reader gives them: in Python, arguments.

    >>> in_callers_words("--chat asks so; --scope option needs less, --shots changes nothing.")
    "chat=True asks so; scope='option' needs less, shots changes nothing."
    >>> in_callers_words("--how is new: `seesay probe --how cloze` is not.")
    'how is new: `seesay probe --how cloze` is not.'
    """
    return text if _typed else _FLAG.sub(_as_argument, text)


@contextmanager
def errors_in_callers_words() -> Iterator[None]:
    """Let a user's mistake name options as whoever called a function gives them."""
    try:
        yield
    except UserError as error:
        error.args = (in_callers_words(str(error)),)
        raise


def _as_argument(match: re.Match[str]) -> str:
    """Return an option of the command line as a keyword argument."""
    option, value = match.groups()
    if option is None:
        # a command to be typed stays one
        return match.group()
    name = option.replace("-", "_")
    if value is not None and value[0].isdigit():
        return f"{name}={value}"
    if value in _VALUES:
        return f"{name}={value!r}"
    rest = "" if value is None else f" {value}"
    if option in _SWITCHES:
        return f"{name}=True{rest}"
    return f"{name}{rest}"


def recorded_command(argv: Sequence[str] | None = None) -> str:
    """The command (default: this process's arguments) quoted for a shell, without secrets and
    without the share that a job took of the work."""
    if argv is None:
        argv = typed_words()
    argv = _without_shard(argv)
    words = ["seesay"]
    is_secret = False
    for argument in argv:
        text = _MASK if is_secret else remove_secrets(argument)
        # asterisks stand for what is to be typed, and are not quoted
        words.append(text if text == _MASK else shlex.quote(text))
        is_secret = _OPTION.fullmatch(text) is not None
    # Bytes of a file name that are not UTF-8 arrive as lone surrogates, which no JSON file can
    # hold.
    return " ".join(words).encode("utf-8", "backslashreplace").decode()


def _without_shard(words: Sequence[str]) -> list[str]:
    """
    >>> _without_shard(["probe", "m", "--shard", "2/4", "-t", "x", "--shard=2/4"])
    ['probe', 'm', '-t', 'x']
    """
    other_words = []
    is_value = False
    for word in words:
        if not is_value and word != "--shard" and not word.startswith("--shard="):
            other_words.append(word)
        is_value = word == "--shard"
    return other_words


def remove_secrets(text: str) -> str:
    """A text with user names and passwords in URLs, and values such as `password=…` or `token=…`,
    replaced by `***`."""
    return _SETTING.sub(rf"\1{_MASK}", _USER_INFO.sub(f"{_MASK}@", text))


def typed_words() -> list[str]:
    """What was typed behind the program's name."""
    return sys.argv[1:]
