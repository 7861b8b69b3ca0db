# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The sidecar scores turns: what the verifier says, and nothing that it does harms the others."""

from __future__ import annotations

import json
import math
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from conftest import CONFIG, spinning
from diagnostic_msgs.msg import DiagnosticArray
from events import until
from processes import NodeProcess
from rclpy.node import Node
from rclpy.task import Future
from sidecar_node import SOME_S, response_of, sidecar

from harness_ros import srv
from harness_ros.contract import HarnessError
from harness_ros.ros.parameters import ParameterError
from harness_ros.ros.qos import REQUESTS
from harness_ros.ros.sidecar.turns import TurnAnswers
from harness_ros.sidecar.threads import HANGING_ALLOWED
from harness_ros.sidecar.turns import TurnVerifier

MODULE = "verifiers_of_the_sidecar_test"

Verifier = Callable[[str, dict[str, Any]], Any]


@pytest.fixture
def config(tmp_path: Path) -> Callable[..., Path]:
    """config(key=value, ...) -> an eval.yaml with these keys under `sidecar`."""

    def write(**keys: Any) -> Path:
        written = yaml.safe_load(CONFIG.read_text())
        if keys:
            written["sidecar"] = keys
        path = tmp_path / "eval.yaml"
        path.write_text(yaml.safe_dump(written))
        return path

    return write


@pytest.fixture
def verified_by(
    config: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Path]:
    """verified_by(function, more keys) -> an eval.yaml with this verifier."""

    def made(verifier: Verifier, **more: Any) -> Path:
        module = ModuleType(MODULE)
        module.verifier = verifier  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, MODULE, module)
        return config(verifier=f"{MODULE}:verifier", **more)

    return made


class Asking:
    """Asks the sidecar for scores."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._client = node.create_client(
            srv.VerifyTurn, "sidecar/verify_turn", qos_profile=REQUESTS
        )

    def ask(self, session_id: str = "session-1", turn: int = 0, **end_state: Any) -> Future:
        return self.ask_text(json.dumps(end_state), session_id, turn)

    def ask_text(self, end_state: str, session_id: str = "session-1", turn: int = 0) -> Future:
        assert self._client.wait_for_service(SOME_S)
        request = srv.VerifyTurn.Request(
            session_id=session_id, turn_index=turn, end_state=end_state
        )
        return self._client.call_async(request)

    def score(self, session_id: str = "session-1", **end_state: Any) -> Any:
        return response_of(self.ask(session_id, **end_state))


@pytest.fixture
def asking() -> Iterator[Asking]:
    with spinning("asking") as node:
        yield Asking(node)


def test_a_score_below_the_threshold_is_a_breach(
    verified_by: Callable[..., Path], asking: Asking
) -> None:
    with sidecar(verified_by(lambda _, state: state["share"], outcome_threshold=0.75)):
        good, bad = asking.score(share=0.75), asking.score(share=0.5)
    assert (good.has_score, good.score, good.breached) == (True, 0.75, False)
    assert (bad.has_score, bad.score, bad.breached) == (True, 0.5, True)
    assert 0.0 < good.latency_s < SOME_S


@pytest.mark.parametrize("answer", [None, math.nan, "yes", [1.0]])
def test_what_is_no_score_is_no_verdict_and_no_breach(
    verified_by: Callable[..., Path], asking: Asking, answer: Any
) -> None:
    with sidecar(verified_by(lambda *_: answer)):
        response = asking.score()
    assert not response.has_score
    assert math.isnan(response.score)
    assert not response.breached
    assert response.reason


def test_a_verifier_that_raises_is_no_verdict_and_the_next_turn_is_scored(
    verified_by: Callable[..., Path], asking: Asking
) -> None:
    def verifier(session_id: str, end_state: dict[str, Any]) -> bool:
        if session_id == "bad":
            raise OSError("no \ud800 disk")
        return True

    with sidecar(verified_by(verifier)):
        bad = asking.score("bad")
        assert (bad.has_score, "OSError" in bad.reason) == (False, True)
        assert asking.score("good").score == 1.0


@pytest.mark.parametrize("end_state", ["", "{", "[1]", "null", '{"a": ' * 2000])
def test_an_end_state_that_is_no_json_object_is_no_verdict(
    verified_by: Callable[..., Path], asking: Asking, end_state: str
) -> None:
    with sidecar(verified_by(lambda *_: True)):
        response = response_of(asking.ask_text(end_state))
        assert not response.has_score
        assert "end_state" in response.reason
        assert asking.score().has_score


def test_each_answer_goes_to_the_turn_that_asked(
    verified_by: Callable[..., Path], asking: Asking
) -> None:
    count = 200
    with sidecar(verified_by(lambda _, state: state["number"] / count)):
        asked = [asking.ask(turn=number, number=number) for number in range(count)]
        scores = [response_of(future).score for future in asked]
    assert scores == [number / count for number in range(count)]


def test_verifiers_that_hang_hold_up_nobody_else(
    verified_by: Callable[..., Path], asking: Asking
) -> None:
    released = threading.Event()

    def verifier(session_id: str, end_state: dict[str, Any]) -> bool:
        if session_id == "hangs":
            released.wait(SOME_S)
        return True

    with sidecar(verified_by(verifier, verifier_timeout_s=SOME_S)):
        hanging = [asking.ask("hangs") for _ in range(20)]
        assert [asking.score(f"quick-{number}").score for number in range(50)] == [1.0] * 50
        listing = asking.node.create_client(
            srv.ListRules, "sidecar/list_rules", qos_profile=REQUESTS
        )
        assert listing.wait_for_service(SOME_S)
        assert response_of(listing.call_async(srv.ListRules.Request())).found
        assert not any(future.done() for future in hanging)
        released.set()
        assert all(response_of(future).has_score for future in hanging)


def test_a_verifier_that_hangs_is_given_up_and_named(
    verified_by: Callable[..., Path], asking: Asking
) -> None:
    released = threading.Event()
    with sidecar(verified_by(lambda *_: released.wait(SOME_S), verifier_timeout_s=0.2)):
        response = asking.score()
        assert not response.has_score
        assert "0.2 s" in response.reason
        assert 0.2 <= response.latency_s < SOME_S / 2
        released.set()


def test_where_all_threads_hang_the_next_turn_has_its_turn_once_they_are_given_up() -> None:
    released = threading.Event()
    answered: list[Any] = []

    def verifier(session_id: str, end_state: dict[str, Any]) -> bool:
        return session_id == "quick" or released.wait(SOME_S)

    answers = TurnAnswers(TurnVerifier(verifier, timeout_s=SOME_S), timeout_s=0.5, at_once=2)
    for session in ("hangs", "hangs", "quick"):
        request = srv.VerifyTurn.Request(session_id=session, end_state="{}")
        answers.answer(request, srv.VerifyTurn.Response(), answered.append)
    assert until(lambda: len(answered) == 3)
    assert sorted(response.reason for response in answered) == ["", *["no answer within 0.5 s"] * 2]
    assert [response.score for response in answered if response.has_score] == [1.0]
    assert answers.hanging == 2
    released.set()
    assert until(lambda: answers.hanging == 0)
    assert len(answered) == 3
    answers.close()


def test_a_verifier_that_hangs_again_and_again_is_not_called_any_more() -> None:
    released = threading.Event()
    answered: list[Any] = []

    def verifier(session_id: str, end_state: dict[str, Any]) -> bool:
        return released.wait(SOME_S)

    answers = TurnAnswers(TurnVerifier(verifier, timeout_s=SOME_S), timeout_s=0.2, at_once=64)

    def ask() -> None:
        request = srv.VerifyTurn.Request(session_id="session-1", end_state="{}")
        answers.answer(request, srv.VerifyTurn.Response(), answered.append)

    for _ in range(HANGING_ALLOWED):
        ask()
    assert until(lambda: answers.hanging == HANGING_ALLOWED)
    ask()
    assert until(lambda: len(answered) == HANGING_ALLOWED + 1)
    assert "32 earlier calls of it were given up" in answered[-1].reason
    released.set()
    assert until(lambda: answers.hanging == 0)
    ask()
    assert until(lambda: len(answered) == HANGING_ALLOWED + 2)
    assert answered[-1].has_score
    answers.close()


def test_the_node_ends_while_a_verifier_hangs(
    verified_by: Callable[..., Path], asking: Asking
) -> None:
    entered, released = threading.Event(), threading.Event()

    def verifier(session_id: str, end_state: dict[str, Any]) -> bool:
        entered.set()
        return released.wait(SOME_S)

    with sidecar(verified_by(verifier, verifier_timeout_s=SOME_S)):
        asking.ask()
        assert entered.wait(SOME_S)
        ending = time.monotonic()
    assert time.monotonic() - ending < SOME_S / 2
    released.set()


def test_diagnostics_count_turns_and_name_what_had_no_verdict(
    verified_by: Callable[..., Path], asking: Asking
) -> None:
    heard: list[Any] = []
    asking.node.create_subscription(
        DiagnosticArray,
        "/diagnostics",
        lambda message: heard.extend(s for s in message.status if "sidecar: verifier" in s.name),
        10,
    )
    with sidecar(verified_by(lambda _, state: state.get("share"))):
        asking.score(share=1.0)
        asking.score(share=0.0)
        asking.score()

        def counted() -> bool:
            values = {pair.key: pair.value for pair in heard[-1].values} if heard else {}
            return (
                *(values.get(key) for key in ("scored", "breached", "without verdict")),
                "None" in values.get("last without verdict", ""),
            ) == ("2", "1", "1", True)

        assert until(counted), heard


def test_a_configuration_without_the_section_or_with_a_verifier_that_is_not_there_is_refused(
    config: Callable[..., Path],
) -> None:
    with (
        pytest.raises(ParameterError, match=r"eval.yaml: section 'sidecar' is missing"),
        sidecar(config()),
    ):
        pass
    with (
        pytest.raises(HarnessError, match="no_such_module"),
        sidecar(config(verifier="no_such_module:verifier")),
    ):
        pass


def test_budgets_in_which_no_replay_fits_are_refused(verified_by: Callable[..., Path]) -> None:
    with (
        pytest.raises(ParameterError, match=r"round_s.* at least environment_s \+ replay_s"),
        sidecar(verified_by(lambda *_: True), round_s=1.0),
    ):
        pass


def test_the_same_verifier_answers_over_http_where_that_is_wanted(
    verified_by: Callable[..., Path], asking: Asking, tmp_path: Path
) -> None:
    http = {"port": 0, "token_file": "token"}
    with sidecar(verified_by(lambda *_: 0.25, http=http)) as node:
        assert node._endpoint is not None
        request = urllib.request.Request(
            f"{node._endpoint.url}/v1/verify_turn",
            json.dumps({"session_id": "session-1", "end_state": {}}).encode(),
            {
                "Authorization": f"Bearer {(tmp_path / 'token').read_text().strip()}",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request, timeout=SOME_S) as response:
            assert json.load(response)["score"] == asking.score().score == 0.25


def test_the_executable_scores_a_turn_and_ends_on_sigterm(
    config: Callable[..., Path], asking: Asking, tmp_path: Path
) -> None:
    path = config(verifier="harness_ros.sidecar.verifiers:json_assertions")
    node = NodeProcess(
        "sidecar",
        tmp_path / "sidecar.log",
        config=path,
        rules=tmp_path / "rules.sqlite",
        ledger=tmp_path / "ledger.sqlite",
    )
    try:
        response = asking.score()
        assert not response.has_score, node.text()
        assert response.reason
    finally:
        assert node.stop() == 0, node.text()
