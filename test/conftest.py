# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What holds for all tests."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent))

# A shell that starts the tests in the background has Ctrl-C ignored, and so would every process
# that a test starts and then ends with it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Makes captured text such as can be sent: half a surrogate pair would end all tests."""
    outcome: Any = yield
    report = outcome.get_result()
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections
    ]
