# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The picture that confirmed the last change of a thing."""

from __future__ import annotations

import time

from harness_ros.contract import Record, View
from harness_ros.ledger import Ledger
from harness_ros.scene.graph import SceneGraph
from harness_ros.scene.relation import SceneError

LOOK_AGAIN_S = 0.05


class NotYetWritten(SceneError):
    """The verdict is in the ledger, its Observation is not: it takes a moment longer."""


class Picture(Record):
    """A view that a judge saw, and what it led to."""

    view: View
    run_id: str
    tool_name: str
    evidence: tuple[str, ...]


def confirming_picture(
    ledger: Ledger, graph: SceneGraph, ref: str, view: str = "", wait_s: float = 0.0
) -> Picture:
    """The view with which a verdict last changed or confirmed something of a thing.

    Args:
        ref: the thing.
        view: name of the camera; empty for the first that the judge got.
        wait_s: how long to wait for an Observation that is still being written: images take longer
            to write than a judge to answer.

    Raises:
        SceneError: the thing or the view is unknown, no verdict has changed the thing, or its
            images are no longer kept.
        NotYetWritten: the images were not there in time.
        LedgerError: the ledger cannot be read.
    """
    deadline = time.monotonic() + wait_s
    while True:
        try:
            return _picture(ledger, graph, ref, view)
        except NotYetWritten:
            if time.monotonic() >= deadline:
                raise
            time.sleep(LOOK_AGAIN_S)


def _picture(ledger: Ledger, graph: SceneGraph, ref: str, view: str) -> Picture:
    graph.check_known(ref)
    run_id = graph.changed_by.get(ref)
    if run_id is None:
        raise SceneError(f"no verdict has changed anything of '{ref}' yet")
    verdict = ledger.verdict(run_id)
    if verdict is None:
        raise SceneError(f"run {run_id}, which changed '{ref}', is not in {ledger.path}")
    of_run = f"of run {run_id} ({verdict.tool_name}), which changed '{ref}'"
    observation = ledger.observation(run_id)
    if observation is None:
        raise NotYetWritten(f"the Observation {of_run}, is not in {ledger.path}")
    left_out = observation.provenance.get("views_left_out", [])
    names = [item.name for item in observation.views]
    if view and view not in (*names, *left_out):
        known = sorted((*names, *left_out))
        raise SceneError(f"no view '{view}' in the Observation {of_run}; it has {known}")
    if view in left_out or (not names and left_out):
        raise SceneError(
            f"the images of the Observation {of_run}, are no longer kept: `ledger.views_kept` "
            "says how many are"
        )
    if not names:
        raise SceneError(f"the Observation {of_run}, has no views")
    found = observation.view(view) if view else observation.views[0]
    assert found is not None
    return Picture(
        view=found, run_id=run_id, tool_name=verdict.tool_name, evidence=verdict.evidence
    )
