# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What holds for all tests."""

import signal

# A shell that starts the tests in the background has Ctrl-C ignored, and so would every process
# that a test starts and then ends with it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
