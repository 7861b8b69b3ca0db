# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How nodes start, refuse to start, end, and what they let others see and change."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import rclpy
from conftest import CONFIG, spinning, until
from processes import NAMESPACE, NodeProcess, command
from rcl_interfaces.msg import ParameterType
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient

from harness_ros.ros.parameters import ParameterError, declare
from harness_ros.ros.threads import wait

NAMES = {
    "evaluator": "_evaluator",
    "judge_deterministic": "_judge_deterministic",
    "judge_model": "_judge_model",
    "scene_graph": "scene_graph",
    "tool_gateway": "tool_gateway",
    "recorder": "recorder",
}
"""Node name of each executable."""
PARAMETERS = {
    "evaluator": {"config", "ledger", "finish_grace_s"},
    "judge_deterministic": {"judge"},
    "judge_model": {"config", "judge"},
    "scene_graph": {"config", "ledger"},
    "tool_gateway": {"config", "server_timeout_s", "cancel_timeout_s"},
    "recorder": {"config", "out"},
}
"""What each executable declares, beside the parameters of every ROS node."""
OF_EVERY_NODE = ("use_sim_time", "start_type_description_service", "qos_overrides.")


@pytest.fixture(scope="module")
def onlooker() -> Iterator[Node]:
    with spinning("onlooker") as node:
        yield node


@pytest.fixture(scope="module", autouse=True)
def all_ended() -> Iterator[list[NodeProcess]]:
    """Nodes of this module; none outlives it."""
    nodes: list[NodeProcess] = []
    yield nodes
    for node in nodes:
        if node.process.poll() is None:
            node.kill()


def start(
    folder: Path, onlooker: Node, all_ended: list[NodeProcess], executables: Iterable[str] = NAMES
) -> dict[str, NodeProcess]:
    """Nodes, once each of them is on the graph with what it makes last."""
    parameters = {
        "judge_deterministic": {},
        "judge_model": {"config": CONFIG, "judge": "deterministic"},
        "evaluator": {"config": CONFIG, "ledger": folder / "ledger.sqlite"},
        "scene_graph": {"config": CONFIG, "ledger": folder / "ledger.sqlite"},
        "tool_gateway": {"config": CONFIG},
        "recorder": {"config": CONFIG, "out": folder / "bag"},
    }
    made_last = {
        "evaluator": "get_verdict",
        "judge_deterministic": "_evaluate/deterministic",
        "judge_model": "_evaluate/deterministic",
        "scene_graph": "scene/image",
        "tool_gateway": "run_tool/_action/get_result",
    }
    nodes = {
        executable: NodeProcess(executable, folder / f"{executable}.log", **parameters[executable])
        for executable in executables
    }
    all_ended += nodes.values()

    def there(executable: str) -> bool:
        if executable == "recorder":
            return "recording /harness/verdicts" in nodes["recorder"].text()
        if (NAMES[executable], NAMESPACE) not in onlooker.get_node_names_and_namespaces():
            return False
        services = onlooker.get_service_names_and_types_by_node(NAMES[executable], NAMESPACE)
        return f"{NAMESPACE}/{made_last[executable]}" in dict(services)

    assert until(lambda: all(there(executable) for executable in executables), 30.0), {
        name: node.text() for name, node in nodes.items()
    }
    return nodes


@pytest.fixture(scope="module")
def nodes(
    tmp_path_factory: pytest.TempPathFactory, onlooker: Node, all_ended: list[NodeProcess]
) -> dict[str, NodeProcess]:
    """All nodes; the last test of the module that wants them ends them."""
    return start(tmp_path_factory.mktemp("isolation"), onlooker, all_ended)


def ended_well(nodes: dict[str, NodeProcess]) -> bool:
    codes = {name: node.process.wait(15.0) for name, node in nodes.items()}
    assert set(codes.values()) == {0}, (codes, [node.text() for node in nodes.values()])
    return not any("Traceback" in node.text() for node in nodes.values())


@pytest.mark.parametrize("executable", NAMES)
def test_parameters_are_described_and_cannot_be_set(
    nodes: dict[str, NodeProcess], onlooker: Node, executable: str
) -> None:
    client = AsyncParameterClient(onlooker, f"{NAMESPACE}/{NAMES[executable]}")
    assert client.wait_for_services(10.0)

    def answer(future: Any) -> Any:
        assert wait(future, 10.0)
        return future.result()

    declared = answer(client.list_parameters()).result.names
    own = sorted(name for name in declared if not name.startswith(OF_EVERY_NODE))
    assert set(own) == PARAMETERS[executable]
    for descriptor in answer(client.describe_parameters(own)).descriptors:
        assert len(descriptor.description) > 10, descriptor
        assert descriptor.read_only, descriptor
    before = answer(client.get_parameters(own)).values
    others = [
        Parameter(name, value=1.5)
        if value.type == ParameterType.PARAMETER_DOUBLE
        else Parameter(name, value="other")
        for name, value in zip(own, before, strict=True)
    ]
    for result in answer(client.set_parameters(others)).results:
        assert not result.successful
        assert "read-only" in result.reason
    assert answer(client.get_parameters(own)).values == before


def test_evaluator_and_judges_are_hidden(nodes: dict[str, NodeProcess], onlooker: Node) -> None:
    # ROS hides what has a token that begins with an underscore from its listings.
    for name in ("_evaluator", "_judge_deterministic", "_judge_model"):
        assert name.startswith("_")
        services = dict(onlooker.get_service_names_and_types_by_node(name, NAMESPACE))
        shown = [item for item in services if not any(t.startswith("_") for t in item.split("/"))]
        assert shown == ([f"{NAMESPACE}/get_verdict"] if name == "_evaluator" else [])
    evaluate = [
        name
        for name, types in onlooker.get_service_names_and_types()
        if "harness_ros/srv/Evaluate" in types
    ]
    assert evaluate == [f"{NAMESPACE}/_evaluate/deterministic"]


def test_nodes_end_well_on_sigint_sent_twice(nodes: dict[str, NodeProcess]) -> None:
    for _ in range(2):
        for node in nodes.values():
            if node.process.poll() is None:
                node.process.send_signal(signal.SIGINT)
    assert ended_well(nodes)


def test_nodes_with_open_files_end_well_on_sigterm(
    tmp_path: Path, onlooker: Node, all_ended: list[NodeProcess]
) -> None:
    nodes = start(tmp_path, onlooker, all_ended, ("evaluator", "recorder"))
    for node in nodes.values():
        node.process.send_signal(signal.SIGTERM)
    assert ended_well(nodes)
    assert not (tmp_path / "ledger.sqlite-wal").exists()
    assert (tmp_path / "bag" / "metadata.yaml").exists()


def test_signal_while_a_node_is_being_made_ends_it_well() -> None:
    script = """
import os, signal, sys, time
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from harness_ros.ros.spinning import run_node

def make():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.1)
    print("made", flush=True)
    return Node("late")

sys.exit(run_node(make, args=[]))
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30.0
    )
    assert ended.stdout == "made\n"
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.fixture(scope="module")
def refusal(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The line with which a node ended, by case; all of them are started at the same time."""
    folder = tmp_path_factory.mktemp("refusals")
    wrong = folder / "wrong.yaml"
    text = CONFIG.read_text()
    assert text.count("segments: 3") == 1
    wrong.write_text(text.replace("segments: 3", "segmints: 3"))
    running = {
        case: subprocess.Popen(
            command(executable, **parameters),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for case, (executable, parameters) in {
            "unset": ("evaluator", {}),
            "missing": ("tool_gateway", {"config": folder / "missing.yaml"}),
            "evaluator": ("evaluator", {"config": wrong, "ledger": folder / "ledger"}),
            "recorder": ("recorder", {"config": wrong, "out": folder / "bag"}),
            "range": ("tool_gateway", {"config": CONFIG, "server_timeout_s": "-2.0"}),
            "ledger": ("evaluator", {"config": CONFIG, "ledger": "/proc/nowhere/ledger"}),
        }.items()
    }
    ended = {case: (*node.communicate(timeout=60.0), node) for case, node in running.items()}
    assert [path.name for path in folder.iterdir()] == ["wrong.yaml"]

    def line_of(case: str) -> str:
        said, complained, node = ended[case]
        assert (node.returncode, said) == (2, ""), complained
        (line,) = complained.splitlines()
        return line

    return line_of


def test_node_without_its_configuration_says_so_and_ends(refusal: Callable[[str], str]) -> None:
    assert "parameter 'config' is not set" in refusal("unset")
    assert "missing.yaml: No such file" in refusal("missing")


@pytest.mark.parametrize("executable", ["evaluator", "recorder"])
def test_wrong_key_is_named_with_its_file(refusal: Callable[[str], str], executable: str) -> None:
    assert "wrong.yaml: tools.push.segmints" in refusal(executable)


def test_wrong_parameter_ends_the_node_with_its_value(refusal: Callable[[str], str]) -> None:
    assert "'server_timeout_s'" in refusal("range")
    assert "-2.0" in refusal("range")
    assert "/proc/nowhere" in refusal("ledger")


@contextmanager
def node_with(value: Any) -> Iterator[Node]:
    """A node that is given the parameter `wait_s`."""
    context = Context()
    rclpy.init(context=context)
    overrides = [Parameter("wait_s", value=value)]
    node = Node("declares", context=context, parameter_overrides=overrides)
    try:
        yield node
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)


@pytest.mark.parametrize("value", [-2.0, -2, 11, "soon", True, [1.0]])
def test_value_of_another_type_or_out_of_range_is_named(value: Any) -> None:
    with node_with(value) as node, pytest.raises(ParameterError) as refused:
        declare(node, "wait_s", 1.0, "seconds to wait", (0.0, 10.0))
    assert "'wait_s'" in str(refused.value)
    assert str(value) in str(refused.value)


@pytest.mark.parametrize("value", [0, 10, 2.5])
def test_whole_number_is_taken_for_a_double(value: float) -> None:
    with node_with(value) as node:
        declared = declare(node, "wait_s", 1.0, "seconds to wait", (0.0, 10.0))
    assert (type(declared), declared) == (float, value)
