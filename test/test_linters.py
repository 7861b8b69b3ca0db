# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What linters say of the repository: those of Python, those of ROS, and rules of the project."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
from catkin_pkg.changelog import get_changelog_from_path
from catkin_pkg.package import parse_package

sys.path.append(str(Path(__file__).parents[1] / "scripts"))

import interface_tables

import harness_ros

ROOT = Path(__file__).parents[1]
OUTSIDE = {".git", ".workspace", "build", "install", "log", "demo_out", "bench_out", "__pycache__"}
HOLDER, LICENCE = "Copyright 2026 harness_ros contributors", "SPDX-License-Identifier: Apache-2.0"
LICENSED = {".py", ".sh", ".yaml", ".yml", ".xml", ".rviz"}
TEXT = {*LICENSED, ".action", ".cfg", ".md", ".msg", ".rst", ".srv", ".toml", ".txt"}


def files(*suffixes: str) -> list[Path]:
    """The files of the repository, as git knows them where there is a repository."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        found = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        found = [
            path for path in ROOT.rglob("*") if not OUTSIDE & set(path.relative_to(ROOT).parts)
        ]
    return sorted(path for path in found if path.is_file() and path.suffix in suffixes)


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=170)


# Python


def test_ruff_finds_nothing() -> None:
    found = run(sys.executable, "-m", "ruff", "check", "--no-cache", ".")
    assert found.returncode == 0, found.stdout + found.stderr


def test_files_are_formatted_as_ruff_does() -> None:
    found = run(sys.executable, "-m", "ruff", "format", "--no-cache", "--check", ".")
    assert found.returncode == 0, found.stdout + found.stderr


def test_mypy_finds_nothing(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    kept = getattr(request.config, "cache", None)
    cache = kept.mkdir("mypy") if kept else tmp_path
    found = run(sys.executable, "-m", "mypy", "--cache-dir", str(cache))
    assert found.returncode == 0, found.stdout + found.stderr


# ROS

PEP257 = ("D105", "D107", "D300", "D301", "D401", "D402", "D403", "D417")
"""What ament_pep257 is not asked: special methods, escaped quotation marks, the imperative mood,
`(H, W)` read as a signature, `NaN` as a word in wrong capitals, arguments that need no words."""


def ament(linter: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    if shutil.which(linter) is None:
        pytest.skip("ament linters are not installed")
    return run(linter, *arguments)


def test_ament_copyright_knows_the_holder_of_every_file() -> None:
    said = ament("ament_copyright", ".")
    lines = [line for line in (said.stdout + said.stderr).splitlines() if ": " in line]
    assert len(lines) > 100, said
    for line in lines:
        # It knows licences by their texts and not by the identifiers of SPDX, which a test below
        # looks for.
        file, _, found = line.partition(": ")
        assert found == "copyright=harness_ros contributors (2026), license=<unknown>", line
        assert LICENCE in (ROOT / file).read_text(encoding="utf-8")


def test_ament_pep257_finds_nothing() -> None:
    found = ament(
        "ament_pep257",
        "--convention=google",
        "--add-ignore",
        *PEP257,
        "--",
        "harness_ros",
        "scripts",
    )
    problems = [line for line in found.stdout.splitlines() if not line.startswith("checking ")]
    assert found.returncode == 0, "\n".join([*problems, found.stderr])


def test_ament_xmllint_finds_nothing() -> None:
    found = ament("ament_xmllint", "package.xml", "config")
    if "failed to load external entity" in found.stdout + found.stderr:
        pytest.skip("the schema of package.xml cannot be fetched")
    assert found.returncode == 0, found.stdout + found.stderr


# package.xml

KEYS = {
    "backports": "python3-rosbags-pip",  # its zstd, before Python 3.14 has that in `compression`
    "compression": "python3-rosbags-pip",
    "cv2": "python3-opencv",
    "jinja2": "python3-jinja2",
    "lz4": "python3-rosbags-pip",  # which needs it; there is no key of its own
    "mujoco": "python3-mujoco-pip",
    "numpy": "python3-numpy",
    "openai": "python3-openai-pip",
    "pydantic": "python3-pydantic",
    "pydantic_core": "python3-pydantic",
    "rich": "python3-rich",
    "rosbags": "python3-rosbags-pip",
    "typer": "python3-typer",
    "yaml": "python3-yaml",
}
"""rosdep keys of modules; packages of ROS are called as their modules are."""


OPTIONAL = {"ray"}
"""Modules that an error asks for where they are needed."""


def imported() -> set[str]:
    """Modules that harness_ros imports from elsewhere."""
    found: set[str] = set()
    for path in (ROOT / "harness_ros").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add((node.module or "").split(".")[0])
    return found - set(sys.stdlib_module_names) - {"harness_ros"} - OPTIONAL


def test_package_xml_is_valid_and_has_urls() -> None:
    warnings: list[str] = []
    package = parse_package(str(ROOT / "package.xml"), warnings=warnings)
    assert not warnings
    assert package.package_format == 3
    assert {url.type for url in package.urls} == {"website", "repository", "bugtracker"}
    assert package.licenses == ["Apache-2.0"]
    assert all(item.file and (ROOT / item.file).is_file() for item in package.licenses)


@pytest.mark.parametrize("module", sorted(imported()))
def test_package_xml_depends_on_every_module_that_is_imported(module: str) -> None:
    package = parse_package(str(ROOT / "package.xml"))
    keys = {item.name for item in (*package.exec_depends, *package.build_export_depends)}
    assert KEYS.get(module, module) in keys


@pytest.mark.parametrize("module", sorted(imported() & KEYS.keys()))
def test_pyproject_depends_on_every_module_that_ros_does_not_bring(module: str) -> None:
    names = {
        "backports": "backports.zstd",
        "compression": "backports.zstd",
        "cv2": "opencv-python-headless",
        "pydantic_core": "pydantic",
        "yaml": "pyyaml",
    }
    wanted = names.get(module, module)
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(rf'"{wanted}[><=]', text), f"{wanted} is not in pyproject.toml"


# Changelog and version


# catkin_pkg calls what docutils has under another name by now.
@pytest.mark.filterwarnings("ignore:nodes.Node.traverse:DeprecationWarning")
def test_changelog_is_one_of_rep_132() -> None:
    changelog = get_changelog_from_path(str(ROOT / "CHANGELOG.rst"), "harness_ros")
    assert changelog is not None
    released = [version for version, _, _ in changelog.foreach_version()]
    headings = re.findall(r"^(.+)\n-{3,}$", (ROOT / "CHANGELOG.rst").read_text(), re.MULTILINE)
    assert headings, "no version and no 'Forthcoming'"
    assert [heading.split(" ")[0] for heading in headings if heading != "Forthcoming"] == released
    for heading in headings:
        assert heading == "Forthcoming" or re.fullmatch(
            r"\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)", heading
        ), heading


@pytest.mark.filterwarnings("ignore:nodes.Node.traverse:DeprecationWarning")
def test_the_version_is_the_same_everywhere() -> None:
    version = parse_package(str(ROOT / "package.xml")).version
    assert harness_ros.__version__ == version
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'dynamic = ["license", "version"]' in project, (
        "setup.py takes the version from package.xml"
    )
    setup = run(sys.executable, "setup.py", "--version")
    assert setup.stdout.splitlines()[-1:] == [version], setup.stderr
    changelog = get_changelog_from_path(str(ROOT / "CHANGELOG.rst"), "harness_ros")
    released = [released for released, _, _ in changelog.foreach_version()]
    assert released[:1] in ([], [version])


# Files


def licensed_files() -> list[Path]:
    # package.xml names its licence in an element.
    return [path for path in files(*LICENSED) if path != ROOT / "package.xml"]


@pytest.mark.parametrize("path", licensed_files(), ids=shown)
def test_file_begins_with_the_licence(path: Path) -> None:
    head = "\n".join(path.read_text(encoding="utf-8").splitlines()[:6])
    assert HOLDER in head, head
    assert LICENCE in head, head


def test_no_line_ends_with_blanks() -> None:
    found = [
        f"{shown(path)}:{number}"
        for path in files(*TEXT)
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        if line != line.rstrip()
    ]
    assert not found


def test_every_text_ends_with_one_line_end() -> None:
    texts = {shown(path): path.read_text(encoding="utf-8") for path in files(*TEXT)}
    assert not [
        path for path, text in texts.items() if text and (text[-1] != "\n" or text[-2:] == "\n\n")
    ]


def test_xml_files_are_well_formed() -> None:
    for path in files(".xml"):
        ElementTree.parse(path)


# Interfaces and launch files


def described() -> Iterator[tuple[str, str]]:
    for interface in interface_tables.interfaces():
        for title, spec in interface.parts:
            for item in (*spec.fields, *spec.constants):
                where = ".".join(part for part in (interface.path.name, title, item.name) if part)
                yield where, interface_tables.comment(item)


COMMENTS = list(described())


@pytest.mark.parametrize(("name", "comment"), COMMENTS, ids=[name for name, _ in COMMENTS])
def test_every_field_of_an_interface_has_a_comment(name: str, comment: str) -> None:
    assert len(comment) > 3, f"{name}: say unit and meaning beside it"


def test_every_interface_says_what_it_is_for() -> None:
    for interface in interface_tables.interfaces():
        assert len(interface.text) > 20, interface.path.name


@pytest.mark.parametrize(
    "argument", interface_tables.launch_arguments(), ids=lambda item: f"{item.file}-{item.name}"
)
def test_every_launch_argument_is_described(argument: interface_tables.LaunchArgument) -> None:
    assert len(argument.description) > 20
    assert argument.description.rstrip().endswith((".", "?"))
