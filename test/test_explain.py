# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros explain` and `harness-ros reference` on runs in bags and in ledgers."""

import copy
import importlib.util
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
import yaml

from harness_ros.bag.reading import Bag
from harness_ros.capture.images import decode
from harness_ros.cli import main
from harness_ros.config import load
from harness_ros.contract import Kind, Status, Verdict, View
from harness_ros.explaining import explain_run, opened, report
from harness_ros.explaining.command import as_name
from harness_ros.explaining.recordings import LedgerRecording, RecordingError, find_run
from harness_ros.ledger import Ledger


@pytest.fixture(scope="module")
def bags():
    """The module whose Recorder writes bags."""
    path = Path(__file__).parent / "bag" / "conftest.py"
    spec = importlib.util.spec_from_file_location("recorded_bags", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def bag(bags, tmp_path):
    """Runs aa11 (a success then and now), aa22 and bb33 (successes then, failures now)."""
    recorder = bags.Recorder(tmp_path / "bag")
    for number, (run_id, width) in enumerate({"aa11": 0.05, "aa22": 0.01, "bb33": 0.01}.items()):
        recorder.a_run(run_id, 10.0 * (number + 1), width)
        recorder.verdict(run_id, 10.0 * (number + 1) + 5)
    return recorder.close()


@pytest.fixture
def write_config(bags, tmp_path):
    """write_config(change) -> an eval.yaml; `change` edits what is written."""

    def write(change=lambda raw: None):
        raw = copy.deepcopy(bags.CONFIG)
        signal = {"signal": {"name": "width", "min": 0.04}}
        raw["tools"]["pick"]["criterion"]["success"] = {"all": [signal]}
        change(raw)
        path = tmp_path / "eval.yaml"
        path.write_text(yaml.safe_dump(raw))
        return path

    return write


@pytest.fixture
def config(write_config):
    return write_config()


@pytest.fixture
def ledger(bag, config, tmp_path):
    """The runs of the bag with their Observations and verdicts in a ledger."""
    path, loaded = tmp_path / "ledger.sqlite", load(config)
    with Ledger(path) as store, Bag(bag) as recorded:
        for item in recorded.runs():
            store.record_run(item.run)
            store.record_observation(recorded.observation(loaded, item), views_kept=2)
            store.record_verdict(item.verdict)
    return path


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """run(argument, ...) -> (exit code, printed lines, stderr), in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run_main(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness-ros", *map(str, arguments)])
        code = main()
        printed = capsys.readouterr()
        return code, printed.out.splitlines(), printed.err

    return run_main


# Listing


def test_without_a_run_the_runs_are_listed(run, bag):
    assert run("explain", "--bag", bag) == (
        0,
        [
            "aa11  pick(target=cup)  success",
            "aa22  pick(target=cup)  success",
            "bb33  pick(target=cup)  success",
        ],
        "",
    )


def test_the_ledger_lists_the_same_and_runs_without_a_verdict(run, bag, ledger):
    _, of_bag, _ = run("explain", "--bag", bag)
    with Ledger(ledger) as store:
        begun = store.run("aa11").model_copy(update={"run_id": "cc44", "ended_at_ns": None})
        store.record_run(begun)
    code, lines, _ = run("explain", "--ledger", ledger)
    assert code == 0
    assert lines == [*of_bag, "cc44  pick(target=cup)  no verdict"]


def test_messages_that_say_no_run_are_told_apart_from_the_list(run, bags, tmp_path):
    recorder = bags.Recorder(tmp_path / "odd")
    recorder.run("aa11", 10.0)
    recorder.run("", 11.0)
    code, lines, err = run("explain", "--bag", recorder.close())
    assert (code, lines) == (0, ["aa11  pick(target=cup)  no verdict"])
    assert err == "left out: /harness/runs: ToolRun of tool 'pick' has no run_id\n"


# Explaining


def test_a_run_is_explained_by_the_file_as_it_is_now(run, bag, config, tmp_path):
    code, lines, err = run("explain", "--bag", bag, "--run", "aa11", "--config", config)
    assert (code, err) == (0, "")
    assert lines[:3] == [
        "pick(target=cup), run aa11, segment 1",
        "post-condition: The gripper holds cup.",
        "verdict: success",
    ]
    assert lines[-3:] == [
        "  ✓ success if all of",
        "    ✓ 1  width 0.05 m, at least 0.04",
        "picture: explain_aa11.png",
    ]
    assert cv2.imread(str(tmp_path / "explain_aa11.png")).shape[1] > 800


def test_it_says_when_the_recorded_verdict_differs(run, bag, config):
    _, lines, _ = run("explain", "--bag", bag, "--run", "aa22", "--config", config)
    assert lines[2] == "verdict: failure: the post-condition is not seen to hold"
    assert lines[3] == "The recorded verdict differs: success."
    assert "    ✗ 1  width 0.01 m, below 0.04" in lines
    _, same, _ = run("explain", "--bag", bag, "--run", "aa11", "--config", config)
    assert not [line for line in same if "differs" in line]


def test_it_says_when_the_criteria_are_not_those_of_the_recorded_verdict(run, bag, config):
    _, lines, _ = run("explain", "--bag", bag, "--run", "aa11", "--config", config)
    assert f"other criteria: {'ab' * 6}, not {load(config).criteria_hash[:12]}." in lines[3]


def test_a_changed_threshold_changes_the_verdict(run, bag, write_config):
    def lower(raw):
        raw["tools"]["pick"]["criterion"] = {"success": {"signal": {"name": "width", "min": 0.005}}}

    arguments = ("explain", "--bag", bag, "--run", "aa22", "--config")
    assert "verdict: failure" in run(*arguments, write_config())[1][2]
    assert run(*arguments, write_config(lower))[1][2] == "verdict: success"


def test_bag_and_ledger_show_the_same(run, bag, ledger, config, tmp_path):
    of_bag = run(*("explain", "--bag", bag, "--run", "bb33", "--config", config, "--out", "a.png"))
    of_ledger = run(
        *("explain", "--ledger", ledger, "--run", "bb33", "--config", config, "--out", "b.png")
    )
    assert of_bag[1][:-1] == of_ledger[1][:-1]
    assert of_ledger[1][-1] == "picture: b.png"
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_the_views_of_the_criterion_are_on_the_picture(run, bag, write_config, tmp_path):
    def look(raw):
        raw["tools"]["pick"]["criterion"]["success"] = {"marker": {"view": "front", "id": 3}}

    arguments = ("explain", "--bag", bag, "--run", "aa11", "--config")
    run(*arguments, write_config(), "--out", "signals.png")
    _, lines, _ = run(*arguments, write_config(look), "--out", "view.png")
    assert "verdict: failure (inconclusive): cannot tell" in lines[2]
    assert "  ? success if" in lines
    signals, view = (cv2.imread(str(tmp_path / f"{name}.png")) for name in ("signals", "view"))
    assert view.shape[0] > signals.shape[0] + 500


def test_a_run_without_an_observation_is_judged_without_a_picture(run, bags, config, tmp_path):
    recorder = bags.Recorder(tmp_path / "dark")
    recorder.run("aa11", 10.0, 12.0)
    recorder.frame(12.2)
    recorder.verdict("aa11", 15.0, status=2, kind="observation_unavailable")
    code, lines, _ = run(
        *("explain", "--bag", recorder.close(), "--run", "aa11", "--config", config)
    )
    assert code == 0
    assert lines[2].startswith("verdict: failure (observation_unavailable): ")
    assert "the bag has no topic of 'width' (/harness/gripper)" in lines[2]
    assert not [line for line in lines if "differs" in line]
    assert lines[-1] == "no picture: there is no Observation"
    assert not (tmp_path / "explain_aa11.png").exists()


def test_arguments_that_the_file_does_not_allow_are_the_verdict(run, bag, write_config):
    def forbid(raw):
        raw["tools"]["pick"]["arguments"]["target"] = {"one_of": ["plate"]}

    _, lines, _ = run("explain", "--bag", bag, "--run", "aa11", "--config", write_config(forbid))
    assert lines[1].startswith("verdict: failure (invalid_run): argument 'target' is 'cup'")


def test_images_that_the_ledger_keeps_no_more_are_said_to_be_gone(run, ledger, config):
    # Of three Observations the newest two keep their images.
    _, lines, _ = run("explain", "--ledger", ledger, "--run", "aa11", "--config", config)
    assert "the images of ['front'] after run aa11 are not kept any more" in lines[2]
    _, lines, _ = run("explain", "--ledger", ledger, "--run", "aa22", "--config", config)
    assert lines[-1] == "picture: explain_aa22.png"


def test_terminals_without_ticks_get_signs_that_they_have(bag, config):
    with opened(bag, None) as recording:
        explained = explain_run(recording, "aa22", load(config))
    assert list(report(explained, unicode=False))[-1] == "    - 1  width 0.01 m, below 0.04"
    assert "".join(report(explained, unicode=False)).isascii()


def test_a_judge_that_is_not_deterministic_is_not_asked(bag, config):
    loaded = load(config)
    judge = loaded.judges["deterministic"].model_copy(update={"type": "model"})
    other = loaded.model_copy(update={"judges": {"deterministic": judge}})
    with opened(bag, None) as recording:
        explained = explain_run(recording, "aa22", other)
    assert explained.verdict is None
    lines = list(report(explained))
    assert lines[2] == "verdict: not judged again; recorded: success"
    assert "is of type 'model' and is not asked here" in lines[3]
    assert lines[-1] == "    ✗ 1  width 0.01 m, below 0.04"
    assert explained.picture() is not None


def test_a_last_segment_that_is_still_in_process_is_judged_as_the_evaluator_does(
    run, bag, write_config
):
    def in_process(raw):
        tool = raw["tools"]["pick"]
        tool["segments"] = 1
        tool["criterion"] = {
            "success": {"signal": {"name": "width", "min": 1}},
            "process": {"when": {"signal": {"name": "width", "min": 0}}, "reason": "more"},
        }

    def with_budget(raw):
        in_process(raw)
        raw["tools"]["pick"]["segments"] = 2

    code, _, err = run(
        "explain", "--bag", bag, "--run", "aa11", "--config", write_config(in_process)
    )
    assert code == 2
    assert "segments: 1, but the criterion has a `process` branch" in err
    _, lines, _ = run(
        "explain", "--bag", bag, "--run", "aa11", "--config", write_config(with_budget)
    )
    assert lines[2] == "verdict: process: more"


# Which run


def test_a_run_is_found_by_how_its_id_begins(run, bag, config):
    _, lines, _ = run("explain", "--bag", bag, "--run", "b", "--config", config)
    assert lines[0] == "pick(target=cup), run bb33, segment 1"


def test_an_id_that_begins_another_one_is_found(bag, ledger):
    with Ledger(ledger) as store:
        longer = store.run("aa11").model_copy(update={"run_id": "aa111"})
        store.record_run(longer)
        recording = LedgerRecording(store)
        assert find_run(recording, "aa11").run.run_id == "aa11"
        assert find_run(recording, "aa111").run.run_id == "aa111"


@pytest.mark.parametrize(
    ("prefix", "said"),
    [("aa", "2 runs begin with 'aa': aa11, aa22"), ("zz", "no run begins with 'zz'")],
)
def test_an_id_that_names_no_run_is_an_error(run, bag, config, prefix, said):
    code, lines, err = run("explain", "--bag", bag, "--run", prefix, "--config", config)
    assert (code, lines) == (2, [])
    assert err.startswith(f"harness-ros: {bag}: {said}")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "one of --bag and --ledger is wanted"),
        (["--bag", "a", "--ledger", "b"], "one of --bag and --ledger is wanted"),
        (["--bag", "nowhere"], "nowhere: no such file or folder"),
        (["--ledger", "nowhere"], "nowhere: no such file"),
    ],
)
def test_options_that_do_not_go_together_are_an_error(run, tmp_path, arguments, said):
    code, lines, err = run("explain", *arguments)
    assert (code, lines, err) == (2, [], f"harness-ros: {said}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_a_configuration_is_an_error(run, bag):
    code, _, err = run("explain", "--bag", bag, "--run", "aa11")
    assert (code, err) == (
        2,
        "harness-ros: --config is wanted: the eval.yaml that judges the run\n",
    )


def test_a_picture_that_cannot_be_written_is_an_error(run, bag, config, tmp_path):
    (tmp_path / "none").write_text("")
    code, _, err = run(
        *("explain", "--bag", bag, "--run", "aa11", "--config", config),
        *("--out", tmp_path / "none" / "a.png"),
    )
    assert (code, err) == (2, f"harness-ros: {tmp_path / 'none' / 'a.png'}: File exists\n")


@pytest.mark.parametrize(
    ("run_id", "name"),
    [
        ("3f2a9c41d07e4b6f8a11223344556677", "3f2a9c41"),
        ("3f2a9c41-d07e-4b6f-8a11-223344556677", "3f2a9c41"),
        ("bag-00-0003", "bag-00-0003"),
        ("a/../b c", "a_.._b_c"),
    ],
)
def test_pictures_of_different_runs_have_different_names(run_id, name):
    assert as_name(run_id) == name


def test_opened_takes_one_source():
    with pytest.raises(RecordingError), opened(None, None):
        pass


# References


def test_a_reference_is_the_region_of_the_view(run, bag, ledger, config, tmp_path):
    options = ("--run", "bb33", "--view", "front", "--region", "0.25,0,1,0.5")
    code, lines, err = run(
        "reference", "--bag", bag, "--config", config, *options, "--out", "refs/a.png"
    )
    assert (code, err) == (0, "")
    assert lines == [
        "refs/a.png: 6x3 pixels, region [0.25, 0.00, 1.00, 0.50] of front after run bb33"
    ]
    run("reference", "--ledger", ledger, *options, "--out", "b.png")
    written = cv2.imread(str(tmp_path / "refs" / "a.png"))
    assert written.shape == (3, 6, 3)
    assert (written == 21).all()
    assert (tmp_path / "b.png").read_bytes() == (tmp_path / "refs" / "a.png").read_bytes()


def test_a_stored_reference_is_what_the_same_run_shows(run, bag, write_config):
    def compare(raw):
        changed = {"view": "front", "reference": "file:refs/a.png", "max_fraction": 0.0}
        raw["tools"]["pick"]["criterion"]["success"] = {"changed": changed}

    run(
        *("reference", "--bag", bag, "--config", write_config(), "--run", "aa11"),
        *("--view", "front", "--out", "refs/a.png"),
    )
    _, lines, _ = run("explain", "--bag", bag, "--run", "aa11", "--config", write_config(compare))
    assert lines[2] == "verdict: success"


def test_a_jpeg_is_written_where_its_name_says_so(run, bag, config, tmp_path):
    run(
        *("reference", "--bag", bag, "--config", config, "--run", "aa11", "--view", "front"),
        *("--out", "a.jpg"),
    )
    assert (tmp_path / "a.jpg").read_bytes()[:3] == b"\xff\xd8\xff"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"--view": "side"}, "run aa11 has no view 'side'; it has ['front']"),
        ({"--out": "a.gif"}, "a.gif: a name that ends in .png, .jpg or .jpeg is wanted"),
        ({"--region": "0,0,1"}, "--region '0,0,1': x_min,y_min,x_max,y_max is wanted"),
        ({"--region": "0.5,0,0.2,1"}, "x_min 0.5 is not less than x_max 0.2"),
        ({"--region": "a,b,c,d"}, "--region 'a,b,c,d': "),
        ({"--run": "zz"}, "no run begins with 'zz'"),
    ],
)
def test_what_cannot_be_a_reference_is_an_error(run, bag, config, tmp_path, changes, said):
    options = {"--bag": bag, "--config": config, "--run": "aa11", "--view": "front"}
    given = {**options, "--out": "a.png", **changes}
    code, lines, err = run("reference", *(word for item in given.items() for word in item))
    assert (code, lines) == (2, [])
    assert said in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "a.png").exists()


def test_a_reference_from_a_bag_needs_the_configuration(run, bag):
    code, _, err = run(
        "reference", "--bag", bag, "--run", "aa11", "--view", "front", "--out", "a.png"
    )
    assert code == 2
    assert "--config is wanted: it says which topics of the bag are evidence" in err


@pytest.fixture
def seen_once(tmp_path, bag, config):
    """seen_once(image) -> a ledger whose run aa11 has this view `front`."""

    def made(image):
        with Bag(bag) as recorded:
            item = recorded.runs()[0]
            observation = recorded.observation(load(config), item)
        encoding = {"uint8": "rgb8", "float32": "32FC1"}[str(image.dtype)]
        view = View(
            name="front",
            stamp_ns=1,
            frame_id="front",
            height=image.shape[0],
            width=image.shape[1],
            encoding=encoding,
            step=image.strides[0],
            is_bigendian=False,
            data=image.tobytes(),
            topic="/front",
        )
        np.testing.assert_array_equal(decode(view), image)
        path = tmp_path / "once.sqlite"
        with Ledger(path) as store:
            store.record_run(item.run)
            store.record_observation(observation.model_copy(update={"views": (view,)}), 9)
            store.record_verdict(_verdict(item.run))
        return path

    return made


def _verdict(run):
    return Verdict(
        run_id=run.run_id,
        call_id=run.call_id,
        tool_name=run.tool_name,
        arguments=run.arguments,
        segment=1,
        status=Status.FAILURE,
        kind=Kind.INCONCLUSIVE,
        failure_reason="nobody could tell",
    )


def test_depth_is_no_reference(run, seen_once):
    ledger = seen_once(np.ones((20, 30), np.float32))
    code, _, err = run(
        "reference", "--ledger", ledger, "--run", "aa11", "--view", "front", "--out", "a.png"
    )
    assert code == 2
    assert "view 'front' holds depth" in err


def test_a_reference_that_would_be_too_large_says_what_to_do(run, seen_once, tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (700, 700, 3), np.uint8)
    ledger = seen_once(noise)
    options = ("reference", "--ledger", ledger, "--run", "aa11", "--view", "front", "--out")
    code, _, err = run(*options, "a.png")
    assert code == 2
    assert "700x700 pixels make" in err
    assert "choose a smaller --region, or a name that ends in .jpg" in err
    assert run(*options, "a.jpg")[0] == 0
    assert (tmp_path / "a.jpg").stat().st_size < 1_000_000
