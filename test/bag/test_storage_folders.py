# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Folders of bags: metadata.yaml or not, splits, compression, and files that are no bags."""

import random
import resource
import tempfile
from pathlib import Path

import bags
import pytest
from bags import BEGIN, SECOND, Message, mcap, metadata, packed, read, some
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from harness_ros.bag.definitions import definition, typestore
from harness_ros.bag.storage import BagReadError, Storage
from harness_ros.bag.writing import BagWriter

STORE = typestore()
VERSIONS = {
    "humble": (5, 3),
    "iron": (8, 4),
    "jazzy": (9, 4),
    "galactic": (4, 2),
    "dashing": (2, 1),
}
"""Of metadata.yaml and of the SQLite schema."""
WRITERS = [
    (plugin, mode)
    for plugin in StoragePlugin
    for mode in CompressionMode
    # SQLite has no compression of its own.
    if (plugin, mode) != (StoragePlugin.SQLITE3, CompressionMode.STORAGE)
]


@pytest.fixture
def split(tmp_path):
    """split(suffix, version) -> messages and a folder with three files of them."""

    def make(suffix=".mcap", version=9, schema=4):
        messages = some(60)
        folder = tmp_path / "bag"
        folder.mkdir()
        files = [folder / f"bag_{number}{suffix}" for number in range(3)]
        for number, path in enumerate(files):
            part = messages[number * 20 : number * 20 + 20]
            if suffix == ".mcap":
                mcap(path, part)
            else:
                bags.sqlite(path, part, schema)
        metadata(folder, messages, [path.name for path in files], version)
        return messages, folder

    return make


def test_what_this_project_records_is_read_whole(tmp_path):
    messages = some(50)
    with BagWriter(tmp_path / "bag") as writer:
        for topic in ("/a", "/b"):
            writer.add_topic(topic, bags.STRING)
        for item in messages:
            writer.write(item.topic, item.log_ns, item.data)
    assert read(tmp_path / "bag") == (messages, [])


@pytest.mark.parametrize("version", [8, 9])
@pytest.mark.parametrize(("plugin", "mode"), WRITERS)
def test_what_rosbags_writes_is_read_whole(tmp_path, version, plugin, mode):
    messages = some(50)
    writer = Writer(tmp_path / "bag", version=version, storage_plugin=plugin)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        connections = {
            topic: writer.add_connection(
                topic,
                bags.STRING,
                msgdef=definition(STORE, bags.STRING),
                rihs01=STORE.hash_rihs01(bags.STRING),
            )
            for topic in ("/a", "/b")
        }
        for item in messages:
            writer.write(connections[item.topic], item.log_ns, item.data)
    assert read(tmp_path / "bag") == (messages, [])
    (tmp_path / "bag" / "metadata.yaml").unlink()
    found, (problem,) = read(tmp_path / "bag")
    assert found == messages
    assert "no metadata.yaml" in problem


@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
@pytest.mark.parametrize("distribution", VERSIONS)
def test_folders_of_each_distribution_are_read_whole(split, suffix, distribution):
    version, schema = VERSIONS[distribution]
    messages, folder = split(suffix, version, schema)
    assert read(folder) == (messages, [])
    assert read(folder / "metadata.yaml") == (messages, [])
    assert read(folder / f"bag_1{suffix}") == (messages[20:40], [])


# metadata.yaml


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"\xff\xfe\x00", "not used"),
        (b"a: [1, 2", "not used"),
        (b"[" * 5000, "not used"),
        (b"just text", "it has no key rosbag2_bagfile_information"),
        (b"rosbag2_bagfile_information: 3", "it has no key"),
        (b"rosbag2_bagfile_information: {relative_file_paths: [1]}", "no list of names"),
        (b"rosbag2_bagfile_information: {version: 99}", "no list of names"),
        (b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "it has no key"),
        (b"!!python/object/apply:os.system ['true']", "not used"),
    ],
)
def test_metadata_that_says_nothing_is_said_and_the_files_are_read(split, content, said):
    messages, folder = split()
    (folder / "metadata.yaml").write_bytes(content)
    found, (problem,) = read(folder)
    assert found == messages
    assert problem.startswith(f"{folder / 'metadata.yaml'}: ")
    assert said in problem
    assert "the files were read without" in problem


def test_files_that_metadata_names_and_that_are_not_there_are_named(split):
    messages, folder = split()
    (folder / "bag_1.mcap").unlink()
    found, problems = read(folder)
    assert found == messages[:20] + messages[40:]
    assert f"{folder / 'metadata.yaml'}: names files that are not there: bag_1.mcap" in problems


def test_files_that_metadata_does_not_name_are_read_and_named(split):
    messages, folder = split()
    metadata(folder, messages[:20], ["bag_0.mcap"])
    found, problems = read(folder)
    assert found == messages
    path = folder / "metadata.yaml"
    assert f"{path}: does not name bag_1.mcap, bag_2.mcap: read as well" in problems
    assert f"{path}: counts 20 messages, the files have 60" in problems


@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
def test_wrong_counts_in_metadata_are_said(split, suffix):
    messages, folder = split(suffix)
    metadata(folder, messages, [f"bag_{n}{suffix}" for n in range(3)], message_count=7)
    found, problems = read(folder)
    assert found == messages
    assert problems == [f"{folder / 'metadata.yaml'}: counts 7 messages, the files have 60"]


def test_numbers_of_messages_that_are_not_consecutive_are_no_wrong_count(tmp_path):
    folder = tmp_path / "bag"
    folder.mkdir()
    messages = some(20)
    path = bags.sqlite(folder / "bag.db3", messages)
    database = bags.sqlite3.connect(path)
    database.execute("DELETE FROM messages WHERE id BETWEEN 5 AND 8")
    database.commit()
    database.close()
    left = messages[:4] + messages[8:]
    metadata(folder, left, ["bag.db3"])
    assert read(folder) == (left, [])


# Splits


def test_files_are_ordered_by_their_first_message_whatever_their_names(tmp_path):
    folder = tmp_path / "bag"
    folder.mkdir()
    messages = some(60)
    for name, begin in [("b_0", 40), ("b_10", 0), ("b_2", 20)]:
        mcap(folder / f"{name}.mcap", messages[begin : begin + 20])
    metadata(folder, messages, ["b_0.mcap", "b_2.mcap", "b_10.mcap"])
    assert read(folder) == (messages, [])


def test_ties_between_files_are_stable(tmp_path):
    folder = tmp_path / "bag"
    folder.mkdir()
    parts = [
        [Message("/a", BEGIN + n * SECOND, bags.string(f"{name} {n}")) for n in range(5)]
        for name in ("two", "ten", "early")
    ]
    parts[2].insert(0, Message("/a", BEGIN - 1, bags.string("first")))
    for name, part in zip(["b_2", "b_10", "b_11"], parts, strict=True):
        mcap(folder / f"{name}.mcap", part)
    found, _ = read(folder)
    # The file with the first message of all, then by the numbers in their names.
    tied = [bags.string(f"{name} {n}") for n in range(5) for name in ("early", "two", "ten")]
    assert [item.data for item in found] == [bags.string("first"), *tied]


def test_files_that_overlap_and_files_of_both_formats_are_one_bag(tmp_path):
    folder = tmp_path / "bag"
    folder.mkdir()
    messages = some(60)
    mcap(folder / "a.mcap", messages[::2])
    bags.sqlite(folder / "b.db3", messages[1::2])
    found, _ = read(folder)
    assert found == messages


def test_a_bag_may_have_more_files_than_a_process_may_open(tmp_path):
    folder = tmp_path / "bag"
    folder.mkdir()
    messages = some(80)
    for number in range(80):
        mcap(folder / f"bag_{number}.mcap", messages[number : number + 1])
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (60, limits[1]))
    try:
        found, _ = read(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert found == messages


def test_a_topic_of_two_types_has_the_first_and_the_second_is_said(tmp_path):
    folder = tmp_path / "bag"
    folder.mkdir()
    messages = some(10)
    other = [Message("/a", BEGIN + SECOND * 9, b"\0\1\0\0", "std_msgs/msg/Empty")]
    mcap(folder / "a.mcap", messages)
    mcap(folder / "b.mcap", other)
    found, problems = read(folder)
    assert found == messages
    said = "topic /a is std_msgs/msg/Empty here, std_msgs/msg/String before: left out"
    assert f"{folder / 'b.mcap'}: {said}" in problems


# Files that cannot be read


@pytest.mark.parametrize("content", [b"", b"\x89MCAP0\r\n", b"SQLite format 3\0" + bytes(3000)])
def test_a_file_that_cannot_be_read_never_stops_the_rest(split, content):
    messages, folder = split()
    (folder / "bag_1.mcap").write_bytes(content)
    found, problems = read(folder)
    assert found == messages[:20] + messages[40:]
    assert any(
        text.startswith(f"{folder / 'bag_1.mcap'}: ") and text.endswith(": left out")
        for text in problems
    )


def test_a_bag_of_which_no_file_can_be_read_is_an_error_that_names_each(split):
    _, folder = split()
    for number in range(3):
        (folder / f"bag_{number}.mcap").write_bytes(b"")
    with pytest.raises(BagReadError) as caught:
        Storage(folder)
    for number in range(3):
        assert f"{folder / f'bag_{number}.mcap'}: cannot be read as a bag" in str(caught.value)


@pytest.mark.parametrize("name", ["bag.mcap", "bag.db3", "bag.mcap.zstd"])
def test_an_empty_file_is_an_error_that_says_so(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(BagReadError, match=r"it is empty \(0 bytes\)"):
        Storage(tmp_path / name)


@pytest.mark.parametrize("name", ["old.bag", "old", "old.mcap"])
def test_a_bag_of_ros_1_is_an_error_that_says_how_to_convert_it(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"#ROSBAG V2.0\n" + bytes(100))
    with pytest.raises(BagReadError, match=f"rosbags-convert --src {path} --dst {tmp_path}/old"):
        Storage(path)


def test_a_folder_with_a_bag_of_ros_1_says_the_same(tmp_path):
    (tmp_path / "old.bag").write_bytes(b"#ROSBAG V2.0\n")
    with pytest.raises(BagReadError, match="rosbags-convert --src"):
        Storage(tmp_path)


def test_a_folder_of_bags_names_them(split):
    _, folder = split()
    with pytest.raises(BagReadError, match="bags are in its folders bag"):
        Storage(folder.parent)


def test_a_folder_with_metadata_alone_says_so(split):
    _, folder = split()
    for path in folder.glob("*.mcap"):
        path.unlink()
    with pytest.raises(BagReadError, match=r"no bag; .*, the metadata\.yaml alone"):
        Storage(folder)


@pytest.mark.parametrize(("made", "name"), [("mcap", "bag.db3"), ("sqlite", "bag.mcap")])
def test_content_counts_and_not_the_suffix(tmp_path, made, name):
    messages = some(20)
    assert read(getattr(bags, made)(tmp_path / name, messages)) == (messages, [])


# Compression


@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
def test_files_that_are_compressed_as_a_whole_are_read_and_leave_nothing(split, suffix):
    messages, folder = split(suffix)
    files = [packed(folder / f"bag_{n}{suffix}").name for n in range(3)]
    mode = {"compression_format": "zstd", "compression_mode": "FILE"}
    metadata(folder, messages, files, **mode)
    told = []
    with Storage(folder, progress=lambda *given: told.append(given)) as storage:
        assert len(list(storage.messages(["/a", "/b"]))) == 60
        assert storage.problems == []
        temporary = storage._temporary
        assert len(list(temporary.iterdir())) == 3
    assert not temporary.exists()
    assert told[-1][0] == told[-1][1] == (folder / files[2]).stat().st_size
    assert read(folder / files[0]) == (messages[:20], [])


def test_a_damaged_compressed_file_is_named_as_it_is_in_the_bag(split):
    _, folder = split()
    files = [packed(folder / f"bag_{n}.mcap") for n in range(3)]
    whole = files[1].read_bytes()
    files[1].write_bytes(whole[: len(whole) // 2])
    _, problems = read(folder)
    assert any(text.startswith(f"{files[1]}: cut off or damaged at byte") for text in problems)
    assert not any("harness_ros_bag_" in text for text in problems)


def test_what_can_be_decompressed_of_a_cut_file_is_read(tmp_path):
    messages = [
        item._replace(data=b"\0\1\0\0" + random.Random(number).randbytes(50_000))
        for number, item in enumerate(some(60))
    ]
    path = packed(mcap(tmp_path / "a.mcap", messages, compression=""))
    path.write_bytes(path.read_bytes()[:1_500_000])
    found, problems = read(path)
    assert 20 < len(found) < 40
    assert found == messages[: len(found)]
    assert "cut off or damaged at byte" in problems[0]
    assert "cut off at byte" in problems[1]


def test_the_uncompressed_of_two_is_read_once(split):
    messages, folder = split()
    content = (folder / "bag_1.mcap").read_bytes()
    packed(folder / "bag_1.mcap").write_bytes(b"half")
    (folder / "bag_1.mcap").write_bytes(content)
    found, problems = read(folder)
    assert found == messages
    assert problems == [f"{folder}: bag_1.mcap.zstd is there uncompressed as well, which was read"]


def test_a_full_disk_is_an_error_that_says_what_to_do(tmp_path):
    messages = [item._replace(data=b"\0\1\0\0" + bytes(300_000)) for item in some(20)]
    path = packed(mcap(tmp_path / "a.mcap", messages, compression=""))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = set(Path(tempfile.gettempdir()).glob("harness_ros_bag_*"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    try:
        with pytest.raises(BagReadError, match="set TMPDIR to a folder with more room") as caught:
            Storage(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert str(caught.value).startswith(f"{path}: cannot be decompressed into ")
    assert set(Path(tempfile.gettempdir()).glob("harness_ros_bag_*")) <= before


def test_a_file_that_announces_more_than_the_disk_has_is_not_begun(tmp_path):
    path = tmp_path / "a.mcap.zstd"
    # A frame header that announces an exabyte.
    path.write_bytes(b"\x28\xb5\x2f\xfd\xe0" + (1 << 60).to_bytes(8, "little") + bytes(100))
    with pytest.raises(BagReadError, match=r"is full: decompressing needs \d+ MiB"):
        Storage(path)


@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
@pytest.mark.parametrize("known", [True, False])
def test_messages_that_are_compressed_one_by_one_are_read(tmp_path, suffix, known):
    folder = tmp_path / "bag"
    folder.mkdir()
    messages = some(20)
    stored = [item._replace(data=bags.zstd.compress(item.data)) for item in messages]
    stored[7] = stored[7]._replace(data=stored[7].data[:-4])
    stored[8] = stored[8]._replace(data=bags.zstd.compress(bytes(10)) * 3000)
    make = mcap if suffix == ".mcap" else bags.sqlite
    make(folder / f"bag{suffix}", stored)
    if known:
        mode = {"compression_format": "zstd", "compression_mode": "MESSAGE"}
        metadata(folder, messages, [f"bag{suffix}"], **mode)
    found, problems = read(folder)
    left = [item for number, item in enumerate(messages) if number != 7]
    assert [item for item in found if item.data != found[7].data] == left[:7] + left[8:]
    said = [text for text in problems if "cannot be decompressed" in text]
    assert said[0].startswith(f"{folder}: topic /b: the message recorded at 1700000000.700000000 s")
