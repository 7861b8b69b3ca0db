# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from pydantic import ValidationError

from harness_ros.contract import Clearance, Kind, Observation, Status
from harness_ros.judges.checks import CHECKS, CannotTell, Observed
from harness_ros.judges.criterion import Criterion
from harness_ros.judges.deterministic import evaluate

DIRECTIONS = ("front", "left", "right", "rear")


def observing(**distances):
    """An Observation with these distances, and none in other directions."""
    clearance = None
    if distances:
        clearance = Clearance(**{name: distances.get(name, math.nan) for name in DIRECTIONS})
    return Observation(run_id="run-1", captured_at_ns=1, views=(), clearance=clearance)


def measured(parameters, **distances):
    check = CHECKS["clearance"]
    return check.function(check.parameters(**parameters), Observed(observing(**distances)))


@pytest.mark.parametrize(
    ("bounds", "metres", "holds"),
    [
        ({"min": 0.5}, 0.5, True),
        ({"min": 0.5}, 0.499, False),
        ({"min": 0.5}, math.inf, True),
        ({"min": 0.0}, 0.0, True),
        ({"max": 0.4}, 0.4, True),
        ({"max": 0.4}, 0.401, False),
        ({"max": 0.4}, 0.0, True),
        ({"max": 0.4}, math.inf, False),
        ({"min": 0.25, "max": 0.4}, 0.3, True),
        ({"min": 0.25, "max": 0.4}, 0.2, False),
        ({"min": 0.25, "max": 0.4}, 0.5, False),
        ({"min": 0.3, "max": 0.3}, 0.3, True),
    ],
)
def test_a_distance_holds_within_its_bounds(bounds, metres, holds):
    assert measured({"direction": "front", **bounds}, front=metres).holds is holds


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_each_direction_is_looked_at_alone(direction):
    distances = {name: 1.0 if name == direction else 0.1 for name in DIRECTIONS}
    assert measured({"direction": direction, "min": 0.5}, **distances).holds is True
    near = {name: 0.1 if name == direction else 1.0 for name in DIRECTIONS}
    assert measured({"direction": direction, "min": 0.5}, **near).holds is False


@pytest.mark.parametrize(
    ("parameters", "metres", "evidence"),
    [
        (
            {"direction": "front", "min": 0.5},
            0.8,
            "clearance to the front 0.800 m, at least 0.5 m wanted",
        ),
        (
            {"direction": "rear", "max": 0.4},
            0.0,
            "clearance to the rear 0.000 m, at most 0.4 m wanted",
        ),
        (
            {"direction": "left", "min": 0.25, "max": 0.4},
            math.inf,
            "clearance to the left free, 0.25 to 0.4 m wanted",
        ),
    ],
)
def test_the_evidence_says_what_was_measured_and_what_was_wanted(parameters, metres, evidence):
    assert measured(parameters, **{parameters["direction"]: metres}).evidence == evidence


@pytest.mark.parametrize("distances", [{}, {"front": math.nan}, {"left": 1.0, "rear": 1.0}])
def test_a_direction_that_was_not_measured_cannot_be_told(distances):
    with pytest.raises(CannotTell, match="the observation has no distance to the front"):
        measured({"direction": "front", "min": 0.5}, **distances)


@pytest.mark.parametrize("negated", [False, True])
def test_a_direction_that_was_not_measured_makes_no_success(negated):
    node = {"clearance": {"direction": "front", "min": 0.5}}
    criterion = Criterion.model_validate({"success": {"not": node} if negated else node})
    judgement = evaluate(criterion, Observed(observing(left=1.0)))
    assert (judgement.status, judgement.kind) == (Status.FAILURE, Kind.INCONCLUSIVE)
    assert "no distance to the front" in judgement.failure_reason


@pytest.mark.parametrize(("metres", "status"), [(0.6, Status.SUCCESS), (0.4, Status.FAILURE)])
def test_a_criterion_may_ask_for_space(metres, status):
    criterion = Criterion.model_validate(
        {"success": {"clearance": {"direction": "front", "min": "0.5"}}}
    )
    assert criterion.clearance() == {"front"}
    assert (criterion.views(), criterion.signals()) == (set(), set())
    judgement = evaluate(criterion, Observed(observing(front=metres)))
    assert (judgement.status, judgement.kind) == (status, Kind.JUDGED)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"direction": "front"}, "`min` or `max`"),
        ({"direction": "front", "min": 0.5, "max": 0.4}, "min 0.5 is greater than max 0.4"),
        ({"direction": "front", "min": -0.1}, "greater than or equal to 0"),
        ({"direction": "front", "max": -1}, "greater than or equal to 0"),
        ({"direction": "front", "min": math.nan}, "finite"),
        ({"direction": "front", "max": math.inf}, "finite"),
        ({"direction": "back", "min": 1}, "'front', 'left', 'right' or 'rear'"),
        ({"min": 1}, "Field required"),
        ({"direction": "front", "min": 1, "unit": "m"}, "not permitted"),
    ],
)
def test_parameters_that_ask_for_nothing_are_errors(parameters, words):
    with pytest.raises(ValidationError) as caught:
        CHECKS["clearance"].parameters(**parameters)
    assert words in str(caught.value)
