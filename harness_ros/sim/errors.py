# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in the simulation itself, as opposed to on its table."""

from harness_ros.contract import HarnessError


class SimError(HarnessError):
    """Base class of the simulation's errors."""


class RenderingError(SimError):
    """No OpenGL implementation was found that renders without a display."""
