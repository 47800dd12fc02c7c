"""The environment that every test runs in: those of tests/ and the examples in the docstrings of
src/."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from tests.light import skip_heavy

settings.register_profile("seesay", deadline=None)  # a busy machine is no failure
settings.register_profile("light", deadline=None, max_examples=20)
settings.load_profile("seesay")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--light`, with which `make check` runs the tests."""
    what = "skip every test that needs a model, a browser, another program or published data"
    parser.addoption("--light", action="store_true", help=what)


def pytest_configure(config: pytest.Config) -> None:
    """One thread per worker: torch and NumPy read this when they are imported, sub-processes
    inherit it.

    Tables are wide enough for the paths of temporary folders, whose length depends on who runs the
    tests. Sub-processes, which start in such a folder, find the package `tests`. They can be
    interrupted, too: a shell that runs the tests in the background has them ignore Ctrl-C, and
    tests that press it would wait for ever.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["COLUMNS"] = "240"
    import_path = [str(config.rootpath), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, import_path))
    if config.getoption("light"):
        settings.load_profile("light")
    # which are other programs, and run the tests
    starts_workers = bool(config.getoption("numprocesses", None))
    if config.getoption("light") and not starts_workers:
        sys.addaudithook(skip_heavy)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Forget a module that was skipped amid its imports: pytest leaves the half of it for others to
    import."""
    report = yield
    if report.skipped:
        for name, module in list(sys.modules.items()):
            if getattr(module, "__file__", None) == str(collector.path):
                del sys.modules[name]
    return report


@pytest.fixture(scope="session", autouse=True)
def _own_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the published data that this machine's user has fetched."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEESAY_DATA", str(tmp_path_factory.getbasetemp() / "no-data"))
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_session_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What fixtures that several tests share write to the working directory stays out of the
    repository."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("working-directory"))
        yield


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's working directory is its own temporary folder."""
    monkeypatch.chdir(tmp_path)
