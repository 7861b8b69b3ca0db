# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags with runs, verdicts, frames and joint states of known content."""

import shutil
import sys
from pathlib import Path

import pytest

from harness_ros.config import EvaluationConfig

# At the end: other folders have a conftest as well.
sys.path.append(str(Path(__file__).parent))

from recordings import CONFIG, Recorder


@pytest.fixture
def recorder(tmp_path):
    made = []

    def new(name="bag", **options):
        made.append(Recorder(tmp_path / name, **options))
        return made[-1]

    return new


@pytest.fixture
def config():
    """config(cameras of the tool, **sections) -> a configuration with these sections instead."""

    def configuration(seen=("front",), **sections):
        pick = {**CONFIG["tools"]["pick"], "cameras": list(seen)}
        return EvaluationConfig.model_validate({**CONFIG, "tools": {"pick": pick}, **sections})

    return configuration


@pytest.fixture
def bag(recorder):
    """A bag with one run that has a verdict."""
    made = recorder()
    made.a_run()
    made.verdict("run-1", 12.4)
    return made.close()


@pytest.fixture
def without_metadata(tmp_path):
    """without_metadata(bag) -> a copy of its folder that has no metadata.yaml."""

    def copy(bag):
        path = shutil.copytree(bag, tmp_path / "bare")
        (path / "metadata.yaml").unlink()
        return path

    return copy
