# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Serialized messages, as publishers send them."""

import numpy as np
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
IMAGE = "sensor_msgs/msg/Image"
COMPRESSED = "sensor_msgs/msg/CompressedImage"
INFO = "sensor_msgs/msg/CameraInfo"
JOINTS = "sensor_msgs/msg/JointState"
SCAN = "sensor_msgs/msg/LaserScan"
RANGE = "sensor_msgs/msg/Range"
WRENCH = "geometry_msgs/msg/WrenchStamped"
STAMP_NS = 5_000_000_007


def make(message_type, /, **fields):
    return STORE.types[message_type](**fields)


def header(stamp_ns=STAMP_NS, frame_id="camera_optical"):
    seconds, nanoseconds = divmod(stamp_ns, 10**9)
    stamp = make("builtin_interfaces/msg/Time", sec=seconds, nanosec=nanoseconds)
    return make("std_msgs/msg/Header", stamp=stamp, frame_id=frame_id)


def cdr(message, little=True):
    return bytes(STORE.serialize_cdr(message, message.__msgtype__, little_endian=little))


def an_image(stamp_ns=STAMP_NS, **changes):
    """3 pixels wide, 2 high, with a byte of padding in each row."""
    fields = {
        "header": header(stamp_ns),
        "height": 2,
        "width": 3,
        "encoding": "rgb8",
        "is_bigendian": 0,
        "step": 10,
        "data": np.arange(20, dtype=np.uint8),
    }
    return make(IMAGE, **{**fields, **changes})


def a_compressed_image(data, image_format="jpeg", stamp_ns=STAMP_NS):
    return make(
        COMPRESSED,
        header=header(stamp_ns),
        format=image_format,
        data=np.frombuffer(data, np.uint8),
    )


def camera_info(stamp_ns=STAMP_NS, fx=500.0, size=(640, 480), d=(0.1, -0.2, 0.0, 0.0, 0.0)):
    k = np.array([fx, 0.0, 320.0, 0.0, 510.0, 240.0, 0.0, 0.0, 1.0])
    region = make(
        "sensor_msgs/msg/RegionOfInterest",
        **dict.fromkeys(("x_offset", "y_offset", "height", "width"), 0),
        do_rectify=False,
    )
    return make(
        INFO,
        header=header(stamp_ns),
        width=size[0],
        height=size[1],
        distortion_model="plumb_bob",
        d=np.array(d, np.float64),
        k=k,
        r=np.zeros(9),
        p=np.zeros(12),
        binning_x=0,
        binning_y=0,
        roi=region,
    )


def joints(position=(0.04, 0.5), stamp_ns=STAMP_NS, names=("left", "7")):
    return make(
        JOINTS,
        header=header(stamp_ns),
        name=list(names),
        position=np.array(position, np.float64),
        velocity=np.array([], np.float64),
        effort=np.array([8.25], np.float64),
    )


def a_wrench(z):
    vector = STORE.types["geometry_msgs/msg/Vector3"]
    wrench = make("geometry_msgs/msg/Wrench", force=vector(1.0, 2.0, z), torque=vector(0, 0, 0))
    return make(WRENCH, header=header(), wrench=wrench)


def a_scan(ranges, stamp_ns=STAMP_NS, **changes):
    """Beams at equal angles, counterclockwise from -180 degrees on."""
    step = 2 * np.pi / max(1, len(ranges))
    fields = {
        "angle_min": -np.pi,
        "angle_max": -np.pi + step * (len(ranges) - 1),
        "angle_increment": step,
        "time_increment": 0.0,
        "scan_time": 0.1,
        "range_min": 0.1,
        "range_max": 10.0,
        "ranges": np.array(ranges, np.float32),
        "intensities": np.array([], np.float32),
    }
    return make(SCAN, header=header(stamp_ns, "laser"), **{**fields, **changes})


def a_range(reading, stamp_ns=STAMP_NS, least=0.2, most=4.0):
    return make(
        RANGE,
        header=header(stamp_ns, "sonar"),
        radiation_type=0,
        field_of_view=0.1,
        min_range=least,
        max_range=most,
        range=reading,
        variance=0.0,
    )
