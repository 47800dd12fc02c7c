"""What every page shares: the style, the frame that opens offline, and the policy that lets nothing else act."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from seesay import __version__
from seesay.report.charts.dotplot import COLOURS, key
from seesay.report.formatting import cell, count, interval, number, p_value

SHEETS = ("variables.css", "paints.css", "style.css", "charts.css")
FILTERS = {"number": number, "p_value": p_value, "counted": count, "interval": interval, "key": key, "cell": cell}


def fill(template: str, script: str | None = None, **values: object) -> str:
    """A template in the shared frame; names are escaped, and only this style and this script may act."""
    environment = Environment(
        loader=PackageLoader("seesay.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    style = Markup("").join(map(asset, SHEETS))
    code = None if script is None else asset(script)
    return environment.get_template(template).render(
        **values, style=style, script=code, policy=policy(style, code), colours=COLOURS, version=__version__
    )


def asset(name: str) -> Markup:
    """A file of the page's own, which needs no escaping."""
    return Markup((files("seesay.report") / "templates" / name).read_text(encoding="utf-8"))


def policy(style: str, script: str | None) -> str:
    """Only this style and this script, known by their digests, may act; pictures only from the page itself."""
    scripts = "'none'" if script is None else _digest(script)
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {scripts}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
