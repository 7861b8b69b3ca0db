# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import pytest

from harness_ros.contract import Observation, Status, Verdict, View
from harness_ros.ledger import Ledger
from harness_ros.scene import Effects, SceneError, SceneGraph
from harness_ros.scene.picture import NotYetWritten, confirming_picture

PICK = Effects(delete=(("on", "red", "*"),), add=(("holding", "robot", "red"),))
DROP = Effects(delete=(("holding", "robot", "*"),), add=(("inside", "red", "bin"),))


def view(name, text):
    return View(
        name=name,
        stamp_ns=5,
        frame_id=name,
        height=1,
        width=1,
        encoding="jpeg",
        step=0,
        is_bigendian=False,
        data=text.encode(),
        topic=f"/{name}",
    )


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        yield ledger


def record(ledger, run_id, views, views_kept=500):
    ledger.record_verdict(
        Verdict(
            run_id=run_id,
            call_id=run_id,
            tool_name="pick",
            arguments={},
            segment=1,
            status=Status.SUCCESS,
            evidence=(f"seen in {run_id}",),
        )
    )
    if views is not None:
        ledger.record_observation(
            Observation(
                run_id=run_id,
                captured_at_ns=5,
                views=tuple(view(name, f"{name} of {run_id}") for name in views),
            ),
            views_kept,
        )


@pytest.fixture
def graph():
    start = SceneGraph.initial(
        ("robot", "table", "bin", "red", "blue"), [("on", "red", "table"), ("on", "blue", "table")]
    )
    return start.apply(PICK, "run-1", 1).apply(DROP, "run-2", 2)


def test_the_picture_is_of_the_run_that_last_changed_the_thing(ledger, graph):
    record(ledger, "run-1", ["front", "top"])
    record(ledger, "run-2", ["top", "front"])
    red = confirming_picture(ledger, graph, "red")
    assert (red.run_id, red.view.name, red.view.data) == ("run-2", "top", b"top of run-2")
    assert (red.tool_name, red.evidence) == ("pick", ("seen in run-2",))
    table = confirming_picture(ledger, graph, "table", view="top")
    assert (table.run_id, table.view.data) == ("run-1", b"top of run-1")


@pytest.mark.parametrize(
    ("ref", "name", "words"),
    [
        ("sink", "", r"unknown ref 'sink'; known are \['bin', 'blue'"),
        ("blue", "", "no verdict has changed anything of 'blue' yet"),
        ("red", "wrist", r"no view 'wrist' in the Observation of run run-2.*\['front', 'top'\]"),
    ],
)
def test_there_is_no_picture_of_the_unknown_and_the_unchanged(ledger, graph, ref, name, words):
    record(ledger, "run-2", ["front", "top"])
    with pytest.raises(SceneError, match=words):
        confirming_picture(ledger, graph, ref, name)


@pytest.mark.parametrize("name", ["", "front"])
def test_images_that_are_no_longer_kept_are_named_as_such(ledger, graph, name):
    record(ledger, "run-2", ["front"])
    record(ledger, "run-3", ["front"], views_kept=1)
    with pytest.raises(SceneError, match=r"run-2.*no longer kept: `ledger.views_kept`"):
        confirming_picture(ledger, graph, "red", name)


def test_a_judge_that_got_no_views_left_no_picture(ledger, graph):
    record(ledger, "run-2", [])
    with pytest.raises(SceneError, match="has no views"):
        confirming_picture(ledger, graph, "red")


def test_an_observation_that_is_still_being_written_can_be_waited_for(ledger, graph):
    record(ledger, "run-2", None)
    with pytest.raises(NotYetWritten, match="run-2"):
        confirming_picture(ledger, graph, "red")
