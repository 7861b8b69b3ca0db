#!/usr/bin/env bash
# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
# Makes .workspace: a virtual environment, ROS 2 (the sourced one, else wheels), the built package.
# Does nothing when nothing that it depends on has changed.
set -euo pipefail
cd "$(dirname "$0")/.."
workspace="$PWD/.workspace"
python="${PYTHON:-python3}"

# In a shell that has sourced scripts/env.sh, what is made anew here must not be what makes it.
for variable in PATH PYTHONPATH AMENT_PREFIX_PATH CMAKE_PREFIX_PATH LD_LIBRARY_PATH; do
  if [ -n "${!variable:-}" ]; then
    export "$variable=$(tr ':' '\n' <<< "${!variable}" | { grep -v "^$workspace/" || true; } | paste -sd: -)"
  fi
done

die() { echo "harness_ros setup: $*" >&2; exit 1; }
say() { echo "harness_ros setup: $*"; }

command -v "$python" >/dev/null || die "no '$python' found; install Python 3.10 to 3.13 or set PYTHON=/path/to/python3"
"$python" - <<'PY' || die "$("$python" --version) is not supported: Python 3.10 to 3.13 is needed (set PYTHON=...)"
import sys
sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))
PY

mode=wheels
if [ -n "${ROS_DISTRO:-}" ] && command -v ros2 >/dev/null; then mode="ros-$ROS_DISTRO"; fi

digest_of() { sha256sum "$@" | sha256sum | cut -d' ' -f1; }
# Symlinks in the install folder follow edits; only new or removed files call for another build.
listing() { find harness_ros launch config -type f ! -name '*.pyc' | sort; }
environment_digest="$mode $("$python" --version) $PWD $(digest_of requirements/*.txt scripts/setup.sh)"
build_digest="$(digest_of CMakeLists.txt package.xml scripts/node.py.in msg/* srv/* action/*) $(listing | sha256sum)"

check_sourced_ros() {
  "$python" -c 'import rclpy' 2>/dev/null \
    || die "ROS $ROS_DISTRO is sourced, but '$python' cannot import rclpy; set PYTHON=/usr/bin/python3, or start a shell without ROS"
  command -v colcon >/dev/null || die "no colcon found; sudo apt-get install python3-colcon-common-extensions"
}

make_environment() {
  [ "$mode" = wheels ] || check_sourced_ros
  say "making the environment in .workspace ($mode); this takes a minute or two"
  rm -rf "$workspace"
  mkdir -p "$workspace"
  local site_packages=()
  [ "$mode" = wheels ] || site_packages=(--system-site-packages)
  "$python" -m venv "${site_packages[@]}" "$workspace/venv" \
    || die "'$python -m venv' failed; on Debian and Ubuntu: sudo apt-get install python3-venv"
  local requirements=(-r requirements/python.txt)
  if [ "$mode" = wheels ]; then
    requirements+=(-r requirements/arrays.txt -r requirements/ros-jazzy.txt)
  else
    requirements+=("numpy==$("$python" -c 'import numpy; print(numpy.__version__)')" opencv-python-headless==4.11.0.86)
  fi
  # The resolver of pip before 23.1, as Python 3.10 brings it, tries versions without an end.
  "$workspace/venv/bin/python" -c 'import pip, sys; sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (23, 1))' \
    || "$workspace/venv/bin/pip" install --disable-pip-version-check --quiet --upgrade pip
  "$workspace/venv/bin/pip" install --disable-pip-version-check "${requirements[@]}" \
    > "$workspace/pip.log" 2>&1 \
    || { tail -20 "$workspace/pip.log" >&2; die "pip could not install ${requirements[*]}; all it said is in .workspace/pip.log"; }
  "$workspace/venv/bin/python" - <<'PY' > "$workspace/python_dir"
import sys
print(f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages")
PY
  echo "$mode" > "$workspace/mode"
  if [ "$mode" = wheels ]; then repair_cmake_exports; fi
}

# The wheels' CMake exports name the paths of the machine that built them.
repair_cmake_exports() {
  local include site
  include="$("$workspace/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')"
  [ -f "$include/Python.h" ] || die "no Python.h in $include; on Debian and Ubuntu: sudo apt-get install python3-dev"
  site="$workspace/venv/$(cat "$workspace/python_dir")"
  grep -rlZ --include='*.cmake' /opt/python/ "$workspace/venv/share" | xargs -0 -r sed -i -E \
    -e "s#/opt/python/cp[0-9]+-cp[0-9]+/include/python3\.[0-9]+#$include#g" \
    -e "s#/opt/python/cp[0-9]+-cp[0-9]+/lib/python3\.[0-9]+/site-packages#$site#g"
}

# CMake refuses exports whose paths lie below the source folder, as those of .workspace/venv would.
stage_sources() {
  rm -rf "$workspace/src"
  mkdir -p "$workspace/src/harness_ros"
  ln -s "$PWD"/{package.xml,CMakeLists.txt,msg,srv,action,harness_ros,launch,config,scripts} "$workspace/src/harness_ros/"
}

build_package() {
  command -v c++ >/dev/null || die "no C++ compiler found; on Debian and Ubuntu: sudo apt-get install build-essential"
  say "building the interfaces"
  (
    export PATH="$workspace/venv/bin:$PATH"
    if [ "$mode" = wheels ]; then
      export CMAKE_PREFIX_PATH="$workspace/venv" AMENT_PREFIX_PATH="$workspace/venv"
      export LD_LIBRARY_PATH="$workspace/venv/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
      export PYTHONPATH="$workspace/venv/$(cat "$workspace/python_dir")"
    fi
    stage_sources
    rm -rf "$workspace/install"
    colcon --log-base "$workspace/log" build --base-paths "$workspace/src" \
      --build-base "$workspace/build" --install-base "$workspace/install" --symlink-install \
      --event-handlers console_cohesion- console_direct- \
      --cmake-args -DBUILD_TESTING=OFF -DPython3_EXECUTABLE="$workspace/venv/bin/python" -Wno-dev
  ) > "$workspace/build.log" 2>&1 || { tail -40 "$workspace/build.log" >&2; die "the build failed; all of it is in .workspace/build.log"; }
}

# The tabletop renders without a display, through EGL or OSMesa.
check_opengl() {
  [[ "$(PATH="$PATH:/usr/sbin:/sbin" ldconfig -p 2>/dev/null)" =~ libEGL\.so|libOSMesa\.so ]] && return
  local install="apt-get install -y libegl1 libgl1 libosmesa6"
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing OpenGL without a display: $install"
    { apt-get update && DEBIAN_FRONTEND=noninteractive $install; } > "$workspace/apt.log" 2>&1 && return
  fi
  say "OpenGL libraries are missing, the tabletop cannot draw; run: sudo $install"
}

if [ "$(cat "$workspace/environment" 2>/dev/null)" != "$environment_digest" ]; then
  make_environment
  check_opengl
  echo "$environment_digest" > "$workspace/environment"
fi
if [ "$(cat "$workspace/stamp" 2>/dev/null)" != "$build_digest" ]; then
  rm -f "$workspace/stamp"
  build_package
  echo "$build_digest" > "$workspace/stamp"
fi
