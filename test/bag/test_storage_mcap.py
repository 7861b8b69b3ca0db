# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""MCAP files: every layout, without an index, cut off, damaged, and how much of them is read."""

import random
import struct
import tracemalloc
from pathlib import Path

import bags
import pytest
from bags import BEGIN, SECOND, Mcap, Message, mcap, read, some

from harness_ros.bag.storage import BagReadError, Storage, mcap_blocks

LAYOUTS = {
    "zstd": {},
    "lz4": {"compression": "lz4"},
    "uncompressed": {"compression": ""},
    "fastwrite": {"per_chunk": 0},
    "one chunk": {"per_chunk": 1000},
    "a chunk each": {"per_chunk": 1},
    "without checksums": {"crc": False},
    "without message indexes": {"message_index": False},
    "without topics in the summary": {"repeated": False},
    "with chunk indexes alone": {"repeated": False, "message_index": False, "statistics": False},
    "without statistics": {"statistics": False},
    "without a profile": {"profile": ""},
    "with metadata": {"metadata": "version: 9"},
}
UNINDEXED = {
    "no summary": {"summary": False},
    "no summary and no chunks": {"summary": False, "per_chunk": 0},
    "no summary and no message indexes": {"summary": False, "message_index": False},
    "no summary, lz4": {"summary": False, "compression": "lz4"},
}


def spoil(path, at, data):
    """Overwrites bytes of a file."""
    content = bytearray(path.read_bytes())
    content[at : at + len(data)] = data
    path.write_bytes(content)
    return path


# Layouts


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_read_whole_and_nothing_is_said(tmp_path, layout):
    messages = some()
    assert read(mcap(tmp_path / "a.mcap", messages, **LAYOUTS[layout])) == (messages, [])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_index_that_lacks_all_its_chunks_is_completed(tmp_path, layout):
    messages = some()
    path = mcap(tmp_path / "a.mcap", messages, **{**LAYOUTS[layout], "chunk_index": False})
    found, problems = read(path)
    assert found == messages
    if LAYOUTS[layout].get("per_chunk") != 0:
        assert "its index lacks" in problems[0] or "it has no index" in problems[0]


@pytest.mark.parametrize("layout", UNINDEXED)
def test_a_file_without_an_index_is_read_through_and_said(tmp_path, layout):
    messages = some()
    path = mcap(tmp_path / "a.mcap", messages, **UNINDEXED[layout])
    assert read(path) == (messages, [f"{path}: it has no index: the file was read through once"])


def test_a_file_without_an_index_is_read_through_once_with_progress(tmp_path):
    messages = some(30, step=SECOND)
    messages = [item._replace(data=b"\0\1\0\0" + bytes(3_000_000)) for item in messages]
    path = mcap(tmp_path / "a.mcap", messages, summary=False, compression="")
    told = []
    with Storage(path, progress=lambda *given: told.append(given)) as storage:
        done = [item for item, _ in told]
        assert len(done) > 3
        assert done[-1] == path.stat().st_size
        assert done == sorted(done)
        assert {total for _, total in told} == {path.stat().st_size}
        before = len(told)
        list(storage.messages(["/a"]))
        list(storage.messages(["/b"], BEGIN, BEGIN + SECOND))
        assert len(told) == before


def test_of_a_file_without_an_index_places_alone_are_kept(tmp_path):
    messages = [item._replace(data=b"\0\1\0\0" + bytes(400_000)) for item in some(50)]
    path = mcap(tmp_path / "a.mcap", messages, summary=False, per_chunk=0)
    tracemalloc.start()
    with Storage(path) as storage:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert set(storage.types) == {"/a", "/b"}
    assert path.stat().st_size > 19e6
    assert peak < 2e6


def test_a_bag_without_messages_has_its_topics(tmp_path):
    made = Mcap(some(2))
    made.data, made.index = [bags.record(bags.DATA_END, bytes(4))], []
    made.summary = [*made.schemas.values(), *made.channels.values()]
    path = made.write(tmp_path / "a.mcap")
    with Storage(path) as storage:
        assert storage.types == {"/a": bags.STRING, "/b": bags.STRING}
        assert list(storage.messages(["/a", "/b"])) == []
        assert storage.problems == []


def test_an_empty_bag_is_a_bag(tmp_path):
    assert read(mcap(tmp_path / "a.mcap", [])) == ([], [])


# Order and windows


@pytest.mark.parametrize("layout", LAYOUTS)
def test_messages_come_in_the_order_of_recording_and_ties_in_that_of_the_file(tmp_path, layout):
    rng = random.Random(5)
    messages = [item._replace(log_ns=BEGIN + rng.randrange(12)) for item in some(60)]
    found, _ = read(mcap(tmp_path / "a.mcap", messages, **LAYOUTS[layout]))
    assert found == sorted(messages, key=lambda item: item.log_ns)


@pytest.mark.parametrize("layout", {**LAYOUTS, **UNINDEXED})
def test_a_window_has_its_begin_and_not_its_end(tmp_path, layout):
    messages = some(60)
    path = mcap(tmp_path / "a.mcap", messages, **{**LAYOUTS, **UNINDEXED}[layout])
    for first, last in [(0, 60), (7, 8), (13, 41), (59, 60), (20, 20)]:
        start_ns = BEGIN + first * SECOND // 10
        stop_ns = BEGIN + last * SECOND // 10
        assert read(path, None, start_ns, stop_ns)[0] == messages[first:last]
    assert read(path, ["/b"], BEGIN + 1, None)[0] == messages[1::2]
    assert read(path, ["/nothing"])[0] == []


def test_only_chunks_that_overlap_and_hold_the_topic_are_touched(tmp_path):
    messages = some(100, topics=["/a"]) + some(10, topics=["/b"], begin=BEGIN + 4 * SECOND)
    messages.sort(key=lambda item: item.log_ns)
    made = Mcap(messages)
    path = made.write(tmp_path / "a.mcap")
    # Chunks that would be told of if they were read.
    for at, length in made.chunks:
        touched = at + 9
        part = path.read_bytes()[touched : touched + 16]
        start_ns, end_ns = struct.unpack("<QQ", part)
        if not (start_ns < BEGIN + 5 * SECOND and end_ns >= BEGIN + 4 * SECOND):
            spoil(path, at + 60, bytes(length - 60))
    window = (BEGIN + 4 * SECOND, BEGIN + 5 * SECOND)
    found, problems = read(path, ["/a", "/b"], *window)
    assert found == [item for item in messages if window[0] <= item.log_ns < window[1]]
    assert read(path, ["/b"]) == ([item for item in messages if item.topic == "/b"], [])
    assert problems == []


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="needs the counters of Linux")
def test_opening_reads_the_index_alone_and_a_rare_topic_its_chunks(tmp_path):
    big = b"\0\1\0\0" + bytes(500_000)
    messages = [Message("/camera", BEGIN + number * SECOND, big) for number in range(100)]
    messages.insert(50, Message("/runs", messages[50].log_ns, bags.string("run")))
    made = Mcap(messages, per_chunk=1, compression="")
    path = made.write(tmp_path / "a.mcap")

    def bytes_read():
        lines = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
        return int(lines["rchar"])

    before = bytes_read()
    with Storage(path) as storage:
        assert bytes_read() - before < 200_000
        assert len(list(storage.messages(["/runs"]))) == 1
        assert bytes_read() - before < 1_000_000


def test_chunks_that_all_overlap_are_read_in_order_in_bounded_memory(tmp_path, monkeypatch):
    rng = random.Random(1)
    data = b"\0\1\0\0" + bytes(100_000)
    messages = [Message("/a", BEGIN + rng.randrange(10**6), data) for _ in range(200)]
    path = mcap(tmp_path / "a.mcap", messages, per_chunk=10)
    monkeypatch.setattr(mcap_blocks, "CACHE_BYTES", 3_000_000)
    tracemalloc.start()
    with Storage(path) as storage:
        times = [item.log_time_ns for item in storage.messages(["/a"])]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert times == sorted(item.log_ns for item in messages)
    assert peak < 8e6


# Crashes


def test_a_file_that_is_cut_off_says_where_and_up_to_which_stamp_it_was_read(tmp_path):
    messages = some()
    made = Mcap(messages, compression="")
    at, length = made.chunks[4]
    path = tmp_path / "a.mcap"
    path.write_bytes(made.bytes()[: at + length // 2])
    found, (problem,) = read(path)
    # Whole messages of the chunk that is cut are read too.
    assert messages[:20] <= found < messages[:25]
    last = found[-1].log_ns
    assert problem == (
        f"{path}: cut off at byte {at} of {at + length // 2}: messages up to stamp "
        f"{last // SECOND}.{last % SECOND:09d} s were read"
    )


@pytest.mark.parametrize("layout", ["zstd", "lz4", "uncompressed", "fastwrite"])
def test_a_file_cut_off_anywhere_gives_what_is_before_and_says_so(tmp_path, layout):
    messages = some(24)
    whole = Mcap(messages, **{"per_chunk": 4, **LAYOUTS[layout]}).bytes()
    path, most = tmp_path / "a.mcap", 0
    for size in range(1, len(whole), 5):
        path.write_bytes(whole[:size])
        try:
            found, problems = read(path)
        except BagReadError:
            assert most == 0
            continue
        assert found == messages[: len(found)]
        assert len(found) >= most
        assert problems
        most = len(found)
    assert most == len(messages)


def test_zeros_where_the_power_went_are_the_end(tmp_path):
    messages = some()
    made = Mcap(messages)
    at = made.chunks[5][0]
    path = tmp_path / "a.mcap"
    path.write_bytes(made.bytes()[:at] + bytes(5000))
    found, (problem,) = read(path)
    assert found == messages[:25]
    assert f"damaged at byte {at} of {at + 5000}" in problem


def test_a_cut_index_costs_no_message(tmp_path):
    messages = some()
    whole = Mcap(messages).bytes()
    path = tmp_path / "a.mcap"
    path.write_bytes(whole[:-60])
    assert read(path) == (
        messages,
        [f"{path}: its index is cut off: the file was read through once, nothing is lost"],
    )


# Damage


@pytest.mark.parametrize("layout", ["zstd", "lz4", "uncompressed"])
def test_a_chunk_whose_checksum_is_wrong_is_skipped_and_said(tmp_path, layout):
    messages = some()
    made = Mcap(messages, **LAYOUTS[layout])
    at, length = made.chunks[3]
    path = spoil(made.write(tmp_path / "a.mcap"), at + length - 8, b"damage")
    found, (problem,) = read(path)
    assert found == messages[:15] + messages[20:]
    assert problem.startswith(f"{path}: chunk at byte {at} is damaged")
    assert problem.endswith(": skipped")


def test_a_damaged_chunk_of_a_file_without_an_index_is_skipped_too(tmp_path):
    messages = some()
    made = Mcap(messages, summary=False, message_index=False)
    at, length = made.chunks[3]
    path = spoil(made.write(tmp_path / "a.mcap"), at + length - 8, b"damage")
    found, problems = read(path)
    assert found == messages[:15] + messages[20:]
    assert any(f"chunk at byte {at} is damaged" in text for text in problems)


def test_a_damaged_chunk_is_told_of_once(tmp_path):
    made = Mcap(some())
    at, length = made.chunks[3]
    path = spoil(made.write(tmp_path / "a.mcap"), at + length - 8, b"damage")
    with Storage(path) as storage:
        for _ in range(3):
            list(storage.messages(["/a"]))
        assert len(storage.problems) == 1


def test_an_index_with_a_wrong_checksum_is_not_used(tmp_path):
    messages = some()
    made = Mcap(messages)
    path = made.write(tmp_path / "a.mcap")
    spoil(path, path.stat().st_size - 200, b"\xff")
    found, (problem,) = read(path)
    assert found == messages
    assert "the checksum of its index is wrong: the file was read through once" in problem


def test_an_index_of_another_file_is_not_used(tmp_path):
    messages, other = some(), some(40, topics=["/other/topic", "/c"])
    made = Mcap(messages, crc=False)
    made.summary = Mcap(other, crc=False, per_chunk=3).summary
    found, (problem,) = read(made.write(tmp_path / "a.mcap"))
    assert found == messages
    assert "where none is" in problem or "outside the data" in problem


def test_a_damaged_header_is_lived_with_where_there_is_an_index(tmp_path):
    messages = some()
    path = spoil(mcap(tmp_path / "a.mcap", messages), 0, bytes(20))
    found, problems = read(path)
    assert found == messages
    assert any("does not begin as MCAP does" in text for text in problems)


def test_messages_of_a_channel_without_a_topic_are_left_out_and_said(tmp_path):
    messages = some()
    made = Mcap(messages)
    # Nowhere in the file is said what channel 2 is.
    nothing = bags.record(0x80, made.channels["/b"][9:])
    assert len(nothing) == len(made.channels["/b"])
    made = Mcap(messages, compression="", crc=False)
    data = made.bytes().replace(made.channels["/b"], nothing)
    path = tmp_path / "a.mcap"
    path.write_bytes(data)
    found, problems = read(path)
    assert found == messages[::2]
    assert problems == [f"{path}: channels [2] have no topic: their messages are left out"]


def test_a_topic_in_another_encoding_is_left_out_and_the_rest_is_read(tmp_path):
    messages = some()
    made = Mcap(messages)
    head = struct.pack("<HH", 2, 1)
    made.summary = [
        bags.record(bags.CHANNEL, head + bags.text("/b") + bags.text("json") + bags.text(b""))
        if item == made.channels["/b"]
        else item
        for item in made.summary
    ]
    path = made.write(tmp_path / "a.mcap")
    found, problems = read(path)
    assert found == messages[::2]
    assert problems == [f"{path}: topic /b is encoded as 'json', not as cdr: left out"]


@pytest.mark.parametrize("name", ["std_msgs/String", "std_msgs/msg/String"])
def test_type_names_are_the_same_with_and_without_msg(tmp_path, name):
    messages = [item._replace(type=name) for item in some()]
    with Storage(mcap(tmp_path / "a.mcap", messages)) as storage:
        assert storage.topics_of("std_msgs/msg/String") == ["/a", "/b"]
        assert {item.type for item in storage.messages(["/a"])} == {"std_msgs/msg/String"}


@pytest.mark.parametrize("name", ["", "String", "a/b/c/d", "os; import os", "std_msgs/msg/Str ing"])
def test_a_topic_whose_type_is_no_name_is_left_out_and_said(tmp_path, name):
    messages = some(20)
    odd = [item._replace(topic="/odd", type=name) for item in some(4)]
    found, (problem,) = read(mcap(tmp_path / "a.mcap", messages + odd))
    assert found == messages
    assert f"topic /odd has '{name}' for its type: left out" in problem


# Absurd numbers


def test_no_length_makes_it_take_memory_that_the_file_does_not_have(tmp_path):
    huge = 1 << 62
    made = Mcap(some(10))
    heads = {
        "chunk": struct.pack("<BQ", bags.CHUNK, huge) + bytes(100),
        "message": struct.pack("<BQ", bags.MESSAGE, huge) + bytes(100),
        "topic": struct.pack("<BQ", bags.CHANNEL, huge) + bytes(100),
        "name": bags.record(bags.CHANNEL, struct.pack("<HHI", 3, 1, 0xFFFFFFFF) + b"/a"),
        "bomb": bags.chunk_of(bytes(3_000_000), BEGIN, BEGIN, "zstd", size=1 << 40),
        "short bomb": bags.chunk_of(bytes(30_000_000), BEGIN, BEGIN, "zstd", size=10),
        "lz4 bomb": bags.chunk_of(bytes(30_000_000), BEGIN, BEGIN, "lz4", size=10),
        "compression": bags.chunk_of(b"x", BEGIN, BEGIN, "rar"),
    }
    path = tmp_path / "a.mcap"
    for name, data in heads.items():
        path.write_bytes(made.head + b"".join(made.data[:2]) + data + b"".join(made.data[2:]))
        tracemalloc.start()
        found, problems = read(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert [item.data for item in found] == [item.data for item in some(10)], name
        assert problems, name
        assert peak < 5e6, name


def test_stamps_at_the_edges_of_what_numbers_hold_are_read(tmp_path):
    times = [0, 0, 1, 1 << 62, (1 << 64) - 1]
    messages = [Message("/a", time, bags.string(str(n))) for n, time in enumerate(times)]
    path = mcap(tmp_path / "a.mcap", messages, per_chunk=2)
    assert read(path) == (messages, [])
    assert read(path, None, 1, 1 << 62)[0] == messages[2:3]
