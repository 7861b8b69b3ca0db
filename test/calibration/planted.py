# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A plug-in judge that errs as often as it is told to, and runs without a robot.

Whether a run was a success stands in a signal of its Observation, which stands for the world: the
judge looks at it, and then is wrong with the planted rate, by its own seed and the run.
"""

from __future__ import annotations

import random

from harness_ros.calibration.judging import judged, judged_by
from harness_ros.calibration.labelled_runs import Seen
from harness_ros.calibration.making import card_of
from harness_ros.calibration.variants import Variant
from harness_ros.config import EvaluationConfig
from harness_ros.contract import (
    EvaluationRequest,
    Judgement,
    Kind,
    Observation,
    Run,
    Signal,
    Status,
)

SPEC = "planted:PlantedJudge"


class PlantedJudge:
    """Errs with planted rates; sure where it is right, less sure where it is wrong."""

    name = "planted"

    def __init__(self, false_success=0.0, false_failure=0.0, unsure=0.0, seed=0, confident=True):
        self._rates = {True: false_failure, False: false_success}
        self._unsure, self._seed, self._confident = unsure, seed, confident

    def judge(self, request: EvaluationRequest) -> Judgement:
        truth = request.observation.signal("truth").value > 0.5
        luck = random.Random(f"{self._seed} {request.observation.run_id}")
        if luck.random() < self._unsure:
            return Judgement(
                status=Status.FAILURE,
                kind=Kind.INCONCLUSIVE,
                failure_reason="cannot tell",
                judge=self.name,
            )
        wrong = luck.random() < self._rates[truth]
        sure = luck.triangular(0.3, 0.9, 0.5) if wrong else luck.triangular(0.4, 1.0, 0.9)
        says = truth is not wrong
        return Judgement(
            status=Status.SUCCESS if says else Status.FAILURE,
            failure_reason="" if says else "it is not there",
            evidence=("seen",),
            judge=self.name,
            confidence=round(sure, 2) if self._confident else None,
        )


def config_with(card=None, **options):
    """A configuration whose tools ask the planted judge."""
    judge = {"judge": SPEC, "options": options}
    if card is not None:
        judge["error_card"] = str(card)
    tool = {"judge": "planted", "cameras": ["top"], "signals": ["truth"]}
    return {
        "version": 1,
        "cameras": {"top": {"topic": "top"}, "side": {"topic": "side"}},
        "signals": {"truth": {"topic": "truth", "type": "std_msgs/msg/Bool", "field": "data"}},
        "judges": {"planted": judge, "other": {"judge": SPEC}},
        "tools": {
            "pick": {"post_condition": "The gripper holds a cup.", **tool},
            "place": {"post_condition": "The cup stands on the tray.", **tool},
        },
    }


def run_of(run_id, tool="pick"):
    return Run(
        run_id=run_id,
        call_id=run_id,
        segment=1,
        tool_name=tool,
        arguments={},
        started_at_ns=10,
        ended_at_ns=20,
    )


def seen(run_id, success, tool="pick"):
    """A labelled run, seen as it was."""
    truth = Signal(name="truth", value=float(success), unit="", stamp_ns=30)
    return Seen(
        run_of(run_id, tool),
        "success" if success else "failure",
        Observation(run_id=run_id, captured_at_ns=30, views=(), signals=(truth,)),
    )


def answered(runs, repeat=1, judge=None, **options):
    """What planted judges say of runs, the first one as it is told, the others with other luck."""
    config = EvaluationConfig.model_validate(config_with(**options))
    seed = options.get("seed", 0)
    variants = [
        Variant(judge or PlantedJudge(**{**options, "seed": f"{seed}/{sample}"}), sample)
        for sample in range(1, repeat + 1)
    ]
    return config, judged(judged_by(config, "planted"), runs, variants, parallel=4)


def card_with(failures, successes, made=None, repeat=1, tools=("pick",), judge=None, **options):
    """The card of a planted judge that was asked about so many labelled runs of each tool."""
    from datetime import date

    runs = [
        seen(f"{tool}-{label}-{number}", label == "s", tool)
        for tool in tools
        for label, count in (("f", failures), ("s", successes))
        for number in range(count)
    ]
    config, found = answered(runs, repeat, judge, **options)
    return card_of(config, "planted", found, made or date(2026, 3, 1))
