# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What eval.yaml may say of judges, and what tools need for theirs."""

import copy
from pathlib import Path
from typing import get_args

import pytest
import yaml

from harness_ros.config import ConfigError, load
from harness_ros.config.sections import JudgeConfig

GOOD = yaml.safe_load(
    """
version: 1
cameras: {front: {topic: front}, top: {topic: top}, side: {topic: side}}
judges:
  rule: {type: deterministic}
  eye:
    type: model
    model: some-model
    views: [top, front]
    timeout_s: 20
    prices: {input_per_million: 1, output_per_million: 2}
    cassette: {mode: replay, folder: answers}
  mine: {judge: "my_package.my_module:MyJudge", options: {threshold: 0.5}}
  both: {type: panel, members: [rule, eye], rule: all, timeout_s: 30}
tools:
  pick:
    post_condition: The gripper holds it.
    judge: both
    cameras: [front, top]
    criterion: {success: {marker: {view: top, id: 1}}}
    outcome_regions: {front: [0.25, 0.5, 0.75, 1.0]}
  look:
    post_condition: It is in sight.
    judge: mine
    cameras: [side]
"""
)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "eval.yaml"


@pytest.fixture
def loaded(file):
    """loaded((dotted path, value), ...) -> the configuration with these changes."""

    def write_and_load(*changes):
        config = copy.deepcopy(GOOD)
        for path, value in changes:
            section = config
            *parents, key = path.split(".")
            for name in parents:
                section = section[name]
            section[key] = value
        file.write_text(yaml.safe_dump(config))
        return load(file)

    return write_and_load


def test_a_judge_without_type_is_a_plug_in_where_it_names_one_else_deterministic(loaded):
    config = loaded(("judges.quiet", {}))
    assert {name: judge.type for name, judge in config.judges.items()} == {
        "rule": "deterministic",
        "eye": "model",
        "mine": "plugin",
        "both": "panel",
        "quiet": "deterministic",
    }


KINDS = get_args(get_args(JudgeConfig)[0])
EXAMPLES = {"model": {"model": "m"}, "panel": {"members": ["rule", "eye"]}, "plugin": {}}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_unknown_key_of_a_judge_is_named_with_those_that_its_type_allows(loaded, file, kind):
    (tag,) = get_args(kind.model_fields["type"].annotation)
    with pytest.raises(ConfigError) as caught:
        loaded(
            ("judges.new", {"type": tag, "judge": "a.b:C", "colour": 1, **EXAMPLES.get(tag, {})})
        )
    start = f"{file}: judges.new.colour: unknown key, allowed are {sorted(kind.model_fields)} "
    assert start + "(value: 1)" in str(caught.value).splitlines()


def test_a_mistake_below_a_judge_is_named_as_it_is_written(loaded, file):
    with pytest.raises(ConfigError) as caught:
        loaded(("judges.eye.prices", {"input_per_million": -1, "output_per_million": 1, "tax": 2}))
    assert str(caught.value).splitlines() == [
        f"{file}: judges.eye.prices.input_per_million: Input should be greater than or equal to 0 "
        "(value: -1)",
        f"{file}: judges.eye.prices.tax: unknown key, allowed are ['currency', "
        "'input_per_million', 'output_per_million'] (value: 2)",
    ]


MISTAKES = {
    "unknown type": (
        ("judges.eye.type", "oracle"),
        "judges.eye.type: one of 'deterministic', 'model', 'panel', 'plugin' is wanted "
        "(value: 'oracle')",
    ),
    "plug-in without a class": (
        ("judges.mine.judge", "my_package.my_module"),
        "judges.mine.judge: String should match pattern",
    ),
    "unknown member": (
        ("judges.both.members", ["rule", "ear"]),
        "judges.both.members: 'ear' is not under `judges`: ['both', 'eye', 'mine', 'rule']",
    ),
    "panel in itself": (
        ("judges.both.members", ["rule", "both"]),
        "judges.both.members: 'both' is a panel itself; allowed are ['eye', 'mine', 'rule']",
    ),
    "panel in a panel": (
        ("judges.outer", {"type": "panel", "members": ["rule", "both"]}),
        "judges.outer.members: 'both' is a panel itself; allowed are ['eye', 'mine', 'rule']",
    ),
    "member twice": (
        ("judges.both.members", ["rule", "rule"]),
        "judges.both.members: 'rule' is listed more than once",
    ),
    "panel that waits less than its members": (
        ("judges.both.timeout_s", 15),
        "judges.both.timeout_s: 15 is less than that of its member 'eye', 20",
    ),
    "deterministic member without a criterion": (
        ("tools.pick.criterion", None),
        "tools.pick.criterion: missing, and judge 'rule' of panel 'both' is deterministic",
    ),
    "deterministic judge that abstains": (
        ("judges.rule.abstain", {"confidence": 0.9}),
        "judges.rule.abstain: a deterministic judge has no confidence",
    ),
    "threshold from no card": (
        ("judges.eye.abstain", {"false_success": 0.02}),
        "judges.eye.abstain.false_success: the threshold for it comes from the error card, and "
        "judges.eye.error_card is missing",
    ),
    "two thresholds": (
        ("judges.eye.abstain", {"false_success": 0.02, "confidence": 0.5}),
        "judges.eye.abstain: Value error, exactly one of `confidence` and `false_success`",
    ),
    "view of no camera": (
        ("judges.eye.views", ["top", "rear"]),
        "judges.eye.views: 'rear' is not under `cameras`: ['front', 'side', 'top']",
    ),
    "view that no tool of the judge has": (
        ("judges.eye.views", ["top", "side"]),
        "judges.eye.views: 'side' is a camera of no tool that asks this judge; theirs are "
        "['front', 'top']",
    ),
    "view twice": (
        ("judges.eye.views", ["top", "top"]),
        "judges.eye.views: 'top' is listed more than once",
    ),
    "key instead of the name of its variable": (
        ("judges.eye.api_key_env", "sk-proj-0123"),
        "judges.eye.api_key_env: String should match pattern",
    ),
    "address with a password": (
        ("judges.eye.base_url", "ftp://me:sk-proj-1@robot"),
        "judges.eye.base_url: String should match pattern",
    ),
    "no tokens for an answer": (
        ("judges.eye.max_output_tokens", -7),
        "judges.eye.max_output_tokens: Input should be greater than or equal to",
    ),
    "recordings of two endpoints in one folder": (
        (
            "judges.other",
            {
                **{"type": "model", "model": "some-model", "base_url": "http://here/v1"},
                "cassette": {"mode": "record", "folder": "answers"},
            },
        ),
        "judges.other.cassette.folder: it holds the answers of some-model for judges.eye too, "
        "which asks another base_url; a folder of its own is wanted",
    ),
    "tool without any view that its model is shown": (
        ("tools.look.judge", "eye"),
        "tools.look.cameras: judge 'eye' is a model and is shown views: one of ['top', 'front'] "
        "is wanted, these are ['side']",
    ),
    "region of a camera that the tool has not": (
        ("tools.pick.outcome_regions", {"side": [0, 0, 1, 1]}),
        "tools.pick.outcome_regions: 'side' is not in tools.pick.cameras: ['front', 'top']",
    ),
    "region from right to left": (
        ("tools.pick.outcome_regions", {"top": [0.5, 0, 0.2, 1]}),
        "tools.pick.outcome_regions.top: [0.5, 0.0, 0.2, 1.0] is no part of a view: [left, top, "
        "right, bottom], each from 0 to 1",
    ),
    "region in pixels": (
        ("tools.pick.outcome_regions", {"top": [0, 0, 640, 480]}),
        "tools.pick.outcome_regions.top: [0.0, 0.0, 640.0, 480.0] is no part of a view",
    ),
}


@pytest.mark.parametrize(("change", "words"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_mistake_is_named_with_file_key_value_and_what_is_allowed(loaded, file, change, words):
    with pytest.raises(ConfigError) as caught:
        loaded(change)
    lines = str(caught.value).splitlines()
    assert "sk-proj" not in str(caught.value)
    assert any(line.startswith(f"{file}: {words}") for line in lines), lines


def test_a_model_needs_a_camera_where_its_views_are_those_of_the_tool(loaded):
    signal = {"topic": "w", "type": "std_msgs/msg/Float64", "field": "data"}
    tool = {"post_condition": "It is closed.", "judge": "eye", "signals": ["width"]}
    with pytest.raises(ConfigError, match=r"tools\.feel\.cameras: .* one is wanted, these are \[]"):
        loaded(("signals", {"width": signal}), ("tools.feel", tool), ("judges.eye.views", []))


def test_paths_of_judges_are_relative_to_the_file_that_names_them(
    loaded, file, tmp_path, monkeypatch
):
    loaded()
    monkeypatch.chdir(tmp_path)
    for path in (file, Path("eval.yaml")):
        assert load(path).judges["eye"].cassette.folder == tmp_path / "answers"


OPERATIONAL = {
    "timeout": ("judges.eye.timeout_s", 25),
    "questions at a time": ("judges.mine.parallel", 1),
    "endpoint": ("judges.eye.base_url", "http://robot:8000/v1"),
    "key": ("judges.eye.api_key_env", None),
    "attempts": ("judges.eye.attempts", 9),
    "prices": ("judges.eye.prices.input_per_million", 7),
    "cap": ("judges.eye.spending_cap", 7),
    "cassette": ("judges.eye.cassette.mode", "record"),
}
DECIDING = {
    "model": ("judges.eye.model", "other"),
    "views": ("judges.eye.views", ["front", "top"]),
    "pixels": ("judges.eye.pixel_budget", 100_000),
    "votes": ("judges.eye.votes", 3),
    "critic": ("judges.eye.critic", True),
    "threshold": ("judges.eye.abstain", {"confidence": 0.9}),
    "members": ("judges.both.members", ["eye", "rule", "mine"]),
    "rule": ("judges.both.rule", "majority"),
    "plug-in": ("judges.mine.judge", "my_package.my_module:YourJudge"),
    "options": ("judges.mine.options", {"threshold": 0.6}),
    "region": ("tools.pick.outcome_regions", {}),
}


@pytest.mark.parametrize("change", OPERATIONAL.values(), ids=list(OPERATIONAL))
def test_the_hash_stays_with_what_changes_no_judgement(loaded, change):
    assert loaded(change).criteria_hash == loaded().criteria_hash
    assert loaded(change) != loaded()


@pytest.mark.parametrize("change", DECIDING.values(), ids=list(DECIDING))
def test_the_hash_changes_with_what_a_judge_is(loaded, change):
    assert loaded(change).criteria_hash != loaded().criteria_hash
