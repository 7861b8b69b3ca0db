# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What modules that know no ROS log, in the log of the node that uses them."""

from __future__ import annotations

import logging

from rclpy.node import Node


class NodeHandler(logging.Handler):
    """Hands the records of Python's logging on to a node's logger.

    Args:
        name: of the Python logger whose records it takes, such as `harness_ros.sidecar`.
    """

    def __init__(self, node: Node, name: str) -> None:
        super().__init__()
        self._to = node.get_logger()
        self._from = logging.getLogger(name)
        self._from.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Logs one record."""
        text = self.format(record).encode("utf-8", "backslashreplace").decode("utf-8")
        # rclpy refuses a line of code that logs at one level now and at another later.
        if record.levelno >= logging.ERROR:
            self._to.error(text)
        elif record.levelno >= logging.WARNING:
            self._to.warning(text)
        else:
            self._to.info(text)

    def end(self) -> None:
        """Takes no more."""
        self._from.removeHandler(self)
