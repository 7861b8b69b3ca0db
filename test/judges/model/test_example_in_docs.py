# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The example of docs/model_judge.md is what is sent."""

import importlib.util
from pathlib import Path

import cv2
import numpy as np
import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def docs():
    spec = importlib.util.spec_from_file_location(
        "draw_question", ROOT / "scripts" / "draw_question.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_texts_of_the_page_are_those_that_are_sent(docs):
    page = docs.PAGE.read_text(encoding="utf-8")
    assert page.count("<!-- sent: ") == 2
    assert docs.with_example(page, docs.question()) == page, "run scripts/draw_question.py"


def test_the_pictures_of_the_page_are_those_that_are_sent(docs):
    kept = cv2.cvtColor(cv2.imread(str(docs.PICTURE)), cv2.COLOR_BGR2RGB)
    drawn = docs.sheet(docs.question())
    assert kept.shape == drawn.shape, "run scripts/draw_question.py"
    # Versions of OpenCV differ in the edges of letters and lines, and those of JPEG in its noise.
    differs = np.abs(kept.astype(int) - drawn).max(axis=2) > 48
    assert differs.mean() < 0.01, "run scripts/draw_question.py"
