# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes the example of docs/model_judge.md anew: what a model is shown of a drawn Observation.

python scripts/draw_question.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from check_scenes import SCENES

from harness_ros.contract import Clearance, EvaluationRequest, Observation, Signal
from harness_ros.judges.drawing import text
from harness_ros.judges.drawing.palette import INK, PAPER
from harness_ros.judges.model.question import Question, ask_about
from harness_ros.judges.model.settings import ModelSettings

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "model_judge.md"
PICTURE = ROOT / "docs" / "images" / "model_judge" / "question.png"
MARGIN, SIZE = 16, 14
STAMP_NS = 1_000_000_000


def request() -> EvaluationRequest:
    """A block that stands on a tray, seen by a camera and by one of depth."""
    colour = SCENES["colour"]()
    depth = SCENES["depth"]().observation.views[0]
    front = colour.observation.views[0].model_copy(update={"name": "front", "stamp_ns": STAMP_NS})
    top = depth.model_copy(update={"name": "top_depth", "stamp_ns": STAMP_NS - 31_000_000})
    return EvaluationRequest(
        post_condition=colour.post_condition,
        criterion="",
        observation=Observation(
            run_id="run",
            captured_at_ns=STAMP_NS,
            views=(front, top),
            signals=(
                Signal(name="gripper_width", value=0.079, unit="m", stamp_ns=STAMP_NS - 4_000_000),
                Signal(name="gripper_force", value=float("nan"), unit="N", stamp_ns=STAMP_NS),
            ),
            clearance=Clearance(front=0.42, left=float("inf"), right=1.3, rear=float("nan")),
        ),
        outcome_regions={"front": (0.55, 0.2, 0.95, 0.85)},
    )


def question() -> Question:
    """What is asked of it."""
    return ask_about(request(), ModelSettings(type="model", model="any"))


def sheet(asked: Question) -> Any:
    """The pictures below each other, each under its caption, RGB uint8 (H, W, 3)."""
    pictures = [
        cv2.cvtColor(
            cv2.imdecode(np.frombuffer(item.jpeg, np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB
        )
        for item in asked.pictures
    ]
    width = max(picture.shape[1] for picture in pictures)
    rows = []
    for item, picture in zip(asked.pictures, pictures, strict=True):
        lines = text.wrap(item.caption, width, SIZE)
        height = len(lines) * text.height_of(SIZE)
        part = np.full((height + picture.shape[0] + 2 * MARGIN, width, 3), PAPER, np.uint8)
        for number, line in enumerate(lines):
            text.put(part, line, (0, number * text.height_of(SIZE)), INK, SIZE)
        top = height + MARGIN // 2
        part[top : top + picture.shape[0], : picture.shape[1]] = picture
        rows.append(part)
    stacked = np.concatenate(rows)
    return np.pad(stacked, ((MARGIN, 0), (MARGIN, MARGIN), (0, 0)), constant_values=PAPER[0])


def with_example(page: str, asked: Question) -> str:
    """The page with the texts of the example as they are sent."""
    parts = {
        "instruction": asked.instruction,
        "question": "\n".join(
            [asked.text, *(picture.caption for picture in asked.pictures), asked.closing]
        ),
    }

    def replaced(match: re.Match[str]) -> str:
        return f"<!-- sent: {match[1]} -->\n\n```text\n{parts[match[1]]}\n```\n\n<!-- end -->"

    return re.sub(r"<!-- sent: (\w+) -->.*?<!-- end -->", replaced, page, flags=re.DOTALL)


def main() -> None:
    """Writes page and picture."""
    asked = question()
    PAGE.write_text(with_example(PAGE.read_text(encoding="utf-8"), asked), encoding="utf-8")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    bgr = cv2.cvtColor(sheet(asked), cv2.COLOR_RGB2BGR)
    cv2.imwrite(str(PICTURE), bgr, [cv2.IMWRITE_PNG_COMPRESSION, 9])
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
