# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Message types of packages that are installed and not standard."""

import os

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from harness_ros.capture.decoding import DecodeError, Decoder, signal
from harness_ros.capture.definitions import DefinitionError, Definitions
from harness_ros.capture.fields import FieldError, check
from harness_ros.capture.sample import Sample, header_stamp
from harness_ros.config import SignalConfig, SourceConfig

GRIP = """\
# What a gripper says of itself.
uint8 OPEN=0
uint8 CLOSED = 1  # nothing fits between the fingers
string MAKER="acme"
string NOTHING=""
std_msgs/Header header
string<=8 label
float64 width 0.5
float32[3] force
float64[<=4] pressure [1.0, 2.0]
string[] joint_names
Finger[] fingers   # of this package
Finger[2] tips
acme_parts/Motor motor
bool from
"""
FINGER = "float64 angle\nacme_parts/msg/Motor[<=2] motors\nbuiltin_interfaces/Time since\n"
MOTOR = "int16 current\nbool[4] phases\n"
TYPE = "acme_msgs/msg/Grip"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """installed({"package/Name": text}, prefix="...") puts .msg files into a prefix."""
    prefixes = [tmp_path / "overlay", tmp_path / "underlay"]
    monkeypatch.setenv("AMENT_PREFIX_PATH", os.pathsep.join(map(str, prefixes)))

    def install(files, prefix="underlay"):
        for name, text in files.items():
            package, _, type_name = name.partition("/")
            folder = tmp_path / prefix / "share" / package / "msg"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{type_name}.msg").write_bytes(text.encode())
        return tmp_path

    return install


@pytest.fixture
def acme(installed):
    return installed(
        {"acme_msgs/Grip": GRIP, "acme_msgs/Finger": FINGER, "acme_parts/Motor": MOTOR}
    )


def a_grip(little=True, angle=0.75):
    """CDR of a Grip, from a reader's own type store."""
    store = get_typestore(Stores.ROS2_JAZZY)
    types = {}
    for name, text in (
        (TYPE, GRIP),
        ("acme_msgs/msg/Finger", FINGER),
        ("acme_parts/msg/Motor", MOTOR),
    ):
        types.update(get_types_from_msg(text, name))
    store.register(types)
    made = store.types
    time = made["builtin_interfaces/msg/Time"](sec=7, nanosec=9)
    motor = made["acme_parts/msg/Motor"](current=-3, phases=np.array([0, 1, 0, 1], bool))

    def finger(value):
        return made["acme_msgs/msg/Finger"](angle=value, motors=[motor], since=time)

    message = made[TYPE](
        header=made["std_msgs/msg/Header"](stamp=time, frame_id="palm"),
        label="left",
        width=0.042,
        force=np.array([1.5, 2.5, 3.5], np.float32),
        pressure=np.array([8.0]),
        joint_names=["thumb", "index"],
        fingers=[finger(0.25), finger(angle)],
        tips=[finger(0.1), finger(0.2)],
        motor=motor,
        from_=True,
    )
    return bytes(store.serialize_cdr(message, TYPE, little_endian=little))


def test_an_installed_type_is_found_with_all_that_it_refers_to(acme):
    definitions = Definitions()
    assert list(definitions.fields(TYPE)) == [
        *("header", "label", "width", "force", "pressure", "joint_names"),
        *("fingers", "tips", "motor", "from"),
    ]
    assert list(definitions.fields("acme_msgs/msg/Finger")) == ["angle", "motors", "since"]
    assert list(definitions.fields("acme_parts/msg/Motor")) == ["current", "phases"]


@pytest.mark.parametrize("little", [True, False], ids=["little", "big"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("width", 0.042),
        ("force[2]", 3.5),
        ("pressure[0]", 8.0),
        ("fingers[1].angle", 0.75),
        ("fingers[index].angle", 0.75),
        ("fingers[0].motors[0].current", -3.0),
        ("tips[1].angle", 0.2),
        ("tips[0].since.nanosec", 9.0),
        ("motor.phases[3]", 1.0),
        ("from", 1.0),
        ("header.stamp.sec", 7.0),
    ],
)
def test_a_signal_of_an_installed_type_is_read(acme, field, value, little):
    decoder, data = Decoder(), a_grip(little)
    config = SignalConfig(topic="grip", type=TYPE, field=field)
    check(decoder.definitions, TYPE, field)
    assert decoder.stamp_ns(config, TYPE, data, received_ns=1) == 7_000_000_009
    sample = Sample("width", header_stamp(data), data)
    assert signal(decoder, config, sample).value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("label", "'label' of acme_msgs/msg/Grip is string"),
        ("force[3]", "'force' of acme_msgs/msg/Grip has at most 3 elements, 0 to 2"),
        ("pressure[4]", "'pressure' of acme_msgs/msg/Grip has at most 4 elements, 0 to 3"),
        ("fingers[0].motors[2].current", "'motors' of acme_msgs/msg/Finger has at most 2 elements"),
        ("OPEN", "acme_msgs/msg/Grip has no field 'OPEN'; it has ['header', 'label', 'width',"),
        ("motor", "is the message acme_parts/msg/Motor; a number in it is wanted: ['current', "),
    ],
)
def test_a_field_that_an_installed_type_has_not_is_an_error(acme, field, words):
    with pytest.raises(FieldError) as caught:
        check(Definitions(), TYPE, field)
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["float64[] name", "string name", "Finger[] joint_names"])
def test_only_a_list_of_texts_names_elements(installed, text):
    installed({"acme_msgs/Grip": f"{text}\nfloat64[] data\n", "acme_msgs/Finger": "bool open\n"})
    with pytest.raises(FieldError, match=r"Grip has no list of names .* to look up 'x' in"):
        check(Definitions(), TYPE, "data[x]")


def test_a_type_is_found_without_being_asked_for_first(acme):
    config = SignalConfig(topic="grip", type=TYPE, field="width", stamp="receive")
    assert signal(Decoder(), config, Sample("width", 1, a_grip())).value == 0.042


def test_whether_an_installed_type_has_a_header_is_known(installed):
    installed({"acme_msgs/Late": "float64 data\nstd_msgs/Header header\n"})
    installed({"acme_msgs/First": "std_msgs/Header header\nfloat64 data\n"})
    decoder = Decoder()
    assert decoder.has_header("acme_msgs/msg/First")
    assert not decoder.has_header("acme_msgs/msg/Late")
    assert decoder.stamp_ns(SourceConfig(topic="t"), "acme_msgs/msg/Late", b"", 77) == 77


def test_the_first_prefix_that_has_a_type_is_the_one_that_counts(installed):
    installed({"acme_msgs/Grip": "float64 old\n"}, prefix="underlay")
    installed({"acme_msgs/Grip": "float64 new\n"}, prefix="overlay")
    assert list(Definitions().fields(TYPE)) == ["new"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("float64 width", ["width"]),
        ("float64 width\r\nint8 count\r\n", ["width", "count"]),
        ("\n\n  # a gripper\n\tfloat64\twidth\t# metres\n\n", ["width"]),
        ("float64[] a\nfloat64[2] b\nfloat64[<=2] c\nstring<=4 d\n", ["a", "b", "c", "d"]),
        ("char a\nbyte b\nbool c true\nint8 d -4\nuint64 e 0x10\n", ["a", "b", "c", "d", "e"]),
        ("string NAMES='a b # no comment'\nfloat64 width\n", ["width"]),
    ],
)
def test_each_form_of_a_definition_is_understood(installed, text, names):
    installed({"acme_msgs/Grip": text})
    assert list(Definitions().fields(TYPE)) == names


# What is missing or damaged


def test_a_type_that_is_not_installed_is_named_with_where_it_was_looked_for(acme):
    with pytest.raises(DefinitionError) as caught:
        Definitions().find("acme_msgs/msg/Thumb")
    places = [
        str(acme / prefix / "share" / "acme_msgs" / "msg" / "Thumb.msg")
        for prefix in ("overlay", "underlay")
    ]
    assert str(caught.value) == (
        f"message type acme_msgs/msg/Thumb is not installed; looked at {', '.join(places)}"
    )


def test_without_a_prefix_that_is_said(monkeypatch):
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    with pytest.raises(DefinitionError, match="no prefix, AMENT_PREFIX_PATH is empty"):
        Definitions().find(TYPE)


def test_without_a_prefix_the_standard_types_are_known(monkeypatch):
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    assert "position" in Definitions().fields("sensor_msgs/msg/JointState")


def test_a_nested_type_that_is_missing_is_named_with_who_needs_it(installed):
    installed({"acme_msgs/Grip": GRIP, "acme_msgs/Finger": FINGER})
    definitions = Definitions()
    for _ in range(2):
        with pytest.raises(DefinitionError) as caught:
            definitions.find(TYPE)
        assert "message type acme_parts/msg/Motor (needed by acme_msgs/msg/" in str(caught.value)
    assert TYPE not in definitions.typestore.fielddefs


def test_a_type_whose_part_was_installed_later_is_found_then(installed):
    installed({"acme_msgs/Grip": "acme_parts/Motor motor\n"})
    definitions = Definitions()
    with pytest.raises(DefinitionError):
        definitions.find(TYPE)
    installed({"acme_parts/Motor": MOTOR})
    assert list(definitions.fields("acme_parts/msg/Motor")) == ["current", "phases"]
    assert list(definitions.fields(TYPE)) == ["motor"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("float64 width\nfloat64 [3 force\nbool open\n", "from 'float64 [3 force' on"),
        ("<html><body>404</body></html>", "from '<html><body>404</body></html>' on"),
        ("float64\n", "from 'float64' on"),
        ("float64 width\nwstring<=4 label\n", "from 'wstring<=4 label' on"),
    ],
)
def test_a_damaged_file_is_named_with_the_line(installed, text, words):
    folder = installed({"acme_msgs/Grip": text})
    with pytest.raises(DefinitionError) as caught:
        Definitions().find(TYPE)
    path = folder / "underlay" / "share" / "acme_msgs" / "msg" / "Grip.msg"
    assert str(caught.value) == f"{path}: no message definition {words}"


def test_a_file_that_is_no_text_is_named(installed):
    path = installed({"acme_msgs/Grip": ""}) / "underlay/share/acme_msgs/msg/Grip.msg"
    path.write_bytes(b"\xff\xfe float64 width")
    with pytest.raises(DefinitionError, match=f"{path}: no message definition: 'utf-8' codec"):
        Definitions().find(TYPE)


def test_a_field_that_is_there_twice_is_an_error(installed):
    installed({"acme_msgs/Grip": "float64 width\nint8 width\n"})
    with pytest.raises(DefinitionError, match=r"definitions of acme_msgs/msg/Grip: .*'width'"):
        Definitions().find(TYPE)


@pytest.mark.parametrize("message_type", ["", "Grip", "acme_msgs/Grip"])
def test_what_names_no_message_type_is_an_error(message_type):
    with pytest.raises(DefinitionError) as caught:
        Definitions().find(message_type)
    assert str(caught.value) == (f"'{message_type}' is no message type; package/msg/Name is wanted")


def test_wide_strings_are_named_as_what_is_not_supported(installed):
    installed({"acme_msgs/Grip": "float64 width\nwstring label\n"})
    with pytest.raises(DefinitionError) as caught:
        Definitions().find(TYPE)
    assert str(caught.value) == (
        "acme_msgs/msg/Grip has a field of type wstring, which is not supported"
    )


def test_a_message_of_a_type_that_is_missing_is_no_evidence(installed):
    config = SignalConfig(topic="grip", type=TYPE, field="width")
    with pytest.raises(DecodeError) as caught:
        signal(Decoder(), config, Sample("width", 1, b"\0\1\0\0" + bytes(20)))
    assert str(caught.value).startswith(
        f"signal 'width' (grip): message type {TYPE} is not installed; looked at "
    )


def test_every_cut_of_a_message_of_an_installed_type_is_no_evidence(acme):
    decoder, whole = Decoder(), a_grip()
    config = SignalConfig(topic="grip", type=TYPE, field="width")
    for length in range(len(whole)):
        with pytest.raises(DecodeError, match=r"signal 'width' \(grip\)"):
            signal(decoder, config, Sample("width", 1, whole[:length]))
