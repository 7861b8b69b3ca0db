# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node that serves any judge of eval.yaml: several questions at once, and an end in time."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from conftest import CONFIG, Chain, spinning, spun
from diagnostic_msgs.msg import DiagnosticArray
from events import until
from processes import NAMESPACE, NodeProcess, Nodes
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future
from robot import Robot

from harness_ros import srv
from harness_ros.contract import (
    EvaluationRequest,
    ExitCode,
    Judgement,
    Kind,
    Observation,
    Status,
    Usage,
    View,
)
from harness_ros.judges.model import connection
from harness_ros.judges.plugin import PluginError
from harness_ros.ros import conversion
from harness_ros.ros.client import HarnessClient
from harness_ros.ros.configured_judge import ConfiguredJudge
from harness_ros.ros.parameters import ParameterError
from harness_ros.ros.qos import REQUESTS
from harness_ros.ros.threads import wait

sys.path.insert(0, str(Path(__file__).parents[1] / "judges" / "model"))
from openai_server import OpenAIServer, answers, says

SOME_S = 20.0
PARALLEL = 4
PIXELS = 8
SUCCESS = Judgement(
    status=Status.SUCCESS,
    evidence=("seen",),
    confidence=0.75,
    usage=Usage(calls=2, input_tokens=10, output_tokens=3, cost=0.5),
)
MODULE = "judges_of_the_node_test"

Answer = Callable[[EvaluationRequest], Judgement]


@pytest.fixture
def config(tmp_path: Path) -> Callable[..., Path]:
    """config(key=settings, ...) -> an eval.yaml with these judges, the first of which is asked."""

    def write(**judges: dict[str, Any]) -> Path:
        written = yaml.safe_load(CONFIG.read_text())
        written["judges"] = judges
        for tool in written["tools"].values():
            tool["judge"] = next(iter(judges))
        path = tmp_path / "eval.yaml"
        path.write_text(yaml.safe_dump(written))
        return path

    return write


@contextmanager
def serving(config: Path, key: str = "mine") -> Iterator[ConfiguredJudge]:
    """The node in this process."""
    overrides = [Parameter("config", value=str(config)), Parameter("judge", value=key)]
    with spun(
        lambda context: ConfiguredJudge(
            context=context, namespace=NAMESPACE, parameter_overrides=overrides
        )
    ) as node:
        yield node


@pytest.fixture
def plugin(config: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """plugin(function, more settings) -> an eval.yaml whose judge `mine` answers so."""

    def made(answer: Answer, **more: Any) -> Path:
        module = ModuleType(MODULE)
        module.answer = lambda request: answer(request)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, MODULE, module)
        return config(mine={"judge": f"{MODULE}:answer", "parallel": PARALLEL, **more})

    return made


class Asking:
    """Asks a judge by its service."""

    def __init__(self, node: Node, key: str) -> None:
        self._client = node.create_client(srv.Evaluate, f"_evaluate/{key}", qos_profile=REQUESTS)

    def ask(self, run_id: str) -> Future:
        assert self._client.wait_for_service(SOME_S)
        view = View(
            name="front",
            stamp_ns=1,
            frame_id="front",
            height=PIXELS,
            width=PIXELS,
            encoding="mono8",
            step=PIXELS,
            is_bigendian=False,
            data=bytes(PIXELS * PIXELS),
            topic="/front",
        )
        observation = Observation(run_id=run_id, captured_at_ns=1, views=(view,))
        request = EvaluationRequest(
            post_condition="It is there.", criterion="", observation=observation
        )
        return self._client.call_async(conversion.request_to_message(request))

    def answer(self, run_id: str = "run-1") -> Judgement:
        return answer_of(self.ask(run_id))


def answer_of(future: Future) -> Judgement:
    assert wait(future, SOME_S), "no answer"
    return conversion.judgement_from_response(future.result())


@pytest.fixture
def asking() -> Iterator[Asking]:
    with spinning("asking") as node:
        yield Asking(node, "mine")


def test_several_questions_are_with_the_judge_at_the_same_time(
    plugin: Callable[..., Path], asking: Asking
) -> None:
    together = threading.Barrier(PARALLEL)

    def meet(request: EvaluationRequest) -> Judgement:
        together.wait(SOME_S)
        return SUCCESS.model_copy(update={"evidence": (request.observation.run_id,)})

    runs = [f"run-{number}" for number in range(5 * PARALLEL)]
    with serving(plugin(meet)):
        asked = [asking.ask(run) for run in runs]
        assert [answer_of(future).evidence for future in asked] == [(run,) for run in runs]


def test_no_more_questions_are_with_the_judge_than_it_takes(
    plugin: Callable[..., Path], asking: Asking
) -> None:
    lock, released = threading.Lock(), threading.Event()
    now: list[str] = []
    most: list[int] = []

    def count(request: EvaluationRequest) -> Judgement:
        with lock:
            now.append(request.observation.run_id)
            most.append(len(now))
        released.wait(SOME_S)
        with lock:
            now.remove(request.observation.run_id)
        return SUCCESS

    with serving(plugin(count)):
        asked = [asking.ask(f"run-{number}") for number in range(3 * PARALLEL)]
        assert until(lambda: len(now) == PARALLEL)
        released.set()
        assert all(answer_of(future).status is Status.SUCCESS for future in asked)
    assert max(most) == PARALLEL


def test_a_slow_question_holds_up_no_other(plugin: Callable[..., Path], asking: Asking) -> None:
    released = threading.Event()

    def answer(request: EvaluationRequest) -> Judgement:
        if request.observation.run_id == "slow":
            released.wait(SOME_S)
        return SUCCESS

    with serving(plugin(answer)):
        slow = asking.ask("slow")
        for number in range(10):
            assert asking.answer(f"run-{number}").status is Status.SUCCESS
        assert not slow.done()
        released.set()
        assert answer_of(slow).status is Status.SUCCESS


def test_a_question_whose_time_is_up_before_its_turn_is_not_asked(
    plugin: Callable[..., Path], asking: Asking
) -> None:
    released, asked = threading.Event(), []

    def answer(request: EvaluationRequest) -> Judgement:
        asked.append(request.observation.run_id)
        if request.observation.run_id == "slow":
            released.wait(SOME_S)
        return SUCCESS

    with serving(plugin(answer, parallel=1, timeout_s=0.2)) as node:
        slow = asking.ask("slow")
        assert until(lambda: asked == ["slow"])
        late = asking.ask("late")
        assert until(lambda: node._threads.counts.asked == 2)
        began = time.monotonic()
        assert until(lambda: time.monotonic() - began > 0.2)
        released.set()
        assert answer_of(slow).status is Status.SUCCESS
        assert answer_of(late).error.startswith("not asked: the question waited 0.")
        assert asking.answer("next").status is Status.SUCCESS
    assert asked == ["slow", "next"]


def test_all_that_a_judgement_says_arrives(plugin: Callable[..., Path], asking: Asking) -> None:
    with serving(plugin(lambda _: SUCCESS)):
        assert asking.answer() == SUCCESS.model_copy(update={"judge": "mine"})


def test_a_judge_that_raises_or_answers_what_cannot_be_sent_is_an_error_and_goes_on(
    plugin: Callable[..., Path], asking: Asking
) -> None:
    def answer(request: EvaluationRequest) -> Judgement:
        if request.observation.run_id == "raises":
            raise OSError("no weights")
        if request.observation.run_id == "odd":
            return SUCCESS.model_copy(update={"evidence": ("\ud800",), "judge": "\ud800"})
        return SUCCESS

    with serving(plugin(answer)):
        assert asking.answer("raises").error == "the judge failed: OSError('no weights')"
        odd = asking.answer("odd")
        assert (odd.status, odd.judge, odd.evidence) == (Status.SUCCESS, "\\ud800", ("\\ud800",))
        assert asking.answer("good").status is Status.SUCCESS


def test_the_node_ends_while_a_question_is_with_its_judge(
    plugin: Callable[..., Path], asking: Asking
) -> None:
    asked, released = threading.Event(), threading.Event()

    def hang(request: EvaluationRequest) -> Judgement:
        asked.set()
        released.wait(SOME_S)
        return SUCCESS

    with serving(plugin(hang)) as node:
        asking.ask("run-1")
        assert asked.wait(SOME_S)
        began = time.monotonic()
    assert time.monotonic() - began < SOME_S / 2
    released.set()
    # Its answer finds no node to be sent with; a thread that ended by that would fail the test.
    assert until(lambda: node._threads.counts.answered == 1)


class Told:
    """The newest diagnostics, by name."""

    def __init__(self, node: Node) -> None:
        self.statuses: dict[str, Any] = {}
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_array, 10)

    def _on_array(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.statuses[status.name.split(": ")[1]] = (
                status.level[0],
                status.message,
                {item.key: item.value for item in status.values},
            )


@pytest.fixture
def told() -> Iterator[Told]:
    with spinning("told") as node:
        yield Told(node)


def test_diagnostics_tell_of_answers_failures_usage_and_that_there_is_no_card(
    plugin: Callable[..., Path], asking: Asking, told: Told
) -> None:
    def answer(request: EvaluationRequest) -> Judgement:
        if request.observation.run_id == "dark":
            return Judgement(status=Status.FAILURE, error="too dark")
        return SUCCESS

    with serving(plugin(answer)):
        asking.answer("good"), asking.answer("dark")
        assert until(lambda: told.statuses.get("judge", (0, "", {}))[2].get("waiting") == "0")
        assert until(lambda: told.statuses["judge"][1] == "2 questions answered")
        level, _, values = told.statuses["judge"]
    assert level == 1
    assert values["could not judge"] == "1" and values["last problem"] == "too dark"
    assert values["type"] == "plugin" and values["service"] == "_evaluate/mine"
    assert (values["calls"], values["input tokens"], values["output tokens"]) == ("2", "10", "3")
    assert float(values["latency worst (s)"]) >= float(values["latency median (s)"]) > 0
    level, words, _ = told.statuses["error card"]
    assert level == 1
    assert words.startswith("uncalibrated: nobody has measured how often it is wrong")


def a_model(server: OpenAIServer, **more: Any) -> dict[str, Any]:
    return {
        "type": "model",
        "model": "some-model",
        "base_url": server.base_url,
        "api_key_env": None,
        "prices": {"input_per_million": 1000, "output_per_million": 2000, "currency": "EUR"},
        **more,
    }


def test_a_model_judges_and_what_it_took_is_told(
    config: Callable[..., Path], asking: Asking, told: Told
) -> None:
    with (
        OpenAIServer(answers(evidence=["the block is up"], confidence=0.9)) as server,
        serving(config(mine=a_model(server))),
    ):
        judgement = asking.answer()
        assert judgement.status is Status.SUCCESS, judgement
        assert judgement.confidence == 0.9
        assert judgement.judge == "mine (some-model)"
        assert judgement.usage.model_copy(update={"cost": 0}) == Usage(
            calls=1, input_tokens=1000, output_tokens=50
        )
        assert judgement.usage.cost == pytest.approx(1.1)
        assert until(lambda: told.statuses.get("spending mine", (0, ""))[1] == "1.1 EUR")
        values = told.statuses["spending mine"][2]
        assert (values["calls"], values["cost"], values["spending cap"]) == ("1", "1.1", "")


def test_a_spending_cap_that_is_reached_is_an_error_of_the_diagnostics(
    config: Callable[..., Path], asking: Asking, told: Told
) -> None:
    with (
        OpenAIServer() as server,
        serving(config(mine=a_model(server, spending_cap=0.0))),
    ):
        assert "spending_cap is 0 EUR" in asking.answer().error
        assert until(lambda: told.statuses.get("spending mine", (0,))[0] == 2)
        assert told.statuses["spending mine"][1] == "cap reached: 0 EUR"
        assert not server.requests


def test_a_panel_of_a_model_and_another_judge_is_served_under_one_name(
    config: Callable[..., Path], asking: Asking, told: Told
) -> None:
    with OpenAIServer(answers()) as server:
        judges = {
            "mine": {"type": "panel", "members": ["rule", "eye"], "rule": "all", "timeout_s": 60},
            "rule": {},
            "eye": a_model(server),
        }
        with serving(config(**judges)):
            judgement = asking.answer()
            assert judgement.judge == "mine"
            assert judgement.failure_reason.startswith("cannot tell by the rule 'all'")
            assert "eye: the cube lies in the tray" in judgement.evidence
            assert "rule: could not judge: the request has no criterion" in "\n".join(
                judgement.evidence
            )
            assert until(lambda: "spending eye" in told.statuses)


def test_a_model_without_its_key_says_so_and_where_it_is_looked_for(
    config: Callable[..., Path],
    asking: Asking,
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KEY_OF_NOBODY", raising=False)
    with (
        OpenAIServer() as server,
        serving(config(mine=a_model(server, api_key_env="KEY_OF_NOBODY"))),
    ):
        assert until(lambda: told.statuses.get("judge", (0, ""))[0] == 2)
        assert "KEY_OF_NOBODY" in told.statuses["judge"][1]
        assert "KEY_OF_NOBODY" in asking.answer().error
        assert not server.requests


def test_a_judge_that_is_not_in_the_file_is_named_with_those_that_are(
    config: Callable[..., Path],
) -> None:
    path = config(eye={}, ear={})
    with (
        pytest.raises(ParameterError, match=r"'judge' is 'nose', .* `judges`: \['ear', 'eye'\]"),
        serving(path, "nose"),
    ):
        pass


def test_a_plug_in_that_cannot_be_imported_ends_the_start(config: Callable[..., Path]) -> None:
    path = config(mine={"judge": "no_such_package.judges:MyJudge"})
    with (
        pytest.raises(PluginError, match=r"'no_such_package\.judges' cannot be imported"),
        serving(path),
    ):
        pass


# As the process that users start

OWN_JUDGE = f"""
import threading
from harness_ros.contract import Judgement, Status

together = threading.Barrier({PARALLEL})

def judge(request):
    if request.observation.run_id == "hangs":
        threading.Event().wait()
    if request.observation.run_id.startswith("together"):
        together.wait({SOME_S})
    return Judgement(status=Status.SUCCESS, evidence=(request.observation.run_id,))
"""


def started(path: Path, tmp_path: Path, key: str) -> NodeProcess:
    return NodeProcess("judge_model", tmp_path / "judge.log", config=path, judge=key)


def test_the_process_says_at_its_start_whom_it_asks_and_never_the_key(
    config: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_KEY", "sk-not-for-logs-0123456789")
    with OpenAIServer() as server:
        settings = a_model(server, api_key_env="OWN_KEY")
        host = connection.urlsplit(server.base_url).netloc
        node = started(config(vlm=settings), tmp_path, "vlm")
        ready = f"judge 'vlm' is ready: model some-model at {host}"
        assert until(lambda: "judge 'vlm': " in node.text(), SOME_S), node.text()
        assert node.stop() == 0
    assert ready in node.text()
    assert "judge 'vlm': uncalibrated" in node.text()
    assert "sk-not-for-logs" not in node.text()


def test_the_process_answers_several_questions_at_once_and_ends_while_one_hangs(
    config: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asking: Asking
) -> None:
    (tmp_path / "own_judge.py").write_text(OWN_JUDGE)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    settings = {"judge": "own_judge:judge", "parallel": PARALLEL + 1}
    node = started(config(mine=settings), tmp_path, "mine")
    hangs = asking.ask("hangs")
    runs = [f"together-{number}" for number in range(3 * PARALLEL)]
    asked = [asking.ask(run) for run in runs]
    assert [answer_of(future).evidence for future in asked] == [(run,) for run in runs], node.text()
    assert not hangs.done()
    began = time.monotonic()
    assert node.stop() == 0, node.text()
    assert time.monotonic() - began < 5.0
    assert "Traceback" not in node.text()


def test_the_process_does_not_start_with_a_broken_plug_in_and_says_why(
    config: Callable[..., Path], tmp_path: Path
) -> None:
    node = started(config(mine={"judge": "no_such_package.judges:MyJudge"}), tmp_path, "mine")
    assert node.process.wait(SOME_S) == 2
    assert (
        "harness_ros: cannot start: judges.mine.judge: 'no_such_package.judges:MyJudge': module "
        "'no_such_package.judges' cannot be imported: ModuleNotFoundError: No module named "
        "'no_such_package'"
    ) in node.text()


# With the evaluator


def test_the_verdict_of_a_model_carries_confidence_usage_and_that_there_is_no_card(
    config: Callable[..., Path], tmp_path: Path, robot: Robot, harness: HarnessClient
) -> None:
    with OpenAIServer(answers(evidence=["the block is up"], confidence=0.9)) as server:
        nodes = Nodes(tmp_path, config(eye=a_model(server)), {"judge_model": {"judge": "eye"}})
        try:
            for executable in ("evaluator", "tool_gateway", "judge_model"):
                nodes.start(executable)
            chain = Chain(nodes, robot, harness)
            outcome = chain.call()
            assert outcome.exit_code is ExitCode.SUCCESS, (outcome, chain.logs())
            server.default = says("The gripper seems to hold it: success.")
            malformed = chain.call()
        finally:
            nodes.stop_all()
    verdict = outcome.verdict
    assert verdict.judge == "eye" and verdict.evidence[0] == "the block is up"
    assert verdict.confidence == 0.9
    assert (verdict.usage.calls, verdict.usage.input_tokens) == (1, 1000)
    assert verdict.usage.cost == pytest.approx(1.1)
    assert verdict.error_card == "uncalibrated"
    assert len(server.requests[0].pictures) == 2, "one for each camera of the tool"
    assert "The gripper holds red_block." in server.requests[0].text
    assert malformed.exit_code is ExitCode.UNJUDGED
    assert malformed.verdict.kind is Kind.JUDGE_PROTOCOL_VIOLATION
    assert malformed.verdict.usage.calls >= 1
