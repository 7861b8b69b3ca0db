# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subgoals are scored by the last verdicts in the ledger."""

import ast
import math
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from markdown_pages import DOCS, blocks, plain, tables

from harness_ros.contract import Kind, Run, Status, Verdict
from harness_ros.ledger import Ledger
from harness_ros.sidecar import load_verifier
from harness_ros.sidecar.verifier import verify_now
from harness_ros.sidecar.verifiers import physical_outcome

SUCCESS, FAILURE, PROCESS = Status.SUCCESS, Status.FAILURE, Status.PROCESS


class World:
    """A ledger that runs are written into as an evaluator does."""

    def __init__(self, path):
        self.path = path
        self.ledger = Ledger(path)

    def run(self, run_id, status=None, call_id="", kind=Kind.JUDGED, **arguments):
        run = Run(
            run_id=run_id,
            call_id=call_id or f"call-of-{run_id}",
            segment=1,
            tool_name="pick",
            arguments=arguments,
            started_at_ns=1,
        )
        self.ledger.record_run(run)
        if status is not None:
            self.judge(run, status, kind)
        return run

    def judge(self, run, status, kind=Kind.JUDGED):
        self.ledger.record_verdict(
            Verdict(
                run_id=run.run_id,
                call_id=run.call_id,
                tool_name=run.tool_name,
                arguments=run.arguments,
                segment=run.segment,
                status=status,
                kind=kind,
                failure_reason="" if status is SUCCESS else "the gripper is empty",
            )
        )

    def asked(self, end_state, **options):
        verifier = load_verifier(
            "harness_ros.sidecar.verifiers:physical_outcome", options, {"ledger": self.path}
        )
        return verify_now(verifier, "session-1", end_state, 20.0)

    def score(self, end_state, **options):
        return self.asked(end_state, **options).score


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "ledger.sqlite")
    yield world
    world.ledger.close()


def test_the_score_is_the_share_of_runs_that_succeeded(world):
    world.run("a", SUCCESS)
    world.run("b", FAILURE)
    assert world.score({"run_ids": ["a"]}) == 1.0
    assert world.score({"run_ids": ["b"]}) == 0.0
    assert world.score({"run_ids": ["a", "b"], "more": "is not looked at"}) == 0.5


def test_a_subgoal_is_judged_by_its_last_verdict(world):
    first = world.run("first")
    world.run("second", FAILURE)
    world.judge(first, SUCCESS)
    assert world.score({"subgoals": [{"run_ids": ["first", "second"]}]}) == 1.0
    world.run("third", FAILURE)
    assert world.score({"subgoals": [{"run_ids": ["third", "second", "first"]}]}) == 0.0


def test_partial_credit_is_given_by_subgoal(world):
    world.run("a", FAILURE)
    world.run("b", SUCCESS)
    world.run("c", FAILURE)
    subgoals = [
        {"name": "red block held", "run_ids": ["a", "b"]},
        {"name": "red block in the bin", "run_ids": ["c"]},
    ]
    found = world.asked({"subgoals": subgoals})
    assert found.score == 0.5
    assert found.reason == ("1 of 2 subgoals reached; 'red block in the bin': the gripper is empty")


def test_a_call_stands_for_all_of_its_segments(world):
    world.run("s1", PROCESS, "push-1")
    assert "still in process" in world.asked({"call_ids": ["push-1"]}).reason
    world.run("s2", SUCCESS, "push-1")
    assert world.score({"call_ids": ["push-1"]}) == 1.0


def test_a_call_is_not_taken_for_an_argument_of_that_name(world):
    world.run("a", FAILURE, "call-1", note={"call_id": "call-2"})
    world.run("b", SUCCESS, "call-2", width=math.inf)
    assert world.score({"call_ids": ["call-2"]}) == 1.0
    assert world.score({"call_ids": ["call-1"]}) == 0.0


@pytest.mark.parametrize("call_id", ['with "quotes"', "back\\slash", "übung", "%_"])
def test_a_call_may_be_named_in_any_letters(world, call_id):
    world.run("a", SUCCESS, call_id)
    assert world.score({"call_ids": [call_id]}) == 1.0


def test_there_is_no_score_while_one_run_is_open(world):
    world.run("a", SUCCESS)
    running = world.run("b")
    found = world.asked({"run_ids": ["a", "b"]})
    assert (found.score, found.reason) == (None, "run 'b' has no verdict yet")
    world.judge(running, SUCCESS)
    assert world.score({"run_ids": ["a", "b"]}) == 1.0


def test_a_retry_that_still_runs_leaves_its_subgoal_open(world):
    world.run("a", SUCCESS)
    world.run("b")
    assert world.score({"subgoals": [{"run_ids": ["a", "b"]}]}) is None


@pytest.mark.parametrize(
    ("end_state", "reason"),
    [
        ({"run_ids": ["a", "nobody"]}, "run 'nobody' is not known"),
        ({"call_ids": ["nobody"]}, "call 'nobody' is not known"),
        ({}, "end_state names no run"),
        ({"run_ids": []}, "end_state names no run"),
        ({"run_ids": "a"}, "end_state.run_ids"),
        ({"run_ids": [3]}, "end_state.run_ids.0"),
        ({"subgoals": [{"name": "empty"}]}, "neither `run_ids` nor `call_ids`"),
        ({"subgoals": [{"runs": ["a"]}]}, "end_state.subgoals.0.runs"),
    ],
)
def test_what_cannot_be_looked_up_is_no_verdict_with_a_reason(world, end_state, reason, caplog):
    world.run("a", SUCCESS)
    found = world.asked(end_state)
    assert found.score is None
    assert reason in found.reason
    assert not caplog.text  # a normal answer


def test_a_run_that_nobody_could_judge_is_no_success(world):
    world.run("a", SUCCESS)
    world.run("b", FAILURE, kind=Kind.JUDGE_UNAVAILABLE)
    assert world.score({"run_ids": ["a", "b"]}) == 0.5
    found = world.asked({"run_ids": ["a", "b"]}, unjudged="none")
    assert (found.score, found.reason) == (None, "nobody could judge 'b': judge_unavailable")


def test_a_subgoal_that_was_not_tried_is_not_reached(world):
    world.run("a", SUCCESS)
    subgoals = [{"run_ids": ["a"]}, {"name": "red block in the bin", "run_ids": []}]
    found = world.asked({"subgoals": subgoals})
    assert found.score == 0.5
    assert "'red block in the bin': nothing was tried" in found.reason
    assert world.score({"subgoals": [{"call_ids": []}]}) == 0.0


def test_a_run_that_is_named_twice_counts_once(world):
    world.run("a", SUCCESS)
    world.run("b", FAILURE)
    assert world.score({"run_ids": ["a", "a", "a", "b"]}) == 0.5


def test_the_ledger_is_found_through_the_environment(world, monkeypatch):
    world.run("a", SUCCESS)
    monkeypatch.setenv("HARNESS_ROS_LEDGER", str(world.path))
    assert physical_outcome("session-1", {"run_ids": ["a"]}) == 1.0


def test_verdicts_may_be_looked_up_elsewhere(world):
    world.run("a", SUCCESS)
    assert physical_outcome("session-1", {"run_ids": ["a"]}, verdicts=world.ledger) == 1.0


def test_a_ledger_that_is_missing_is_not_made(tmp_path):
    path = tmp_path / "none.sqlite"
    assert physical_outcome("session-1", {"run_ids": ["a"]}, ledger=path) is None
    assert not path.exists()


def test_a_file_that_is_no_ledger_is_no_verdict(tmp_path):
    path = tmp_path / "text.sqlite"
    path.write_text("no database at all, but long enough to look like one" * 50)
    assert physical_outcome("session-1", {"run_ids": ["a"]}, ledger=path) is None


def test_a_ledger_that_is_replaced_is_read_anew(world, tmp_path):
    world.run("a", FAILURE)
    assert world.score({"run_ids": ["a"]}) == 0.0
    other = World(tmp_path / "other.sqlite")
    other.run("a", SUCCESS)
    other.ledger.close()
    other.path.replace(world.path)
    for end in ("-wal", "-shm"):
        world.path.with_name(world.path.name + end).unlink(missing_ok=True)
    assert world.score({"run_ids": ["a"]}) == 1.0


# The worked example of docs/sidecar.md

PAGE = DOCS / "sidecar.md"
(EXAMPLE,) = [block for block in blocks("python") if block.page == PAGE and "pick-2" in block.text]
(ROWS,) = [
    [tuple(map(plain, row)) for row in table.rows]
    for table in tables(PAGE)
    if table.head[0] == "the ledger holds"
]
PUSHED = {"push-1.1": PROCESS, "push-1.2": PROCESS, "push-1.3": SUCCESS}
HELD = {"pick-1": FAILURE, "pick-2": SUCCESS, "place-1": SUCCESS}
LEDGERS = [
    {**HELD, **PUSHED},
    {**HELD, **PUSHED, "push-1.3": FAILURE},
    {**HELD, "push-1.1": PROCESS},
    HELD,
    HELD,
    {"pick-1": FAILURE, "pick-2": FAILURE, "place-1": FAILURE, "push-1.1": FAILURE},
]


def example_end_state():
    for node in ast.parse(EXAMPLE.text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "end_state":
            return ast.literal_eval(node.value)
    raise AssertionError(EXAMPLE)


@pytest.mark.parametrize(("row", "held"), list(zip(ROWS, LEDGERS, strict=True)))
def test_the_worked_example_is_scored_as_the_page_says(world, row, held):
    end_state = example_end_state()
    for run_id, status in held.items():
        kind = Kind.JUDGED
        if run_id == "push-1.3" and status is FAILURE:
            kind = Kind.SEGMENT_BUDGET_EXHAUSTED
        world.run(run_id, status, "push-1" if run_id.startswith("push") else "", kind)
    if "nothing was pushed" in row[0]:
        end_state["subgoals"][2]["call_ids"] = []
    score = world.score(end_state)
    assert row[1] == ("none" if score is None else f"{score:.2f}".removesuffix("0"))
