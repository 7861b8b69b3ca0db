# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The page: one HTML file with its style and script, which asks the local server for the rest."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader

from harness_ros.grading.report.writing import PAGE as REPORT

PAGE = Path(__file__).parent / "page"
STYLES = (REPORT / "report.css", PAGE / "label.css")
SCRIPTS = (
    REPORT / "elements.js",
    REPORT / "lightbox.js",
    PAGE / "asking.js",
    PAGE / "showing.js",
    PAGE / "keys.js",
)
"""In this order they are the one script of the page."""


class Page(NamedTuple):
    """What a browser gets."""

    html: str
    policy: str
    """Content-Security-Policy: its own style and script, and this server alone."""


def page_of(title: str, overview: dict[str, Any]) -> Page:
    """The page of a session.

    Args:
        title: what is labelled; texts are visible already.
        overview: as `Session` gives it.
    """
    environment = Environment(
        loader=FileSystemLoader([PAGE, REPORT]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = "".join(path.read_text(encoding="utf-8") for path in STYLES)
    parts = [path.read_text(encoding="utf-8") for path in SCRIPTS]
    script = "".join(['"use strict";\n(() => {\n', *parts, "})();\n"])
    html = environment.get_template("label.html").render(
        title=title, overview=overview, style=style, script=script
    )
    policy = [
        "default-src 'none'",
        f"script-src 'sha256-{_digest(script)}'",
        f"style-src 'sha256-{_digest(style)}'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    return Page(html, "; ".join(policy))


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
