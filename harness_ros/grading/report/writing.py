# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From the data of a report to one file.

The page is written piece by piece: head, totals and charts, the rows as JSON, the script, then the
pictures of one run after the other. So the page works while a browser still reads its pictures, and
those of one run at a time are in memory here.
"""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from harness_ros.grading.report.data import ReportData, ReportError, ReportView
from harness_ros.grading.report.entries import entries
from harness_ros.grading.report.figures import figures, interval, spread
from harness_ros.grading.report.tables import tables
from harness_ros.grading.report.timeline import timelines
from harness_ros.grading.report.wording import grouped, percent, tokens, visible
from harness_ros.grading.summary import Summary

PAGE = Path(__file__).parent / "page"
SCRIPTS = (
    "elements.js",
    "pictures.js",
    "lightbox.js",
    "card.js",
    "grid.js",
    "filters.js",
    "list.js",
    "timeline.js",
    "start.js",
)
"""In this order they are the one script of the page."""


def write_report(path: Path, data: ReportData) -> None:
    """Writes a report; one that is there is replaced once the new one is whole.

    Raises:
        ReportError: the file cannot be written, or the data hold what a report cannot show.
    """
    replaced(path, _page(data))


def replaced(path: Path, parts: Iterable[str]) -> None:
    """Writes a file part by part; one that is there is replaced once the new one is whole.

    Raises:
        ReportError: the file cannot be written.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror or error}") from None
    unfinished = Path(name)
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(parts)
        # mkstemp makes files for their owner alone.
        umask = os.umask(0)
        os.umask(umask)
        unfinished.chmod(0o666 & ~umask)
        unfinished.replace(path)
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror or error}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _page(data: ReportData) -> Iterator[str]:
    style, script = _style(), _script()
    return (
        environment()
        .get_template("report.html")
        .generate(
            title=visible(data.title),
            subtitle=visible(data.subtitle),
            policy=policy(style, script),
            style=style,
            script=script,
            figures=figures(data),
            problems=data.problems,
            timelines=timelines(data.rows),
            tables=list(tables(_plain(data.summary))),
            plain_entries=entries(data),
            entries=entries(data),
            pictures_of_rows=_pictures(data),
        )
    )


def environment(*folders: Path) -> Environment:
    """Templates of the report, and of a page in its style.

    Args:
        folders: where its own templates are.
    """
    made = Environment(
        loader=FileSystemLoader([*folders, PAGE]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "visible": visible,
        "percent": percent,
        "interval": interval,
        "grouped": grouped,
        "tokens": tokens,
    }
    made.globals["spread"] = spread
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return made


def _pictures(data: ReportData) -> Iterator[dict[str, Any]]:
    """The pictures of each row that has any."""
    for index, row in enumerate(data.rows):
        views = [_picture(view) for view in data.views(row)]
        annotated = data.annotated(row)
        if annotated is not None:
            views.append(_picture(annotated))
        if views:
            yield {"index": index, "views": views}


def _picture(view: ReportView) -> dict[str, Any]:
    return {
        "name": visible(view.name),
        "width": view.width,
        "height": view.height,
        "caption": visible(view.caption),
        "jpeg": base64.b64encode(view.jpeg).decode("ascii"),
    }


def _plain(summary: Summary | Mapping[str, Any]) -> Mapping[str, Any]:
    return summary.model_dump(mode="json") if isinstance(summary, Summary) else summary


def _style() -> str:
    return (PAGE / "report.css").read_text(encoding="utf-8")


def _script() -> str:
    parts = [(PAGE / name).read_text(encoding="utf-8") for name in SCRIPTS]
    return "".join(['"use strict";\n(() => {\n', *parts, "})();\n"])


def policy(style: str, script: str = "") -> str:
    """What a page may do: its own style and script, pictures that it holds, nothing else."""
    return "; ".join(
        [
            "default-src 'none'",
            *([f"script-src 'sha256-{_digest(script)}'"] if script else []),
            f"style-src 'sha256-{_digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
