# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of what the checks of a criterion see in an Observation.

How one check shows itself is a function beside it, decorated with `draws`
(harness_ros.judges.checks.registry); it draws on a `Canvas`, in pixels of the view.
"""

from harness_ros.judges.drawing.canvas import Canvas
from harness_ros.judges.drawing.sheet import Heading, draw

__all__ = ["Canvas", "Heading", "draw"]
