# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages that can be read and say what makes no sense."""

import numpy as np
from recordings import STORE, make
from rosbags.serde import SerdeError

TEXTS = [
    *("", "x" * 70_000, "\x00", "\x1b[31m", "<script>", "../../etc", "held-aa", "lost-bb", "pick"),
    *("\u2028\x85", "\ufeff", "{target}", '"', "\n", "cup\r\n", "rgb8", "mono8", "16UC1", "jpeg"),
]
ARGUMENTS = [
    *("", "{", "[]", "null", "NaN", '{"target": NaN}', '{"target": "moon"}', '{"target": ["cup"]}'),
    *('{"target": "\\ud800"}', '{"target": 1e999}', '{"a":' * 50 + "1" + "}" * 50),
    *('{"target": "cup", "target": "plate"}', '{"target": "cup"}' + " " * 70_000),
    '{"target": ' + "9" * 5000 + "}",
]
FLOATS = [float("nan"), float("inf"), -float("inf"), 0.0, -1.0, 1e308, 0.05]
SECONDS = [0, -1, -(2**31), 2**31 - 1, 9, 10, 12, 15, 17]
NANOSECONDS = [0, 5, 999_999_999, 10**9, 2**32 - 1]
NUMBERS = [0, 1, 2, 3, 7, 255]
LARGE = [*NUMBERS, 65_536, 2**31 - 1, 2**32 - 1]


def absurd(data, message_type, rng):
    """The message with some fields that make no sense; None where it cannot be written so."""
    try:
        message = STORE.deserialize_cdr(data, message_type)
    except SerdeError:
        return None
    names = [name for name in message.__dataclass_fields__ if not name.startswith("__")]
    for _ in range(rng.choice([1, 1, 2, 3])):
        name = rng.choice(names)
        setattr(message, name, _other(name, getattr(message, name), rng))
    return bytes(STORE.serialize_cdr(message, message_type))


def _time(rng):
    sec, nanosec = rng.choice(SECONDS), rng.choice(NANOSECONDS)
    return make("builtin_interfaces/msg/Time", sec=sec, nanosec=nanosec)


def _other(name, value, rng):
    if isinstance(value, str):
        return rng.choice(ARGUMENTS if name == "arguments" else TEXTS)
    if isinstance(value, int):
        return rng.choice(LARGE if name in ("height", "width", "step", "segment") else NUMBERS)
    if isinstance(value, float):
        return rng.choice(FLOATS)
    if isinstance(value, list):
        return rng.choice([[], value * 2, [rng.choice(TEXTS)] * 3])
    if isinstance(value, np.ndarray):
        return _array(value, rng)
    if hasattr(value, "sec"):
        return _time(rng)
    if hasattr(value, "stamp"):
        value.stamp = _time(rng)
    return value


def _array(value, rng):
    if value.dtype != np.uint8:
        numbers = [rng.choice(FLOATS)] * rng.choice([1, 500])
        return rng.choice([value[:0], np.array(numbers, value.dtype)])
    noise = np.frombuffer(rng.randbytes(len(value)), np.uint8).copy()
    half = value[: len(value) // 2]
    return rng.choice([value[:0], half, np.concatenate([value, value]), noise])
