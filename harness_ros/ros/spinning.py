# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How every node of this package starts, runs and ends."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from harness_ros.contract import HarnessError


def run_node(
    make_node: Callable[[], Node],
    make_executor: Callable[[], Executor] = SingleThreadedExecutor,
    args: Sequence[str] | None = None,
) -> int:
    """Spins a node until SIGINT or SIGTERM; both may come twice.

    Returns:
        0 after a shutdown, 2 when the node could not start; why is said on standard error.
    """
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.ALL)
    node = None
    try:
        # Before the node: one whose making a signal interrupts complains when it is collected.
        executor = make_executor()
        node = make_node()
        executor.add_node(node)
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except HarnessError as error:
        print(f"harness_ros: cannot start: {error}", file=sys.stderr, flush=True)
        return 2
    except Exception:
        # A signal while the node is being made takes the context away under it.
        if rclpy.ok():
            raise
    finally:
        # A second Ctrl-C while the node closes its files must not cut that short.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0
