# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The judge that is measured: as eval.yaml makes it, without its own abstaining, panels too."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from planted import SPEC, config_with, seen

from harness_ros.calibration.judging import judged, judged_by
from harness_ros.calibration.making import card_of
from harness_ros.calibration.options import CalibrateOptions, CalibrationError, numbers
from harness_ros.calibration.variants import variants
from harness_ros.config import EvaluationConfig

OPTIONS = CalibrateOptions(Path("eval.yaml"), Path("labels.csv"), "planted", Path("card.json"))
RUNS = [seen(f"run-{label}-{number}", label) for label in (True, False) for number in range(60)]


def config_of(**judges):
    raw = config_with()
    raw["judges"] |= judges
    return EvaluationConfig.model_validate(raw)


def planted(seed, **more):
    options = {"false_success": 0.3, "false_failure": 0.05, "seed": seed}
    return {"judge": SPEC, "options": options, **more}


def measured_card(config, judge, **changes):
    with variants(config, replace(OPTIONS, judge=judge, **changes)) as ways:
        found = judged(judged_by(config, judge), RUNS, ways, 4)
    return card_of(config, judge, found, date(2026, 3, 1))


def test_a_judge_is_measured_before_it_abstains():
    plain = measured_card(config_of(planted=planted(1)), "planted")
    abstaining = config_of(planted=planted(1, abstain={"confidence": 0.99}))
    card = measured_card(abstaining, "planted")
    assert card.errors == plain.errors
    assert card.measured(threshold=0.99).unjudged > 100


def test_a_panel_is_measured_as_one_judge():
    one = config_of(planted=planted(1))
    panel = config_of(
        **{f"eye{number}": planted(number) for number in (1, 2, 3)},
        three={"type": "panel", "members": ["eye1", "eye2", "eye3"], "rule": "any_failure"},
    )
    card = measured_card(panel, "three")
    # Three that err independently call a failure a success in 0.3³ of the cases.
    assert card.errors.false_success.low <= 0.027 <= card.errors.false_success.high
    assert card.errors.false_success.rate < measured_card(one, "planted").errors.false_success.low
    assert set(card.identity.members) == {"eye1", "eye2", "eye3"}


def test_the_tools_keep_their_judge_in_the_configuration_that_is_given():
    config = config_of()
    assert {tool.judge for tool in judged_by(config, "other").tools.values()} == {"other"}
    assert {tool.judge for tool in config.tools.values()} == {"planted"}
    assert judged_by(config, "other").criteria_hash != config.criteria_hash


def test_a_judge_that_is_not_there_is_an_error():
    with (
        pytest.raises(CalibrationError, match=r"--judge eye: not under `judges` in eval.yaml"),
        variants(config_of(), replace(OPTIONS, judge="eye")),
    ):
        pass


def test_numbers_of_an_option():
    assert numbers("--sweep-views", None, 1, 16) == ()
    assert numbers("--sweep-views", "1, 2,2,3", 1, 16) == (1, 2, 3)
    assert numbers("--sweep-pixels", "200_000", 4_096, 16_777_216) == (200_000,)
    for text in ("", "1,", "x", "-1", "1.5", "²", "17"):
        with pytest.raises(CalibrationError, match="is no whole number from 1 to 16"):
            numbers("--sweep-views", text, 1, 16)
