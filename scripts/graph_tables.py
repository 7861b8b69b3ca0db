# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes have on the graph, as tables in Markdown: they are made, looked at, and ended."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import rclpy
import yaml
from rclpy.action.graph import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile

from harness_ros.ros import nodes, qos
from harness_ros.ros.deployment import NAMESPACE

ROOT = Path(__file__).parents[1]
MODULES = {
    **{item.name: f"{nodes.__name__}.{item.name}" for item in pkgutil.iter_modules(nodes.__path__)},
    "tabletop": "harness_ros.sim.node",
}
"""Module of each node by its executable."""
OF_RCLPY = frozenset({"use_sim_time", "start_type_description_service"})
MANY = {r"^tools/\w+$": "tools/<name>", r"^_evaluate/\w+$": "_evaluate/<judge>"}
"""Names of which there is one a tool or one a judge."""
OF_TOOLS = ("harness_ros/msg/ToolRun", "harness_ros/action/ExecuteTool")
"""Types that are the business of every tool; here the tools of the demo stand for them."""
KINDS = {str: "text", bool: "true or false", int: "whole number", float: "number"}


class Parameter(NamedTuple):
    """A parameter as its node declares it."""

    name: str
    kind: str
    default: str
    allowed: str
    text: str


class Endpoint(NamedTuple):
    """What a node has under one name."""

    kind: str
    """`publisher`, `subscription`, `service`, `client`, `action` or `action client`."""
    name: str
    """Relative to the namespace where it is in there."""
    type: str
    qos: str = ""


class Found(NamedTuple):
    """What one node has."""

    node: str
    parameters: tuple[Parameter, ...]
    endpoints: tuple[Endpoint, ...]


def look() -> dict[str, Found]:
    """Every node of the package by its executable, made in this process and ended again.

    It has a domain, a home and a configuration of its own, in which nothing is switched off.
    """
    folder = Path(tempfile.mkdtemp())
    os.environ.update(HOME=str(folder), ROS_LOG_DIR=str(folder))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "OFF"
    given = {"config": folder / "eval.yaml", "out": folder / "bag"}
    config = yaml.safe_load((ROOT / "config" / "tabletop.yaml").read_text())
    config["scene"]["perception"] = {"relations": ["on"]}
    config["sidecar"] = {"verifier": "harness_ros.sidecar.verifiers:json_assertions"}
    config["judges"]["model"] = {"type": "model", "model": "any", "api_key_env": None}
    given["config"].write_text(yaml.safe_dump(config))
    parameters = [part for name, value in given.items() for part in ("-p", f"{name}:={value}")]
    quiet = ["--log-level", "error"]
    rclpy.init(args=["--ros-args", "-r", f"__ns:={NAMESPACE}", *parameters, *quiet])
    made = {executable: _make(module) for executable, module in MODULES.items()}
    try:
        return {
            executable: Found(
                node=node.get_name(),
                parameters=tuple(_parameters(node, given)),
                endpoints=tuple(dict.fromkeys(_endpoints(node))),
            )
            for executable, node in made.items()
        }
    finally:
        for node in made.values():
            node.destroy_node()
        rclpy.shutdown()
        shutil.rmtree(folder)


def _make(name: str) -> Node:
    """The node that the `main` of a module would run."""
    module: Any = importlib.import_module(name)
    made: list[Node] = []
    runs, module.run_node = module.run_node, lambda make, *_: made.append(make())
    try:
        module.main()
    finally:
        module.run_node = runs
    return made[0]


def _parameters(node: Node, given: Mapping[str, object]) -> Iterator[Parameter]:
    for name in sorted(node.list_parameters([], 0).names):
        if name in OF_RCLPY or name.startswith("qos_overrides."):
            continue
        value, declared = node.get_parameter(name).value, node.describe_parameter(name)
        bounds = [*declared.floating_point_range, *declared.integer_range]
        default = f"`{str(value).lower() if isinstance(value, bool) else value}`"
        default = default.replace(str(Path.home()), "~") if value != "" else ""
        yield Parameter(
            name=name,
            kind=KINDS[type(value)],
            default="**needed**" if name in given else default,
            allowed=" and ".join(f"{item.from_value:g} to {item.to_value:g}" for item in bounds),
            text=declared.description,
        )


def _endpoints(node: Node) -> Iterator[Endpoint]:
    own = node.get_name(), node.get_namespace()

    def relative(name: str) -> str:
        name = node.resolve_topic_name(name).removeprefix(f"{NAMESPACE}/")
        for pattern, many in MANY.items():
            name = re.sub(pattern, many, name)
        return name

    for publisher in node.publishers:
        if publisher.topic_name not in ("/rosout", "/parameter_events"):
            yield Endpoint(
                "publisher",
                relative(publisher.topic_name),
                _type(publisher.msg_type),
                _qos(publisher.qos_profile),
            )
    for listener in node.subscriptions:
        if listener.topic_name not in ("/clock", "/parameter_events"):
            yield Endpoint(
                "subscription",
                relative(listener.topic_name),
                _type(listener.msg_type),
                _qos(listener.qos_profile),
            )
    for kind, items in (("service", node.services), ("client", node.clients)):
        for item in items:
            if not item.srv_name.startswith((node.get_name(), node.get_fully_qualified_name())):
                yield Endpoint(kind, relative(item.srv_name), _type(item.srv_type))
    for name, types in get_action_server_names_and_types_by_node(node, *own):
        yield Endpoint("action", relative(name), types[0])
    for name, types in get_action_client_names_and_types_by_node(node, *own):
        yield Endpoint("action client", relative(name), types[0])


def _type(of: type) -> str:
    package, kind, *_ = of.__module__.split(".")
    return f"{package}/{kind}/{of.__name__}"


def _qos(profile: QoSProfile) -> str:
    kept = f"last {profile.depth}"
    if profile.history == HistoryPolicy.KEEP_ALL:
        kept = "all"
    return f"{qos.words(profile)}, {kept}"


# Tables


def topics(found: Iterable[Found], words: Mapping[str, str]) -> str:
    """Every topic: type, who publishes and who subscribes, QoS."""
    lines = ["| topic | type | published by | subscribed by | QoS | |", "|---|---|---|---|---|---|"]
    for name, ends in _by_name(found, "publisher", "subscription"):
        offered = {end.qos for _, end in ends if end.kind == "publisher"}
        asked = {end.qos for _, end in ends if end.kind == "subscription"} - offered
        profile = "; ".join([*sorted(offered), *(f"asked: {item}" for item in sorted(asked))])
        lines.append(
            f"| `{name}` | `{ends[0][1].type}` | {_who(ends, 'publisher')} "
            f"| {_who(ends, 'subscription')} | {profile} | {words.get(name, '')} |"
        )
    return "\n".join(lines)


def servers(found: Iterable[Found], kind: str, client: str, words: Mapping[str, str]) -> str:
    """Every service, or every action: type, who serves, who of this package calls."""
    lines = [f"| {kind} | type | served by | called by | |", "|---|---|---|---|---|"]
    for name, ends in _by_name(found, kind, client):
        lines.append(
            f"| `{name}` | `{ends[0][1].type}` | {_who(ends, kind)} | {_who(ends, client)} "
            f"| {words.get(name, '')} |"
        )
    return "\n".join(lines)


def parameters(found: Mapping[str, Found]) -> str:
    """A table of parameters a node."""
    parts = []
    for executable, item in sorted(found.items()):
        lines = [
            f"`{item.node}` (`ros2 run harness_ros {executable}`)",
            "",
            "| parameter | value | default | allowed | meaning |",
            "|---|---|---|---|---|",
            *(
                f"| `{each.name}` | {each.kind} | {each.default} | {each.allowed} | {each.text} |"
                for each in item.parameters
            ),
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def hidden(found: Iterable[Found]) -> str:
    """The names that listings leave out, since a part of them begins with an underscore."""
    names = {f"node `{item.node}`" for item in found if item.node.startswith("_")}
    names |= {
        f"{end.kind} `{end.name}`"
        for item in found
        for end in item.endpoints
        if end.kind in ("publisher", "service", "action")
        if any(part.startswith("_") for part in end.name.split("/"))
    }
    return "\n".join(f"- {name}" for name in sorted(names))


def _by_name(
    found: Iterable[Found], *kinds: str
) -> Iterator[tuple[str, list[tuple[str, Endpoint]]]]:
    ends: dict[str, list[tuple[str, Endpoint]]] = {}
    for item in found:
        for end in item.endpoints:
            if end.kind in kinds:
                ends.setdefault(end.name, []).append((item.node, end))
    yield from sorted(ends.items(), key=lambda item: (item[0].startswith("/"), item[0]))


def _who(ends: Iterable[tuple[str, Endpoint]], kind: str) -> str:
    shown = {
        "each tool" if node == "tabletop" and end.type in OF_TOOLS else f"`{node}`"
        for node, end in ends
        if end.kind == kind
    }
    return ", ".join(sorted(shown))
