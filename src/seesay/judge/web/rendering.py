"""HTML from templates: names and texts are escaped, Markdown cannot hold HTML, and nothing is loaded from outside."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.responses import HTMLResponse, JSONResponse, Response

from seesay import __version__
from seesay.judge.answers import RefusedError
from seesay.judge.study import TOP

ASSETS = {
    "icon.svg": "image/svg+xml",
    "style.css": "text/css",
    "script.js": "text/javascript",
    "watch.js": "text/javascript",
}


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("seesay.judge.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["markdown"] = markdown
    made.globals.update(version=__version__, top=TOP)
    return made


def page(template: str, status: int = 200, **values: Any) -> Response:
    """A page as a response."""
    return HTMLResponse(_environment().get_template(template).render(**values), status)


def refusal(path: str, refused: RefusedError) -> Response:
    """A refusal as a page for people, or as JSON for scripts."""
    headers = {"WWW-Authenticate": "Bearer"} if refused.status == 401 else {}
    if refused.status == 429:
        headers["Retry-After"] = "5"
    if path.startswith("/api/"):
        return JSONResponse({"error": refused.sentence}, refused.status, headers)
    response = page("refused.html", refused.status, sentence=refused.sentence, code=refused.status)
    response.headers.update(headers)
    return response


def markdown(text: str) -> Markup:
    """Markdown without HTML and without pictures: a page asks nothing of any other site."""
    reader = MarkdownIt("commonmark", {"html": False}).disable("image")
    return Markup(reader.render(text))


@cache
def asset(name: str) -> bytes:
    """The style or the script."""
    return (files("seesay.judge.web") / "templates" / name).read_bytes()
