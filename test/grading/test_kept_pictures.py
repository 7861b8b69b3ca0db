# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The pictures and clips of a run come from its bag, also where another bag has the run too."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
from graded_rows import graded

from harness_ros.grading.command import Grading
from harness_ros.grading.finish import finish
from harness_ros.grading.kept_pictures import CHECKS, kept_checks, kept_views, view_folder
from harness_ros.grading.report import ReportView, picture_of
from harness_ros.grading.row import GradedRun


def keep(out: Path, row: GradedRun, grey: int) -> ReportView:
    """Leaves a view, a picture of the checks and a clip of a run, as a worker does."""
    picture = picture_of("top", np.full((48, 64, 3), grey, np.uint8))
    folder = view_folder(out, row)
    folder.mkdir(parents=True)
    for number in (0, CHECKS):
        (folder / f"{number}-64x48-top.jpg").write_bytes(picture.jpeg)
    (folder / "top.webm").write_bytes(b"a clip")
    return picture


def test_a_run_of_two_bags_has_the_pictures_of_each_in_its_rows(tmp_path: Path) -> None:
    rows = [graded("S", "same", bag="a"), graded("F", "same", bag="b"), graded("S", "one", bag="b")]
    pictures = [keep(tmp_path, row, 60 * number) for number, row in enumerate(rows[:2])]
    assert len({picture.jpeg for picture in pictures}) == 2
    for row, picture in zip(rows, pictures, strict=False):
        assert [view.jpeg for view in kept_views(view_folder(tmp_path, row))] == [picture.jpeg]
        checks = kept_checks(view_folder(tmp_path, row))
        assert checks is not None
        assert checks.jpeg == picture.jpeg
    finish(Grading(rows=rows), tmp_path, "Two recorders")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    found = {
        int(index): json.loads(text)
        for index, text in re.findall(r'id="pictures-(\d+)">(.*?)</script>', page, re.DOTALL)
    }
    assert sorted(found) == [0, 1]
    first, second = (found[index][0]["jpeg"] for index in (0, 1))
    assert first != second
    entries = json.loads(re.findall(r'id="entries">(.*?)</script>', page, re.DOTALL)[0])
    clips = [entry["clips"] for entry in entries]
    assert clips[2] == []
    assert clips[0] != clips[1]
    for (_, link), row in zip((clips[0][0], clips[1][0]), rows, strict=False):
        assert (tmp_path / link).parent == view_folder(tmp_path, row)
