# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""ErrorCard: its file, what it is of, when it is stale, and what eval.yaml does with it."""

import json

import pytest
import yaml
from planted import SPEC, card_with, config_with, run_of

from harness_ros.config import ConfigError, EvaluationConfig, load
from harness_ros.config.calibrated import judge_states
from harness_ros.contract import Judgement, Kind, Observation, Status
from harness_ros.evaluation import unjudged, verdict
from harness_ros.judges.card import CardError, load_card
from harness_ros.judges.identity import identity
from harness_ros.judges.model.settings import ModelSettings
from harness_ros.judges.settings import PanelSettings, PluginSettings

PLANTED = {"false_success": 0.1, "false_failure": 0.2}
OBSERVATION = Observation(run_id="run-1", captured_at_ns=30, views=())


@pytest.fixture(scope="module")
def card():
    return card_with(30, 40, tools=("pick", "place"), **PLANTED)


@pytest.fixture
def written(tmp_path, card):
    path = tmp_path / "card.json"
    path.write_text(card.text(), encoding="utf-8")
    return path


def configured(card_file, change=lambda raw: None, options=PLANTED):
    raw = config_with(card_file, **options)
    change(raw)
    return EvaluationConfig.model_validate(raw)


def said_by(config, tool="pick"):
    judgement = Judgement(status=Status.SUCCESS, judge="planted")
    return verdict(config, run_of("run-1", tool), OBSERVATION, judgement, 99)


# The file


def test_a_card_is_read_as_it_was_written(written, card):
    assert load_card(written) == card
    assert load_card(written).text() == card.text() == written.read_text()


def test_a_card_has_a_line_for_each_run_so_that_two_can_be_compared(written, card):
    lines = written.read_text().splitlines()
    assert sum('"run_id"' in line for line in lines) == card.labels.number == 140
    assert json.loads(written.read_text())["tools"]["pick"]["errors"]["false_success"]["of"] == 30


def test_the_id_is_that_of_all_that_it_says(card):
    assert len(card.id) == 12 and int(card.id, 16) >= 0
    assert card_with(30, 40, tools=("pick", "place"), **PLANTED).id == card.id
    assert card_with(30, 40, tools=("pick", "place"), seed=1, **PLANTED).id != card.id


def test_the_hash_of_the_labels_does_not_depend_on_their_order(card):
    other = card_with(30, 40, tools=("place", "pick"), seed=5, **PLANTED)
    assert other.labels == card.labels
    assert card_with(31, 40, tools=("pick", "place"), **PLANTED).labels != card.labels


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("errors", lambda fields: fields["errors"]["false_success"].update(rate=0.0)),
        ("tools.pick.errors", lambda f: f["tools"]["pick"]["errors"]["false_failure"].update(of=9)),
        ("labels", lambda fields: fields["labels"].update(number=7)),
        ("curve", lambda fields: fields["curve"].pop()),
        ("errors", lambda fields: fields["runs"][0].update(answer="success", label="failure")),
    ],
)
def test_numbers_that_do_not_follow_from_the_runs_are_refused(written, key, change):
    fields = json.loads(written.read_text())
    change(fields)
    written.write_text(json.dumps(fields))
    with pytest.raises(CardError, match=r"does not follow from .runs"):
        load_card(written)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "no JSON"),
        ("[]", "no error card: (top)"),
        ("{}", "no error card: judge: Field required"),
        ('{"version": 2}', "version"),
    ],
)
def test_a_file_that_is_no_card_says_what_is_wrong(tmp_path, text, words):
    path = tmp_path / "card.json"
    path.write_text(text)
    with pytest.raises(CardError) as raised:
        load_card(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert words in str(raised.value)


# What it is of


def test_a_card_holds_for_the_judge_and_the_tools_that_it_was_measured_on(written, card):
    config = configured(written)
    assert said_by(config).error_card == said_by(config, "place").error_card == card.id


def test_a_judge_without_a_card_is_uncalibrated():
    assert said_by(EvaluationConfig.model_validate(config_with())).error_card == "uncalibrated"


def test_where_no_judge_was_asked_there_is_no_card(written):
    given = unjudged(configured(written), run_of("r"), Kind.OBSERVATION_UNAVAILABLE, "dark", 9)
    assert given.error_card == ""


def test_a_tool_without_labelled_runs_is_uncalibrated(tmp_path):
    path = tmp_path / "card.json"
    path.write_text(card_with(5, 5, tools=("pick",), **PLANTED).text())
    config = configured(path)
    assert said_by(config, "place").error_card == "uncalibrated"
    assert said_by(config, "pick").error_card == load_card(path).id


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda raw: raw["tools"]["pick"].update(post_condition="The gripper holds a mug."),
            "the post-condition is 'The gripper holds a mug.', not 'The gripper holds a cup.'",
        ),
        (
            lambda raw: raw["tools"]["pick"].update(cameras=["top", "side"]),
            "the cameras are ['top', 'side'], not ['top']",
        ),
        (
            lambda raw: raw["tools"]["pick"].update(outcome_regions={"top": [0, 0, 1, 0.5]}),
            "the outcome regions are {'top': [0.0, 0.0, 1.0, 0.5]}, not {}",
        ),
        (
            lambda raw: raw["tools"]["pick"].update(
                criterion={"success": {"signal": {"name": "truth", "min": 0.5}}}
            ),
            "the criterion is ",
        ),
    ],
)
def test_a_changed_tool_makes_the_card_stale_for_it_alone(written, card, change, words):
    config = configured(written, change)
    state = said_by(config).error_card
    assert state.startswith(f"stale: card {card.id}: ")
    assert words in state
    assert said_by(config, "place").error_card == card.id


def test_other_options_of_a_plug_in_make_the_card_stale(written):
    state = said_by(configured(written, options={"false_success": 0.2})).error_card
    assert state.startswith("stale: ") and "the hash of the options is " in state


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw["judges"]["planted"].update(timeout_s=3.0, parallel=2),
        lambda raw: raw["judges"]["planted"].update(abstain={"confidence": 0.5}),
        lambda raw: raw["tools"]["pick"].update(description="picks", timeout_s=9.0),
        lambda raw: raw["tools"]["place"].update(post_condition="The cup stands there."),
    ],
)
def test_what_decides_nothing_leaves_the_card_as_it_is(written, card, change):
    assert said_by(configured(written, change)).error_card == card.id


MODEL = {"type": "model", "model": "seer-1"}


def model(**changes):
    return ModelSettings.model_validate({**MODEL, **changes})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "seer-2"}, "the model is seer-2, not seer-1"),
        ({"context": "The gripper is blue."}, "the prompt is "),
        ({"pixel_budget": 100_000}, "the prompt is "),
        ({"max_views": 1}, "the prompt is "),
    ],
)
def test_what_of_a_model_makes_its_card_stale(change, words):
    was = identity("eye", {"eye": model()})
    (said,) = was.differences(identity("eye", {"eye": model(**change)}))
    assert words in said


def test_endpoint_prices_and_cassette_of_a_model_are_no_part_of_what_was_measured():
    was = identity("eye", {"eye": model()})
    other = model(
        base_url="http://localhost:1/v1",
        timeout_s=9,
        prices={"input_per_million": 1, "output_per_million": 2},
        cassette={"mode": "replay", "folder": "x"},
    )
    assert list(was.differences(identity("eye", {"eye": other}))) == []


def test_a_panel_is_its_rule_and_its_members():
    def panel(rule="majority", second="planted:Other", abstain=None, members=("one", "two")):
        settings = {
            "both": PanelSettings(type="panel", members=members, rule=rule),
            "one": PluginSettings(type="plugin", judge=SPEC),
            "two": PluginSettings(type="plugin", judge=second, abstain=abstain),
            "three": model(),
        }
        return identity("both", settings)

    was = panel()
    assert list(was.differences(panel())) == []
    assert list(was.differences(panel("all"))) == ["the rule is all, not majority"]
    assert list(was.differences(panel(second="planted:New"))) == [
        "member 'two': the plug-in is planted:New, not planted:Other"
    ]
    assert list(was.differences(panel(abstain={"confidence": 0.5}))) == [
        "member 'two': the threshold for abstaining is 0.5, not none"
    ]
    assert list(was.differences(panel(members=("one", "three")))) == [
        "'three' is a new member",
        "'two' is no member any more",
    ]


def test_another_type_of_judge_is_another_judge():
    was = identity("eye", {"eye": model()})
    plugin = PluginSettings(type="plugin", judge=SPEC)
    assert list(was.differences(identity("eye", {"eye": plugin}))) == [
        "it is of type plugin, not model"
    ]


# eval.yaml


def written_config(tmp_path, error_card, **judge):
    raw = config_with(**PLANTED)
    raw["judges"]["planted"].update(error_card=error_card, **judge)
    path = tmp_path / "eval.yaml"
    path.write_text(yaml.safe_dump(raw))
    return path


def test_a_card_is_found_beside_eval_yaml(tmp_path, written, card, monkeypatch):
    path = written_config(tmp_path, "card.json")
    monkeypatch.chdir("/")
    assert load(path).cards["planted"] == card


def test_a_missing_card_is_an_error_at_start_up_with_file_and_key(tmp_path):
    path = written_config(tmp_path, "cards/none.json")
    with pytest.raises(ConfigError) as raised:
        load(path)
    assert str(raised.value) == (
        f"{path}: judges.planted.error_card: {tmp_path / 'cards/none.json'}: "
        "No such file or directory"
    )


def test_a_damaged_card_is_an_error_at_start_up(tmp_path):
    (tmp_path / "card.json").write_text('{"judge": "planted"}')
    with pytest.raises(ConfigError, match=r"judges.planted.error_card: .*no error card"):
        load(written_config(tmp_path, "card.json"))


def test_a_rate_that_the_card_cannot_give_is_an_error_at_start_up(tmp_path, written):
    path = written_config(tmp_path, "card.json", abstain={"false_success": 0.01})
    with pytest.raises(ConfigError, match=r"abstain.false_success: .*299 are needed"):
        load(path)


def test_criteria_are_other_ones_where_the_card_gives_another_threshold(tmp_path):
    def criteria(**planted):
        (tmp_path / "card.json").write_text(card_with(90, 60, **planted).text())
        return load(written_config(tmp_path, "card.json", abstain={"false_success": 0.2}))

    one, other = criteria(false_success=0.01), criteria(false_success=0.3)
    assert one.threshold("planted") != other.threshold("planted")
    assert one.criteria_hash != other.criteria_hash


def test_a_card_alone_changes_no_criteria(tmp_path, written):
    with_card = load(written_config(tmp_path, "card.json"))
    assert with_card.criteria_hash == configured(None).criteria_hash


# In words


def test_what_is_known_of_each_judge_in_use_is_one_line(written, card):
    states = judge_states(configured(written))
    assert set(states) == {"planted"}
    words = states["planted"].words
    assert words.startswith(f"card {card.id}; of 2026-03-01, 140 labels: false-success rate ")
    assert "%" in words


def test_a_judge_without_a_card_says_where_to_read_on():
    state = judge_states(configured(None))["planted"]
    assert state.words == (
        "uncalibrated: nobody has measured how often it is wrong; see docs/calibration.md"
    )
    assert state.uncalibrated and not state.stale


def test_a_judge_whose_card_holds_for_some_tools_says_for_which_not(written, card):
    def change(raw):
        raw["tools"]["place"]["post_condition"] = "The cup is gone."
        raw["tools"]["push"] = raw["tools"]["pick"]

    state = judge_states(configured(written, change))["planted"]
    assert state.card == (
        f"card {card.id}; stale for place: card {card.id}: the post-condition is 'The cup is "
        "gone.', not 'The cup stands on the tray.'; uncalibrated for push: no run of it is in card "
        f"{card.id}"
    )
    assert state.stale and state.uncalibrated
