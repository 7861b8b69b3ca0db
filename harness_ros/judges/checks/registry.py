# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The registry of checks: what a deterministic judge can measure in an Observation.

A check is one function and one parameter model in a file of this package::

    class BrightnessParameters(ViewParameters):
        at_least: float = Field(ge=0, le=255)
        \"\"\"Mean grey value that is wanted.\"\"\"

    @check("brightness", BrightnessParameters)
    def brightness(parameters: BrightnessParameters, observed: Observed) -> Finding:
        mean = float(observed.image(parameters.view).mean())
        return Finding(holds=mean >= parameters.at_least, evidence=f"brightness {mean:.1f}")

What it sees can be drawn by a second function (see `harness-ros explain`)::

    @draws("brightness")
    def draw_brightness(
        parameters: BrightnessParameters, observed: Observed, canvas: Canvas
    ) -> None:
        bright = observed.image(parameters.view) >= parameters.at_least
        canvas.shade(bright)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import GenericAlias, MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import numpy as np
from pydantic import BeforeValidator, Field, StrictBool, TypeAdapter

from harness_ros.contract import HarnessError, Record
from harness_ros.judges.checks.observed import Observed
from harness_ros.judges.checks.region import WHOLE_IMAGE, Region

if TYPE_CHECKING:
    from harness_ros.judges.drawing import Canvas

OPERATORS = frozenset({"all", "any", "not"})
"""Keys of a criterion that combine checks, and so cannot name one."""


class CheckError(HarnessError):
    """A check that cannot be registered."""


def _plain_bool(value: Any) -> Any:
    return bool(value) if isinstance(value, np.bool_) else value


class Finding(Record):
    """What a check found."""

    holds: Annotated[StrictBool | None, BeforeValidator(_plain_bool)]
    """None: it cannot be told."""
    evidence: str = Field(min_length=1)
    """One line for people: what was measured, with numbers, and what was wanted."""


class CheckParameters(Record):
    """Base of the parameters of every check; a field that is not declared is an error."""

    def views(self) -> frozenset[str]:
        """Names of the views that the check looks at."""
        return frozenset()

    def signals(self) -> frozenset[str]:
        """Names of the signals that the check reads."""
        return frozenset()

    def clearance(self) -> frozenset[str]:
        """Directions (front, left, right, rear) of the distances that the check reads."""
        return frozenset()


class ViewParameters(CheckParameters):
    """Parameters of a check that looks at one region of one view."""

    view: str = Field(min_length=1)
    """Name of the view: a key under `cameras` in eval.yaml."""
    region: Region = WHOLE_IMAGE
    """[x_min, y_min, x_max, y_max] in fractions of width and height, origin at the top left."""

    def views(self) -> frozenset[str]:
        """The one view."""
        return frozenset({self.view})


Parameters = TypeVar("Parameters", bound=CheckParameters)


class RegisteredCheck(NamedTuple):
    """A check as the registry keeps it."""

    parameters: type[CheckParameters]
    function: Callable[[Any, Observed], Finding]
    written: TypeAdapter[dict[str, Any]]
    """Reads `{name: parameters}`, so that the name is part of where an error is said to be."""


_checks: dict[str, RegisteredCheck] = {}

CHECKS: Mapping[str, RegisteredCheck] = MappingProxyType(_checks)
"""Every registered check by its name."""


def check(
    name: str, parameters: type[Parameters]
) -> Callable[
    [Callable[[Parameters, Observed], Finding]], Callable[[Parameters, Observed], Finding]
]:
    """Registers the decorated function as the check `name`.

    The function says that it cannot tell by a Finding whose `holds` is None, or by raising; an
    exception never ends an evaluation.

    Raises:
        CheckError: the name is taken or is that of an operator.
    """

    def register(
        function: Callable[[Parameters, Observed], Finding],
    ) -> Callable[[Parameters, Observed], Finding]:
        if name in OPERATORS or name in _checks:
            raise CheckError(
                f"check '{name}' of {function.__module__}: the name is taken; "
                f"taken are {sorted(OPERATORS | _checks.keys())}"
            )
        mapping: Any = GenericAlias(dict, (str, parameters))
        _checks[name] = RegisteredCheck(parameters, function, TypeAdapter(mapping))
        return function

    return register


Drawing = Callable[[Parameters, Observed, "Canvas"], None]
"""Draws what a check with these parameters sees in a view; the region is drawn already."""

_drawings: dict[str, Drawing[Any]] = {}

DRAWINGS: Mapping[str, Drawing[Any]] = MappingProxyType(_drawings)
"""How checks are drawn, by their names; a check that is not here shows its region alone."""


def draws(name: str) -> Callable[[Drawing[Parameters]], Drawing[Parameters]]:
    """Registers the decorated function as the drawing of the check `name`.

    Raises:
        CheckError: the check has a drawing already.
    """

    def register(function: Drawing[Parameters]) -> Drawing[Parameters]:
        if name in _drawings:
            raise CheckError(
                f"drawing of '{name}' in {function.__module__}: the check is drawn already"
            )
        _drawings[name] = function
        return function

    return register
