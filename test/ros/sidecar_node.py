# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The sidecar in the process of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conftest import spun
from processes import NAMESPACE
from rclpy.parameter import Parameter
from rclpy.task import Future

from harness_ros.ros.sidecar.node import Sidecar
from harness_ros.ros.threads import wait

SOME_S = 30.0


@contextmanager
def sidecar(config: Path, **parameters: Any) -> Iterator[Sidecar]:
    """The node; what it keeps is beside its eval.yaml."""
    given = {
        "config": str(config),
        "ledger": str(config.with_name("ledger.sqlite")),
        "rules": str(config.with_name("rules.sqlite")),
        **parameters,
    }
    overrides = [Parameter(name, value=value) for name, value in given.items()]
    with spun(
        lambda context: Sidecar(context=context, namespace=NAMESPACE, parameter_overrides=overrides)
    ) as node:
        yield node


def response_of(future: Future) -> Any:
    """The response to a call, once it has come."""
    assert wait(future, SOME_S), "no answer"
    return future.result()
