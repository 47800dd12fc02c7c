"""HTML from templates: texts are escaped, Markdown cannot contain HTML, and nothing is loaded from other sites."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.responses import HTMLResponse, JSONResponse, Response

from seesay import __version__
from seesay.judge.answers import RequestRejectedError
from seesay.judge.study import SLIDER_MAX

ASSETS = {
    "icon.svg": "image/svg+xml",
    "style.css": "text/css",
    "page.js": "text/javascript",
    "researcher.js": "text/javascript",
}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("seesay.judge.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["markdown"] = markdown
    environment.globals.update(version=__version__, slider_max=SLIDER_MAX)
    return environment


def html_page(template: str, status: int = 200, **values: Any) -> Response:
    """A page as a response."""
    return HTMLResponse(_environment().get_template(template).render(**values), status)


def error_response(path: str, error: RequestRejectedError) -> Response:
    """An error as a page for people, or as JSON for scripts."""
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
    if error.status == 429:
        headers["Retry-After"] = "5"
    if path.startswith("/api/"):
        return JSONResponse({"error": error.message}, error.status, headers)
    response = html_page("error.html", error.status, message=error.message, code=error.status)
    response.headers.update(headers)
    return response


def markdown(text: str) -> Markup:
    """Markdown without HTML and without pictures: a page loads nothing from other sites."""
    parser = MarkdownIt("commonmark", {"html": False}).disable("image")
    return Markup(parser.render(text))


@cache
def asset(name: str) -> bytes:
    """The content of a static file."""
    return (files("seesay.judge.web") / "templates" / name).read_bytes()
