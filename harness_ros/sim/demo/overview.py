# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All calls of a demo on one picture: what was seen after each, and what was said of it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from harness_ros.capture.images import decode, to_rgb
from harness_ros.contract import Observation
from harness_ros.sim.demo.result import CallRecord

Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]

COLUMNS = 5
WIDTH, HEIGHT, CAPTION, GAP = 360, 270, 104, 14
PAPER, INK, FAINT = (250, 250, 248), (40, 42, 48), (120, 124, 132)
GREEN, RED, AMBER = (30, 132, 73), (192, 41, 43), (183, 121, 11)
"""Colours are RGB."""


def overview(calls: Sequence[tuple[CallRecord, Observation | None]]) -> Pixels:
    """A sheet of all calls.

    Args:
        calls: each with the Observation of its last run, where there was one.

    Returns:
        RGB uint8 (height, width, 3).
    """
    cells = [_cell(call, observation) for call, observation in calls]
    rows = -(-len(cells) // COLUMNS)
    cell_height, cell_width = HEIGHT + CAPTION + GAP, WIDTH + GAP
    sheet = np.full((rows * cell_height + GAP, COLUMNS * cell_width + GAP, 3), PAPER, np.uint8)
    for number, cell in enumerate(cells):
        top = GAP + number // COLUMNS * cell_height
        left = GAP + number % COLUMNS * cell_width
        sheet[top : top + cell.shape[0], left : left + cell.shape[1]] = cell
    return sheet


def _cell(call: CallRecord, observation: Observation | None) -> Pixels:
    cell = np.full((HEIGHT + CAPTION, WIDTH, 3), PAPER, np.uint8)
    if observation is not None and observation.views:
        image = to_rgb(decode(observation.views[0]))
        cell[:HEIGHT] = cv2.resize(image, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
    outcome = GREEN if call.judged_success else RED
    cv2.rectangle(cell, (0, 0), (WIDTH - 1, HEIGHT - 1), outcome, 3)
    segments = f" x{len(call.run_ids)}" if len(call.run_ids) > 1 else ""
    title = f"{call.number}  {call.tool}{segments}  {' > '.join(call.arguments.values())}"
    _text(cell, title, (2, HEIGHT + 22), INK, 0.5, bold=True)
    backend = "success" if call.backend_success else "failure"
    _text(cell, f"backend: {backend}", (2, HEIGHT + 44), FAINT, 0.45)
    verdict = f"verdict: {call.verdict.status.name.lower()}"
    _text(cell, verdict, (140, HEIGHT + 44), outcome, 0.45, bold=True)
    truth = "holds" if call.true_success else "fails"
    _text(cell, f"truth: {truth}", (268, HEIGHT + 44), INK if call.agree else AMBER, 0.45)
    said = call.verdict.failure_reason or (call.verdict.evidence or ("",))[0]
    for line, words in enumerate(textwrap.wrap(said, 48)[:2]):
        _text(cell, words, (2, HEIGHT + 66 + 18 * line), FAINT, 0.42)
    return cell


def _text(
    image: Pixels, text: str, at: tuple[int, int], colour: Colour, scale: float, bold: bool = False
) -> None:
    font = cv2.FONT_HERSHEY_DUPLEX if bold else cv2.FONT_HERSHEY_SIMPLEX
    cv2.putText(image, text, at, font, scale, colour, 1, cv2.LINE_AA)
