# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Workers of a grading: bags that are read through to be opened, workers that die, Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest
from bags import packed

from harness_ros.grading.results import read_results

START = "import sys; from harness_ros.cli import main; sys.exit(main())"
EXECUTABLE = [sys.executable, "-c", START]
OPENED = """
import sys

def look(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".zstd"):
        with open({log!r}, "a") as log:
            log.write(f"{{arguments[0]}}\\n")

sys.addaudithook(look)
"""


@pytest.fixture
def command(tmp_path, config_path):
    """command(*arguments, out=name) -> a command line that grades."""

    def make(*arguments, out="out"):
        fixed = ["--config", config_path, "--out", tmp_path / out]
        return [*EXECUTABLE, "grade", *map(str, [*arguments, *fixed])]

    return make


@pytest.fixture
def temporary():
    """A folder for what is temporary, which is to be empty afterwards; its path is a short one."""
    with tempfile.TemporaryDirectory(prefix="h") as folder:
        yield Path(folder)
        assert list(Path(folder).iterdir()) == []


@pytest.fixture
def environment(temporary):
    """Variables with a temporary folder of its own."""
    return {**os.environ, "TMPDIR": str(temporary)}


def zipped(bag):
    """The file of a bag in compression mode FILE."""
    return packed(bag / f"{bag.name}.mcap")


def cut(bag):
    """The file of a bag whose recorder was killed: without its index."""
    path = bag / f"{bag.name}.mcap"
    path.write_bytes(path.read_bytes()[:-2000])
    return path


def until(condition, process=None):
    """Waits; where a process is given, that is to run meanwhile."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        assert process is None or process.poll() is None
        time.sleep(0.005)


def running(*options):
    """Number and command line of processes; without those that ended and nobody asked for."""
    columns = ["-ww", "-o", "pid=", "-o", "stat=", "-o", "args="]
    listed = subprocess.run(["ps", *columns, *options], capture_output=True, text=True)
    found = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return {int(pid): text for pid, state, text in found if not state.startswith("Z")}


def in_group(group):
    return running("-s", str(group))


def workers_of(process):
    """Workers of a process: what its server has forked, or itself started anew."""
    started = running("--ppid", str(process.pid))
    servers = [str(pid) for pid, text in started.items() if "forkserver" in text]
    forked = running("--ppid", ",".join(servers)) if servers else {}
    return [*forked, *(pid for pid, text in started.items() if "spawn_main" in text)]


def lines_of(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_bags_that_are_read_through_give_the_same_bytes_whatever_the_number_of_workers(
    tmp_path, record, command, environment
):
    bags = [zipped(record("zipped", runs=11)), cut(record("cut", runs=11)), record("whole", 11)]
    for workers in (1, 3):
        asked = command(*bags, "--workers", workers, out=f"out{workers}")
        subprocess.run(asked, check=True, timeout=120, env=environment)
    for name in ("results.jsonl", "summary.json", "report.html"):
        assert (tmp_path / "out1" / name).read_bytes() == (tmp_path / "out3" / name).read_bytes()
    assert lines_of(tmp_path / "out1" / "results.jsonl") >= 31


@pytest.mark.parametrize(("workers", "times"), [(1, 1), (2, 2)])
def test_a_compressed_bag_is_decompressed_once_here_or_once_by_the_worker_that_has_it(
    tmp_path, record, command, environment, workers, times
):
    bags = [zipped(record(f"bag{number}", runs=17)) for number in range(3)]
    log, hook = tmp_path / "opened", tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(OPENED.format(log=str(log)))
    paths = os.pathsep.join([str(hook), os.environ.get("PYTHONPATH", "")])
    asked = command(*bags, "--workers", workers)
    subprocess.run(asked, check=True, timeout=120, env={**environment, "PYTHONPATH": paths})
    # To see what it is, and to decompress it.
    assert Counter(log.read_text().split()) == {str(bag): 2 * times for bag in bags}
    assert lines_of(tmp_path / "out" / "results.jsonl") == 51


# The path of the socket of the server of workers would be too long for the system.
LONG = "so_long_a_path_that_no_socket_can_have_it_" * 2


@pytest.mark.parametrize(("workers", "path"), [(1, ""), (2, ""), (2, LONG)])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_end_a_grading_and_leave_nothing_behind(
    tmp_path, record, command, environment, workers, path, how
):
    (tmp_path / path).mkdir(exist_ok=True)
    environment |= {"TMPDIR": str(tmp_path / path)} if path else {}
    asked = command(zipped(record(runs=40)), record("other", runs=20), "--workers", workers)
    process = subprocess.Popen(
        asked, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until(lambda: lines_of(tmp_path / "out" / "results.jsonl"), process)
    assert len(in_group(process.pid)) >= workers
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # as a terminal does: to all processes of the group
    else:
        process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + how
    assert "Traceback" not in err
    until(lambda: not in_group(process.pid))
    assert not path or list((tmp_path / path).iterdir()) == []


def test_workers_end_when_the_grading_is_killed(record, command, environment, temporary):
    asked = command(record(runs=40), record("other", runs=40), "--workers", 2)
    process = subprocess.Popen(asked, env=environment)
    until(lambda: len(workers_of(process)) == 2, process)
    workers = workers_of(process)
    process.kill()
    process.wait()
    until(lambda: not running("-p", ",".join(map(str, workers))))
    # The socket of the server: who is killed cannot remove anything.
    for left in temporary.glob("pymp-*/listener-*"):
        left.unlink()
        left.parent.rmdir()


def test_a_worker_that_dies_costs_the_runs_that_it_had_and_resume_grades_them(
    tmp_path, record, command, environment
):
    bags = [record(f"bag{number}", runs=40) for number in range(3)]
    subprocess.run(command(*bags, out="undisturbed"), check=True, timeout=120)
    asked = command(*bags, "--workers", 2)
    process = subprocess.Popen(asked, env=environment, stderr=subprocess.PIPE, text=True)
    results = tmp_path / "out" / "results.jsonl"
    until(lambda: lines_of(results) and workers_of(process), process)
    os.kill(workers_of(process)[0], signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    lost = 120 - lines_of(results)
    assert 1 <= lost <= 4
    said = [
        item["problem"]
        for item in json.loads((results.parent / "summary.json").read_text())["problems"]
    ]
    assert sum("ended: SIGKILL" in text for text in said) == 1
    assert sum("--resume grades it" in text for text in said) == lost
    subprocess.run([*asked, "--resume"], check=True, timeout=120, env=environment)
    whole = tmp_path / "undisturbed" / "results.jsonl"
    assert results.read_bytes() == whole.read_bytes()
    assert len(list(read_results(results))) == 120
