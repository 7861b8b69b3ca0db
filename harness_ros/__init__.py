# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""harness_ros: the verdict of the world as the exit code of a robot's tool."""

from pkgutil import extend_path

# The generated interfaces (harness_ros.msg, .srv, .action) may lie in another folder of the path
# than this file, for example when the code was installed with pip into a ROS workspace.
__path__ = extend_path(__path__, __name__)

__version__ = "0.1.0"
