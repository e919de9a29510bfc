"""What pages have in common: templates that escape all text, style, one script, and a policy that allows no other."""

import base64
import hashlib
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from langdiff.base.cells import drop_controls

HERE = Path(__file__).parent


def render_page(template: str, **shown: Any) -> str:
    """Return a page as text, without control characters.

    Parameters
    ----------
    template : str
        Name of a template beside this file; it writes `policy` first in its head, `style` and `script`.
    **shown
        What the template shows.
    """
    loader = jinja2.FileSystemLoader(HERE)
    pages = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    page = pages.get_template(template).render(
        policy=policy_for(script),
        style=Markup(style),  # noqa: S704 our own file
        script=Markup(script),  # noqa: S704 our own file
        **shown,
    )
    return drop_controls(page)


def policy_for(script: str) -> str:
    """Return the Content-Security-Policy of a page that loads nothing, and executes one script only."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'"
    )
