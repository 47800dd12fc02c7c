"""HTML from templates.

Texts are escaped, Markdown cannot contain HTML, and nothing is loaded from other sites.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.responses import HTMLResponse, JSONResponse, Response

from seesay import __version__
from seesay.judge.items import MAX_TYPED, SLIDER_MAX
from seesay.judge.messages import mark
from seesay.judge.rejections import RequestRejectedError
from seesay.judge.web.languages import (
    DRAFTS,
    LANGUAGES,
    current_language,
    describe_rejection,
    direction,
    translations,
)

ASSETS = {
    "icon.svg": "image/svg+xml",
    "style.css": "text/css",
    "page.js": "text/javascript",
    "researcher.js": "text/javascript",
}


SCRIPT_MESSAGES = {
    "saved": mark("Saved"),
    "count": mark("%(answered)s of %(of)s"),
    "offline": mark("Not saved yet: no connection. Retrying automatically."),
    "reload": mark("Reload the page to continue."),
    "failed": mark("This answer could not be saved. Reload the page and answer again."),
    "one_missing": mark("One answer is missing and marked below."),
    "missing": mark("%(count)s answers are missing and marked below."),
}
"""What the page's script shows."""


@cache
def _environment(language: str) -> Environment:
    """Return Jinja's environment of a language."""
    # An undefined name is a mistake in a template, not an empty text.
    environment = Environment(
        loader=PackageLoader("seesay.judge.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    catalogue = translations(language)
    environment.install_gettext_callables(catalogue.gettext, catalogue.ngettext, newstyle=True)  # type: ignore[attr-defined]
    environment.filters["markdown"] = markdown
    environment.globals.update(
        version=__version__,
        slider_max=SLIDER_MAX,
        max_typed=MAX_TYPED,
        language=language,
        direction=direction(language),
        language_names=LANGUAGES,
        drafts=DRAFTS,
        script_messages={
            name: catalogue.gettext(message) for name, message in SCRIPT_MESSAGES.items()
        },
    )
    return environment


def html_page(template: str, status: int = 200, language: str = "", **values: Any) -> Response:
    """Return a page as a response, in the visitor's language unless another is named."""
    environment = _environment(language or current_language.get())
    return HTMLResponse(environment.get_template(template).render(**values), status)


def error_response(path: str, error: RequestRejectedError) -> Response:
    """Return an error as a page for people, or as JSON for scripts."""
    headers = {}
    # HTTP requires it (RFC 9110, section 15.5.2).
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if error.status == 429:
        headers["Retry-After"] = "5"
    message = describe_rejection(error)
    if path.startswith("/api/"):
        return JSONResponse({"error": message}, error.status, headers)
    response = html_page("error.html", error.status, message=message, code=error.status)
    response.headers.update(headers)
    return response


def markdown(text: str) -> Markup:
    """Return Markdown as HTML, without HTML of its own and without pictures.

    A page loads nothing from other sites.
    """
    parser = MarkdownIt("commonmark", {"html": False}).disable("image")
    return Markup(parser.render(text))


@cache
def asset(name: str) -> bytes:
    """Return the content of a static file."""
    return (files("seesay.judge.web") / "templates" / name).read_bytes()
