# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Definitions of message types: from the bag, from folders, the standard ones."""

import bags
import pytest
from bags import BEGIN, Message, mcap, some

from harness_ros.bag.storage import BagReadError, Storage

GRIP = "acme_msgs/msg/Grip"
WIDTH = "float64 width\n"
IDL = """module acme_msgs {
  module msg {
    struct Grip {
      double width;
    };
  };
};
"""
SEPARATOR = "=" * 80 + "\n"


def a_bag(tmp_path, message_type=GRIP, text="", encoding="ros2msg"):
    messages = [Message("/grip", BEGIN, b"\0\1\0\0" + bytes(8), message_type), *some(4)]
    definitions = {message_type: text, bags.STRING: "string data\n"}
    # One encoding for all: strings are left to the standard definitions.
    if encoding != "ros2msg":
        definitions[bags.STRING] = ""
    return mcap(tmp_path / "a.mcap", messages, definitions=definitions, schema_encoding=encoding)


def fields(storage, message_type=GRIP, topic="/grip"):
    return [name for name, _ in storage.typestore([topic]).fielddefs[message_type][1]]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("ros2msg", WIDTH),
        ("ros2idl", IDL),
        ("omgidl", IDL),
        ("ros2idl", f"{SEPARATOR}IDL: acme_msgs/msg/Grip\n{IDL}"),
    ],
)
def test_the_definition_of_the_bag_counts(tmp_path, encoding, text):
    with Storage(a_bag(tmp_path, text=text, encoding=encoding)) as storage:
        assert fields(storage) == ["width"]
        store = storage.typestore(["/grip"])
        (message,) = storage.messages(["/grip"])
        assert store.deserialize_cdr(message.data, GRIP).width == 0.0
        assert storage.problems == []


def test_an_empty_constant_as_rosbags_writes_it_is_read(tmp_path):
    with Storage(a_bag(tmp_path, text=f"string KIND_NONE=\n{WIDTH}")) as storage:
        assert fields(storage) == ["width"]
        assert storage.problems == []


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_standard_types_are_known_where_the_bag_defines_nothing(tmp_path, version):
    with Storage(bags.sqlite(tmp_path / "a.db3", some(4), version)) as storage:
        store = storage.typestore(["/a"])
        message = next(storage.messages(["/a"]))
        assert store.deserialize_cdr(message.data, message.type).data == "number 0"


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_definition_is_as_none(tmp_path, text):
    messages = some(4)
    path = mcap(tmp_path / "a.mcap", messages, definitions={bags.STRING: text})
    with Storage(path) as storage:
        assert fields(storage, bags.STRING, "/a") == ["data"]
        assert storage.problems == []


@pytest.mark.parametrize(
    "place", ["share/acme_msgs/msg", "acme_msgs/msg", "", "src/deep/acme_msgs/msg"]
)
def test_folders_are_looked_in_for_what_the_bag_does_not_define(tmp_path, place):
    folder = tmp_path / "definitions" / place
    folder.mkdir(parents=True)
    (folder / "Grip.msg").write_text("float64 width\nFinger[] fingers\nstd_msgs/Header header\n")
    (folder / "Finger.msg").write_text("float32 force\n")
    with Storage(a_bag(tmp_path), [tmp_path / "definitions"]) as storage:
        store = storage.typestore(["/grip"])
        assert fields(storage) == ["width", "fingers", "header"]
        assert "acme_msgs/msg/Finger" in store.fielddefs
        assert "std_msgs/msg/Header" in store.fielddefs
        assert storage.problems == []


@pytest.mark.parametrize("inside", ["acme_msgs", "acme_msgs/msg"])
def test_the_folder_of_a_package_or_of_its_messages_will_do(tmp_path, inside):
    folder = tmp_path / "acme_msgs" / "msg"
    folder.mkdir(parents=True)
    (folder / "Grip.msg").write_text(WIDTH)
    with Storage(a_bag(tmp_path), [tmp_path / inside]) as storage:
        assert fields(storage) == ["width"]


def test_of_several_folders_the_first_counts_and_another_package_never(tmp_path):
    for number, package in enumerate(["other_msgs", "acme_msgs", "acme_msgs"]):
        folder = tmp_path / str(number) / package / "msg"
        folder.mkdir(parents=True)
        (folder / "Grip.msg").write_text(f"float64 field_{number}\n")
    folders = [tmp_path / str(number) for number in range(3)]
    with Storage(a_bag(tmp_path), folders) as storage:
        assert fields(storage) == ["field_1"]


def test_the_bag_counts_more_than_folders_and_these_more_than_the_standard(tmp_path):
    folder = tmp_path / "definitions"
    for name, text in [("acme_msgs/msg/Grip", "bool other\n"), ("std_msgs/msg/Empty", "bool x\n")]:
        path = folder / f"{name}.msg"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (tmp_path / "b").mkdir()
    with Storage(a_bag(tmp_path, text=WIDTH), [folder]) as storage:
        assert fields(storage) == ["width"]
    path = a_bag(tmp_path / "b", "std_msgs/msg/Empty")
    with Storage(path, [folder]) as storage:
        assert fields(storage, "std_msgs/msg/Empty") == ["x"]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("ros2msg", "float64 = = 3"),
        ("ros2idl", "module {"),
        ("ros2idl", IDL.replace("Grip", "Other")),
        ("protobuf", "message"),
        ("ros2msg", f"{WIDTH}{SEPARATOR}MSG: acme_msgs/x y\nbool a\n"),
        ("ros2msg", "bool a\n" * 200_000),
    ],
)
def test_a_definition_that_cannot_be_read_is_said_and_another_is_found(tmp_path, encoding, text):
    folder = tmp_path / "acme_msgs" / "msg"
    folder.mkdir(parents=True)
    (folder / "Grip.msg").write_text(WIDTH)
    path = a_bag(tmp_path, text=text, encoding=encoding)
    with Storage(path, [tmp_path]) as storage:
        assert fields(storage) == ["width"]
        (problem,) = storage.problems
        assert problem.startswith(f"{path}: its definition of {GRIP} cannot be read (")


def test_a_broken_file_in_a_folder_is_named(tmp_path):
    (tmp_path / "Grip.msg").write_text("float64 = = 3")
    with Storage(a_bag(tmp_path), [tmp_path]) as storage:
        assert GRIP not in storage.typestore(["/grip"]).fielddefs
        assert storage.problems[0].startswith(f"{tmp_path / 'Grip.msg'}: no message definition")


def test_a_type_that_nobody_knows_stops_no_other(tmp_path):
    with Storage(a_bag(tmp_path)) as storage:
        store = storage.typestore(["/grip", "/a"])
        assert GRIP not in store.fielddefs
        assert bags.STRING in store.fielddefs


def test_a_definition_without_its_parts_is_completed(tmp_path):
    with Storage(a_bag(tmp_path, text="geometry_msgs/PoseStamped pose\n")) as storage:
        store = storage.typestore(["/grip"])
        assert "builtin_interfaces/msg/Time" in store.fielddefs
        assert storage.problems == []


def test_two_definitions_of_a_type_are_said_and_the_first_counts(tmp_path):
    folder = tmp_path / "bag"
    folder.mkdir()
    for number, text in enumerate([WIDTH, "float32 width\n"]):
        messages = [Message(f"/grip{number}", BEGIN + number, b"\0\1\0\0" + bytes(8), GRIP)]
        mcap(folder / f"{number}.mcap", messages, definitions={GRIP: text})
    with Storage(folder) as storage:
        store = storage.typestore(["/grip0", "/grip1"])
        assert store.fielddefs[GRIP][1][0][1][1][0] == "float64"
        said = f"has another definition of {GRIP} than before: the first counts"
        assert f"{folder / '1.mcap'}: {said}" in storage.problems


@pytest.mark.parametrize("text", ["uint8 class\nuint8 def\nuint8 None\n", "uint8 __init__\n"])
def test_names_of_fields_that_python_has_for_itself_stop_nothing(tmp_path, text):
    with Storage(a_bag(tmp_path, text=text)) as storage:
        storage.typestore(["/grip", "/a"])
        assert bags.STRING in storage.typestore(["/a"]).fielddefs


def test_a_folder_that_is_none_is_an_error(tmp_path):
    with pytest.raises(BagReadError, match="nothing: no folder with message definitions"):
        Storage(a_bag(tmp_path), [tmp_path / "nothing"])
