# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs the demo: starts every node as a process of its own and plays a planner's part."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from harness_ros.capture.images import encode_png
from harness_ros.config import load
from harness_ros.ledger import Ledger
from harness_ros.ros.client import HarnessClient, SceneBrief
from harness_ros.ros.deployment import (
    PROFILE_VARIABLE,
    NodeSpec,
    evaluation_nodes,
    fastdds_profile,
    share_folder,
    tabletop_nodes,
)
from harness_ros.ros.supervision import Supervisor
from harness_ros.sim.demo.folder import DemoError, fresh_folder
from harness_ros.sim.demo.overview import overview
from harness_ros.sim.demo.result import CallRecord, summary, truth_of
from harness_ros.sim.demo.table import Display
from harness_ros.sim.script import CALLS, Call, Outcome, TaskScript
from harness_ros.sim.tools import TOOLS

READY_S = 30.0
LEDGER, TRUTH = "ledger.sqlite", "truth.jsonl"


def run_demo(seed: int, out: Path, speed: float, config: Path | None = None) -> int:
    """Runs the demo.

    Args:
        seed: chooses where the blocks lie and which calls fail.
        out: folder for summary.json, the Observation images, the bag, the ledger and the logs.
        speed: simulated seconds a second at most.
        config: an eval.yaml with the tools of config/tabletop.yaml, which it is by default.

    Returns:
        0 when every verdict agrees with the physics, else 1.

    Raises:
        HarnessError: a node could not start or died, `out` holds something else, or the
            configuration cannot be used.
    """
    console = Console()
    begun = time.monotonic()
    with _environment():
        config = _checked(config or share_folder() / "config" / "tabletop.yaml")
        out = fresh_folder(out)
        console.print(
            f"[bold]harness_ros demo[/bold]  seed {seed}, {CALLS} calls, "
            f"ROS_DOMAIN_ID={os.environ['ROS_DOMAIN_ID']}, output in {out}"
        )
        with Supervisor(out / "logs", use_sim_time=True) as nodes:
            nodes.start(_nodes(config, seed, out, speed))
            os.environ.setdefault(PROFILE_VARIABLE, str(fastdds_profile("planner")))
            with HarnessClient(node_name="demo_planner") as harness:
                _await_nodes(harness, nodes, config)
                calls = _play(harness, nodes, TaskScript(seed), out, console)
                scene = harness.scene_brief()
    return _report(calls, scene, out, time.monotonic() - begun, seed, console)


def _checked(config: Path) -> Path:
    """The absolute path of a configuration that knows all tools of the tabletop."""
    known = load(config).tools
    missing = [name for name in TOOLS if name not in known]
    if missing:
        raise DemoError(
            f"{config}: tools: {', '.join(missing)} missing; the demo calls {', '.join(TOOLS)}: "
            "begin with a copy of config/tabletop.yaml"
        )
    return config.absolute()


def _nodes(config: Path, seed: int, out: Path, speed: float) -> list[NodeSpec]:
    ledger, truth, bag = (str(out / name) for name in (LEDGER, TRUTH, "bag"))
    return [
        *evaluation_nodes(str(config), ledger),
        *tabletop_nodes(str(config), seed, speed, truth, bag),
    ]


@contextmanager
def _environment() -> Iterator[None]:
    """A graph of its own: this machine alone, and a domain of its own unless one is set."""
    before = dict(os.environ)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _await_nodes(harness: HarnessClient, nodes: Supervisor, config: Path) -> None:
    """Waits until every node is there and the recorder listens, so that the bag misses nothing."""
    node = harness.node
    cameras = [node.resolve_topic_name(c.topic) for c in load(config).cameras.values()]
    deadline = time.monotonic() + READY_S
    missing: list[str] = []
    while time.monotonic() < deadline:
        nodes.check()
        missing = [
            topic
            for topic in cameras
            if not any(
                info.node_name == "recorder" for info in node.get_subscriptions_info_by_topic(topic)
            )
        ]
        if not missing and harness.ready():
            return
        time.sleep(0.05)
    raise DemoError(f"not ready within {READY_S:g} s; not recorded: {missing}; see the logs")


def _play(
    harness: HarnessClient, nodes: Supervisor, script: TaskScript, out: Path, console: Console
) -> list[CallRecord]:
    calls: list[CallRecord] = []
    history: list[Outcome] = []
    with Display(console) as display:
        while (call := script.next_call(history)) is not None:
            record = _call(harness, call, len(calls) + 1, out, display.running)
            nodes.check()
            calls.append(record)
            history.append(Outcome(call, record.judged_success))
            display.ended(record)
    return calls


def _call(
    harness: HarnessClient, call: Call, number: int, out: Path, show: Callable[[str], None]
) -> CallRecord:
    show(call.tool)
    outcome = harness.run_tool(
        call.tool,
        dict(call.arguments),
        on_progress=lambda segment, stage, _: show(f"{call.tool}: {stage} (segment {segment})"),
    )
    if not outcome.run_ids:
        raise DemoError(f"call {number} reached no tool: {outcome.verdict.failure_reason}")
    truth = truth_of(out / TRUTH, outcome.run_ids)
    return CallRecord(
        number=number,
        tool=call.tool,
        arguments=call.arguments,
        run_ids=outcome.run_ids,
        backend_success=outcome.backend_success,
        verdict=outcome.verdict,
        true_success=truth["holds"],
        fault=truth["fault"],
    )


def _report(
    calls: list[CallRecord],
    scene: SceneBrief,
    out: Path,
    wall_s: float,
    seed: int,
    console: Console,
) -> int:
    with Ledger(out / LEDGER) as ledger:
        verdicts = [verdict for _, verdict in ledger.verdicts_after(0)]
        _write_images(calls, ledger, out)
    result = summary(calls, verdicts, scene.revision, wall_s, seed)
    (out / "summary.json").write_text(json.dumps(result, indent=2) + "\n")
    (out / "calls.jsonl").write_text("".join(call.model_dump_json() + "\n" for call in calls))
    console.print()
    console.print(
        f"The backend called [bold]{result['backend_success']}[/bold] of {result['calls']} calls a "
        f"success, [bold]{result['backend_false_success']}[/bold] of them wrongly. "
        f"harness_ros agrees with the physics in [bold]{result['agree']}[/bold] of "
        f"{result['calls']}; false successes: [bold]{result['false_success']}[/bold]."
    )
    console.print(f"Scene after {result['scene_updates']} updates:\n{scene.text}", style="dim")
    console.print(f"{result['wall_s']} s; summary, images, bag and ledger are in {out}")
    return 0 if result["agree"] == result["calls"] else 1


def _write_images(calls: list[CallRecord], ledger: Ledger, out: Path) -> None:
    """The Observation of every run, a PNG a view, and all calls on one sheet."""
    folder = out / "observations"
    folder.mkdir()
    seen = []
    for call in calls:
        observation = None
        for segment, run_id in enumerate(call.run_ids, start=1):
            observation = ledger.observation(run_id)
            for view in observation.views if observation else ():
                name = f"{call.number:02d}_{call.tool}_{segment}_{view.name}.png"
                (folder / name).write_bytes(encode_png(view))
        seen.append((call, observation))
    (out / "overview.png").write_bytes(encode_png(overview(seen)))
