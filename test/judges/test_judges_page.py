# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The judge of docs/judges.md does what the page says of it."""

import re
import sys
from pathlib import Path

import pytest

from harness_ros.config import load
from harness_ros.contract import EvaluationRequest, Kind, Observation, Signal, Status
from harness_ros.judges.base import inconsistency
from harness_ros.judges.making import make_judges

PAGE = Path(__file__).parents[2] / "docs" / "judges.md"


@pytest.fixture
def judge(tmp_path, monkeypatch):
    """The judge of the page, made by the eval.yaml of the page."""
    page = PAGE.read_text()
    (module,) = [
        text
        for text in re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        if "class ScaleJudge" in text
    ]
    (config,) = [
        text for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "version: 1" in text
    ]
    package = tmp_path / "my_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "my_module.py").write_text(module)
    (tmp_path / "eval.yaml").write_text(config)
    monkeypatch.syspath_prepend(tmp_path)
    loaded = load(tmp_path / "eval.yaml")
    yield make_judges(loaded.judges, loaded.cards)[loaded.tools["place"].judge]
    for name in ("my_package.my_module", "my_package"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("weight_kg", "status", "kind"),
    [
        (0.25, Status.SUCCESS, Kind.JUDGED),
        (0.15, Status.FAILURE, Kind.JUDGED),
        (None, Status.FAILURE, Kind.INCONCLUSIVE),
    ],
)
def test_the_judge_of_the_page_judges_by_its_scale(judge, weight_kg, status, kind):
    signals = ()
    if weight_kg is not None:
        signals = (Signal(name="weight", value=weight_kg, unit="kg", stamp_ns=1),)
    judgement = judge.judge(
        EvaluationRequest(
            post_condition="The part lies in the bin on the scale.",
            criterion="",
            observation=Observation(run_id="r", captured_at_ns=1, views=(), signals=signals),
        )
    )
    assert (judgement.status, judgement.kind, judgement.error) == (status, kind, "")
    assert judgement.judge == "scale, version 1"
    assert inconsistency(judgement) == ""
