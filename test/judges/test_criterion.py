# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The written form of a criterion, and what is said of one that is wrong."""

import subprocess
import sys

import pytest
from pydantic import Field, ValidationError

from harness_ros.judges import CheckError, Criterion, Finding, ViewParameters, check

SIGNAL = {"signal": {"name": "gripper_width", "min": 0.03, "max": 0.06}}
MARKER = {"marker": {"view": "top", "id": 3}}
COLOUR = {
    "colour": {
        "view": "front",
        "ranges": [{"low": [0, 100, 100], "high": [10, 255, 255]}],
        "min_fraction": 0.05,
    }
}


def problems(node):
    """Where and what, for each thing that is wrong with a criterion whose success is this node."""
    with pytest.raises(ValidationError) as caught:
        Criterion.model_validate({"success": node})
    return [
        (".".join(map(str, item["loc"])), f"{item['msg']} (value: {item['input']!r})")
        for item in caught.value.errors()
    ]


def test_names_the_views_and_signals_of_every_branch():
    criterion = Criterion.model_validate(
        {
            "success": {"all": [{"not": MARKER}, SIGNAL]},
            "process": {"when": {"any": [COLOUR]}, "reason": "more to do"},
            "failure": [{"when": {"signal": {"name": "force", "max": 1}}, "reason": "too hard"}],
        }
    )
    assert criterion.views() == {"top", "front"}
    assert criterion.signals() == {"gripper_width", "force"}


def test_what_is_written_reads_back_as_the_same_criterion():
    criterion = Criterion.model_validate(
        {
            "success": {"any": [{"all": [MARKER, {"not": SIGNAL}]}, COLOUR]},
            "process": {"when": MARKER, "reason": "more to do"},
            "failure": [{"when": SIGNAL, "reason": "held"}],
        }
    )
    assert Criterion.model_validate_json(criterion.model_dump_json()) == criterion
    assert Criterion.model_validate(criterion.model_dump()) == criterion


def test_unknown_check_is_named_with_those_that_are_known():
    [(where, what)] = problems({"all": [MARKER, {"markr": {}}]})
    assert where == "success.all.1"
    for word in ("'markr'", "all", "any", "not", "colour", "marker", "signal"):
        assert word in what


@pytest.mark.parametrize("node", [{}, {**MARKER, **SIGNAL}, [MARKER], "marker", None, 3])
def test_a_node_is_a_mapping_with_exactly_one_key(node):
    [(where, what)] = problems(node)
    assert where == "success"
    assert "exactly one key" in what
    assert repr(node)[:60] in what


@pytest.mark.parametrize("operator", ["all", "any"])
def test_an_empty_list_of_nodes_is_an_error(operator):
    assert problems({operator: []}) == [
        (f"success.{operator}", "at least one node is wanted, the list is empty (value: [])")
    ]


def test_each_wrong_node_is_reported_at_its_place_and_nothing_else_is():
    wrong = {"signal": {"name": "a"}}
    places = [where for where, _ in problems({"all": [wrong, {"not": {"any": [SIGNAL, wrong]}}]})]
    assert places == ["success.all.0.signal", "success.all.1.not.any.1.signal"]


@pytest.mark.parametrize(
    ("node", "where", "words"),
    [
        ({"marker": {**MARKER["marker"], "idd": 3}}, "marker.idd", ["Extra", "3"]),
        ({"marker": {"view": "top"}}, "marker.id", ["required"]),
        ({"marker": {**MARKER["marker"], "id": 587}}, "marker", ["587", "0 to 586", "36h11"]),
        ({"marker": {**MARKER["marker"], "id": -1}}, "marker.id", ["greater than", "0", "-1"]),
        (
            {"marker": {**MARKER["marker"], "dictionary": "DICT_9X9"}},
            "marker.dictionary",
            ["DICT_9X9", "DICT_APRILTAG_36h11", "DICT_4X4_50"],
        ),
        (
            {"marker": {**MARKER["marker"], "unseen": "fine"}},
            "marker.unseen",
            ["fine", "'unknown'", "'does_not_hold'"],
        ),
        ({"marker": {**MARKER["marker"], "min_size_px": 0}}, "marker.min_size_px", ["than 0", "0"]),
        (
            {"marker": {**MARKER["marker"], "region": [0.5, 0, 0.2, 1]}},
            "marker.region",
            ["x_min 0.5", "x_max 0.2"],
        ),
        (
            {"marker": {**MARKER["marker"], "region": [0, 0.4, 1, 0.4]}},
            "marker.region",
            ["y_min 0.4", "y_max 0.4"],
        ),
        (
            {"marker": {**MARKER["marker"], "region": [0, 0, 1.5, 1]}},
            "marker.region.2",
            ["less than or equal to 1", "1.5"],
        ),
        (
            {"marker": {**MARKER["marker"], "region": [float("nan"), 0, 1, 1]}},
            "marker.region.0",
            ["finite", "nan"],
        ),
        ({"signal": {"name": "a"}}, "signal", ["min", "max", "none is given"]),
        ({"signal": {"name": "a", "min": 3, "max": 2}}, "signal", ["min 3", "max 2"]),
        (
            {"signal": {"name": "a", "min": float("nan")}},
            "signal.min",
            ["finite", "nan"],
        ),
        ({"signal": None}, "signal", ["dictionary", "None"]),
        ({"colour": {**COLOUR["colour"], "ranges": []}}, "colour.ranges", ["at least one range"]),
        (
            {"colour": {**COLOUR["colour"], "ranges": [{"low": [170, 0, 0], "high": [10, 9, 9]}]}},
            "colour.ranges.0",
            ["170", "10", "two ranges"],
        ),
        (
            {"colour": {**COLOUR["colour"], "ranges": [{"low": [0, 0, 0], "high": [181, 9, 9]}]}},
            "colour.ranges.0.high.0",
            ["180", "181"],
        ),
        (
            {"colour": {**COLOUR["colour"], "min_fraction": 0}},
            "colour.min_fraction",
            ["greater than 0", "value: 0"],
        ),
        (
            {"colour": {**COLOUR["colour"], "max_fraction": 0.01}},
            "colour",
            ["min_fraction 0.05", "max_fraction 0.01"],
        ),
    ],
)
def test_a_wrong_parameter_is_reported_with_key_value_and_what_is_allowed(node, where, words):
    [(place, what)] = problems(node)
    assert place == f"success.{where}"
    for word in words:
        assert word in what


def test_a_region_of_three_numbers_is_an_error():
    [(where, _)] = problems({"marker": {**MARKER["marker"], "region": [0, 0, 1]}})
    assert where.startswith("success.marker.region")


@pytest.mark.parametrize(
    "changes",
    [
        {"sucess": MARKER},
        {"failure": [{"when": MARKER}]},
        {"failure": [{"when": MARKER, "reason": ""}]},
        {"process": {"when": MARKER, "reason": "r", "then": "x"}},
        {"otherwise": ""},
    ],
)
def test_a_criterion_has_no_unknown_keys_and_no_empty_reasons(changes):
    assert Criterion.model_validate({"success": MARKER})
    with pytest.raises(ValidationError):
        Criterion.model_validate({"success": MARKER, **changes})


def test_a_check_of_another_package_is_written_like_any_other():
    class BrightnessParameters(ViewParameters):
        at_least: float = Field(ge=0, le=255)

    @check("brightness_of_a_test", BrightnessParameters)
    def brightness(parameters, observed):
        mean = float(observed.image(parameters.view).mean())
        return Finding(holds=mean >= parameters.at_least, evidence=f"brightness {mean:.1f}")

    node = {"brightness_of_a_test": {"view": "side", "at_least": 10}}
    assert Criterion.model_validate({"success": node}).views() == {"side"}
    with pytest.raises(CheckError, match="'brightness_of_a_test'"):
        check("brightness_of_a_test", BrightnessParameters)(brightness)
    with pytest.raises(CheckError, match="'not'"):
        check("not", BrightnessParameters)(brightness)


def test_reading_a_criterion_needs_no_opencv():
    code = "import sys, harness_ros.judges; assert 'cv2' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
