# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings to grade."""

import sys
from pathlib import Path

import pytest
import yaml

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "bag"))

from recordings import CONFIG, Recorder


@pytest.fixture
def config_path(tmp_path):
    path = tmp_path / "eval.yaml"
    path.write_text(yaml.safe_dump(CONFIG))
    return path


@pytest.fixture
def record(tmp_path):
    """record(name, runs=n, **changes) -> a bag with so many runs; every third fails."""

    def make(name="bag", runs=3, verdicts=True):
        recorder = Recorder(tmp_path / name)
        for number in range(runs):
            run_id, held = f"{name}-{number}", number % 3 != 2
            recorder.a_run(run_id, begin_s=10.0 + 5 * number, width=0.05 if held else 0.01)
            if verdicts:
                end_s = 12.4 + 5 * number
                reason = "" if held else "the success condition does not hold"
                status = 1 if held else 2
                recorder.verdict(run_id, end_s, status=status, failure_reason=reason)
        return recorder.close()

    return make
