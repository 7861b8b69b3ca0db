# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures and the tables of docs/checks.md anew.

Each picture is drawn from the YAML example that stands above it, on the scene of that check in
check_scenes.py; the tables come from the parameter models.

    python scripts/draw_checks.py
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import cv2
import yaml

sys.path.insert(0, str(Path(__file__).parent))
import field_tables
from check_scenes import SCENES, Scene

from harness_ros.capture.images import encode_png
from harness_ros.config.references import PREFIX, read_picture
from harness_ros.contract import EvaluationRequest
from harness_ros.judges import Criterion, DeterministicJudge, Observed
from harness_ros.judges.checks import CHECKS
from harness_ros.judges.drawing import Heading, draw
from harness_ros.judges.explanation import explain

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "checks.md"
IMAGES = ROOT / "docs" / "images" / "checks"


# Examples


def examples(page: str) -> dict[str, dict[str, Any]]:
    """The YAML example of each check, by its name."""
    blocks = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    return {next(iter(block)): block for block in blocks}


def criterion_of(node: dict[str, Any], scene: Scene) -> Criterion:
    """The criterion whose success is this node, its references taken from the scene."""
    with tempfile.TemporaryDirectory() as folder:
        for name, picture in scene.references.items():
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(encode_png(picture))
        (check,) = node
        parameters = {
            key: read_picture(value, Path(folder)).uri
            if isinstance(value, str) and value.startswith(PREFIX)
            else value
            for key, value in node[check].items()
        }
    return Criterion.model_validate({"success": {check: parameters}})


def picture_of(name: str, page: str) -> Any:
    """The picture of a check, RGB uint8 (H, W, 3)."""
    scene = SCENES[name]()
    criterion = criterion_of(examples(page)[name], scene)
    request = EvaluationRequest(
        post_condition=scene.post_condition,
        criterion=criterion.model_dump_json(),
        observation=scene.observation,
    )
    judged = DeterministicJudge().judge(request)
    heading = Heading(judged.status, judged.kind, scene.post_condition)
    return draw(heading, explain(criterion, Observed(scene.observation)))


# Tables


def table(name: str) -> str:
    """The table of a check's parameters, in Markdown."""
    return field_tables.table(field_tables.rows(CHECKS[name].parameters))


def with_tables(page: str) -> str:
    """The page with the table of each check as it should be."""

    def replaced(match: re.Match[str]) -> str:
        return f"<!-- parameters of {match[1]} -->\n\n{table(match[1])}\n\n<!-- end -->"

    return re.sub(r"<!-- parameters of (\w+) -->.*?<!-- end -->", replaced, page, flags=re.DOTALL)


def main() -> None:
    """Writes page and pictures."""
    PAGE.write_text(with_tables(PAGE.read_text()))
    IMAGES.mkdir(parents=True, exist_ok=True)
    page = PAGE.read_text()
    for name in SCENES:
        path = IMAGES / f"{name}.png"
        pixels = cv2.cvtColor(picture_of(name, page), cv2.COLOR_RGB2BGR)
        cv2.imwrite(str(path), pixels, [cv2.IMWRITE_PNG_COMPRESSION, 9])
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
