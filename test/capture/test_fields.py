# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
from types import SimpleNamespace

import numpy as np
import pytest

from harness_ros.capture.definitions import DefinitionError, Definitions
from harness_ros.capture.fields import FieldError, check, read

JOINTS = "sensor_msgs/msg/JointState"
BODIES = "sensor_msgs/msg/MultiDOFJointState"
TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
POSE = "geometry_msgs/msg/PoseWithCovarianceStamped"
INFO = "sensor_msgs/msg/CameraInfo"
DEFINITIONS = Definitions()
GOOD = [
    ("std_msgs/msg/Float64", "data"),
    ("std_msgs/msg/Bool", "data"),
    ("std_msgs/msg/UInt8", "data"),
    ("std_msgs/msg/Char", "data"),
    ("std_msgs/msg/Byte", "data"),
    (JOINTS, "position[0]"),
    (JOINTS, "effort[finger_joint]"),
    (JOINTS, "position[left/finger-joint]"),
    (JOINTS, "header.stamp.sec"),
    (BODIES, "transforms[base].translation.x"),
    (TRAJECTORY, "points[0].positions[1]"),
    (TRAJECTORY, "points[0].positions[finger]"),
    (TRAJECTORY, "points[12].time_from_start.nanosec"),
    (POSE, "pose.covariance[35]"),
    (POSE, "pose.pose.orientation.w"),
    (INFO, "k[8]"),
    (INFO, "roi.do_rectify"),
    ("geometry_msgs/msg/WrenchStamped", "wrench.force.z"),
    ("sensor_msgs/msg/BatteryState", "cell_voltage[3]"),
]


def fields_of(message_type):
    return str(list(DEFINITIONS.fields(message_type)))


# Paths in a type


@pytest.mark.parametrize(("message_type", "path"), GOOD, ids=[path for _, path in GOOD])
def test_a_path_to_a_number_is_good(message_type, path):
    check(DEFINITIONS, message_type, path)


@pytest.mark.parametrize(
    ("message_type", "path", "words"),
    [
        (JOINTS, "positions[0]", f"{JOINTS} has no field 'positions'; it has {{fields}}"),
        (JOINTS, "position", "'position' of {type} is an array: give an index, 'position[0]'"),
        (JOINTS, "header[0]", "'header' of {type} is no array, it has no [0]"),
        (JOINTS, "name[0]", "'name' of {type} is string; a number is wanted"),
        (
            JOINTS,
            "position[0].x",
            "'position' of {type} is no message, it has no field 'x'",
        ),
        (
            JOINTS,
            "header",
            "'header' of {type} is the message std_msgs/msg/Header; a number in it is wanted: "
            "['stamp', 'frame_id']",
        ),
        (
            JOINTS,
            "header.stamp",
            "'stamp' of std_msgs/msg/Header is the message builtin_interfaces/msg/Time; a number "
            "in it is wanted: ['sec', 'nanosec']",
        ),
        (JOINTS, "header.frame_id", "'frame_id' of std_msgs/msg/Header is string; a number is"),
        (
            TRAJECTORY,
            "points.positions[0]",
            "'points' of {type} is an array: give an index, 'points[0]'",
        ),
        (
            TRAJECTORY,
            "points[0]",
            "'points' of {type} is the message trajectory_msgs/msg/JointTrajectoryPoint; a number "
            "in it is wanted: ['positions', 'velocities', 'accelerations', 'effort', "
            "'time_from_start']",
        ),
        (
            POSE,
            "pose.covariance[36]",
            "'covariance' of geometry_msgs/msg/PoseWithCovariance has at most 36 elements, 0 to 35",
        ),
        (
            POSE,
            "pose.covariance[x]",
            "geometry_msgs/msg/PoseWithCovariance has no list of names name or joint_names to look "
            "up 'x' in; it has ['pose', 'covariance']",
        ),
        (
            "diagnostic_msgs/msg/DiagnosticStatus",
            "values[x].value",
            "{type} has no list of names name or joint_names to look up 'x' in; it has {fields}",
        ),
        ("std_msgs/msg/String", "data", "'data' of {type} is string; a number is wanted"),
    ],
)
def test_a_path_that_leads_to_no_number_is_an_error_with_what_is_there(message_type, path, words):
    with pytest.raises(FieldError) as caught:
        check(DEFINITIONS, message_type, path)
    filled = words.format(type=message_type, fields=fields_of(message_type))
    assert str(caught.value).startswith(f"{path}: {filled}")


def test_a_type_that_is_not_installed_is_another_error():
    with pytest.raises(DefinitionError, match="acme_msgs/msg/Nothing"):
        check(DEFINITIONS, "acme_msgs/msg/Nothing", "data")


# Paths in a message


def joints(names=("left", "finger"), position=(0.25, 0.5)):
    return SimpleNamespace(name=list(names), position=np.array(position), effort=np.array([]))


def trajectory():
    point = SimpleNamespace(positions=np.array([1.5, 2.5]))
    return SimpleNamespace(joint_names=["elbow", "finger"], points=[point])


@pytest.mark.parametrize(
    ("message", "path", "value"),
    [
        (joints(), "position[1]", 0.5),
        (joints(), "position[finger]", 0.5),
        (joints(["finger", "left"]), "position[finger]", 0.25),
        (joints(["a/finger-1", "a"]), "position[a/finger-1]", 0.25),
        (trajectory(), "points[0].positions[0]", 1.5),
        (trajectory(), "points[0].positions[finger]", 2.5),
        (SimpleNamespace(from_=True), "from", 1.0),
        (SimpleNamespace(data=np.uint8(200)), "data", 200.0),
        (SimpleNamespace(data=np.bool_(True)), "data", 1.0),
        (SimpleNamespace(data=2**40), "data", float(2**40)),
    ],
)
def test_the_number_at_the_end_of_a_path_is_read(message, path, value):
    found = read(message, path)
    assert type(found) is float
    assert found == value


def test_a_joint_keeps_its_name_when_the_driver_changes_the_order():
    for order in (["left", "finger"], ["finger", "left"]):
        position = [0.5 if name == "finger" else 0.25 for name in order]
        assert read(joints(order, position), "position[finger]") == 0.5


def test_names_beside_a_value_go_before_those_around_it():
    inner = SimpleNamespace(name=["a", "b"], position=[1.0, 2.0])
    outer = SimpleNamespace(joint_names=["b", "a"], state=inner, name="ab", positions=[3.0, 4.0])
    assert read(outer, "state.position[b]") == 2.0
    assert read(outer, "positions[b]") == 3.0


@pytest.mark.parametrize(
    ("message", "path", "words"),
    [
        (joints(), "position[2]", "'position' has 2 elements, [2] is none"),
        (joints(), "effort[finger]", "'effort' has 0 elements, [finger] is none"),
        (joints(), "position[thumb]", "no 'thumb' in this message; it has ['left', 'finger']"),
        (joints(()), "position[thumb]", "no 'thumb' in this message; it has []"),
        (joints(), "velocity[0]", "no field 'velocity'"),
        (SimpleNamespace(data=1.0), "data[0]", "'data' is no array, it has no [0]"),
        (trajectory(), "points[1].positions[0]", "'points' has 1 elements, [1] is none"),
        (
            SimpleNamespace(data=[1.0]),
            "data[a]",
            "no list of names name or joint_names in this message",
        ),
    ],
)
def test_a_message_without_the_element_is_an_error_with_what_it_has(message, path, words):
    with pytest.raises(FieldError) as caught:
        read(message, path)
    assert str(caught.value) == f"{path}: {words}"


@pytest.mark.parametrize("path", ["name[0]", "position", "name"])
def test_what_is_no_number_is_an_error(path):
    with pytest.raises(FieldError, match="which is no number"):
        read(joints(), path)
