# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo of the model judge: a recording of the tabletop, graded with recorded answers.

Pictures of the live demo are not the same on every machine, and a recorded answer belongs to the
frames that it was given for. So the frames are recorded too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console

import harness_ros
from harness_ros.bag.recorded_runs import RecordedRun
from harness_ros.config import load
from harness_ros.contract import Status, Verdict
from harness_ros.grading.command import Grading
from harness_ros.grading.finish import finish
from harness_ros.grading.judges import known_judges
from harness_ros.grading.labels import Label
from harness_ros.grading.results import Results
from harness_ros.grading.row import BagProblem, GradedRun
from harness_ros.grading.work import OpenBag, Piece, Task, Worker, runs_of
from harness_ros.ros.deployment import share_folder
from harness_ros.sim.demo.folder import DemoError, fresh_folder
from harness_ros.sim.demo.result import CallRecord, PlayedCall
from harness_ros.sim.demo.table import Display

CONFIG, BAG, CALLS = "eval.yaml", "recording.mcap", "calls.jsonl"
CASSETTE = "cassette_of_test_server"
TITLE = "Recorded demo: answers of the project's test server, not of a model"
NO_MODEL = (
    "The answers were written by the project's own test server from what the physics says, not by "
    "a model: they show the plumbing, not what a model can do."
)


def recording_folder() -> Path:
    """Where the recording is: installed by pip, in the source tree, or installed by colcon.

    Raises:
        NotInstalledError: it is in none of them.
    """
    package = Path(harness_ros.__file__).parent
    for folder in (package / "model_demo", package.parent / "config" / "model_demo"):
        if (folder / BAG).is_file():
            return folder
    return share_folder() / "config" / "model_demo"


def run_recorded_demo(out: Path, recording: Path | None = None) -> int:
    """Grades the recording; needs no network, no key, no ROS and no physics.

    Args:
        out: folder for results.jsonl, summary.json and report.html.
        recording: folder of the recording; that of this installation by default.

    Returns:
        0 when every verdict agrees with the physics, else 1.

    Raises:
        HarnessError: the recording cannot be used, or `out` holds something else.
    """
    console = Console()
    folder = recording or recording_folder()
    calls = read_calls(folder / CALLS)
    out = fresh_folder(out)
    _say(console, NO_MODEL)
    console.print(f"[bold]harness_ros demo[/bold]  {len(calls)} recorded calls, output in {out}")
    grading, records = _graded(folder, calls, out, console)
    finish(grading, out, TITLE, {label.run_id: label for label in _labels(calls)})
    _report(records, grading.problems, out, console)
    return 0 if all(record.agree for record in records) else 1


def read_calls(path: Path) -> list[PlayedCall]:
    """The calls of a recording, a JSON line each.

    Raises:
        DemoError: a line is none, or the file cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DemoError(f"{path}: {error}") from None
    calls = []
    for number, line in enumerate(lines, 1):
        try:
            calls.append(PlayedCall.model_validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "(top)"
            raise DemoError(f"{path}, line {number}: {where}: {first['msg']}") from None
    if not calls:
        raise DemoError(f"{path}: no calls")
    return calls


def _graded(
    folder: Path, calls: Sequence[PlayedCall], out: Path, console: Console
) -> tuple[Grading, list[CallRecord]]:
    """Every run in its order, each call on the table as soon as it has its verdict."""
    name, config = str(folder / BAG), folder / CONFIG
    task = Task(config=config, out=out)
    grading, records = Grading(known=known_judges(load(config))), []
    with OpenBag() as open_bag, Results(out, resume=False) as results, Display(console) as display:
        runs, problems = runs_of(task, open_bag.get(name))
        grading.problems += [BagProblem(bag=name, problem=problem) for problem in problems]
        known = {item.run.run_id: item for item in runs}
        _check_runs(folder, calls, known)
        worker = Worker(task, open_bag)
        for call in calls:
            display.running(call.tool)
            wanted = tuple(known[run_id] for run_id in call.run_ids)
            outcome = worker.work(Piece(name, call.run_ids, wanted))
            if len(outcome.rows) != len(wanted):
                raise DemoError("; ".join(item.problem for item in outcome.problems))
            for row in outcome.rows:
                results.add(row)
            grading.rows += outcome.rows
            grading.problems += [item for item in outcome.problems if item not in grading.problems]
            records.append(CallRecord(**call.model_dump(), verdict=_of_call(outcome.rows)))
            display.ended(records[-1])
    return grading, records


def _check_runs(
    folder: Path, calls: Sequence[PlayedCall], known: Mapping[str, RecordedRun]
) -> None:
    """Both files tell of the same runs."""
    called = [run_id for call in calls for run_id in call.run_ids]
    other = sorted(set(called) ^ known.keys())
    if other or len(set(called)) != len(called):
        raise DemoError(
            f"{folder}: {BAG} has {len(known)} runs, {CALLS} {len(called)}; in one of them alone: "
            f"{', '.join(other) or 'none'}"
        )


def _of_call(rows: Sequence[GradedRun]) -> Verdict:
    """The verdict with which a call ends: nothing runs after the first that is not `process`."""
    last = next((row for row in rows if row.status is not Status.PROCESS), rows[-1])
    shared = Verdict.model_fields.keys() & GradedRun.model_fields.keys()
    return Verdict(**{name: getattr(last, name) for name in shared})


def _labels(calls: Sequence[PlayedCall]) -> Iterator[Label]:
    """What the physics says of the last run of each call."""
    for call in calls:
        yield Label(run_id=call.run_ids[-1], success=call.true_success)


def _report(
    records: Sequence[CallRecord], problems: Sequence[BagProblem], out: Path, console: Console
) -> None:
    for item in problems:
        _say(console, item.problem, "yellow")
    believed = [record for record in records if record.backend_success]
    wrongly = sum(not record.true_success for record in believed)
    agree = sum(record.agree for record in records)
    console.print()
    console.print(
        f"The backend called [bold]{len(believed)}[/bold] of {len(records)} calls a success, "
        f"[bold]{wrongly}[/bold] of them wrongly. The verdicts agree with the physics in "
        f"[bold]{agree}[/bold] of {len(records)}."
    )
    _say(console, f"{out / 'report.html'} and results.jsonl beside it")
    _say(console, NO_MODEL)


def _say(console: Console, text: str, style: str | None = None) -> None:
    """A line of its own, however long."""
    console.print(text, style=style, soft_wrap=True, highlight=False, markup=False)
