# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The commands of the documentation: programs, subcommands, launch files and names that exist."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from harness_ros.cli import app

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "scripts"))

import interface_tables
from markdown_pages import ROOT, Block, blocks, graph_names

PROGRAMS = {
    *("apt-get", "cd", "colcon", "docker", "echo", "export", "fastdds", "git", "pip", "python"),
    *("python3", "rosdep", "source", "sysctl", "xmllint"),
}
"""What commands of the pages may begin with, beside what is looked at below."""
ROS2 = {
    "action": {"info", "list", "send_goal"},
    "bag": {"info", "play", "record"},
    "interface": {"list", "package", "show"},
    "launch": set(),
    "lifecycle": {"get", "list", "nodes", "set"},
    "node": {"info", "list"},
    "param": {"describe", "dump", "get", "list", "set"},
    "pkg": {"executables", "list", "prefix", "xml"},
    "run": set(),
    "security": {"create_enclave", "create_keystore", "create_permission", "generate_policy"},
    "service": {"call", "find", "list", "type"},
    "topic": {"bw", "delay", "echo", "find", "hz", "info", "list", "pub", "type"},
}
"""Commands of ros2cli in Jazzy and their verbs; those without take a package."""
ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a shell block as lists of words."""
    text = block.text.replace("\\\n", " ")
    for line in text.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;")
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if set(word) <= set("&|;"):
                if words:
                    yield words
                words = []
            elif words or not ASSIGNMENT.match(word):
                words.append(word)


SHELL = blocks("bash", "sh", "shell", "console")
COMMANDS = [(block, words) for block in SHELL for words in commands(block)]


@pytest.mark.parametrize(
    ("block", "words"), COMMANDS, ids=[f"{block}-{words[0]}" for block, words in COMMANDS]
)
def test_command_exists(block: Block, words: list[str]) -> None:
    program, *rest = words[1:] if words[0] == "sudo" else words
    where = f"{block}: {' '.join(words)}"
    if program == "harness-ros":
        of_harness_ros(rest, where)
    elif program == "ros2":
        of_ros2(rest, where)
    elif program == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        wanted = [word for word in rest if not ASSIGNMENT.match(word)]
        assert set(wanted) <= set(targets), where
    else:
        assert program in PROGRAMS, where
    for word in words:
        if word.startswith("scripts/"):
            assert (ROOT / word).is_file(), where
        if word.startswith("/harness/"):
            on_the_graph(word, where)


def of_harness_ros(rest: list[str], where: str) -> None:
    """The subcommand and its options are those of the command line."""
    if rest and rest[0].startswith("--"):
        return
    command: Any = typer.main.get_command(app)
    assert rest[0] in command.commands, f"{where}: known are {sorted(command.commands)}"
    command = command.commands[rest[0]]
    if hasattr(command, "commands"):
        assert rest[1] in command.commands, f"{where}: known are {sorted(command.commands)}"
        command = command.commands[rest[1]]
    known = {name for item in command.params for name in item.opts}
    options = {word.split("=")[0] for word in rest[1:] if re.match(r"--?[a-z]", word)}
    assert options <= {*known, "--help"}, f"{where}: known are {sorted(known)}"


def of_ros2(rest: list[str], where: str) -> None:
    """The verb exists, and what it names of this package does too."""
    assert rest[0] in ROS2, where
    plain_words = [word for word in rest[1:] if not word.startswith("-")]
    if ROS2[rest[0]]:
        assert plain_words[0] in ROS2[rest[0]], where
    elif plain_words[0] == "harness_ros":
        if rest[0] == "launch":
            assert (ROOT / "launch" / plain_words[1]).is_file(), where
            of_launch(plain_words[1], plain_words[2:], where)
        else:
            assert plain_words[1] in nodes_built(), where
    for word in rest:
        if word.startswith("harness_ros/"):
            _, kind, name = word.split("/")
            assert (ROOT / kind / f"{name}.{kind}").is_file(), where


def of_launch(file: str, words: list[str], where: str) -> None:
    known = {
        item.name
        for item in interface_tables.launch_arguments()
        if item.file in (file, "every file")
    }
    given = {word.split(":=")[0] for word in words if ":=" in word}
    assert given <= known, f"{where}: known are {sorted(known)}"


def nodes_built() -> set[str]:
    built = re.search(r"set\(nodes ([\w\s]+)\)", (ROOT / "CMakeLists.txt").read_text())
    assert built is not None
    return set(built[1].split())


def on_the_graph(word: str, where: str) -> None:
    """A name of the default namespace is one that a node has."""
    name = re.sub(r"^(tools)/\w+$", r"\1/<name>", word.removeprefix("/harness/"))
    name = re.sub(r"^(_evaluate)/\w+$", r"\1/<judge>", name)
    known = set().union(*graph_names().values())
    assert name in known, f"{where}: {name} is not in docs/graph.md"
