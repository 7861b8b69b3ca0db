# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The spending cap of a model holds for a grading, and not for each of its workers."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

sys.path.append(str(Path(__file__).parents[1] / "judges" / "model"))

from openai_server import OpenAIServer

from harness_ros.contract import Kind
from harness_ros.grading.results import read_results

START = "import sys; from harness_ros.cli import main; sys.exit(main())"
KEY = "HARNESS_CAP_KEY"
COST = 1000 * 10e-6 + 50 * 100e-6
"""Of one answer of the server."""
CAP = 6 * COST + 0.14


@pytest.fixture
def cluster():
    """Address of a Ray cluster with two processors."""
    import ray

    # Its nodes have the environment of whoever starts them.
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


@pytest.mark.parametrize("workers", [1, 3])
def test_the_cap_holds_for_all_workers_together(graded, workers):
    graded("--workers", workers)


@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
def test_the_cap_holds_for_all_nodes_together(graded, request, monkeypatch):
    monkeypatch.setenv(KEY, "key")
    graded("--ray", request.getfixturevalue("cluster"))


def test_workers_of_a_killed_grading_ask_no_more(tmp_path, record, config_path):
    with OpenAIServer() as server:
        server.default = replace(server.default, delay_s=0.5)
        asked = _asked(tmp_path, record(runs=30), config_path, server, "--workers", 2)
        process = subprocess.Popen(asked, env={**os.environ, KEY: "key"}, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while len(server.requests) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.kill()
        process.wait()
        begun = len(server.requests)
        time.sleep(2.5)
        # Two of the first piece and four of the second were to be asked about.
        assert 2 <= begun <= len(server.requests) <= begun + 1


@pytest.fixture
def graded(tmp_path, record, config_path):
    """graded(options) grades thirty runs, and looks whether the cap was kept."""
    return partial(_graded, tmp_path, record(runs=30), config_path)


def _asked(tmp_path, bag, config_path, server, *options):
    """A command line that grades with a model of the server, which has a cap."""
    model = {
        "type": "model",
        "model": "test-model",
        "base_url": server.base_url,
        "api_key_env": KEY,
        "prices": {"input_per_million": 10.0, "output_per_million": 100.0, "currency": "EUR"},
        "max_output_tokens": 1000,
        "spending_cap": CAP,
    }
    config = yaml.safe_load(config_path.read_text())
    config["judges"] = dict.fromkeys(config["judges"], model)
    path = tmp_path / "capped.yaml"
    path.write_text(yaml.safe_dump(config))
    asked = ["grade", bag, "--config", path, "--out", tmp_path / "out", *options]
    return [sys.executable, "-c", START, *map(str, asked)]


def _graded(tmp_path, bag, config_path, *options):
    out = tmp_path / "out"
    with OpenAIServer() as server:
        graded = subprocess.run(
            _asked(tmp_path, bag, config_path, server, *options),
            env={**os.environ, KEY: "key"},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert graded.returncode == 0, graded.stderr
        requests = len(server.requests)
    rows = list(read_results(out / "results.jsonl"))
    judged = [row for row in rows if row.kind is Kind.JUDGED]
    assert len(rows) == 30
    assert len(judged) == requests
    assert 0 < requests * COST <= CAP
    if options == ("--workers", 1):
        # What a request may cost at most is not spent in the end; nor is what others set aside.
        assert CAP - requests * COST < 0.14
    refused = [row for row in rows if row.kind is Kind.JUDGE_UNAVAILABLE]
    assert len(judged) + len(refused) == 30
    assert all("spending_cap" in row.failure_reason for row in refused)
    assert list(out.glob("spending*")) == []
