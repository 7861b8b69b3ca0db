# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Grading by a Ray cluster: one node on this machine, with Ray itself."""

import shutil
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from bags import packed

from harness_ros.grading.cluster import Place, on_a_node
from harness_ros.grading.work import Piece, Task

START = "import sys; from harness_ros.cli import main; sys.exit(main())"
EXECUTABLE = [sys.executable, "-c", START]
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")


@pytest.fixture(scope="module")
def cluster():
    """Address of a cluster with two processors, which works in another folder than the tests."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


def grade(folder, *arguments):
    """Grades in a folder, by paths relative to it."""
    command = [*EXECUTABLE, "grade", *map(str, arguments), "--config", "eval.yaml"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@needs_ray
def test_a_cluster_gives_the_same_bytes_as_this_machine(tmp_path, record, config_path, cluster):
    record("bag", runs=9)
    packed(record("zipped", runs=9) / "zipped.mcap")
    bags = ["bag", "zipped/zipped.mcap.zstd"]
    for out, options in (("here", []), ("there", ["--ray", cluster])):
        done = grade(tmp_path, *bags, *options, "--out", out)
        assert (done.returncode, done.stderr) == (0, "")
    for name in ("results.jsonl", "summary.json", "report.html"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()
    assert (tmp_path / "there" / "results.jsonl").read_bytes().count(b"\n") == 18
    assert list((tmp_path / "there" / "views").rglob("*.jpg"))


def test_a_cluster_that_is_not_there_is_an_error_at_once(tmp_path, record, config_path):
    record("bag", runs=1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    done = grade(tmp_path, "bag", "--out", "out", "--ray", address)
    assert done.returncode == 2
    assert done.stderr.startswith("harness-ros: --ray")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


# What a node does, in this process


@pytest.fixture
def asked(tmp_path, config_path, record, monkeypatch):
    """asked(folder=..., version=...) -> what a node says that is asked so."""
    import harness_ros
    from harness_ros.bag.reading import Bag

    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.jsonl").touch()
    bag = record(runs=2)
    with Bag(bag) as opened:
        runs = tuple(opened.runs())
    piece = Piece(bag.name, tuple(item.run.run_id for item in runs), runs)

    def ask(folder=tmp_path, version=harness_ros.__version__, config="eval.yaml"):
        task = Task(config=Path(config), out=Path("out"))
        return on_a_node(Place(task, folder, version), piece)

    return ask


def problems(outcome):
    return [item.problem for item in outcome.problems]


def test_a_node_that_sees_all_grades_and_leaves_pictures(tmp_path, asked):
    outcome = asked()
    assert [row.run_id for row in outcome.rows] == ["bag-0", "bag-1"]
    assert problems(outcome) == []
    assert list((tmp_path / "out" / "views").rglob("*.jpg"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"folder": Path("/nowhere")}, "/nowhere: No such file or directory"),
        ({"version": "0.0.9"}, "is there, 0.0.9 here"),
        ({"config": "other.yaml"}, "other.yaml: No such file or directory"),
    ],
)
def test_what_a_node_does_not_see_is_told_with_the_name_of_the_node(asked, changes, words):
    outcome = asked(**changes)
    assert outcome.rows == []
    (said,) = problems(outcome)
    assert said.startswith(f"on node {socket.gethostname()}: ")
    assert words in said


def test_a_node_that_does_not_see_the_bag_says_so(tmp_path, asked):
    shutil.rmtree(tmp_path / "bag")
    (said,) = problems(asked())
    assert said == f"on node {socket.gethostname()}: bag: no such file or folder"


def test_pictures_on_the_disk_of_a_node_are_not_made_and_that_is_told(tmp_path, asked):
    shutil.rmtree(tmp_path / "out")
    outcome = asked()
    assert len(outcome.rows) == 2
    (said,) = problems(outcome)
    assert "so no pictures; it must be a shared one" in said
    assert not (tmp_path / "out").exists()
