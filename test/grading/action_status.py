# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""GoalStatusArray as action servers publish it."""

import numpy as np
from recordings import SECOND, make, stamp


def goals(statuses, accepted_s):
    """A message with the status of each goal by its number."""
    return make(
        "action_msgs/msg/GoalStatusArray",
        status_list=[
            make(
                "action_msgs/msg/GoalStatus",
                goal_info=make(
                    "action_msgs/msg/GoalInfo",
                    goal_id=make(
                        "unique_identifier_msgs/msg/UUID",
                        uuid=np.frombuffer(number.to_bytes(16, "big"), np.uint8),
                    ),
                    stamp=stamp(round(accepted_s * SECOND)),
                ),
                status=status,
            )
            for number, status in statuses.items()
        ],
    )
