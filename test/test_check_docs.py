# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/checks.md: every check is there, its example works, its picture is what the code draws."""

import importlib.util
import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from harness_ros.judges.checks import CHECKS, Observed
from harness_ros.judges.deterministic import evaluate
from harness_ros.judges.drawing import Canvas

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "checks.md").read_text()
LARGEST_BYTES = 150_000


@pytest.fixture(scope="module")
def docs():
    """The module that makes the pictures and tables."""
    spec = importlib.util.spec_from_file_location("draw_checks", ROOT / "scripts/draw_checks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def section(name):
    found = re.search(rf"^## `{name}`\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found, f"docs/checks.md has no section of the check '{name}'"
    return found[1]


@pytest.mark.parametrize("name", list(CHECKS))
def test_every_check_has_its_section_its_example_and_its_scene(docs, name):
    text = section(name)
    assert name in docs.examples(text)
    assert f"(images/checks/{name}.png)" in text
    assert "It cannot be told when" in text
    assert "Tuning: " in text
    assert name in docs.SCENES


@pytest.mark.parametrize("name", list(CHECKS))
def test_every_check_is_in_the_table_of_the_readme(name):
    readme = (ROOT / "README.md").read_text()
    assert f"\n| `{name}` |" in readme


@pytest.mark.parametrize("name", list(CHECKS))
def test_the_example_holds_in_its_scene(docs, name):
    scene = docs.SCENES[name]()
    criterion = docs.criterion_of(docs.examples(PAGE)[name], scene)
    judged = evaluate(criterion, Observed(scene.observation))
    assert judged.status.name == "SUCCESS", judged.evidence


def test_the_tables_are_those_of_the_parameters(docs):
    assert docs.with_tables(PAGE) == PAGE, "run scripts/draw_checks.py"


def test_the_table_has_every_parameter_with_its_meaning(docs):
    for name, registered in CHECKS.items():
        rows = docs.table(name).splitlines()[2:]
        for field in registered.parameters.model_fields:
            (row,) = [row for row in rows if row.startswith(f"| `{field}` |")]
            assert len(row.split("|")[4].strip()) > 10


@pytest.mark.parametrize("name", list(CHECKS))
def test_the_picture_is_small_and_what_the_code_draws(docs, name, monkeypatch):
    label = Canvas.label

    def checked(canvas, point, words, colour=None):
        assert "not drawn" not in words
        label(canvas, point, words, colour)

    monkeypatch.setattr(Canvas, "label", checked)
    path = ROOT / "docs" / "images" / "checks" / f"{name}.png"
    assert path.stat().st_size < LARGEST_BYTES
    kept = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)
    drawn = docs.picture_of(name, PAGE)
    assert kept.shape == drawn.shape, "run scripts/draw_checks.py"
    # Versions of OpenCV differ in the edges of letters and lines.
    differs = np.abs(kept.astype(int) - drawn).max(axis=2) > 48
    assert differs.mean() < 0.01, "run scripts/draw_checks.py"
