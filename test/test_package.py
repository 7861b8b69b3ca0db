# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `pip install .` installs, for machines without ROS."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILT_FROM = ("setup.py", "pyproject.toml", "package.xml", "README.md", "MANIFEST.in")
FOLDERS = ("config", "harness_ros", "msg")
START = "import sys; from harness_ros.cli import main; sys.exit(main())"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the packages are installed from."""
    folder = tmp_path_factory.mktemp("package")
    copied = folder / "source"
    copied.mkdir()
    for name in (*BUILT_FROM, *FOLDERS):
        (copied / name).symlink_to(ROOT / name)
    built = subprocess.run(
        [sys.executable, "setup.py", "-q", "build", "--build-base", str(folder / "build")],
        cwd=copied,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert built.returncode == 0, built.stderr
    assert "absent from the `packages`" not in built.stderr
    return folder / "build" / "lib"


@pytest.mark.parametrize(
    "folder",
    ["calibration/page", "grading/report/page", "labelling/page", "rules/page"],
)
def test_it_has_the_pages(installed: Path, folder: str) -> None:
    packed = {path.name for path in (installed / "harness_ros" / folder).iterdir()}
    assert packed == {path.name for path in (ROOT / "harness_ros" / folder).iterdir()}


def test_it_has_the_messages(installed: Path) -> None:
    packed = {path.name for path in (installed / "harness_ros" / "interfaces").iterdir()}
    assert packed == {path.name for path in (ROOT / "msg").iterdir()}


def test_the_recorded_demo_runs_from_it_without_a_ros_workspace(
    installed: Path, tmp_path: Path
) -> None:
    environment = {key: text for key, text in os.environ.items() if key != "AMENT_PREFIX_PATH"}
    environment["PYTHONPATH"] = str(installed)
    demo = subprocess.run(
        [sys.executable, "-c", START, "demo", "--judge", "model", "--out", "out"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert "agree with the physics in 14 of 14" in " ".join(demo.stdout.split())
    assert (tmp_path / "out" / "report.html").is_file()
