# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
from pathlib import Path

import pytest

import harness_ros
from harness_ros.cli import COMMANDS, main
from harness_ros.config import load

ROOT = Path(__file__).parents[1]
TABLETOP = ROOT / "config" / "tabletop.yaml"


@pytest.fixture
def run(monkeypatch, capsys):
    """run(argument, ...) -> (exit code, what it printed, what it printed to stderr)."""

    def run_main(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness-ros", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "100")
        code = main()
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run_main


def test_help_names_the_commands(run):
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    for word in (*(command.__name__ for command in COMMANDS), "--version"):
        assert word in out


@pytest.mark.parametrize("command", [command.__name__ for command in COMMANDS])
def test_each_command_has_help(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"harness-ros {command}" in out


def test_without_a_command_the_help_is_shown(run):
    code, out, err = run()
    assert code == 2
    assert "check" in out + err


def test_the_version_is_that_of_the_package(run):
    assert run("--version") == (0, f"harness-ros {harness_ros.__version__}\n", "")
    assert f"<version>{harness_ros.__version__}</version>" in (ROOT / "package.xml").read_text()


@pytest.mark.parametrize(
    "arguments", [["fly"], ["check"], ["check", "--fast"], ["demo", "--seed", "x"]]
)
def test_a_wrong_command_line_is_an_error_without_a_traceback(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "Usage: " in err
    assert "Error: " in err
    assert "Traceback" not in err


def test_check_shows_the_post_conditions_and_the_hash_of_the_criteria(run):
    code, out, err = run("check", TABLETOP)
    config = load(TABLETOP)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == f"criteria {config.criteria_hash}"
    for name, tool in config.tools.items():
        line = next(line for line in out.splitlines() if line.startswith(f"{name} "))
        assert tool.post_condition in line
        assert f"judge {tool.judge}" in line
    assert "push (judge deterministic, 4 segments)" in out


def test_check_of_a_missing_file_is_one_line(run, tmp_path):
    path = tmp_path / "eval.yaml"
    assert run("check", path) == (2, "", f"harness-ros: {path}: No such file or directory\n")


@pytest.mark.parametrize("text", ["version: 1\njudges: {", "[]", "version: 1\nversion: 2\n- x"])
def test_check_of_a_broken_file_is_one_line(run, tmp_path, text):
    path = tmp_path / "eval.yaml"
    path.write_text(text)
    code, out, err = run("check", path)
    assert (code, out) == (2, "")
    assert err.startswith(f"harness-ros: {path}: ")
    assert len(err.splitlines()) == 1


def test_check_of_a_mistake_is_one_line_for_it(run, tmp_path):
    path = tmp_path / "eval.yaml"
    path.write_text(TABLETOP.read_text().replace("slop_s: 0.05", "slop_s: 0"))
    code, out, err = run("check", path)
    assert (code, out) == (2, "")
    assert err == (
        f"harness-ros: {path}: capture.slop_s: Input should be greater than 0 (value: 0)\n"
    )


# In a process of its own

LOADED = """
import sys
from harness_ros.cli import main

sys.argv = ["harness-ros", *{arguments!r}]
main()
print(*sys.modules, sep="\\n", file=sys.stderr)
"""
HEAVY = {
    *("cv2", "jinja2", "lz4", "mujoco", "networkx", "numpy", "openai", "ray", "rclpy", "rosbags"),
    *("scipy", "sqlite3", "yaml"),
}
"""Not pydantic: typer itself reads options with it."""


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], *([name.__name__, "--help"] for name in COMMANDS)]
)
def test_help_loads_nothing_but_the_command_line(arguments):
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(arguments=arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd="/",
    )
    assert done.stdout
    loaded = done.stderr.split()
    assert HEAVY & {name.split(".")[0] for name in loaded} == set()
    own = {name for name in loaded if name.startswith("harness_ros.")}
    assert "harness_ros.cli" in own
    assert [name for name in own if not f"{name}.".startswith("harness_ros.cli.")] == []


WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        missing = name.split(".")[0] in {missing!r}
        return None if missing else super().find_spec(name, path, target)

sys.meta_path = [Without if finder is PathFinder else finder for finder in sys.meta_path]
from harness_ros.cli import main

sys.argv = ["harness-ros", *{arguments!r}]
sys.exit(main())
"""


def run_without(*missing, arguments):
    code = WITHOUT.format(missing=missing, arguments=[str(argument) for argument in arguments])
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd="/"
    )


@pytest.mark.parametrize("missing", [["rclpy"], ["mujoco"], ["rclpy", "mujoco"]])
def test_the_demo_says_what_it_needs_where_that_is_not_installed(tmp_path, missing):
    done = run_without(*missing, arguments=["demo", "--out", tmp_path / "out"])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("harness-ros: ")
    assert len(done.stderr.splitlines()) == 1
    assert "`make setup`" in done.stderr
    assert all(name in done.stderr for name in missing)
    assert not (tmp_path / "out").exists()


def test_check_works_where_ros_is_not_installed():
    done = run_without("rclpy", "message_filters", "mujoco", arguments=["check", TABLETOP])
    assert (done.returncode, done.stderr) == (0, "")
    assert "criteria " in done.stdout
