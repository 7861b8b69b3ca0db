# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Installs the part of harness_ros that needs no ROS; colcon builds the whole."""

import re
import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

VERSION = re.search(r"<version>(.+)</version>", Path(__file__).with_name("package.xml").read_text())


class BuildAnew(build_py):
    """Without what an earlier version left in `build`."""

    def run(self) -> None:
        """Builds the package."""
        shutil.rmtree(Path(self.build_lib) / "harness_ros", ignore_errors=True)
        super().run()


setup(
    cmdclass={"build_py": BuildAnew},
    version=VERSION.group(1) if VERSION else "0",
    # Not in pyproject.toml: setuptools before 77 and that of 2027 want it there in different forms.
    license="Apache-2.0",
    # The .msg files travel along: bags are written and read by them. So does the recorded demo.
    packages=[
        *find_packages(include=["harness_ros", "harness_ros.*"]),
        "harness_ros.interfaces",
        "harness_ros.model_demo",
    ],
    package_dir={"harness_ros.interfaces": "msg", "harness_ros.model_demo": "config/model_demo"},
    # What is below the packages and is none is named, and not taken from MANIFEST.in.
    include_package_data=False,
    package_data={
        "harness_ros": ["py.typed"],
        "harness_ros.calibration": ["page/*"],
        "harness_ros.grading.report": ["page/*"],
        "harness_ros.interfaces": ["*.msg"],
        "harness_ros.labelling": ["page/*"],
        "harness_ros.model_demo": ["*.jsonl", "*.mcap", "*.yaml", "*/*.json"],
        "harness_ros.rules": ["page/*"],
    },
)
