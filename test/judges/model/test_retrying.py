# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How long is waited before a request is sent again."""

from email.utils import formatdate
from random import Random

import pytest

from harness_ros.judges.model.retrying import (
    FIRST_S,
    LONGEST_S,
    backoff_s,
    is_passing,
    retry_after_s,
)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_a_busy_or_broken_endpoint_is_asked_again(status):
    assert is_passing(status)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422, 501])
def test_a_wrong_request_is_not_sent_again(status):
    assert not is_passing(status)


@pytest.mark.parametrize("seed", range(20))
def test_the_wait_doubles_within_its_bounds(seed):
    random = Random(seed)
    for failures in range(1, 40):
        full_s = min(LONGEST_S, FIRST_S * 2.0 ** (failures - 1))
        assert full_s / 2 <= backoff_s(failures, random) <= full_s


def test_two_judges_do_not_wait_equally_long():
    assert backoff_s(1, Random(1)) != backoff_s(1, Random(2))


@pytest.mark.parametrize(
    ("headers", "expected_s"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "30", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": formatdate(1_000_030, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Mon, 99 Zzz 9999 99:99:99 GMT"}, None),
    ],
)
def test_what_the_endpoint_says_of_waiting_is_read(headers, expected_s):
    assert retry_after_s(headers, now_s=1_000_000) == expected_s
