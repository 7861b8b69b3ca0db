# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Who may import whom: everything below `ros` and `sim` runs with no ROS installed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "harness_ros"

LAYERS = [
    {"contract"},
    {"placeholders", "messages", "statistics"},
    {"config", "capture", "judges", "scene", "sidecar", "ledger"},
    {"evaluation"},
    {"bag"},
    {"explaining", "grading", "calibration", "labelling", "rules"},
    {"ros", "sim"},
    {"cli"},
]
"""From bottom to top: a layer may import its own and those below."""

GENERATED = ("harness_ros.msg", "harness_ros.srv", "harness_ros.action")
ROS = ("rclpy", "message_filters", "builtin_interfaces", "ament_index_python", "rosidl_runtime_py")
COPYRIGHT = "# Copyright 2026 harness_ros contributors\n# SPDX-License-Identifier: Apache-2.0\n"


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def level(module):
    """Number of the layer of a module; the package itself lies below all."""
    if module == "harness_ros":
        return -1
    part = module.split(".")[1]
    found = [number for number, layer in enumerate(LAYERS) if part in layer]
    assert found, f"{module} is in no layer: put '{part}' into LAYERS and into docs"
    return found[0]


def is_ros(name):
    top = name.split(".")[0]
    return top in ROS or top.endswith("_msgs") or name.startswith(GENERATED)


BELOW_ROS = [module for module in MODULES if level(module) < level("harness_ros.ros")]
COMMAND_LINE = [module for module in MODULES if level(module) == level("harness_ros.cli")]


class Imports(ast.NodeVisitor):
    """Every imported name of a module, with whether a function body holds the import."""

    def __init__(self, module, is_package):
        self.package = module.split(".") if is_package else module.split(".")[:-1]
        self.found = []
        self._functions = 0

    def _in_function(self, node):
        self._functions += 1
        self.generic_visit(node)
        self._functions -= 1

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _in_function

    def visit_If(self, node):
        # What only type checkers import is no import.
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_Import(self, node):
        self.found += [(alias.name, self._functions > 0) for alias in node.names]

    def visit_ImportFrom(self, node):
        base = node.module or ""
        if node.level:
            parents = self.package[: len(self.package) - node.level + 1]
            base = ".".join([*parents, *([base] if base else [])])
        for alias in node.names:
            name = f"{base}.{alias.name}"
            is_module = name in MODULES or name.startswith(GENERATED)
            self.found.append((name if is_module else base, self._functions > 0))


def imports_of(source, module="harness_ros.example", is_package=False):
    visitor = Imports(module, is_package)
    visitor.visit(ast.parse(source))
    return visitor.found


def imports(module):
    path = MODULES[module]
    return imports_of(path.read_text(), module, path.name == "__init__.py")


def own_imports(module, *, in_functions):
    """Modules of harness_ros that a module imports."""
    for name, inside in imports(module):
        if name.split(".")[0] == "harness_ros" and (in_functions or not inside):
            yield name


@pytest.mark.parametrize("module", BELOW_ROS)
def test_no_module_below_ros_and_sim_imports_ros(module):
    assert [name for name, _ in imports(module) if is_ros(name)] == []


@pytest.mark.parametrize("module", list(MODULES))
def test_no_module_imports_from_a_layer_above(module):
    above = [
        name
        for name in own_imports(module, in_functions=True)
        if not is_ros(name) and level(name) > level(module)
    ]
    assert above == []


@pytest.mark.parametrize("module", COMMAND_LINE)
def test_the_command_line_imports_nothing_else_outside_of_functions(module):
    others = [
        name
        for name in own_imports(module, in_functions=False)
        if name != "harness_ros" and level(name) != level(module)
    ]
    assert others == []
    assert [name for name, _ in imports(module) if is_ros(name)] == []


def loaded_by(module):
    """Modules that importing this one loads first: those it names and the packages around them."""
    for name in own_imports(module, in_functions=False):
        parts = name.split(".")
        for end in range(2, len(parts) + 1):
            part = ".".join(parts[:end])
            if part in MODULES and not f"{module}.".startswith(f"{part}."):
                yield part


def test_no_modules_import_each_other_in_a_circle():
    edges = {module: set(loaded_by(module)) for module in MODULES}
    finished = set()

    def visit(module, path):
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module not in finished:
            for name in sorted(edges[module]):
                visit(name, [*path, module])
            finished.add(module)

    for module in MODULES:
        visit(module, [])


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import rclpy.node", [("rclpy.node", False)]),
        ("from sensor_msgs.msg import Image", [("sensor_msgs.msg", False)]),
        ("from harness_ros import msg", [("harness_ros.msg", False)]),
        ("from harness_ros.msg import View", [("harness_ros.msg.View", False)]),
        ("from . import config", [("harness_ros.config", False)]),
        ("from .ros import qos", [("harness_ros.ros.qos", False)]),
        ("def f():\n import rclpy", [("rclpy", True)]),
        ("try:\n import message_filters\nexcept E: pass", [("message_filters", False)]),
        ("if TYPE_CHECKING:\n import rclpy", []),
    ],
)
def test_each_form_of_import_is_seen(source, found):
    assert imports_of(source) == found


WITHOUT_ROS = """
import importlib
import sys
from importlib.machinery import PathFinder

GENERATED = {generated!r}
ROS = {ros!r}

class WithoutRos(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        top = name.split(".")[0]
        if top in ROS or top.endswith("_msgs") or name in GENERATED:
            return None
        return super().find_spec(name, path, target)

sys.meta_path = [WithoutRos if finder is PathFinder else finder for finder in sys.meta_path]
for name in [*ROS, "sensor_msgs", *GENERATED]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        continue
    sys.exit(f"{{name}} can be imported: this test proves nothing")
for module in {modules!r}:
    importlib.import_module(module)
"""


def test_every_module_below_ros_and_sim_is_imported_where_ros_is_not_installed():
    modules = [*BELOW_ROS, *COMMAND_LINE]
    code = WITHOUT_ROS.format(generated=GENERATED, ros=ROS, modules=modules)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd="/"
    )
    assert done.returncode == 0, done.stderr


def committed_python_files():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.py", "*.py.in"], cwd=ROOT, capture_output=True, check=True
    )
    return sorted(ROOT / name for name in listed.stdout.decode().split("\0") if name)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is not a git clone")
def test_every_python_file_begins_with_the_copyright():
    files = [path for path in committed_python_files() if path.is_file()]
    assert len(files) > 50
    without = [
        str(path.relative_to(ROOT))
        for path in files
        if not path.read_text().removeprefix("#!/usr/bin/env python3\n").startswith(COPYRIGHT)
    ]
    assert without == []
