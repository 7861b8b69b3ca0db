# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What happens to files: bytes that change, go, come twice or make no sense."""

import struct

ABSURD = [0, 1, 9, 0x7F, 0xFF, 0xFFFF, 1 << 31, 0xFFFFFFFF, 1 << 40, 1 << 62, (1 << 64) - 1]
NAN = struct.pack("<d", float("nan"))


def flipped(data, rng):
    for _ in range(rng.choice([1, 1, 1, 3, 20])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def cut(data, rng):
    del data[rng.randrange(len(data)) :]


def swapped(data, rng):
    first, second, third = sorted(rng.randrange(len(data) + 1) for _ in range(3))
    data[first:third] = data[second:third] + data[first:second]


def absurd(data, rng):
    size = rng.choice([2, 4, 8])
    at = rng.randrange(max(1, len(data) - size))
    number = rng.choice(ABSURD) & ((1 << 8 * size) - 1)
    data[at : at + size] = number.to_bytes(size, rng.choice(["little", "big"]))


def not_a_number(data, rng):
    at = rng.randrange(max(1, len(data) - 8))
    data[at : at + 8] = NAN


def blank(data, rng):
    at, size = rng.randrange(len(data)), rng.choice([1, 16, 100, 4096])
    data[at : at + size] = bytes(len(data[at : at + size]))


def doubled(data, rng):
    first, second = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    at = rng.randrange(len(data) + 1)
    data[at:at] = data[first:second]


def dropped(data, rng):
    first = rng.randrange(len(data))
    del data[first : first + rng.choice([1, 8, 50, 1000])]


def noise(data, rng):
    at = rng.randrange(len(data))
    size = rng.choice([4, 30, 500])
    data[at : at + size] = rng.randbytes(len(data[at : at + size]))


MUTATIONS = [flipped, cut, swapped, absurd, not_a_number, blank, doubled, dropped, noise]


def damaged(content, rng):
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if data:
            rng.choice(MUTATIONS)(data, rng)
    return bytes(data)
