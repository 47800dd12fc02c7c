"""Which tests `--light` leaves out, with which `make check` runs them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.shared_data import PUBLISHED_DATA

# What models, browsers and clusters are made of. Importing one of these takes about as long as a
# hundred light tests.
HEAVY_PACKAGES = frozenset(
    {
        "datasets",
        "inspect_ai",
        "lm_eval",
        "onnxruntime",
        "playwright",
        "ray",
        "spacy",
        "torch",
        "transformers",
        "xllamacpp",
    }
)


def skip_heavy(event: str, arguments: tuple[Any, ...]) -> None:
    """Skip the test, or the file of tests, that is about to import a heavy package, start a program
    or read large data.

    What a test needs is seen when it asks for it, so that nobody has to keep a list of light tests.
    pytest's exception is no `Exception`: no handler in seesay takes it for a missing package.
    """
    if event == "import":
        package = str(arguments[0]).partition(".")[0]
        if package in HEAVY_PACKAGES:
            pytest.skip(f"--light: needs {package}", allow_module_level=True)
    elif event == "subprocess.Popen":
        program = Path(os.fsdecode(arguments[0])).name
        if program != "uname":  # which Python itself asks for the processor's name
            pytest.skip(f"--light: starts {program}", allow_module_level=True)
    elif event == PUBLISHED_DATA:
        pytest.skip(f"--light: reads the published data {arguments[0]}", allow_module_level=True)
