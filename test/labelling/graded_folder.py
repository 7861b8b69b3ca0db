# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A folder as `harness-ros grade` writes it, and the page of it asked over HTTP."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "grading"))

from graded_rows import evening

from harness_ros.grading.kept_pictures import CHECKS, view_folder
from harness_ros.grading.report import picture_of
from harness_ros.grading.row import GradedRun
from harness_ros.labelling.command import LabelOptions, served
from harness_ros.labelling.server import LabelServer

SUMMARY = "views top, wrist; signals width 0.05 m, clearance front free; 0.120 s after the end"
SECRET = "secret of the judge"


def rows_of(verdicts: str, prefix: str = "r", **fields: Any) -> list[GradedRun]:
    """A run for each letter; what its judge said can be searched for."""
    said = {"failure_reason": SECRET, "evidence": (SECRET,), "judge": SECRET}
    return evening(verdicts, prefix, observation_summary=SUMMARY, **said, **fields)


def graded_folder(folder: Path, rows: Sequence[GradedRun], pictures: bool = True) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "results.jsonl").write_text("".join(row.line() + "\n" for row in rows))
    top = picture_of("top", np.full((480, 640, 3), 90, np.uint8))
    wrist = picture_of("wrist", np.full((240, 320, 3), 160, np.uint8))
    for row in rows if pictures else ():
        views = view_folder(folder, row)
        views.mkdir(parents=True)
        for number, view in ((0, top), (1, wrist), (CHECKS, top)):
            name = f"{number}-{view.width}x{view.height}-{view.name}.jpg"
            (views / name).write_bytes(view.jpeg)
    return folder


@contextmanager
def serving(runs: Path, **options: Any) -> Iterator[LabelServer]:
    """The server of the command, answering."""
    with served(LabelOptions(runs=runs, **{"by": "Ann", **options})) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def fields(self) -> Any:
        return json.loads(self.body)


def ask(
    url: str,
    path: str = "",
    sent: object = None,
    method: str | None = None,
    **headers: str,
) -> Answer:
    """A request below the address of the page; what is sent goes as JSON."""
    parts = urlsplit(url)
    body = None if sent is None else json.dumps(sent).encode()
    given = {"Host": parts.netloc, "Content_Type": "application/json", **headers}
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    try:
        connection.putrequest(
            method or ("GET" if sent is None else "POST"), parts.path + path, skip_host=True
        )
        for name, value in given.items():
            connection.putheader(name.replace("_", "-"), value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return Answer(answer.status, dict(answer.getheaders()), answer.read())
    finally:
        connection.close()
