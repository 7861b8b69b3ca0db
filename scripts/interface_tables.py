# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Interfaces and launch arguments as tables in Markdown, from the files that define them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rosidl_adapter.parser import (
    ActionSpecification,
    MessageSpecification,
    ServiceSpecification,
    parse_action_string,
    parse_message_string,
    parse_service_string,
)

from harness_ros.ros import deployment

ROOT = Path(__file__).parents[1]
RUN_TOOL = ROOT / "action" / "RunTool.action"
BRACKET = "\N{LEFT WHITE TORTOISE SHELL BRACKET}"
"""Stands for a bracket in comments, in which the parser would see a unit."""


class Part(NamedTuple):
    """A message, or one of the parts of a service or an action."""

    title: str
    spec: MessageSpecification


class Interface(NamedTuple):
    """One .msg, .srv or .action file."""

    path: Path
    name: str
    """`package/msg/Type`."""
    text: str
    """The comment at the head of the file."""
    parts: tuple[Part, ...]


def interfaces() -> Iterator[Interface]:
    """Every interface of the package: messages, services, actions."""
    for folder, suffix in (("msg", ".msg"), ("srv", ".srv"), ("action", ".action")):
        for path in sorted((ROOT / folder).glob(f"*{suffix}")):
            yield read(path)


def read(path: Path) -> Interface:
    """One interface file."""
    text = re.sub(r"#.*", lambda comment: comment[0].replace("[", BRACKET), path.read_text())
    parts: tuple[Part, ...]
    if path.suffix == ".msg":
        parts = (Part("", parse_message_string("harness_ros", path.stem, text)),)
    elif path.suffix == ".srv":
        service: ServiceSpecification = parse_service_string("harness_ros", path.stem, text)
        parts = (Part("Request", service.request), Part("Response", service.response))
    else:
        action: ActionSpecification = parse_action_string("harness_ros", path.stem, text)
        parts = (
            Part("Goal", action.goal),
            Part("Result", action.result),
            Part("Feedback", action.feedback),
        )
    head = re.match(r"(#.*\n)*", path.read_text())
    lines = head[0].splitlines() if head else []
    name = f"harness_ros/{path.suffix[1:]}/{path.stem}"
    return Interface(path, name, " ".join(line.lstrip("# ") for line in lines), parts)


def comment(item: Any) -> str:
    """What is written beside a field or a constant."""
    return " ".join(item.annotations.get("comment", [])).replace(BRACKET, "[").strip()


def section(interface: Interface) -> str:
    """An interface with its constants and fields, a heading above."""
    lines = [f"### `{interface.path.name}`", "", interface.text, ""]
    for title, spec in interface.parts:
        if title:
            lines += [f"{title}{'' if spec.fields or spec.constants else ': nothing'}", ""]
        if spec.constants:
            lines += ["| constant | value | meaning |", "|---|---|---|"]
            lines += [
                f"| `{item.name}` | `{item.value!r}` | {comment(item)} |".replace("'", '"')
                for item in spec.constants
            ]
            lines.append("")
        if spec.fields:
            lines += ["| field | type | meaning |", "|---|---|---|"]
            lines += [
                f"| `{item.name}` | `{item.type}` | {comment(item)} |" for item in spec.fields
            ]
            lines.append("")
    return "\n".join(lines).rstrip()


def exit_codes() -> str:
    """The exit codes of `run_tool`, from RunTool.action."""
    (constants,) = (part.spec.constants for part in read(RUN_TOOL).parts if part.title == "Goal")
    lines = ["| code | name | meaning |", "|---|---|---|"]
    lines += [f"| {item.value} | `{item.name}` | {comment(item)} |" for item in constants]
    return "\n".join(lines)


class LaunchArgument(NamedTuple):
    """An argument that a launch file declares."""

    name: str
    file: str
    description: str
    choices: str
    default: str


def launch_arguments() -> list[LaunchArgument]:
    """The arguments of every launch file; `launch` itself is not needed."""
    paths = [ROOT / "harness_ros" / "ros" / "launching.py", *(ROOT / "launch").glob("*.launch.py")]
    return [item for path in sorted(paths) for item in _declared(path)]


def _declared(path: Path) -> Iterator[LaunchArgument]:
    for node in ast.walk(ast.parse(path.read_text())):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "DeclareLaunchArgument"):
            continue
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        choices = given.get("choices")
        yield LaunchArgument(
            name=str(ast.literal_eval(node.args[0])),
            file="every file" if path.parent.name == "ros" else path.name,
            description=_text(given.get("description")),
            choices=" or ".join(f"`{item}`" for item in ast.literal_eval(choices))
            if isinstance(choices, ast.List)
            else "",
            default=_default(given.get("default_value")),
        )


def _default(value: ast.expr | None) -> str:
    if value is None:
        return "**needed**"
    try:
        # Constants and functions of the module that the launch files take them from.
        known = {"str": str, **vars(deployment)}
        found = eval(compile(ast.Expression(value), "default_value", "eval"), known)
    except NameError:
        return "as the file says"
    return f"`{found}`".replace(str(Path.home()), "~") if found else ""


def _text(value: ast.expr | None) -> str:
    return str(value.value) if isinstance(value, ast.Constant) else ""


def launch_table() -> str:
    """The launch arguments."""
    lines = ["| argument | of | default | meaning |", "|---|---|---|---|"]
    for item in launch_arguments():
        choices = f" One of {item.choices}." if item.choices else ""
        file = item.file if item.file == "every file" else f"`{item.file}`"
        lines.append(f"| `{item.name}` | {file} | {item.default} | {item.description}{choices} |")
    return "\n".join(lines)
