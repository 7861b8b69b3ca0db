# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
# Puts a shell into the project's environment: `source scripts/env.sh`.

_harness_root="$(cd "$(dirname "${BASH_SOURCE[0]:-${(%):-%x}}")/.." && pwd)"
_harness_ws="$_harness_root/.workspace"
if [ ! -f "$_harness_ws/stamp" ]; then
  echo "harness_ros: no environment in $_harness_ws yet: run 'make setup' first" >&2
  return 1 2>/dev/null || exit 1
fi
_harness_python="$(cat "$_harness_ws/python_dir")"
export VIRTUAL_ENV="$_harness_ws/venv"
export PATH="$VIRTUAL_ENV/bin:$PATH"
if [ "$(cat "$_harness_ws/mode")" = wheels ]; then
  export ROS_DISTRO=jazzy ROS_VERSION=2 ROS_PYTHON_VERSION=3
  export AMENT_PREFIX_PATH="$VIRTUAL_ENV"
  export LD_LIBRARY_PATH="$VIRTUAL_ENV/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
_harness_install="$_harness_ws/install/harness_ros"
export AMENT_PREFIX_PATH="$_harness_install${AMENT_PREFIX_PATH:+:$AMENT_PREFIX_PATH}"
export PATH="$_harness_install/bin:$PATH"
export LD_LIBRARY_PATH="$_harness_install/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# The virtual environment comes before a sourced ROS: its libraries are the pinned ones.
export PYTHONPATH="$_harness_install/$_harness_python:$VIRTUAL_ENV/$_harness_python${PYTHONPATH:+:$PYTHONPATH}"
unset _harness_root _harness_ws _harness_python _harness_install
