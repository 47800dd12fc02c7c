"""Chromium for the tests that need a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from tests.needs import absent

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Chromium under Playwright, with a temporary profile; the test is skipped where it is not
    installed."""
    if not CHROMIUM.exists():
        absent(f"{CHROMIUM} is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@cache
def _axe() -> str:
    """The script, without the package's own way to add it, which the pages' content policy
    refuses."""
    try:
        import axe_playwright_python  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        absent("axe-playwright-python is not installed")
    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def serious_violations(page: Page) -> list[tuple[str, str, str]]:
    """What axe-core calls serious or critical: the rule, and where it is broken."""
    page.evaluate(_axe())
    violations = page.evaluate(
        "axe.run({resultTypes: ['violations']}).then(result => result.violations)"
    )
    return [
        (violation["id"], str(node["target"]), node["html"][:120])
        for violation in violations
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:3]
    ]
