# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Records of harness_ros.scene to messages and back."""

from __future__ import annotations

import math
from typing import Any

from rclpy.serialization import deserialize_message

from harness_ros import msg
from harness_ros.ros.conversion import encodable, to_ns, to_time, view_to_message
from harness_ros.scene.confidence import Confidence, age_s
from harness_ros.scene.effects import Triple
from harness_ros.scene.perception import Quaternion, SeenPose, Sighting
from harness_ros.scene.picture import Picture
from harness_ros.scene.query import Answer
from harness_ros.scene.relation import Relation, SceneError

IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)


def relation_to_message(relation: Relation, confidence: Confidence, now_ns: int) -> msg.Relation:
    """Relation.msg of a relation, with its age and what is left of its confidence."""
    return msg.Relation(
        relation=relation.relation,
        subject=relation.subject,
        object=relation.object,
        source=relation.source.value,
        run_id=relation.run_id,
        stamp=to_time(relation.stamp_ns),
        age_s=age_s(relation, now_ns),
        confidence=confidence.now(relation, now_ns),
    )


def answer_to_response(answer: Answer, confidence: Confidence, now_ns: int, response: Any) -> None:
    """Fills a GetRelations response with what was found."""
    response.relations = [
        relation_to_message(item, confidence, now_ns) for item in answer.relations
    ]
    response.state = answer.state
    response.contents = list(answer.contents)
    response.confirmed_at = to_time(answer.confirmed_at_ns)
    response.found = True


def picture_to_response(picture: Picture, response: Any) -> None:
    """Fills a GetSceneImage response with what was found."""
    response.view = view_to_message(picture.view)
    response.run_id = picture.run_id
    response.tool_name = picture.tool_name
    response.evidence = [encodable(line) for line in picture.evidence]
    response.found = True


def sighting_from_bytes(data: bytes) -> Sighting:
    """The Sighting of a serialized SceneUpdate.msg, unchecked.

    Raises:
        SceneError: the bytes are no such message, or one that cannot be read.
    """
    try:
        return sighting_from_message(deserialize_message(data, msg.SceneUpdate))
    except Exception as error:  # of rmw, of the decoding of text, and whatever else there may be
        raise SceneError(f"{len(data)} bytes that are no SceneUpdate: {error}") from None


def sighting_from_message(message: msg.SceneUpdate) -> Sighting:
    """The Sighting of a SceneUpdate.msg, unchecked.

    A pose without a stamp is of the picture; a quaternion of zeros stands for no rotation.
    """
    stamp_ns = to_ns(message.stamp)
    return Sighting(
        stamp_ns=stamp_ns,
        seen_by=encodable(message.source),
        confidence=message.confidence,
        holds=tuple(_triple(item) for item in message.holds),
        gone=tuple(_triple(item) for item in message.gone),
        poses=tuple(_pose(item, stamp_ns) for item in message.poses),
    )


def _triple(message: msg.Relation) -> Triple:
    return message.relation, message.subject, message.object


def _pose(message: msg.ObjectPose, stamp_ns: int) -> SeenPose:
    header, pose = message.pose.header, message.pose.pose
    x, y, z, w = (getattr(pose.orientation, axis) for axis in "xyzw")
    length = math.sqrt(x * x + y * y + z * z + w * w)
    # A length that is no number is kept, so that it is reported.
    orientation = IDENTITY if length == 0 else (x / length, y / length, z / length, w / length)
    return SeenPose(
        ref=message.ref,
        frame_id=header.frame_id,
        stamp_ns=to_ns(header.stamp) or stamp_ns,
        position=(pose.position.x, pose.position.y, pose.position.z),
        orientation=orientation,
    )
