# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What graded runs together say, and what they do not."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness_ros.contract import Kind, Usage
from harness_ros.grading.labels import Label
from harness_ros.grading.rates import JudgeErrors
from harness_ros.grading.row import BagProblem
from harness_ros.grading.summary import Repeated, Summary, summarize
from harness_ros.statistics import rate_of, rogan_gladen, wilson_interval

sys.path.append(str(Path(__file__).parent))

from graded_rows import SECOND, VERDICTS, evening, graded


def labelled(said: str, prefix: str = "r") -> dict[str, Label]:
    """Labels of an evening: s, f, or - for none."""
    return {
        f"{prefix}{number}": Label(run_id=f"{prefix}{number}", success=letter == "s")
        for number, letter in enumerate(said)
        if letter != "-"
    }


CARD = JudgeErrors(name="lab", false_success=(4, 60), false_failure=(3, 80))


# Success


def test_unjudged_and_cancelled_runs_are_beside_the_rate() -> None:
    found = summarize(evening("SSSFioPcB")).overall
    assert (found.runs, found.trials) == (9, 9)
    assert found.runs_by_status == {"process": 1, "success": 3, "failure": 5}
    assert found.runs_by_kind == {
        **{"inconclusive": 1, "observation_unavailable": 1},
        **{"cancelled": 1, "segment_budget_exhausted": 1},
    }
    assert (found.unjudged_trials, found.cancelled_trials) == (3, 1)
    assert found.success == rate_of(3, 5, 0.95)
    assert (found.success.low, found.success.high) == wilson_interval(3, 5)


def test_a_call_with_several_segments_is_one_trial_with_the_outcome_of_its_last() -> None:
    call = {"call_id": "call"}
    rows = [
        graded("S", "r3", segment=3, started_at_ns=3 * SECOND, **call),
        graded("P", "r1", segment=1, started_at_ns=1 * SECOND, **call),
        graded("P", "r2", segment=2, started_at_ns=2 * SECOND, **call),
    ]
    found = summarize(rows).overall
    assert (found.runs, found.trials, found.success.count, found.success.of) == (3, 1, 1, 1)
    assert found.unjudged_trials == 0
    unfinished = summarize(rows[1:]).overall
    assert (unfinished.trials, unfinished.unjudged_trials, unfinished.success.of) == (1, 1, 0)


def test_the_last_segment_is_last_also_where_simulated_time_jumped_back() -> None:
    rows = [
        graded("P", "r1", call_id="call", started_at_ns=9 * SECOND),
        graded("S", "r2", call_id="call", segment=2, started_at_ns=1 * SECOND),
    ]
    found = summarize(rows).overall
    assert (found.success.count, found.unjudged_trials) == (1, 0)


def test_segments_of_a_call_in_two_bags_are_one_trial() -> None:
    rows = [
        graded("P", "r1", call_id="call", bag="a"),
        graded("F", "r2", call_id="call", segment=2, bag="b"),
    ]
    assert summarize(rows).overall.trials == 1


def test_runs_without_a_call_are_calls_of_their_own() -> None:
    found = summarize([graded("S", "r1", call_id=""), graded("F", "r2", call_id="")]).overall
    assert (found.trials, found.success.count) == (2, 1)


def test_a_run_that_two_bags_have_counts_once_and_as_judged() -> None:
    rows = [graded("o", "r1", bag="a"), graded("S", "r1", bag="b"), graded("F", "r2", bag="a")]
    found = summarize(rows)
    assert found.repeated_run_ids == ("r1",)
    assert (found.overall.runs, found.overall.success.count, found.overall.success.of) == (2, 1, 2)


def test_each_tool_has_its_own_results() -> None:
    found = summarize([*evening("SF"), *evening("SSi", "p", tool_name="place")])
    assert list(found.by_tool) == ["pick", "place"]
    assert found.by_tool["place"].success == rate_of(2, 2, 0.95)
    assert found.by_tool["place"].unjudged_trials == 1
    assert found.overall.success == rate_of(3, 4, 0.95)


@pytest.mark.parametrize("verdicts", ["", "S", "F", "i", "P", "c", "iocP"])
def test_where_there_is_little_nothing_is_divided_by_zero(verdicts: str) -> None:
    said = labelled("f" * len(verdicts))
    found = summarize(evening(verdicts), labels=said, card=CARD)
    judged = sum(letter in "SF" for letter in verdicts)
    assert found.overall.success.of == judged
    assert found.overall.standard_error is None
    assert found.overall.repeated is None
    assert found.recorded.agreeing.rate is None
    assert found.recorded.kappa is None
    assert found.labels is not None
    assert found.labels.overall.false_failure_rate.rate is None
    if not judged:
        assert found.overall.success == rate_of(0, 0, 0.95)
        assert found.overall.success.rate is None
        assert found.overall.corrected is not None
        assert found.overall.corrected.rate is None
        assert "no judged trial" in found.overall.corrected.not_estimable
    assert json.loads(found.to_json())["overall"]["runs"] == len(verdicts)


# Tasks


def of_task(task: str, verdicts: str):
    return evening(verdicts, task, arguments={"target": task})


def test_trials_of_one_task_have_tool_and_arguments_in_common() -> None:
    found = summarize([*of_task("a", "SSF"), *of_task("b", "FFFi"), *of_task("c", "S")]).overall
    assert found.tasks == 3
    assert found.standard_error is not None
    assert found.standard_error_if_independent is not None
    assert found.repeated is not None
    assert (found.repeated.tasks, found.repeated.tasks_with_one_trial) == (2, 1)
    first, second, third = found.repeated.passes
    assert (first.k, first.pass_at_k, first.pass_hat_k) == (1, pytest.approx(1 / 3), 1 / 3)
    assert (second.pass_at_k, second.pass_hat_k) == (0.5, pytest.approx(1 / 6))
    assert (third.k, third.pass_at_k, third.pass_hat_k) == (3, 0.5, 0.0)


def test_k_ends_with_the_fewest_trials_of_a_repeated_task() -> None:
    found = summarize([*of_task("a", "SSSSS"), *of_task("b", "SF"), *of_task("c", "F")]).overall
    assert isinstance(found.repeated, Repeated)
    assert [item.k for item in found.repeated.passes] == [1, 2]


def test_labels_name_the_tasks_and_task_of_overrules_them() -> None:
    rows = evening("SFSF")
    labels = {
        row.run_id: Label(run_id=row.run_id, success=None, task=f"task {number % 2}")
        for number, row in enumerate(rows[:3])
    }
    # The last run has no task of its own: it is of tool and arguments.
    assert summarize(rows, labels=labels).overall.tasks == 3
    assert summarize(rows).overall.tasks == 1
    assert summarize(rows, labels=labels, task_of=lambda row: row.run_id).overall.tasks == 4


def test_the_task_of_any_segment_is_that_of_its_trial() -> None:
    rows = [graded("P", "r1", call_id="c"), graded("S", "r2", call_id="c", segment=2)]
    rows.append(graded("S", "r3"))
    labels = {"r1": Label(run_id="r1", success=None, task="t")}
    labels["r3"] = Label(run_id="r3", success=True, task="t")
    assert summarize(rows, labels=labels).overall.tasks == 1


# Recorded verdicts


def test_disagreements_with_recorded_verdicts_are_listed_with_both_sides() -> None:
    rows = [
        graded("S", "r1", recorded="S"),
        graded("F", "r2", recorded="S"),
        graded("i", "r3", recorded="F"),
        graded("S", "r4"),
    ]
    found = summarize(rows).recorded
    assert (found.agreeing.count, found.agreeing.of, found.unrecorded) == (1, 3, 1)
    first, second = found.disagreements
    assert (first.run_id, first.recorded.status, first.now.status) == ("r2", "success", "failure")
    assert first.recorded.evidence == ("as it was seen then",)
    assert first.now.failure_reason == "not held"
    assert (second.recorded.kind, second.now.kind) == (Kind.JUDGED, Kind.INCONCLUSIVE)


def test_kappa_beside_recorded_verdicts_is_over_status_and_kind() -> None:
    same = [graded(letter, f"{letter}", recorded=letter) for letter in "SFio"]
    assert summarize(same).recorded.kappa == 1
    assert summarize(same[:1]).recorded.kappa is None


# Labels


def test_verdicts_beside_labels() -> None:
    #                     TP TP FP FN TN TN  -  -
    rows = evening("SSSFFFiS")
    found = summarize(rows, labels=labelled("ssfsffs-")).labels
    assert found is not None
    assert (found.labelled, found.unlabelled, found.unknown) == (7, 1, ())
    table = found.overall
    assert (table.true_success, table.false_success) == (2, 1)
    assert (table.true_failure, table.false_failure) == (2, 1)
    assert table.not_judged == 1
    assert table.false_success_rate == rate_of(1, 3, 0.95)
    assert table.false_failure_rate == rate_of(1, 3, 0.95)
    assert table.success_precision == rate_of(2, 3, 0.95)
    assert table.labelled_success == rate_of(4, 7, 0.95)
    assert table.kappa == pytest.approx(1 / 3)
    assert [(item.run_id, item.label, item.verdict.status) for item in found.mistakes] == [
        ("r2", "failure", "success"),
        ("r3", "success", "failure"),
    ]


def test_labels_of_no_run_are_listed_and_those_without_a_word_are_none() -> None:
    labels = labelled("sss")
    labels["r1"] = Label(run_id="r1", success=None)
    labels["misspelt"] = Label(run_id="misspelt", success=None)
    found = summarize(evening("SS"), labels=labels).labels
    assert found is not None
    assert found.unknown == ("misspelt", "r2")
    assert (found.labelled, found.unlabelled) == (1, 1)


def test_no_error_in_n_says_what_it_can_exclude() -> None:
    found = summarize(evening("F" * 10 + "S" * 3), labels=labelled("f" * 10 + "sss")).labels
    assert found is not None
    assert found.overall.false_success_rate.count == 0
    assert found.overall.false_success_rate.zero_excludes_above == pytest.approx(0.2589, abs=1e-4)
    assert found.overall.success_precision.zero_excludes_above is None


def test_labels_are_compared_for_each_tool() -> None:
    rows = [*evening("SF"), *evening("SS", "p", tool_name="place"), graded("S", "x", tool_name="z")]
    found = summarize(rows, labels={**labelled("sf"), **labelled("ff", "p")}).labels
    assert found is not None
    assert found.by_tool["place"].false_success_rate == rate_of(2, 2, 0.95)
    assert found.by_tool["pick"].false_success_rate == rate_of(0, 1, 0.95)
    assert found.by_tool["z"].labelled_success.of == 0


# Error cards


def test_the_success_rate_is_corrected_with_an_error_card() -> None:
    found = summarize(evening("S" * 26 + "F" * 11 + "io"), card=CARD).overall.corrected
    assert found is not None
    expected = rogan_gladen(26, 37, (4, 60), (3, 80))
    assert (found.rate, found.low, found.high, found.unclipped) == expected
    assert (found.card, found.other_cards, found.not_estimable) == ("lab", 0, "")


def test_a_card_corrects_only_the_runs_that_name_it() -> None:
    rows = [
        *evening("SSF", "a", error_card="lab"),
        *evening("SS", "b", error_card="other"),
        *evening("F", "c"),
    ]
    found = summarize(rows, card=CARD).overall.corrected
    assert found is not None
    assert (found.verdicts.count, found.verdicts.of, found.other_cards) == (2, 3, 3)


def test_a_card_that_says_no_more_than_chance_is_not_estimable() -> None:
    card = JudgeErrors(name="guess", false_success=(5, 10), false_failure=(5, 10))
    found = summarize(evening("SSF"), card=card).overall.corrected
    assert found is not None
    assert found.rate is None and found.low is None
    assert "no more than chance" in found.not_estimable


def test_without_a_card_nothing_is_corrected() -> None:
    assert summarize(evening("SSF", error_card="lab")).overall.corrected is None


def test_labels_give_a_card() -> None:
    found = summarize(evening("SSSFFF"), labels=labelled("ssfsff")).labels
    assert found is not None
    card = found.overall.errors("today")
    assert card == JudgeErrors(name="today", false_success=(1, 3), false_failure=(1, 3))


@pytest.mark.parametrize("count", [(3, 2), (-1, 2)])
def test_a_card_of_impossible_counts_is_refused(count: tuple[int, int]) -> None:
    with pytest.raises(ValidationError, match="false_success of card 'lab'"):
        JudgeErrors(name="lab", false_success=count, false_failure=(0, 1))


# The file


def test_summary_json_is_sorted_and_rounded() -> None:
    text = summarize(evening("SSF")).to_json()
    assert text.endswith("}\n") and not text.endswith("\n\n")
    read = json.loads(text)
    assert json.dumps(read, sort_keys=True, indent=2, ensure_ascii=False) + "\n" == text
    assert read["overall"]["success"]["rate"] == 0.666667
    assert '"rate": 0.666667,' in text


def test_problems_are_kept() -> None:
    problems = [
        BagProblem(bag="b", problem="no runs", fatal=True),
        BagProblem(bag="a", problem="x"),
    ]
    found = summarize([], problems)
    assert found.problems == (problems[1], problems[0])
    assert found == summarize([], problems[::-1])


def test_confidence_is_that_of_every_interval() -> None:
    found = summarize(evening("SSF"), confidence=0.8)
    assert (found.overall.success.low, found.overall.success.high) == wilson_interval(2, 3, 0.8)
    assert found.confidence == 0.8


RUN = st.builds(
    graded,
    st.sampled_from(sorted(VERDICTS)),
    st.sampled_from("abcdefgh"),
    recorded=st.sampled_from(["", "S", "F", "i"]),
    call_id=st.sampled_from(["", "x", "y", "z"]),
    segment=st.integers(1, 3),
    bag=st.sampled_from(["one", "two"]),
    tool_name=st.sampled_from(["pick", "place"]),
    arguments=st.dictionaries(st.sampled_from("pq"), st.integers(0, 1)),
    started_at_ns=st.integers(0, 3),
    error_card=st.sampled_from(["", "lab"]),
)


@given(st.lists(RUN, max_size=12), st.randoms(use_true_random=False), st.text("sf-", max_size=8))
def test_the_order_of_rows_does_not_matter_and_every_run_is_counted(rows, chance, said) -> None:
    labels = {
        run_id: Label(run_id=run_id, success=letter == "s", task=letter)
        for run_id, letter in zip("abcdefgh", said, strict=False)
    }
    found = summarize(rows, labels=labels, card=CARD)
    assert Summary.model_validate(json.loads(found.to_json())).overall.runs == found.overall.runs
    assert found.overall.runs == len({row.run_id for row in rows})
    for part in (found.overall, *found.by_tool.values()):
        assert part.trials == part.success.of + part.unjudged_trials + part.cancelled_trials
        assert part.runs == sum(part.runs_by_status.values())
    assert sum(part.runs for part in found.by_tool.values()) == found.overall.runs
    assert sum(part.trials for part in found.by_tool.values()) == found.overall.trials
    assert found.labels is not None
    assert found.labels.labelled + found.labels.unlabelled == found.overall.runs
    compared = found.recorded
    assert compared.agreeing.of - compared.agreeing.count == len(compared.disagreements)
    assert compared.agreeing.of + compared.unrecorded == found.overall.runs
    shuffled = list(rows)
    chance.shuffle(shuffled)
    assert summarize(iter(shuffled), labels=labels, card=CARD).to_json() == found.to_json()


# What the answers took


def test_what_answers_took_is_summed_in_any_order_and_by_tool() -> None:
    costs = [0.1, 0.2, 0.3, 1e9]
    rows = [
        graded(
            "S",
            f"r{number}",
            tool_name="pick" if number else "push",
            usage=Usage(calls=number, input_tokens=100, output_tokens=10, cost=cost),
        )
        for number, cost in enumerate(costs)
    ]
    found = summarize(rows)
    assert found == summarize(rows[::-1])
    assert found.overall.usage == Usage(
        calls=6, input_tokens=400, output_tokens=40, cost=math.fsum(costs)
    )
    assert found.by_tool["push"].usage == rows[0].usage


def test_where_nothing_is_counted_there_is_no_usage() -> None:
    assert summarize(evening("SF")).overall.usage is None
