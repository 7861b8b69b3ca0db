# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`harness-ros calibrate` on bags, gradings and ledgers, and what grading does with the card."""

import json
import re
import subprocess
import sys

import pytest
import yaml
from recordings import CONFIG, Recorder

from harness_ros.cli import main
from harness_ros.config import load
from harness_ros.contract import Observation, Run, Signal, Status, Verdict
from harness_ros.judges.card import load_card
from harness_ros.ledger import Ledger

RUNS = 6
"""Of the bag; every third is judged a failure."""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    raw = json.loads(json.dumps(CONFIG))
    raw["judges"]["other"] = {"type": "deterministic"}
    (folder / "eval.yaml").write_text(yaml.safe_dump(raw))
    recorder = Recorder(folder / "bag")
    for number in range(RUNS):
        width = 0.01 if number % 3 == 2 else 0.05
        recorder.a_run(f"run-{number}", begin_s=10.0 + 5 * number, width=width)
    recorder.close()
    return folder


@pytest.fixture
def calibrate(world, monkeypatch, capsys, tmp_path):
    """calibrate(labels, *options, code=0) -> what was printed, and the card."""
    monkeypatch.chdir(world)

    def run(labels, *options, code=0, judge="deterministic", source=("--bag", "bag")):
        path = tmp_path / "labels.csv"
        path.write_text("run_id,label\n" + "".join(f"{key},{word}\n" for key, word in labels))
        out = tmp_path / "card.json"
        command = ["harness-ros", "calibrate", "--config", "eval.yaml", "--labels", str(path)]
        command += ["--judge", judge, *source, "--out", str(out), *options]
        monkeypatch.setattr(sys, "argv", command)
        assert main() == code
        said = capsys.readouterr()
        assert (code == 0) == out.is_file()
        return (said.out, load_card(out)) if code == 0 else said.err

    return run


def labelled(words):
    """s success, f failure, - none."""
    names = {"s": "success", "f": "failure", "-": ""}
    return [(f"run-{number}", names[letter]) for number, letter in enumerate(words)]


def test_labelled_runs_of_a_bag_give_a_card(calibrate, tmp_path):
    printed, card = calibrate(labelled("fsfss-"))
    assert (card.errors.false_success.count, card.errors.false_success.of) == (1, 2)
    assert (card.errors.false_failure.count, card.errors.false_failure.of) == (0, 3)
    assert card.labels.number == 5 and set(card.tools) == {"pick"}
    assert [run.answer for run in card.runs] == [
        *("success", "success", "failure", "success", "success"),
    ]
    assert "false success 50.0% (1 of 2; 9.5% to 90.5%)" in printed
    assert "0 false successes of 59, 149, 299 judged failures would exclude more than" in printed
    assert "1 runs without a label were not looked at" in printed
    assert (tmp_path / "card.html").read_text().startswith("<!doctype html>")


def test_another_judge_than_the_tools_can_be_measured(calibrate, world):
    _, card = calibrate(labelled("ss-f--"), judge="other")
    assert card.judge == "other"
    assert load(world / "eval.yaml").tools["pick"].judge == "deterministic"


def test_repeated_questions_say_how_far_answers_agree(calibrate):
    printed, card = calibrate(labelled("ssf"), "--repeat", "3")
    assert (card.repeated.samples, card.repeated.unanimous.count) == (3, 3)
    assert "asked 3 times: the same answer each time on 100.0%" in printed


def test_without_a_labelled_failure_the_card_says_what_is_not_known(calibrate):
    printed, card = calibrate(labelled("ss"))
    assert card.errors.false_success.rate is None
    assert "no judged run is labelled a failure: the false-success rate is not known" in printed


def test_a_grading_names_its_bags(calibrate, world, monkeypatch, tmp_path):
    grade(world, tmp_path, monkeypatch)
    source = ("--runs", str(tmp_path / "graded"))
    _, card = calibrate(labelled("ssfs"), source=source)
    assert card.errors == calibrate(labelled("ssfs"))[1].errors


def test_a_bag_that_a_grading_names_and_that_is_gone_is_an_error(
    calibrate, world, monkeypatch, tmp_path
):
    grade(world, tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eval.yaml").write_text((world / "eval.yaml").read_text())
    said = calibrate(labelled("s"), source=("--runs", "graded"), code=2)
    assert "its bags are read again, and bag is not there" in said


def test_a_ledger_keeps_what_was_judged(calibrate, tmp_path):
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        for number, width in enumerate((0.05, 0.05, 0.01)):
            run = Run(
                run_id=f"run-{number}",
                call_id="",
                segment=1,
                tool_name="pick",
                arguments={"target": "cup"},
                started_at_ns=10,
                ended_at_ns=20,
            )
            ledger.record_run(run)
            if number != 1:
                signal = Signal(name="width", value=width, unit="m", stamp_ns=30)
                seen = Observation(
                    run_id=run.run_id, captured_at_ns=30, views=(), signals=(signal,)
                )
                ledger.record_observation(seen, 10)
            fields = run.model_dump(exclude={"started_at_ns", "ended_at_ns"})
            ledger.record_verdict(Verdict(**fields, status=Status.FAILURE, failure_reason="x"))
    printed, card = calibrate(labelled("ssf"), source=("--runs", str(path)))
    assert [run.answer for run in card.runs] == ["success", "unjudged", "failure"]
    assert "1 not judged, observation_unavailable; the first: " in printed


def test_runs_of_which_nobody_could_tell_are_in_no_rate(calibrate):
    printed, card = calibrate([*labelled("sf"), ("run-3", "unknown")])
    assert card.labels.number == 2
    assert "1 runs of which people could not tell are in no rate" in printed


# What cannot be


def test_a_label_of_another_sentence_says_nothing(calibrate, tmp_path):
    path = tmp_path / "labels.jsonl"
    line = {"run_id": "run-0", "label": "success", "post_condition": "The gripper holds cup."}
    path.write_text(json.dumps(line) + "\n")
    calibrate([], "--labels", str(path))
    (tmp_path / "card.json").unlink()
    path.write_text(json.dumps({**line, "post_condition": "The gripper has cup."}) + "\n")
    said = calibrate([], "--labels", str(path), code=2)
    assert "run run-0 is labelled for 'The gripper has cup.', and is judged by 'The " in said


@pytest.mark.parametrize(
    ("labels", "options", "words"),
    [
        ([("run-0", "success"), ("gone", "failure")], {}, "1 of 2 labels are of runs that are not"),
        ([("run-0", "")], {}, "no run is labelled success or failure"),
        ([("run-0", "success"), ("run-0", "failure")], {}, "run run-0 is labelled failure, but"),
        ([("run-0", "success")], {"judge": "eye"}, "--judge eye: not under .judges. in eval.yaml"),
        ([("run-0", "success")], {"source": ()}, "one of --bag and --runs is wanted"),
        ([("run-0", "success")], {"source": ("--runs", "none")}, "no such file or folder"),
        ([("run-0", "success")], {"source": ("--bag", "bag", "--bag", "bag")}, "more than once"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(calibrate, labels, options, words):
    assert re.search(words, calibrate(labels, code=2, **options))


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--sweep-pixels", "100,x"), "--sweep-pixels 100,x: '100' is no whole number from 4096"),
        (("--sweep-views", "0"), "'0' is no whole number from 1 to 16"),
        (("--sweep-views", "2"), "of type 'deterministic'; only a model is shown fewer"),
        (("--out", "card.yaml"), "a file that ends in .json is wanted"),
    ],
)
def test_options_that_say_nothing_useful_are_errors(calibrate, option, words):
    assert words in calibrate(labelled("s"), *option, code=2)


def test_a_judge_that_judges_nothing_gets_no_card(calibrate, world, tmp_path):
    raw = yaml.safe_load((world / "eval.yaml").read_text())
    raw["tools"]["pick"]["cameras"] = ["side"]
    (tmp_path / "eval.yaml").write_text(yaml.safe_dump(raw))
    said = calibrate(labelled("sf"), "--config", str(tmp_path / "eval.yaml"), code=2)
    assert "judged none of 2 labelled runs; the first: observation_unavailable: " in said


# What grading does with it


def grade(world, out, monkeypatch, config="eval.yaml", *options):
    command = ["harness-ros", "grade", "bag", "--config", str(config), "--out", str(out / "graded")]
    monkeypatch.setattr(sys, "argv", [*command, *options])
    assert main() == 0
    return json.loads((out / "graded" / "summary.json").read_text())


def with_card(world, tmp_path, change=lambda raw: None):
    raw = yaml.safe_load((world / "eval.yaml").read_text())
    raw["judges"]["deterministic"] = {"type": "deterministic", "error_card": "card.json"}
    change(raw)
    path = tmp_path / "with_card.yaml"
    path.write_text(yaml.safe_dump(raw))
    return path


def rows_of(out):
    return [json.loads(line) for line in (out / "graded/results.jsonl").read_text().splitlines()]


def test_verdicts_rates_and_report_of_a_grading_carry_the_card(
    calibrate, world, tmp_path, monkeypatch, capsys
):
    _, card = calibrate(labelled("ssfssf"))
    summary = grade(world, tmp_path, monkeypatch, with_card(world, tmp_path))
    assert {row["error_card"] for row in rows_of(tmp_path)} == {card.id}
    judge = summary["judges"]["deterministic"]
    assert (judge["card"], judge["labels"], judge["uncalibrated"]) == (card.id, RUNS, [])
    assert judge["false_success_rate"]["of"] == 2
    corrected = summary["overall"]["corrected"]
    assert corrected == summary["by_tool"]["pick"]["corrected"] == judge["corrected"]
    # Six labels say next to nothing.
    assert (corrected["card"], corrected["low"], corrected["high"]) == (card.id, 0.0, 1.0)
    page = (tmp_path / "graded/report.html").read_text()
    assert f"{card.id}, {card.made}, {RUNS} labels" in page
    assert (
        f"judge deterministic, card {card.id}: false-success rate 0.0%" in capsys.readouterr().out
    )


def test_a_stale_card_is_said_everywhere_and_corrects_nothing(
    calibrate, world, tmp_path, monkeypatch, capsys
):
    calibrate(labelled("ssfssf"))

    def other_sentence(raw):
        raw["tools"]["pick"]["post_condition"] = "The gripper has {target}."

    config = with_card(world, tmp_path, other_sentence)
    summary = grade(world, tmp_path, monkeypatch, config)
    said = summary["judges"]["deterministic"]["stale"]["pick"]
    assert "the post-condition is 'The gripper has {target}.', not 'The gripper holds" in said
    assert {row["error_card"] for row in rows_of(tmp_path)} == {f"stale: {said}"}
    assert summary["overall"]["corrected"] is None
    assert summary["judges"]["deterministic"]["corrected"] is None
    assert '<span class="flag">stale</span>' in (tmp_path / "graded/report.html").read_text()
    assert f"judge deterministic, pick: its error card is stale: {said}" in capsys.readouterr().out


def test_a_judge_without_a_card_is_uncalibrated_in_summary_and_report(
    world, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(world)
    summary = grade(world, tmp_path, monkeypatch)
    assert summary["judges"]["deterministic"]["uncalibrated"] == ["pick"]
    assert "judge deterministic is uncalibrated on pick" in capsys.readouterr().out
    assert '<span class="flag">uncalibrated</span>' in (tmp_path / "graded/report.html").read_text()


def test_a_grading_that_goes_on_tells_of_the_card_there_is_now(
    calibrate, world, tmp_path, monkeypatch
):
    _, card = calibrate(labelled("ssfssf"))
    grade(world, tmp_path, monkeypatch)
    assert {row["error_card"] for row in rows_of(tmp_path)} == {"uncalibrated"}
    (world / "card.json").write_text(card.text())
    raw = yaml.safe_load((world / "eval.yaml").read_text())
    raw["judges"]["deterministic"] = {"error_card": "card.json"}
    (world / "again.yaml").write_text(yaml.safe_dump(raw))
    grade(world, tmp_path, monkeypatch, "again.yaml", "--resume")
    assert {row["error_card"] for row in rows_of(tmp_path)} == {card.id}


def test_check_says_what_is_known_of_each_judge(world, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["harness-ros", "check", str(world / "eval.yaml")])
    assert main() == 0
    said = capsys.readouterr().out
    assert "judge deterministic (deterministic): uncalibrated: nobody has measured" in said


def test_the_command_is_one_that_people_can_start(world, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("run_id,label\nrun-0,success\nrun-2,failure\n")
    start = "import sys; from harness_ros.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", start, "calibrate", "--config", "eval.yaml"]
    command += ["--labels", str(labels), "--judge", "deterministic", "--bag", "bag"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "card.json")],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=world,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"{tmp_path / 'card.json'}\n{tmp_path / 'card.html'}\n")
