# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whole gradings of bags that are damaged or say what makes no sense.

Never a traceback, never a success out of garbage, each problem named.
`python test/grading/test_fuzz_gradings.py SECONDS [SEED]` goes on for longer, with fresh seeds.
"""

import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "bag"))

from absurd import absurd
from damage import damaged
from fuzzing import CHECKED, HELD, HELD_IDS, LAYOUTS, Fuzz

EXECUTABLE = [
    sys.executable,
    "-c",
    "from harness_ros.cli import main; raise SystemExit(main())",
]


@pytest.fixture(scope="module")
def fuzz(tmp_path_factory):
    return Fuzz(tmp_path_factory.mktemp("fuzz"))


def plain(graded, bag):
    """Rows and problems without the path of the bag."""
    rows = [row.model_copy(update={"bag": ""}) for row in graded.rows]
    return rows, {problem.replace(str(bag), "") for problem in graded.problems}


class Whole:
    """A bag that nothing happened to, and its grading."""

    def __init__(self, fuzz, layout):
        self.layout = layout
        self.bag = fuzz.bag(layout)
        self.rows, self.problems = plain(fuzz.grade(self.bag), self.bag)
        assert [row.run_id for row in self.rows] == list(HELD)
        assert {row.run_id for row in self.rows if row.status.name == "SUCCESS"} == HELD_IDS


def one_damaged(fuzz, whole, seed):
    """Grades a bag of which one file is damaged; whether anything changed."""
    rng = random.Random(f"{whole.layout} {seed}")
    bag = fuzz.copy(whole.bag)
    files = sorted(item for item in bag.iterdir() if item.suffix != ".yaml")
    victim = rng.choice([*files * 4, bag / "metadata.yaml"])
    victim.write_bytes(damaged(victim.read_bytes(), rng))
    graded = fuzz.grade(bag)
    rows, problems = plain(graded, bag)
    if whole.layout in CHECKED:
        succeeded = {row.run_id for row in rows if row.status.name == "SUCCESS"}
        assert succeeded <= HELD_IDS
        for observation in fuzz.observations(bag, graded.rows):
            for view in observation.views:
                assert any(view.data in frame for frame in fuzz.frames)
        if rows != whole.rows:
            assert problems - whole.problems
    shutil.rmtree(bag)
    return rows != whole.rows


def one_absurd(fuzz, seed):
    """Grades a bag with messages that say what makes no sense."""
    rng = random.Random(seed)
    messages = list(fuzz.messages)
    speaking = [at for at, item in enumerate(messages) if "harness_ros" in item.type]
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        at = rng.choice(speaking) if rng.random() < 0.6 else rng.randrange(len(messages))
        item = messages[at]
        match rng.randrange(10):
            case 0:
                messages[at] = item._replace(data=item.data[: rng.randrange(len(item.data) + 1)])
            case 1:
                messages[at] = item._replace(data=damaged(item.data, rng))
            case 2:
                messages.append(item._replace(log_ns=rng.choice([0, 2**62, item.log_ns + 10**9])))
            case 3:
                other = rng.choice(messages).type
                messages = [
                    each._replace(type=other) if each.topic == item.topic else each
                    for each in messages
                ]
            case _:
                data = absurd(item.data, item.type, rng)
                messages[at] = item if data is None else item._replace(data=data)
    messages.sort(key=lambda each: each.log_ns)
    bag = fuzz.bag(
        rng.choice(["zstd", "plain", "unchunked", "sqlite", "sqlite messages"]), messages
    )
    graded = fuzz.grade(bag)
    renamed = {row.run_id for row in graded.rows if row.status.name == "SUCCESS"} - HELD_IDS
    for run_id in renamed:
        # Whoever says that a run ended may call it what he likes; that it never began is told.
        assert any(f"run {run_id}: its start is not in the bag" in said for said in graded.problems)
    shutil.rmtree(bag)
    return graded


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_damaged_bag_gives_no_success_that_the_whole_one_does_not(fuzz, layout):
    whole = Whole(fuzz, layout)
    # Until damage is felt: most of it hits what nobody needs.
    assert any(one_damaged(fuzz, whole, seed) for seed in range(12))


def test_messages_that_make_no_sense_give_rows_and_problems(fuzz):
    graded = [one_absurd(fuzz, seed) for seed in range(12)]
    kinds = {row.kind.value for each in graded for row in each.rows}
    assert {"", "interrupted", "invalid_run", "observation_unavailable"} <= kinds


@pytest.mark.parametrize("share", [0.02, 0.6])
@pytest.mark.parametrize("layout", ["unchunked", "sqlite", "packed"])
def test_a_bag_that_is_cut_off_has_what_is_before(fuzz, layout, share):
    bag = fuzz.bag(layout)
    (file,) = (item for item in bag.iterdir() if item.suffix != ".yaml")
    file.write_bytes(file.read_bytes()[: round(file.stat().st_size * share)])
    graded = fuzz.grade(bag)
    assert any(str(file) in problem for problem in graded.problems)
    for run_id, outcome in graded.outcomes().items():
        assert outcome[0] == ("SUCCESS" if run_id in HELD_IDS else "FAILURE") or outcome[1]
    shutil.rmtree(bag)


def test_without_metadata_or_with_one_that_lies_the_runs_are_the_same(fuzz):
    bag = fuzz.bag("split")
    rows, problems = plain(fuzz.grade(bag), bag)
    assert ([row.run_id for row in rows], problems) == (list(HELD), set())
    path = bag / "metadata.yaml"
    for wrong in ("bag_0.mcap", "message_count: 88"):
        path.write_text(path.read_text().replace(wrong, wrong.replace("8", "9").replace("0", "7")))
        found, problems = plain(fuzz.grade(bag), bag)
        assert found == rows
        assert all("metadata.yaml" in problem for problem in problems)
        assert problems
    path.unlink()
    found, problems = plain(fuzz.grade(bag), bag)
    assert (found, len(problems)) == (rows, 1)


def test_the_command_ends_without_a_traceback_whatever_the_bag(fuzz, tmp_path):
    bags = []
    for seed, layout in enumerate(("zstd", "sqlite", "unchunked")):
        bag = fuzz.bag(layout)
        for file in bag.iterdir():
            file.write_bytes(
                damaged(damaged(file.read_bytes(), random.Random(seed)), random.Random(seed + 50))
            )
        bags.append(str(bag))
    command = [*EXECUTABLE, "grade", *bags, "--config", str(fuzz.config)]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode in (0, 2)
    assert "Traceback" not in done.stderr
    assert all(Path(bag).name in done.stderr.replace("\n", "") for bag in bags)


def go_on(seconds, seed):
    """Runs with fresh seeds."""
    end = time.monotonic() + seconds
    count = 0
    with tempfile.TemporaryDirectory() as name:
        fuzz = Fuzz(name)
        all_whole = [Whole(fuzz, layout) for layout in LAYOUTS]
        while time.monotonic() < end:
            for whole in all_whole:
                try:
                    one_damaged(fuzz, whole, seed)
                    one_absurd(fuzz, seed)
                except BaseException:
                    print(f"failed: {whole.layout}, seed {seed}")
                    raise
                count += 2
                seed += 1
    print(f"{count} gradings, last seed {seed}")


if __name__ == "__main__":
    go_on(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns())
