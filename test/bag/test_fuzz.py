# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags that nobody recorded: whatever is in them, they are read, or an error says why not.

`python test/bag/test_fuzz.py SECONDS [SEED]` goes on for longer, with fresh seeds.
"""

import random
import struct
import sys
import tempfile
import time
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

import bags
from bags import BEGIN, Mcap, Message, mcap, metadata, packed, some
from damage import ABSURD, blank, cut, damaged, flipped, noise

from harness_ros.bag.storage import BagReadError, Storage

MESSAGES = [*some(30), Message("/odd", BEGIN + 5, b"\0\1\0\0", "acme_msgs/msg/Grip")]
MESSAGES.sort(key=lambda item: item.log_ns)
DEFINITIONS = {**bags.DEFINITIONS, "acme_msgs/msg/Grip": "float64[] width\nstd_msgs/Header h\n"}
MAKERS = {
    "zstd": lambda path: mcap(path, MESSAGES, definitions=DEFINITIONS),
    "lz4": lambda path: mcap(path, MESSAGES, compression="lz4", definitions=DEFINITIONS),
    "plain": lambda path: mcap(path, MESSAGES, compression="", crc=False, definitions=DEFINITIONS),
    "unchunked": lambda path: mcap(path, MESSAGES, per_chunk=0, definitions=DEFINITIONS),
    "unindexed": lambda path: mcap(path, MESSAGES, summary=False, definitions=DEFINITIONS),
    "sqlite": lambda path: bags.sqlite(path, MESSAGES),
    "old sqlite": lambda path: bags.sqlite(path, MESSAGES, version=2),
    "packed": lambda path: packed(mcap(path, MESSAGES, compression="")),
}


def check(path):
    """Reads a bag in every way; what was read, or None, and what was said."""
    try:
        storage = Storage(path)
    except BagReadError as error:
        assert str(path) in str(error)
        return None, [str(error)]
    with storage:
        found = list(storage.messages(list(storage.types)))
        times = [item.log_time_ns for item in found]
        assert times == sorted(times)
        window = list(storage.messages(list(storage.types)[:1], BEGIN + 10, BEGIN + 10**9))
        assert all(BEGIN + 10 <= item.log_time_ns < BEGIN + 10**9 for item in window)
        storage.typestore(list(storage.types))
        assert all(str(path.parent) in text for text in storage.problems)
        return found, storage.problems


def one(folder, kind, content, seed):
    path = folder / ("a.mcap.zstd" if kind == "packed" else "a.mcap")
    data = damaged(content, random.Random(f"{kind} {seed}"))
    path.write_bytes(data)
    return check(path)


def content_of(folder, kind):
    path = MAKERS[kind](folder / "a.mcap")
    content = path.read_bytes()
    path.unlink()
    return content


@pytest.mark.parametrize("kind", MAKERS)
def test_a_damaged_file_is_read_or_an_error_that_names_it(tmp_path, kind):
    content = content_of(tmp_path, kind)
    outcomes = [one(tmp_path, kind, content, seed) for seed in range(150)]
    # The damage is neither always fatal nor never felt.
    assert any(found for found, _ in outcomes)
    assert any(problems for _, problems in outcomes)


@pytest.mark.parametrize("kind", ["zstd", "lz4"])
def test_with_checksums_nothing_is_lost_or_changed_without_a_word(tmp_path, kind):
    content = content_of(tmp_path, kind)
    for seed in range(200):
        rng = random.Random(seed)
        data = bytearray(content)
        rng.choice([flipped, cut, blank, noise])(data, rng)
        (tmp_path / "a.mcap").write_bytes(data)
        found, problems = check(tmp_path / "a.mcap")
        given = [(item.topic, item.log_ns, item.data) for item in MESSAGES]
        if found is None or [(item.topic, item.log_time_ns, item.data) for item in found] != given:
            assert problems, seed


def test_records_in_any_order_with_any_length_are_read_or_an_error(tmp_path):
    made = Mcap(MESSAGES, compression="", crc=False, definitions=DEFINITIONS)
    parts = [*made.schemas.values(), *made.channels.values(), *made.data, *made.summary]
    for seed in range(150):
        rng = random.Random(seed)
        picked = [bytearray(rng.choice(parts)) for _ in range(rng.randrange(40))]
        for part in picked:
            if rng.random() < 0.2:
                part[1:9] = rng.choice(ABSURD).to_bytes(8, "little")
            if rng.random() < 0.1:
                part[0] = rng.randrange(256)
        data = made.head + b"".join(picked)
        start = rng.choice([0, len(made.head), rng.randrange(len(data) + 1), *ABSURD])
        footer = struct.pack("<QQI", start & ((1 << 64) - 1), 0, 0)
        (tmp_path / "a.mcap").write_bytes(data + bags.record(bags.FOOTER, footer) + bags.MAGIC)
        check(tmp_path / "a.mcap")


def test_any_metadata_leaves_the_files_to_be_read(tmp_path):
    folder = tmp_path / "bag"
    folder.mkdir()
    mcap(folder / "a.mcap", MESSAGES)
    content = metadata(folder, MESSAGES, ["a.mcap"]).read_bytes()
    for seed in range(60):
        (folder / "metadata.yaml").write_bytes(damaged(content, random.Random(seed)))
        found, _ = check(folder)
        assert len(found) == len(MESSAGES)


def test_any_definition_leaves_the_other_types_to_be_used(tmp_path):
    text = bags.STRING and "std_msgs/Header h\nfloat64[3] x\nuint8 A=3\nstring<=5 s 'd'\n"
    for seed in range(60):
        rng = random.Random(seed)
        broken = damaged(text.encode(), rng)
        definitions = {**DEFINITIONS, "acme_msgs/msg/Grip": broken}
        path = mcap(
            tmp_path / "a.mcap",
            MESSAGES,
            definitions=definitions,
            schema_encoding=rng.choice(["ros2msg", "ros2msg", "ros2idl", "x"]),
        )
        with Storage(path) as storage:
            assert bags.STRING in storage.typestore(["/odd", "/a"]).fielddefs


def go_on(seconds, seed):
    """Runs with fresh seeds and reports the slowest bag."""
    end = time.monotonic() + seconds
    slowest, count = (0.0, "", 0), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        contents = {kind: content_of(folder, kind) for kind in MAKERS}
        while time.monotonic() < end:
            for kind, content in contents.items():
                begin = time.process_time()
                try:
                    one(folder, kind, content, seed)
                except BaseException:
                    print(f"failed: {kind}, seed {seed}")
                    raise
                slowest = max(slowest, (time.process_time() - begin, kind, seed))
                count += 1
            seed += 1
    print(f"{count} bags, last seed {seed}, slowest {slowest[0]:.3f} s ({slowest[1:]})")


if __name__ == "__main__":
    go_on(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns())
