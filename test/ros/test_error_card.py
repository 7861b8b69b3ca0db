# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the evaluator says of judges with an error card, a stale one, and none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import evidence
import pytest
import yaml
from conftest import spinning, until
from diagnostic_msgs.msg import DiagnosticStatus
from evidence import DiagnosticsListener, EvidenceRobot
from processes import Nodes

sys.path.append(str(Path(__file__).parents[1] / "calibration"))

from planted import card_with, config_with

from harness_ros import msg, srv
from harness_ros.judges.card import ErrorCard, load_card
from harness_ros.ledger import Ledger

OK, WARN = DiagnosticStatus.OK, DiagnosticStatus.WARN


def says_success(_: Any, answer: Any) -> Any:
    answer.status, answer.judge = msg.Verdict.SUCCESS, "planted"
    return answer


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("card") / "card.json"
    path.write_text(card_with(20, 20, false_success=0.1).text())
    return path


@pytest.fixture(scope="module")
def nodes(card: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    folder = tmp_path_factory.mktemp("nodes")
    raw = config_with(card, false_success=0.1)
    raw["cameras"]["top"]["topic"] = "/evidence/top"
    tool = {**raw["tools"]["pick"], "signals": []}
    plugin = raw["judges"]["planted"]
    raw["judges"] = {
        "measured": plugin,
        "changed": {**plugin, "options": {"false_success": 0.3}},
        "unmeasured": {"judge": plugin["judge"]},
        "criteria": {"type": "deterministic"},
    }
    criterion = {"success": {"signal": {"name": "truth", "min": 0.5}}}
    raw["tools"] = {
        "pick": {**tool, "judge": "measured"},
        "place": {**tool, "judge": "changed"},
        "push": {**tool, "judge": "unmeasured"},
        "pull": {**tool, "judge": "criteria", "criterion": criterion, "signals": ["truth"]},
    }
    path = folder / "eval.yaml"
    path.write_text(yaml.safe_dump(raw))
    made = Nodes(folder, path)
    with spinning("_judges") as node:
        for judge in raw["judges"]:
            node.create_service(srv.Evaluate, f"_evaluate/{judge}", says_success)
        made.start("evaluator")
        yield made
        made.stop_all()


@pytest.fixture(scope="module")
def diagnostics(nodes: Nodes) -> Iterator[DiagnosticsListener]:
    with spinning("card_listener") as node:
        yield DiagnosticsListener(node)


def test_diagnostics_warn_of_stale_cards_and_of_what_nobody_has_measured(
    diagnostics: DiagnosticsListener, card: Path
) -> None:
    made: ErrorCard = load_card(card)

    def found(judge: str) -> tuple[int, str, str]:
        status = diagnostics.statuses.get(f"/harness/_evaluator: judge {judge}")
        if status is None:
            return -1, "", ""
        values = {item.key: item.value for item in status.values}
        return int.from_bytes(status.level, "big"), status.message, values.get("error card", "")

    judges = ("measured", "changed", "unmeasured", "criteria")
    levels = tuple(int.from_bytes(level, "big") for level in (OK, WARN, WARN, OK))
    assert until(lambda: tuple(found(judge)[0] for judge in judges) == levels)
    assert found("measured")[1:] == ("0 answers", f"card {made.id}")
    _, said, state = found("changed")
    assert said == "0 answers, and its error card is stale"
    assert state.startswith(f"stale: card {made.id}: the hash of the options is ")
    assert found("unmeasured")[1] == "0 answers, uncalibrated"
    # What a criterion measures can be read: it is said, and is no warning.
    assert found("criteria")[1] == "0 answers"
    assert found("criteria")[2].startswith("uncalibrated: nobody has measured")


def test_the_log_has_a_line_for_each_judge_in_use(nodes: Nodes, card: Path) -> None:
    log = nodes.running["evaluator"]
    assert until(lambda: "judge 'criteria'" in log.text())
    made = load_card(card)
    assert f"judge 'measured': card {made.id}; of {made.made}, 40 labels: false-" in log.text()
    assert f"judge 'changed': stale: card {made.id}: " in log.text()
    nobody = "uncalibrated: nobody has measured how often it is wrong; see docs/calibration.md"
    assert f"judge 'unmeasured': {nobody}" in log.text()


def test_verdicts_carry_the_card_of_their_judge(nodes: Nodes, card: Path) -> None:
    made = load_card(card)
    with spinning("card_robot") as node:
        robot = EvidenceRobot(node)
        robot.gives("top", evidence.image)
        said = {tool: robot.runs(tool) for tool in ("pick", "place", "push")}
    assert said["pick"].status == msg.Verdict.SUCCESS, said["pick"]
    assert said["pick"].error_card == made.id
    assert said["place"].error_card.startswith(f"stale: card {made.id}: the hash of the options")
    assert said["push"].error_card == "uncalibrated"
    with Ledger(nodes.ledger) as ledger:
        for verdict in said.values():
            kept = ledger.verdict(verdict.run_id)
            assert kept is not None and kept.error_card == verdict.error_card
