# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is said of a frame that is no evidence."""

from __future__ import annotations

from harness_ros.contract import HarnessError, View


class ImageError(HarnessError):
    """A frame that is no evidence: its data do not make the image that it claims to be."""

    def __init__(self, view: View, problem: str) -> None:
        facts = [f"encoding '{_short(view.encoding)}'"]
        if view.published_encoding:
            published = _short(view.published_encoding)
            facts.append(f"set by the configuration where the publisher says '{published}'")
        if view.width or view.height or view.step:
            facts.append(f"{view.width}x{view.height}, step {view.step}")
        facts.append(f"{len(view.data)} bytes of data")
        super().__init__(f"{view.topic}: {', '.join(facts)}: {problem}")


def _short(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:80]}..."


class FileError(HarnessError):
    """Bytes that are no whole file of their kind; becomes an ImageError of the frame."""
