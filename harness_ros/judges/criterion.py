# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A criterion: the post-condition in the form that a deterministic judge can measure.

In YAML and JSON a node is a mapping with exactly one key::

    all: [node, ...]        every one holds
    any: [node, ...]        at least one holds
    not: node               it does not hold
    <check>: {parameters}   a registered check (harness_ros.judges.checks)

A node holds, does not hold, or cannot be told (None). Operators follow Kleene's strong logic of
three values (S. C. Kleene, Introduction to Metamathematics, 1952, section 64).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    PlainSerializer,
    PlainValidator,
)
from pydantic_core import PydanticCustomError

from harness_ros.contract import Record
from harness_ros.judges.checks import CHECKS, CheckParameters

Holds = Callable[["Check"], "bool | None"]
"""What a check found: True, False, or None where it cannot be told."""


class Check(Record):
    """A check with its parameters."""

    name: str
    parameters: CheckParameters

    def checks(self) -> Iterator[Check]:
        """Itself."""
        yield self

    def deciding(self, found: Holds) -> Iterator[Check]:
        """Itself."""
        yield self

    def holds(self, found: Holds) -> bool | None:
        """What it found."""
        return found(self)

    def written(self) -> dict[str, Any]:
        """The node as it is written in YAML and JSON."""
        return {self.name: self.parameters.model_dump(mode="json")}


class AllOf(Record):
    """Holds when every node holds; does not when one does not."""

    all: Nodes

    def checks(self) -> Iterator[Check]:
        """The checks of every node, in the order in which they are written."""
        for node in self.all:
            yield from node.checks()

    def deciding(self, found: Holds) -> Iterator[Check]:
        """The checks of those nodes that came out as the whole did."""
        outcome = self.holds(found)
        for node in self.all:
            if node.holds(found) is outcome:
                yield from node.deciding(found)

    def holds(self, found: Holds) -> bool | None:
        """The least of its nodes, where False < None < True."""
        values = [node.holds(found) for node in self.all]
        if False in values:
            return False
        return None if None in values else True

    def written(self) -> dict[str, Any]:
        """The node as it is written in YAML and JSON."""
        return {"all": [node.written() for node in self.all]}


class AnyOf(Record):
    """Holds when one node holds; does not when none does."""

    any: Nodes

    def checks(self) -> Iterator[Check]:
        """The checks of every node, in the order in which they are written."""
        for node in self.any:
            yield from node.checks()

    def deciding(self, found: Holds) -> Iterator[Check]:
        """The checks of those nodes that came out as the whole did."""
        outcome = self.holds(found)
        for node in self.any:
            if node.holds(found) is outcome:
                yield from node.deciding(found)

    def holds(self, found: Holds) -> bool | None:
        """The greatest of its nodes, where False < None < True."""
        values = [node.holds(found) for node in self.any]
        if True in values:
            return True
        return None if None in values else False

    def written(self) -> dict[str, Any]:
        """The node as it is written in YAML and JSON."""
        return {"any": [node.written() for node in self.any]}


class Not(Record):
    """Holds when the node does not; cannot be told when the node cannot."""

    node: Node = Field(alias="not")

    def checks(self) -> Iterator[Check]:
        """The checks of the node."""
        yield from self.node.checks()

    def deciding(self, found: Holds) -> Iterator[Check]:
        """The checks that decided what is negated here."""
        yield from self.node.deciding(found)

    def holds(self, found: Holds) -> bool | None:
        """The opposite of the node."""
        value = self.node.holds(found)
        return None if value is None else not value

    def written(self) -> dict[str, Any]:
        """The node as it is written in YAML and JSON."""
        return {"not": self.node.written()}


_OPERATORS: dict[str, type[AllOf | AnyOf | Not]] = {"all": AllOf, "any": AnyOf, "not": Not}


def _node(value: Any) -> AllOf | AnyOf | Not | Check:
    if isinstance(value, (AllOf, AnyOf, Not, Check)):
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        raise PydanticCustomError(
            "node",
            "a mapping with exactly one key is wanted, one of {allowed}; this is {value}",
            {"allowed": _allowed(), "value": _short(value)},
        )
    (key,) = value
    if key in _OPERATORS:
        return _OPERATORS[key].model_validate(value)
    if key not in CHECKS:
        raise PydanticCustomError(
            "unknown_check",
            "no check is called {key}; allowed are {allowed}",
            {"key": repr(key), "allowed": _allowed()},
        )
    return Check(name=key, parameters=CHECKS[key].written.validate_python(value)[key])


def _allowed() -> str:
    return ", ".join([*_OPERATORS, *sorted(CHECKS)])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."


def _not_empty(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    # Not `min_length`: it also complains when the nodes that are there have errors of their own.
    if not nodes:
        raise PydanticCustomError("no_nodes", "at least one node is wanted, the list is empty")
    return nodes


Node = Annotated[
    AllOf | AnyOf | Not | Check,
    PlainValidator(_node),
    PlainSerializer(lambda node: node.written(), return_type=dict[str, Any]),
]
"""A node of a criterion."""

Nodes = Annotated[tuple[Node, ...], AfterValidator(_not_empty)]
"""At least one node."""


class Branch(Record):
    """A condition and what it means when it holds."""

    when: Node
    reason: str = Field(min_length=1)
    """For people: why the run failed, or what is still to be done."""


class Criterion(Record):
    """When a run is `success`, `process` or `failure` (harness_ros.judges.deterministic)."""

    success: Node
    """The post-condition."""
    process: Branch | None = None
    """Another segment should run; only for tools with segments."""
    failure: tuple[Branch, ...] = ()
    """What rules a success out, whatever else is seen."""
    otherwise: str = Field(default="the post-condition is not seen to hold", min_length=1)
    """Why the run failed when nothing above holds."""

    def checks(self) -> Iterator[Check]:
        """Every check: of `success`, of `failure`, of `process`."""
        yield from self.success.checks()
        for branch in self.failure:
            yield from branch.when.checks()
        if self.process is not None:
            yield from self.process.when.checks()

    def views(self) -> set[str]:
        """Names of the views that the checks look at."""
        return {name for check in self.checks() for name in check.parameters.views()}

    def signals(self) -> set[str]:
        """Names of the signals that the checks read."""
        return {name for check in self.checks() for name in check.parameters.signals()}

    def clearance(self) -> set[str]:
        """Directions in which the checks read the distance to the nearest obstacle."""
        return {name for check in self.checks() for name in check.parameters.clearance()}


for _model in (AllOf, AnyOf, Not, Branch, Criterion):
    _model.model_rebuild()
