"""Chat templates are programs of other people, and may loop for ever or write without end: they are
rendered in one child process, within limits of time, memory and size.

The child starts with the first conversation and serves all further ones, each by a line of JSON in
either direction. It limits itself, so that it does not outlive a parent that is killed.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

SECONDS = 10  # for one conversation
MEMORY = 1 << 30  # bytes of addresses beyond those of the libraries
LARGEST_TEXT = 1 << 24  # characters
LARGEST_LINE = 12 * LARGEST_TEXT + 100  # bytes: JSON spells some characters as two escapes of six

_CHILD = "from seesay.models.template_process import serve; serve()"


class TemplateError(Exception):
    """A template that cannot be rendered, or not within the limits."""


class TemplateProcess:
    """The child process, seen from this side."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def render(self, template: str, messages: list[dict[str, Any]], variables: Any) -> str:
        """Return the conversation as the template writes it down, up to where a reply begins."""
        request = json.dumps([SECONDS, template, messages, variables], default=str)
        # a line goes to the child and another one comes back: one conversation at a time
        with self._lock:
            line = self._exchange(request.encode() + b"\n")
        reply = json.loads(line)
        if "error" in reply:
            raise TemplateError(reply["error"])
        return str(reply["text"])

    def close(self) -> None:
        """End the child, if there is one."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def _exchange(self, request: bytes) -> bytes:
        """Return the child's answer to a request; a child that fails is ended."""
        if self._child is None:
            self._child = _start()
        line = b""
        if self._child.stdin and self._child.stdout:
            try:
                self._child.stdin.write(request)
                self._child.stdin.flush()
                line = self._child.stdout.readline(LARGEST_LINE)
            except OSError:  # it has ended
                line = b""
        if not line.endswith(b"\n"):
            self.close()
            raise TemplateError(f"it takes more than {SECONDS} s or all memory")
        return line


def _start() -> subprocess.Popen[bytes]:
    # with the libraries of this process, and not (-P) with what lies in the current folder
    paths = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


TEMPLATES = TemplateProcess()
atexit.register(TEMPLATES.close)


def serve() -> None:
    """Answer requests, as the child process, until there are no more."""
    from transformers.utils.chat_template_utils import render_jinja_template

    _limit_memory()
    for line in sys.stdin.buffer:
        seconds, template, messages, variables = json.loads(line)
        # the alarm ends the process, whatever it is doing
        signal.alarm(seconds)
        try:
            rendered: Any = render_jinja_template([messages], chat_template=template, **variables)
            text = rendered[0][0]
            if len(text) > LARGEST_TEXT:
                raise ValueError(f"it writes more than {LARGEST_TEXT:,} characters")
            reply = {"text": text}
        except Exception as error:  # a template fails in more ways than can be listed
            lines = str(error).strip().splitlines()
            reply = {"error": lines[0] if lines else type(error).__name__}
        signal.alarm(0)
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def _limit_memory() -> None:
    """Limit the memory of this process, where the system tells how much it has."""
    import resource

    statistics = Path("/proc/self/statm")
    if not statistics.is_file():
        return
    used = int(statistics.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
