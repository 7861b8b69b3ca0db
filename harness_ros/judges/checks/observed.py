# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An Observation as checks read it: each frame is decoded once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

from harness_ros.contract import HarnessError, Observation, Signal

if TYPE_CHECKING:
    from harness_ros.capture.images import Image

_Value = TypeVar("_Value")


class CannotTell(HarnessError):
    """The Observation does not hold what a check needs; its text becomes evidence."""


class Observed:
    """One Observation, and what was found in it so far."""

    def __init__(self, observation: Observation) -> None:
        self.observation = observation
        self._known: dict[Hashable, Any] = {}

    def image(self, view: str) -> Image:
        """The decoded frame of a view, as `harness_ros.capture.images.decode` documents it.

        Raises:
            CannotTell: there is no such view.
            ImageError: the frame cannot be decoded.
        """
        # Loading a configuration imports this module and needs no OpenCV.
        from harness_ros.capture import images

        frame = self.observation.view(view)
        if frame is None:
            names = [known.name for known in self.observation.views]
            raise CannotTell(f"no view '{view}'; the observation has {names}")
        return self.once(("image", view), lambda: images.decode(frame))

    def signal(self, name: str) -> Signal:
        """The signal of that name.

        Raises:
            CannotTell: there is no such signal.
        """
        signal = self.observation.signal(name)
        if signal is None:
            names = [known.name for known in self.observation.signals]
            raise CannotTell(f"no signal '{name}'; the observation has {names}")
        return signal

    def once(self, key: Hashable, compute: Callable[[], _Value]) -> _Value:
        """What `compute` returned when it was first called for this key."""
        if key not in self._known:
            self._known[key] = compute()
        value: _Value = self._known[key]
        return value


class LastObserved:
    """Keeps the last Observation as checks read it: it is decoded and measured once.

    So what a judge found is there for what draws it.
    """

    def __init__(self) -> None:
        self._last: Observed | None = None

    def of(self, observation: Observation) -> Observed:
        """The Observation as checks read it."""
        last = self._last
        if last is None or last.observation is not observation:
            last = self._last = Observed(observation)
        return last
