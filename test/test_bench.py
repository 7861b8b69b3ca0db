# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The benchmarks: their arithmetic, their lines and exit codes, and that each of them measures."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

sys.path.append(str(Path(__file__).parents[1]))

from bench import bags, runner
from bench.options import Effort, Options
from bench.record import (
    Baseline,
    BenchError,
    Measurement,
    Target,
    against,
    quartiles,
    spread,
)
from bench.stage import free_domain
from harness_ros.bag.reading import Bag
from harness_ros.config import load
from harness_ros.grading.grade import grade, judges_of

ROOT = Path(__file__).parents[1]
FIGURES = {
    "latency": {
        "latency/640x480",
        "latency/640x480/kept_memory",
        "latency/640x480/absolute",
        "latency/1280x720",
        "latency/1280x720/kept_memory",
    },
    "armed": {
        "armed/cpu",
        "armed/cpu_raw_plain_subscriber",
        "armed/cpu_usual_subscriber",
        "armed/frames_lost",
    },
    "idle": {"idle/camera_subscriptions", "idle/cpu"},
    "gateway": {"gateway/extra", "gateway/action_that_does_nothing"},
    "many_runs": {"many_runs/memory_growth", "many_runs/ledger_query", "many_runs/rate"},
    "ledger": {"ledger/verdict", "ledger/observation"},
    "grading": {
        "grading/long_bag",
        "grading/first_result",
        "grading/memory",
        "grading/memory_of_workers",
        "grading/reading",
        "grading/reading_long_bag",
        "grading/two_workers",
    },
    "start": {"start/help"},
    "asking": {"asking/evaluations"},
    "verify_turn": {
        "verify_turn/latency_at_500_a_second",
        "verify_turn/latency_one_by_one",
        "verify_turn/time_a_call",
    },
    "question": {
        "question/1280x720",
        "question/1280x720/absolute",
        "question/1280x720/with_key",
    },
}


def measured(value: float = 1.0, at_most: float | None = None) -> Measurement:
    target = None if at_most is None else Target(at_most=at_most)
    return Measurement(name="some/figure", value=value, unit="ms", target=target)


def run(benchmarks, out: Path) -> tuple[list[Measurement], list[dict]]:
    lines = io.StringIO()
    console = Console(file=io.StringIO())
    done = runner.run(benchmarks, Effort.SMOKE, out, lines, {"cores": 2}, console)
    return done, [json.loads(line) for line in lines.getvalue().splitlines()]


# Arithmetic


def test_ratio_is_the_median_of_the_ratios_of_pairs_and_not_the_ratio_of_medians() -> None:
    # The machine was ten times slower during the last two pairs.
    found = against("a", "ms", [2.0, 4.0, 30.0, 40.0, 20.0], "b", [1.0, 2.0, 10.0, 20.0, 10.0])
    assert found.ratio == pytest.approx(2.0)
    assert found.value == pytest.approx(20.0)
    assert found.baseline == Baseline(name="b", value=10.0)
    assert found.details["ratio"]["n"] == 5


def test_figures_that_are_no_pairs_are_an_error() -> None:
    with pytest.raises(BenchError, match="3 values and 2 of b are no pairs"):
        against("a", "ms", [1.0, 2.0, 3.0], "b", [1.0, 2.0])


def test_baseline_of_zero_is_an_error_that_names_it() -> None:
    with pytest.raises(BenchError, match=r"b was 0\.0 ms"):
        against("a", "ms", [1.0, 2.0], "b", [0.0, 2.0])


def test_quartiles_of_one_value_are_that_value() -> None:
    assert quartiles([3.0]) == (3.0, 3.0, 3.0)
    assert quartiles([1.0, 2.0, 3.0, 4.0, 5.0]) == (2.0, 3.0, 4.0)


def test_spread_of_nothing_is_an_error() -> None:
    with pytest.raises(BenchError, match="nothing was measured"):
        spread([])


@pytest.mark.parametrize(("value", "ok"), [(4.9, True), (5.0, True), (5.1, False)])
def test_value_is_held_against_its_target(value: float, ok: bool) -> None:
    assert measured(value, at_most=5.0).ok is ok


@pytest.mark.parametrize(("slow", "ok"), [(1.4, True), (1.6, False)])
def test_ratio_is_held_against_its_target_and_not_the_value(slow: float, ok: bool) -> None:
    assert against("a", "ms", [slow * 100], "b", [100.0], at_most=1.5).ok is ok


def test_figure_without_a_target_is_neither_ok_nor_not() -> None:
    assert measured().ok is None


# Lines and exit code


def test_line_holds_figure_baseline_target_and_machine(tmp_path: Path) -> None:
    def benchmark(_: Options) -> Iterator[Measurement]:
        yield against("a", "ms", [3.0], "b", [2.0], at_most=1.2, note="x")

    _, (line,) = run({"one": benchmark}, tmp_path)
    assert line["ok"] is False
    assert line["name"] == "a"
    assert (line["value"], line["ratio"], line["unit"]) == (3.0, 1.5, "ms")
    assert line["baseline"] == {"name": "b", "value": 2.0}
    assert line["target"] == {"at_most": 1.2, "of": "ratio"}
    assert line["details"]["n"] == 1
    assert line["details"]["note"] == "x"
    assert line["machine"] == {"cores": 2}


def test_benchmark_that_fails_is_not_ok_and_the_others_run_all_the_same(tmp_path: Path) -> None:
    def fails(_: Options) -> Iterator[Measurement]:
        yield measured()
        raise BenchError("no evaluator")

    done, lines = run({"first": fails, "second": lambda _: [measured()]}, tmp_path)
    assert [line["ok"] for line in lines] == [None, False, None]
    assert lines[1]["name"] == "first"
    assert "no evaluator" in lines[1]["details"]["error"]
    assert runner.exit_code(done) == 1


def test_benchmark_leaves_nothing_in_the_output_folder(tmp_path: Path) -> None:
    def writes(options: Options) -> Iterator[Measurement]:
        (options.folder / "ledger.sqlite").write_text("x")
        yield measured()

    run({"writes": writes}, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("done", "code"),
    [
        ([measured(1.0, at_most=2.0), measured()], 0),
        ([measured(1.0, at_most=2.0), measured(3.0, at_most=2.0)], 1),
        ([], 1),
    ],
)
def test_exit_code_is_1_when_one_target_is_not_met_or_nothing_was_measured(
    done: list[Measurement], code: int
) -> None:
    assert runner.exit_code(done) == code


def test_benchmark_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        runner.main(["--only", "nothing"])
    assert "latency" in capsys.readouterr().err


def test_table_shows_every_figure_with_its_target() -> None:
    shown = io.StringIO()
    Console(file=shown, width=120).print(runner.table([measured(3.0, at_most=2.0)]))
    assert "some/figure" in shown.getvalue()
    assert "at most 2 ms" in shown.getvalue()


# Recordings to grade, and what grades them


def test_runs_are_spread_over_a_recording_and_each_can_be_judged(tmp_path: Path) -> None:
    made = bags.write(tmp_path, bags.Recording("bag", 12.0, 3), bags.Messages(), print)
    config = load(bags.configuration(tmp_path))
    with Bag(made) as bag:
        runs = bag.runs()
        graded = [grade(bag, "bag", run, config, judges_of(config)).row for run in runs]
    assert [round((row.ended_at_ns - bags.BEGIN_NS) / 1e9) for row in graded] == [3, 7, 11]
    assert [row.status.name for row in graded] == ["SUCCESS", "SUCCESS", "FAILURE"]
    assert all(row.judged for row in graded)


def test_recording_that_does_not_fit_on_the_disk_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="MiB are free"):
        bags.write(tmp_path, bags.Recording("bag", 1e9, 1), bags.Messages(), print)
    assert list(tmp_path.iterdir()) == []


def command_that(does: str, file: Path) -> dict:
    """What bench.actors.command says of a Python that does something with `file`."""
    program = f"from pathlib import Path\nfile = Path({str(file)!r})\n{does}"
    command = [sys.executable, "-m", "bench.actors.command", str(file), sys.executable]
    said = subprocess.run(
        [*command, "-c", program], cwd=ROOT, capture_output=True, check=True, timeout=60
    )
    return json.loads(said.stdout)


def test_memory_of_a_command_is_that_of_its_largest_process(tmp_path: Path) -> None:
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'bytearray(300 << 20)'])"
    said = command_that(child, tmp_path / "results")
    assert 300 << 20 < said["memory_bytes"] < 400 << 20
    assert (said["code"], said["first_s"]) == (0, None)


def test_first_line_of_a_command_is_seen_while_it_runs(tmp_path: Path) -> None:
    does = (
        "import time, sys; file.write_text('half a line'); begun = time.monotonic()\n"
        "while time.monotonic() < begun + 0.3: pass\n"
        "file.write_text('a line\\n'); begun = time.monotonic()\n"
        "while time.monotonic() < begun + 0.3: pass\n"
        "sys.exit(3)"
    )
    said = command_that(does, tmp_path / "results")
    assert 0.3 < said["first_s"] < said["seconds"] - 0.2
    assert said["code"] == 3


# The benchmarks themselves, each as small as it can be


def test_domain_that_somebody_is_on_is_not_taken() -> None:
    wanted = free_domain()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as somebody:
        somebody.bind(("127.0.0.1", 7400 + 250 * wanted + 10))
        assert free_domain() != wanted


def in_session(session: int) -> list[str]:
    """Command lines of the processes that belong to a session."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except (OSError, ValueError):
            continue
    return found


@pytest.mark.ros
@pytest.mark.parametrize("name", sorted(FIGURES))
def test_benchmark_measures_each_of_its_figures_and_leaves_no_process(
    name: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "bench", "--effort", "smoke", "--only", name]
    with subprocess.Popen(
        [*command, "--out", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    ) as bench:
        said = bench.communicate(timeout=150)[0]
    lines = [json.loads(line) for line in (tmp_path / "bench.jsonl").read_text().splitlines()]
    assert {line["name"] for line in lines} == FIGURES[name], said
    assert bench.returncode == int(any(line["ok"] is False for line in lines)), said
    assert all(line["machine"]["cores"] >= 1 for line in lines)
    assert in_session(bench.pid) == []
    assert [path.name for path in tmp_path.iterdir()] == ["bench.jsonl"]


KILLED = """
import os, signal, sys
from contextlib import suppress
from pathlib import Path
from bench.options import Options
from bench.processes import SHARED_MEMORY, segments
from bench.record import BenchError
from bench.stage import Stage, isolate

isolate()
try:
    with Stage(Options(Path(sys.argv[1]))) as stage:
        actor = stage.actor("bare_judge", "plain")
        actor.hear()
        stage.until(lambda: actor.segments(), "shared memory")
        # Discovery maps what other domains of this machine have, too: that is theirs, and smaller.
        sizes = {name: (SHARED_MEMORY / name).stat().st_size for name in actor.segments()}
        used = {name for name, size in sizes.items() if size > 100 << 20}
        stage.until(lambda: stage.driver.count_services("/bench/plain"), "the service")
        stage.rest(0.6)
        stage.until(lambda: True, "anything")
        os.kill(actor.pid, signal.SIGKILL)
        stage.until(lambda: False, "the end")
except BenchError as error:
    print(error)
there = {name for name in used if (SHARED_MEMORY / name).exists()}
others = set()
for process in Path("/proc").glob("[0-9]*"):
    if process.name != str(os.getpid()):
        with suppress(OSError):
            others |= segments(process.name)
print("removed", len(used - there), "left", sorted(there - others))
"""


@pytest.mark.ros
def test_process_that_is_killed_is_noticed_and_its_shared_memory_removed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env=dict(os.environ),
    )
    assert "bare_judge ended with code -9" in done.stdout, done
    assert "left []" in done.stdout, done
    assert "removed 0" not in done.stdout, done
