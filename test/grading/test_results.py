# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""results.jsonl where it cannot be written, is damaged, or wanted by two at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from graded_rows import graded

from harness_ros.grading.results import Results, ResultsError, alone_in, read_results

START = "import sys; from harness_ros.cli import main; sys.exit(main())"


def test_a_line_that_ends_within_a_letter_is_left_out(tmp_path: Path) -> None:
    rows = [graded("S", "r0"), graded("F", "r1", bag="b\u00fcro")]
    with Results(tmp_path, resume=False) as results:
        for row in rows:
            results.add(row)
    path = tmp_path / "results.jsonl"
    assert list(read_results(path)) == rows
    whole = path.read_bytes()
    letter = "\u00fc".encode()
    path.write_bytes(whole[: whole.index(letter) + 1])
    assert list(read_results(path)) == rows[:1]


@pytest.mark.parametrize("line", ["[1]", "3", "null", '{"recorded": 3}', "{", ""])
def test_a_line_that_is_no_row_is_left_out(tmp_path: Path, line: str) -> None:
    row = graded("S", "r0")
    (tmp_path / "results.jsonl").write_text(f"{line}\n{row.line()}\n")
    assert list(read_results(tmp_path / "results.jsonl")) == [row]


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_that_is_a_file_is_told(tmp_path: Path, resume: bool) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(ResultsError, match="out: File exists"):
        Results(tmp_path / "out", resume)
    with pytest.raises(ResultsError, match="out: File exists"), alone_in(tmp_path / "out"):
        pass


def test_a_disk_that_is_full_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").symlink_to("/dev/full")
    with (
        pytest.raises(ResultsError, match=r"results\.jsonl: No space left"),
        Results(tmp_path, resume=False) as results,
    ):
        results.add(graded("S", "r0"))


def test_two_gradings_do_not_write_to_one_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with alone_in(out), pytest.raises(ResultsError, match="another grading"), alone_in(out):
        pass
    assert not out.exists()
    with alone_in(out):
        (out / "report.html").write_text("")
    assert out.is_dir()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_grading_goes_on_where_nobody_reads_what_it_says(
    tmp_path: Path, record, config_path, workers: int
) -> None:
    bag = record(runs=12)
    asked = ["grade", "no_bag", bag, "--config", config_path, "--out", tmp_path / "out"]
    asked += ["--workers", workers]
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, "-c", START, *map(str, asked)], stdout=writer, stderr=writer, timeout=120
    )
    os.close(writer)
    assert ended.returncode == 0
    assert len(list(read_results(tmp_path / "out" / "results.jsonl"))) == 12
    assert (tmp_path / "out" / "report.html").is_file()
