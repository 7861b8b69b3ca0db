# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Node parameters: described, typed, fixed at start."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterValueException
from rclpy.node import Node

from harness_ros.config import EvaluationConfig, load
from harness_ros.contract import HarnessError
from harness_ros.ros.deployment import default_ledger

Value = TypeVar("Value", str, int, float, bool)


class ParameterError(HarnessError):
    """A node parameter that cannot be used."""


def declare(
    node: Node,
    name: str,
    default: Value,
    description: str,
    allowed: tuple[float, float] | None = None,
) -> Value:
    """Declares a read-only parameter and returns its value.

    Args:
        allowed: least and greatest value of a number; an integer is accepted for a double.

    Raises:
        ParameterError: the value is of another type or out of range.
    """
    descriptor = ParameterDescriptor(description=description, read_only=True, dynamic_typing=True)
    if allowed is not None:
        descriptor.floating_point_range = [
            FloatingPointRange(from_value=float(allowed[0]), to_value=float(allowed[1]))
        ]
    try:
        value = node.declare_parameter(name, default, descriptor).value
    except InvalidParameterValueException as error:
        raise ParameterError(f"parameter '{name}': {error}") from None
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not type(default):
        raise ParameterError(
            f"parameter '{name}' is {value!r}; {type(default).__name__} is wanted ({description})"
        )
    if allowed is not None and not allowed[0] <= float(value) <= allowed[1]:
        raise ParameterError(
            f"parameter '{name}' is {value!r}; from {allowed[0]:g} to {allowed[1]:g} is allowed"
        )
    return value


def declare_config(node: Node) -> EvaluationConfig:
    """Declares `config` and reads the file that it names.

    Raises:
        ParameterError: it is not set.
        ConfigError: the file cannot be used.
    """
    path = declare(node, "config", "", "path of eval.yaml")
    if not path:
        raise ParameterError("parameter 'config' is not set: the path of an eval.yaml is wanted")
    return load(path)


def declare_ledger(node: Node) -> Path:
    """Declares `ledger` and returns the path of the SQLite file."""
    path = declare(
        node, "ledger", str(default_ledger()), "path of the SQLite file of runs and verdicts"
    )
    return Path(path).expanduser()
