# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A MuJoCo tabletop whose physical tools fail by physics and report success all the same."""

from harness_ros.sim import gl as _gl

_gl.prepare()
