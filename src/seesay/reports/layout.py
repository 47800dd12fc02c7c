"""What every page shares: the style, the offline layout, and the content policy that allows nothing
else."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from seesay import __version__
from seesay.data.colors import COLORS
from seesay.quantities import quantity
from seesay.reports.charts.dotplot import legend_key
from seesay.reports.formatting import cell, ends, interval, number, p_value, part_name, size


def prose(text: str) -> Markup:
    """Return a text whose commands and names between backticks are set as code.

    >>> prose("`a < b` or c")
    Markup('<code>a &lt; b</code> or c')
    """
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


STYLESHEETS = ("variables.css", "paints.css", "style.css", "charts.css")
FILTERS = {
    "number": number,
    "p_value": p_value,
    "counted": quantity,
    "interval": interval,
    "ends": ends,
    "key": legend_key,
    "cell": cell,
    "prose": prose,
    "part": part_name,
    "size": size,
}


CORE = "seesay.reports"


@cache
def templates(package: str = CORE) -> Environment:
    """Return the page templates of a package, which may build on the core's.

    Names are escaped, and embedded JSON (`tojson`) cannot end its element.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(CORE)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    # NaN is no JSON: a browser's script would stop at it
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return environment


def render_page(
    template: str,
    script: str | None = None,
    package: str = CORE,
    **values: object,
) -> str:
    """Return a page from a package's template; only the page's own style and script may act."""
    style = Markup("").join(map(asset, STYLESHEETS))
    code = None if script is None else asset(script, package)
    page = templates(package).get_template(template)
    text = page.render(
        **values,
        style=style,
        script=code,
        policy=policy(style, code),
        colors=COLORS,
        version=__version__,
    )
    # lone surrogates, from file names that are not UTF-8, cannot be written
    return text.encode("utf-8", "replace").decode()


def asset(name: str, package: str = CORE) -> Markup:
    """Return a file of the page's own, which needs no escaping."""
    return Markup((files(package) / "templates" / name).read_text(encoding="utf-8"))


def policy(style: str, script: str | None) -> str:
    """Return a content policy that allows this style and this script.

    They are known by their digests. Images may be within the page.
    """
    scripts = "'none'" if script is None else _digest(script)
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {scripts}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
