"""The pictures of the report in docs/images, from a folder's page, which these commands make:

seesay probe smollm2 baseline:majority --limit 60 -o runs
python -m tests.reports.screenshots runs/report.html docs/images
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page
from tests.browser import chromium

DESKTOP = (1200, 1000)
PHONE = (390, 1000)


def main(file: Path, target: Path) -> None:
    """Write the four pictures."""
    with chromium() as browser:
        open_page(browser, file, DESKTOP).screenshot(path=target / "report.png")
        dark = open_page(browser, file, DESKTOP, "dark")
        dark.screenshot(path=target / "report-dark.png")
        for name, size in (("questions", DESKTOP), ("phone", PHONE)):
            page = open_page(browser, file, size)
            page.locator("#questions").evaluate("section => section.scrollIntoView()")
            page.locator("#question-table tbody tr").first.wait_for()
            page.screenshot(path=target / f"report-{name}.png")


def open_page(
    browser: Browser,
    file: Path,
    size: tuple[int, int],
    scheme: Literal["light", "dark"] = "light",
) -> Page:
    """Open the page in a window of this size."""
    # no picture of half a scroll
    page = browser.new_page(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page.goto(file.resolve().as_uri())
    return page


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
