# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A model behind a real endpoint is calibrated: sweeps, repeated samples, recordings, costs."""

import json
import sys
from pathlib import Path

import pytest
import yaml
from recordings import CONFIG, Recorder

sys.path.append(str(Path(__file__).parents[1] / "judges" / "model"))

from openai_server import OpenAIServer, answers

from harness_ros.cli import main
from harness_ros.config import load
from harness_ros.judges.card import load_card

TOKENS = {"prompt_tokens": 1000, "completion_tokens": 50}
"""Of each answer of the server."""
CONFIGURED = 921_600
"""Pixels of a picture by default."""
VARIABLE = "HARNESS_CALIBRATION_KEY"


@pytest.fixture
def server():
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def world(tmp_path, server, monkeypatch):
    monkeypatch.setenv(VARIABLE, "sk-test-calibration")
    monkeypatch.chdir(tmp_path)
    recorder = Recorder(tmp_path / "bag")
    for number in range(3):
        target = "plate" if number == 2 else "cup"
        arguments = json.dumps({"target": target})
        recorder.a_run(f"run-{number}", begin_s=10.0 + 5 * number, arguments=arguments)
    recorder.close()
    Path("labels.csv").write_text("run_id,label\nrun-0,success\nrun-1,failure\nrun-2,success\n")
    raw = yaml.safe_load(yaml.safe_dump(CONFIG))
    raw["judges"]["eye"] = {
        "type": "model",
        "model": "seer-1",
        "base_url": server.base_url,
        "api_key_env": VARIABLE,
        "prices": {"input_per_million": 2.0, "output_per_million": 10.0},
        "cassette": {"mode": "record", "folder": "cassette"},
    }
    Path("eval.yaml").write_text(yaml.safe_dump(raw))
    return raw


def calibrate(monkeypatch, *options, code=0):
    command = ["harness-ros", "calibrate", "--config", "eval.yaml", "--labels", "labels.csv"]
    command += ["--judge", "eye", "--bag", "bag", "--out", "card.json", *options]
    monkeypatch.setattr(sys, "argv", command)
    assert main() == code
    return load_card(Path("card.json")) if code == 0 else None


def test_the_card_has_model_prompt_confidence_and_cost(world, server, monkeypatch, capsys):
    card = calibrate(monkeypatch)
    assert (card.identity.type, card.identity.model) == ("model", "seer-1")
    assert len(card.identity.prompt_hash) == 64
    assert (card.errors.false_success.count, card.errors.false_success.of) == (1, 1)
    assert [point.confidence for point in card.curve] == [0.8]
    assert (card.usage.calls, card.usage.input_tokens) == (3, 3 * TOKENS["prompt_tokens"])
    assert card.usage.cost == pytest.approx(3 * (1000 * 2.0 + 50 * 10.0) / 1e6)
    assert card.currency == "USD"
    assert "3 requests, 3000 tokens in, 150 out, 0.01 USD" in capsys.readouterr().out
    assert len(server.requests) == 3


def test_sweeps_show_other_pictures(world, server, monkeypatch, capsys):
    card = calibrate(
        monkeypatch,
        "--sweep-pixels",
        "4096,786432,921600",
        "--sweep-views",
        "1,2,3",
        "--repeat",
        "2",
    )
    assert [(item.pixel_budget, item.max_views) for item in card.sweeps] == [
        *((CONFIGURED, 3), (4_096, 3), (786_432, 3), (CONFIGURED, 1), (CONFIGURED, 2)),
    ]
    assert {item.errors.false_success.of for item in card.sweeps} == {1}
    assert card.repeated.samples == 2
    printed = capsys.readouterr().out
    assert "4096 pixels, 3 views  false success 100.0% (1 of 1" in printed


def test_a_spending_cap_is_of_all_samples_and_sweeps_together(world, server, monkeypatch):
    cost = (1000 * 2.0 + 50 * 10.0) / 1e6
    cap = 4 * cost + 0.05
    world["judges"]["eye"] |= {"spending_cap": cap, "parallel": 1, "max_output_tokens": 1000}
    Path("eval.yaml").write_text(yaml.safe_dump(world))
    calibrate(monkeypatch)
    first = len(server.requests)
    calibrate(monkeypatch, "--repeat", "20", "--sweep-pixels", "4096,8192")
    assert first * cost <= cap
    # 18 more samples and two sweeps of three runs each would cost more than the cap.
    assert 60 * cost > cap
    assert (len(server.requests) - first) * cost <= cap


def test_a_second_calibration_asks_nobody_for_what_is_recorded(world, server, monkeypatch):
    card = calibrate(monkeypatch, "--repeat", "2")
    asked = len(server.requests)
    # The second sample is not the recording of the first.
    assert asked == 6
    again = calibrate(monkeypatch, "--repeat", "2")
    assert len(server.requests) == asked
    assert again.errors == card.errors and again.usage.calls == 0


def test_a_judge_that_cannot_judge_says_so_before_any_work(world, monkeypatch, capsys):
    monkeypatch.delenv(VARIABLE)
    calibrate(monkeypatch, code=2)
    said = capsys.readouterr().err
    assert "judge 'eye' cannot judge: " in said and VARIABLE in said


def test_what_the_model_refuses_is_counted_beside(world, server, monkeypatch, capsys):
    def refuses_plates(body):
        return answers(status="maybe") if "plate" in json.dumps(body) else answers()

    server.default = refuses_plates
    card = calibrate(monkeypatch)
    assert card.errors.unjudged == 1
    assert "1 not judged, judge_protocol_violation; the first: " in capsys.readouterr().out


def test_a_calibrated_model_abstains_and_another_prompt_makes_its_card_stale(world, monkeypatch):
    card = calibrate(monkeypatch)
    world["judges"]["eye"] |= {"error_card": "card.json", "abstain": {"confidence": 0.9}}
    world["tools"]["pick"]["judge"] = "eye"

    def state(**changes):
        world["judges"]["eye"] |= changes
        Path("eval.yaml").write_text(yaml.safe_dump(world))
        return str(load("eval.yaml").card_states["pick"])

    assert state() == card.id
    assert load("eval.yaml").threshold("eye") == 0.9
    assert "the prompt is " in state(context="The gripper is blue.")
    assert "the model is seer-2, not seer-1" in state(context="", model="seer-2")
