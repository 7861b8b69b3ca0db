# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `harness-ros explain` and `harness-ros reference` do."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from harness_ros.capture.images import encode_png
from harness_ros.config import load
from harness_ros.contract import HarnessError
from harness_ros.explaining.recordings import opened
from harness_ros.explaining.references import store_reference
from harness_ros.explaining.runs import explain_run, listed, report
from harness_ros.judges.checks import WHOLE_IMAGE, Rectangle, Region


class CommandError(HarnessError):
    """Options that do not go together, or a file that cannot be written."""


def explain_command(
    bag: Path | None, ledger: Path | None, run: str | None, config: Path | None, out: Path | None
) -> None:
    """Prints the explanation of a run and writes its picture; lists the runs where none is named.

    Raises:
        HarnessError: the text says what is wrong.
    """
    with opened(bag, ledger) as recording:
        if run is None:
            for line in listed(recording):
                print(line)
            for line in recording.unreadable:
                print(f"left out: {line}", file=sys.stderr)
            return
        if config is None:
            raise CommandError("--config is wanted: the eval.yaml that judges the run")
        explained = explain_run(recording, run, load(config))
    for line in report(explained, unicode=_has_ticks()):
        print(line)
    picture = explained.picture()
    if picture is None:
        print("no picture: there is no Observation")
        return
    path = out or Path(f"explain_{as_name(explained.run.run_id)}.png")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_png(picture))
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None
    print(f"picture: {path}")


def as_name(run_id: str) -> str:
    """A run_id as a part of a file's name: an id of hex digits is short, others are kept whole."""
    if re.fullmatch(r"[0-9a-f]{32}|[0-9a-f-]{36}", run_id):
        return run_id[:8]
    return re.sub(r"[^\w.-]", "_", run_id)[:100]


def reference_command(
    bag: Path | None,
    ledger: Path | None,
    run: str,
    config: Path | None,
    view: str,
    out: Path,
    region: str,
) -> None:
    """Writes a reference and prints what it is.

    Raises:
        HarnessError: the text says what is wrong.
    """
    rectangle = parse_region(region)
    loaded = None if config is None else load(config)
    with opened(bag, ledger) as recording:
        print(store_reference(recording, run, loaded, view, out, rectangle))


def parse_region(text: str) -> Rectangle:
    """A region from `x_min,y_min,x_max,y_max`.

    Raises:
        CommandError: it is none.
    """
    wanted = "x_min,y_min,x_max,y_max is wanted, each from 0 to 1"
    numbers = text.split(",")
    if len(numbers) != len(WHOLE_IMAGE):
        raise CommandError(f"--region '{text}': {wanted}")
    try:
        region: Rectangle = TypeAdapter(Region).validate_python(numbers)
    except ValidationError as error:
        said = "; ".join(item["msg"] for item in error.errors(include_url=False))
        raise CommandError(f"--region '{text}': {said}; {wanted}") from None
    return region


def _has_ticks() -> bool:
    try:
        "✓✗".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
