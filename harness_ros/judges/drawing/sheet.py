# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A judged Observation on one sheet: verdict, views with what the checks see, evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness_ros.capture.images import ImageError
from harness_ros.contract import Kind, Status, View
from harness_ros.judges.checks import DRAWINGS, ViewParameters
from harness_ros.judges.drawing import text
from harness_ros.judges.drawing.canvas import Canvas
from harness_ros.judges.drawing.palette import (
    AMBER,
    FAINT,
    GREEN,
    INK,
    RED,
    Colour,
    Pixels,
    filled,
    of_outcome,
)
from harness_ros.judges.drawing.panel import Panel
from harness_ros.judges.explanation import Explanation, Line, Measured

MARGIN, GAP = 18, 14
WORD_PX, BODY_PX, SMALL_PX = 22, 16, 14
PANEL_WIDTHS = {1: 800, 2: 640}
"""Pixels of a panel by the number of columns."""
NARROW_PANEL = 520
MAX_PICTURE_HEIGHT = 640
INDENT = 22


@dataclass(frozen=True)
class Heading:
    """What stands above the views."""

    status: Status | None
    """None where nobody has judged."""
    kind: Kind
    post_condition: str
    title: str = ""
    """Which run this is."""
    reason: str = ""
    note: str = ""
    """What else is to be known, such as another verdict that was given before."""

    @property
    def verdict(self) -> str:
        """The verdict in capitals, with the kind where nobody judged."""
        if self.status is None:
            return "NOT JUDGED"
        kind = f" ({self.kind.value})" if self.kind is not Kind.JUDGED else ""
        return f"{self.status.name}{kind}"

    @property
    def colour(self) -> Colour:
        """Green for a success, red for a failure that was judged, else amber."""
        if self.status is Status.SUCCESS:
            return GREEN
        judged = self.kind in (Kind.JUDGED, Kind.SEGMENT_BUDGET_EXHAUSTED)
        return RED if self.status is Status.FAILURE and judged else AMBER


def draw(heading: Heading, explanation: Explanation, views: Sequence[str] | None = None) -> Pixels:
    """The sheet of one run.

    Args:
        views: names of the views to show, in this order; by default those that a check looks at,
            or every one where no check looks at any.

    Returns:
        RGB uint8 (height, width, 3).
    """
    observation = explanation.observed.observation
    if views is None:
        used = {name for item in explanation.measured for name in item.check.parameters.views()}
        names = [view.name for view in observation.views]
        views = [name for name in names if name in used] or ([] if explanation.measured else names)
    columns = min(len(views), 3)
    panel_width = PANEL_WIDTHS.get(max(columns, 1), NARROW_PANEL)
    width = max(columns, 1) * (panel_width + GAP) - GAP
    panels = [_panel(name, explanation, panel_width) for name in views]
    parts = [_heading(heading, width)]
    parts += [_row(panels[at : at + 3], width) for at in range(0, len(panels), 3)]
    parts.append(_evidence(explanation.lines, width))
    sheet = np.concatenate([part for part in parts if part.size])
    framed = filled(sheet.shape[0] + 2 * MARGIN, width + 2 * MARGIN)
    framed[MARGIN:-MARGIN, MARGIN:-MARGIN] = sheet
    return framed


def _panel(name: str, explanation: Explanation, width: int) -> Panel:
    observed = explanation.observed
    view = observed.observation.view(name)
    if view is None:
        return Panel(name, None, "not in the observation", width, MAX_PICTURE_HEIGHT)
    try:
        image = observed.image(name)
    except ImageError as error:
        return Panel(name, None, str(error), width, MAX_PICTURE_HEIGHT)
    height, columns = image.shape[:2]
    about = f"{columns}x{height}  {view.encoding}{_age(view, explanation)}"
    panel = Panel(name, image, about, width, MAX_PICTURE_HEIGHT)
    for item in explanation.measured:
        if name in item.check.parameters.views():
            _draw_check(item, explanation, panel)
    return panel


def _age(view: View, explanation: Explanation) -> str:
    others = [other.stamp_ns for other in explanation.observed.observation.views]
    after = (view.stamp_ns - min(others)) / 1e9
    return f"  +{after:.3f} s" if after else ""


def _draw_check(item: Measured, explanation: Explanation, panel: Panel) -> None:
    canvas = Canvas(panel, item.number, item.finding.holds)
    parameters = item.check.parameters
    if isinstance(parameters, ViewParameters):
        canvas.region(parameters.region)
    drawing = DRAWINGS.get(item.check.name)
    if drawing is None:
        return
    try:
        drawing(parameters, explanation.observed, canvas)
    except Exception as error:
        # What keeps a check from measuring keeps it from drawing; the evidence says so already.
        # One that could measure is somebody's code with a mistake in it, and must not end this.
        if item.finding.holds is not None:
            canvas.label((0, 0), f"{item.number}: not drawn: {error}")


def _heading(heading: Heading, width: int) -> Pixels:
    lines: list[tuple[str, float, Colour, bool]] = []
    if heading.title:
        lines += [
            (words, SMALL_PX, FAINT, False) for words in text.wrap(heading.title, width, SMALL_PX)
        ]
    lines.append((heading.verdict, WORD_PX, heading.colour, True))
    for said, colour in (
        (heading.post_condition, INK),
        (heading.reason, heading.colour),
        (heading.note, AMBER),
    ):
        if said:
            lines += [(words, BODY_PX, colour, False) for words in text.wrap(said, width, BODY_PX)]
    heights = [text.height_of(size) + (4 if bold else 0) for _, size, _, bold in lines]
    pixels = filled(sum(heights) + GAP, width)
    top = 0
    for (words, size, colour, bold), height in zip(lines, heights, strict=True):
        text.put(pixels, words, (0, top), colour, size, bold)
        top += height
    return pixels


def _row(panels: Sequence[Panel], width: int) -> Pixels:
    rendered = [panel.render() for panel in panels]
    row = filled(max(item.shape[0] for item in rendered) + GAP, width)
    left = 0
    for item in rendered:
        row[: item.shape[0], left : left + item.shape[1]] = item
        left += item.shape[1] + GAP
    return row


def _evidence(lines: Sequence[Line], width: int) -> Pixels:
    """The lines of the explanation, each with its symbol and the number of its check."""
    height = text.height_of(SMALL_PX) + 2
    drawn = [_evidence_line(line, width, height) for line in lines]
    return np.concatenate(drawn) if drawn else np.empty((0, width, 3), np.uint8)


def _evidence_line(line: Line, width: int, height: int) -> Pixels:
    is_check = line.number is not None
    left = line.depth * INDENT
    words_left = left + INDENT + (text.width_of("00", SMALL_PX, bold=True) + 8 if is_check else 0)
    wrapped = text.wrap(line.text, max(width - words_left, 120), SMALL_PX)
    space = 0 if is_check else 4
    pixels = filled(len(wrapped) * height + space, width)
    colour = of_outcome(line.holds) if is_check else FAINT
    text.put_symbol(pixels, line.holds, (left, space + 4), SMALL_PX - 1, colour)
    if is_check:
        text.put(pixels, str(line.number), (left + INDENT, space + 1), colour, SMALL_PX, bold=True)
    for row, words in enumerate(wrapped):
        text.put(
            pixels,
            words,
            (words_left, space + 1 + row * height),
            INK if is_check else FAINT,
            SMALL_PX,
        )
    return pixels
