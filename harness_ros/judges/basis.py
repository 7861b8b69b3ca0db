# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a judge is asked about a tool, so that a change can be named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from harness_ros.contract import Record, Region
from harness_ros.judges.identity import SHOWN, JudgeIdentity, reads_criterion, reads_sentence


class ToolBasis(Record):
    """What a judge is asked about a tool, before placeholders are filled."""

    post_condition: str
    cameras: tuple[str, ...] = ()
    """Views that it is shown; empty for judges that measure a criterion alone."""
    criterion_hash: str = ""
    """SHA-256 (hex); empty for judges that are not shown it, and where there is none."""
    outcome_regions: dict[str, Region] = Field(default_factory=dict)

    def differences(self, now: ToolBasis) -> list[str]:
        """What is no longer as it was, a phrase each."""
        found = []
        if now.post_condition != self.post_condition:
            found.append(
                f"the post-condition is '{now.post_condition}', not '{self.post_condition}'"
            )
        if now.criterion_hash != self.criterion_hash:
            was, is_ = (
                text[:SHOWN] or "none" for text in (self.criterion_hash, now.criterion_hash)
            )
            found.append(f"the criterion is {is_}, not {was}")
        if now.cameras != self.cameras:
            found.append(f"the cameras are {list(now.cameras)}, not {list(self.cameras)}")
        if now.outcome_regions != self.outcome_regions:
            found.append(
                f"the outcome regions are {_regions(now.outcome_regions)}, not "
                f"{_regions(self.outcome_regions)}"
            )
        return found


def basis_of(
    who: JudgeIdentity,
    post_condition: str,
    cameras: tuple[str, ...],
    criterion: Mapping[str, Any] | None,
    outcome_regions: Mapping[str, Region],
) -> ToolBasis:
    """What of a tool's configuration this judge is asked by."""
    criterion_hash = ""
    if criterion is not None and reads_criterion(who):
        text = json.dumps(criterion, sort_keys=True, separators=(",", ":"))
        criterion_hash = hashlib.sha256(text.encode()).hexdigest()
    shown = reads_sentence(who)
    return ToolBasis(
        post_condition=post_condition,
        cameras=cameras if shown else (),
        criterion_hash=criterion_hash,
        outcome_regions=dict(outcome_regions) if shown else {},
    )


def _regions(regions: Mapping[str, Region]) -> dict[str, list[float]]:
    return {name: list(region) for name, region in sorted(regions.items())}
