# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A program as verifier."""

import os
import sys
import time
from pathlib import Path

import pytest

from harness_ros.sidecar import VerifierError, load_verifier
from harness_ros.sidecar.verifier import verify_now

GRADER = "harness_ros.sidecar.verifiers:command"


def asked(program, end_state=None, **options):
    verifier = load_verifier(GRADER, {"command": [sys.executable, "-c", program], **options})
    return verify_now(verifier, "session-1", end_state or {}, 60.0)


@pytest.mark.parametrize(("code", "score"), [(0, 1.0), (1, 0.0), (2, None), (5, None), (255, None)])
def test_the_exit_code_is_the_score(code, score):
    found = asked(f"raise SystemExit({code})")
    assert found.score == score
    assert f"ended with {code}" in found.reason


def test_other_exit_codes_may_mean_a_failure():
    assert asked("raise SystemExit(4)", failed=[1, 4]).score == 0.0


def test_the_program_gets_the_end_state_and_the_session():
    program = (
        "import json, os, sys\n"
        "state = json.load(sys.stdin)\n"
        "print(os.environ['HARNESS_ROS_SESSION_ID'], state['note'])\n"
        "raise SystemExit(0 if state['done'] else 1)"
    )
    found = asked(program, {"done": True, "note": "übung"})
    assert found.score == 1.0
    assert "session-1 übung" in found.reason
    assert asked(program, {"done": False, "note": ""}).score == 0.0


def test_a_program_that_reads_nothing_can_be_asked():
    assert asked("pass", {"much": "x" * 500_000}).score == 1.0


def test_a_program_that_is_killed_gives_no_verdict():
    found = asked("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert (found.score, "ended with -9" in found.reason) == (None, True)


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def gone(pid):
    deadline = time.monotonic() + 20
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(pid)


STARTS_ANOTHER = (
    "import os, subprocess, sys, time\n"
    "other = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    "from pathlib import Path\n"
    "Path(os.environ['TOLD'] + '.new').write_text(str(other.pid))\n"
    "os.rename(os.environ['TOLD'] + '.new', os.environ['TOLD'])\n"
)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
@pytest.mark.parametrize("end", ["time.sleep(600)", "pass"])
def test_what_the_program_has_started_ends_with_it(tmp_path, monkeypatch, end):
    told = tmp_path / "pid"
    monkeypatch.setenv("TOLD", str(told))
    found = asked(STARTS_ANOTHER + end, timeout_s=60.0 if end == "pass" else 3.0)
    assert found.score == (1.0 if end == "pass" else None)
    assert end == "pass" or "took too long" in found.reason
    assert gone(int(told.read_text()))


def test_a_program_that_writes_without_end_is_ended():
    found = asked("while True: print('x' * 10000)")
    assert found.score is None
    assert "wrote more than 1000000 bytes" in found.reason


def test_a_program_that_closes_its_output_is_waited_for():
    program = "import os, time; os.close(1); os.close(2); time.sleep(0.1); os._exit(1)"
    assert asked(program).score == 0.0


def test_of_the_output_the_end_is_told():
    found = asked("print('begin'); print('y' * 5000); print('2 tests failed')")
    assert found.reason.endswith("2 tests failed")
    assert "begin" not in found.reason


def test_a_program_that_cannot_be_started_gives_no_verdict(tmp_path):
    verifier = load_verifier(GRADER, {"command": [str(tmp_path / "none")]})
    found = verify_now(verifier, "session-1", {}, 60.0)
    assert found.score is None
    assert "No such file" in found.reason


def test_no_shell_reads_the_command():
    verifier = load_verifier(GRADER, {"command": "true; false"})
    assert "a list" in verify_now(verifier, "session-1", {}, 60.0).reason


def test_without_a_command_it_cannot_be_loaded():
    with pytest.raises(VerifierError, match="command"):
        load_verifier(GRADER)


def test_no_file_is_left_open():
    asked("pass")
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    for _ in range(3):
        asked("pass")
    assert before == 0 or len(os.listdir("/proc/self/fd")) <= before
