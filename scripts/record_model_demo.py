# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes config/model_demo anew: what `harness-ros demo --judge model` shows.

python scripts/record_model_demo.py                       # the answers alone, for the same frames
python scripts/record_model_demo.py --demo demo_out       # frames and answers of a finished demo

The answers are needed anew whenever what a model is asked changes. No model is asked: the test
server writes them from what the physics says, and each of them says so.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "test" / "judges" / "model"))
from openai_server import OpenAIServer, Response, says

from harness_ros.bag.definitions import typestore
from harness_ros.bag.reading import TOOL_RUN, Bag
from harness_ros.bag.recorded_runs import RecordedRun
from harness_ros.bag.storage import Storage
from harness_ros.bag.writing import BagWriter
from harness_ros.capture.images import decode, to_rgb
from harness_ros.capture.sample import NANOSECONDS, header_stamp
from harness_ros.config import EvaluationConfig, load
from harness_ros.contract import HarnessError, Observation, Status, Verdict, View
from harness_ros.grading.grade import observation_of, verdict_on
from harness_ros.judges.model.judge import ModelJudge
from harness_ros.judges.model.settings import CassetteSettings, ModelSettings
from harness_ros.sim.demo.recorded import BAG, CALLS, CASSETTE, CONFIG, read_calls
from harness_ros.sim.demo.result import PlayedCall

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "config" / "model_demo"
LIVE = ROOT / "config" / "tabletop.yaml"
JUDGE = "model"
SERVER = "none-written-by-the-test-server"
"""What stands where endpoints name the model that answered."""
MARK = "test server: "
"""Begins each text of an answer."""
JPEG, IMAGE = "sensor_msgs/msg/CompressedImage", "sensor_msgs/msg/Image"
QUALITY = 95
STORE = typestore()


class RecordingError(HarnessError):
    """What was recorded is not what was to be recorded."""


class Message(NamedTuple):
    """A message of the recording."""

    log_time_ns: int
    topic: str
    type: str
    data: bytes


# The frames


def record_frames(demo_out: Path, folder: Path) -> None:
    """Writes what a recording needs of a finished demo.

    Args:
        demo_out: the --out of `harness-ros demo`.
        folder: gets recording.mcap and calls.jsonl.
    """
    config = load(LIVE)
    with Bag(demo_out / "bag") as bag:
        messages = list(_wanted(bag, config))
    write_bag(folder / BAG, messages)
    fields = set(PlayedCall.model_fields)
    lines = (demo_out / CALLS).read_text(encoding="utf-8").splitlines()
    kept = ({name: json.loads(line)[name] for name in fields} for line in lines)
    calls = [PlayedCall.model_validate(call) for call in kept]
    text = "".join(call.model_dump_json() + "\n" for call in calls)
    (folder / CALLS).write_text(text, encoding="utf-8")


def write_bag(path: Path, messages: Sequence[Message]) -> None:
    """One MCAP file of these messages, in the order of their recording."""
    with tempfile.TemporaryDirectory() as temporary:
        bag = Path(temporary) / "recording"
        with BagWriter(bag) as writer:
            for topic, kind in dict.fromkeys((item.topic, item.type) for item in messages):
                writer.add_topic(topic, kind)
            for item in sorted(messages, key=lambda item: item.log_time_ns):
                writer.write(item.topic, item.log_time_ns, item.data)
        [file] = bag.glob("*.mcap")
        shutil.copyfile(file, path)


def _wanted(bag: Bag, config: EvaluationConfig) -> Iterator[Message]:
    """The events of all runs, and of each run what its Observation is made of."""
    for item in bag.storage.messages(bag.storage.topics_of(TOOL_RUN)):
        yield Message(item.log_time_ns, item.topic, item.type, item.data)
    for recorded in bag.runs():
        yield from _evidence(bag.storage, config, recorded, observation_of(bag, recorded, config))


def _evidence(
    storage: Storage, config: EvaluationConfig, recorded: RecordedRun, seen: Observation
) -> Iterator[Message]:
    views = {view.topic: view for view in seen.views}
    stamps = {topic: view.stamp_ns for topic, view in views.items()} | {
        recorded.resolved(config.signals[signal.name].topic): signal.stamp_ns
        for signal in seen.signals
    }
    missing, start_ns = dict(stamps), recorded.finished_ns or 0
    for item in storage.messages(stamps, start_ns, start_ns + 10 * NANOSECONDS):
        if missing.get(item.topic) == header_stamp(item.data):
            del missing[item.topic]
            if item.type == IMAGE:
                name, data = f"{item.topic}/compressed", _compressed(views[item.topic])
                yield Message(item.log_time_ns, name, JPEG, data)
            else:
                yield Message(item.log_time_ns, item.topic, item.type, item.data)
    if missing:
        raise RecordingError(f"run {recorded.run.run_id}: not found again: {sorted(missing)}")


def _compressed(view: View) -> bytes:
    """The frame as a camera publishes it as JPEG."""
    bgr = cv2.cvtColor(to_rgb(decode(view)), cv2.COLOR_RGB2BGR)
    _, jpeg = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    types = STORE.types
    seconds, nanoseconds = divmod(view.stamp_ns, NANOSECONDS)
    stamp = types["builtin_interfaces/msg/Time"](sec=seconds, nanosec=nanoseconds)
    header = types["std_msgs/msg/Header"](stamp=stamp, frame_id=view.frame_id)
    message = types[JPEG](
        header=header, format="rgb8; jpeg compressed bgr8", data=np.asarray(jpeg).ravel()
    )
    return bytes(STORE.serialize_cdr(message, JPEG))


# The answers


def scripted(calls: Sequence[PlayedCall]) -> dict[str, dict[str, Any]]:
    """What the test server answers about each run, by run_id, from what the physics says."""
    answers: dict[str, dict[str, Any]] = {}
    for call in calls:
        for segment, run_id in enumerate(call.run_ids, 1):
            status, reason = _outcome(call, last=segment == len(call.run_ids))
            seen = reason or "it holds in the physics"
            answers[run_id] = {
                "evidence": [f"{MARK}{seen} (call {call.number}, segment {segment})"],
                "failure_reason": reason and MARK + reason,
                "status": status,
            }
    return answers


def _outcome(call: PlayedCall, last: bool) -> tuple[str, str]:
    """Status and reason of a run."""
    if not last:
        # The planner went on with another segment.
        return "process", "it does not hold yet in the physics"
    if call.true_success:
        return "success", ""
    fault = f", after the fault '{call.fault}'" if call.fault else ""
    return "failure", f"it does not hold in the physics{fault}"


def response(answer: dict[str, Any]) -> Response:
    """The answer as a chat completion, which claims no model and no tokens."""
    completion = json.loads(says(json.dumps(answer)).body)
    del completion["usage"]
    return Response(json.dumps({**completion, "model": SERVER}).encode())


def record_answers(folder: Path) -> None:
    """Writes the cassette for the frames that are in the folder, in place of the one that is."""
    config = load(folder / CONFIG)
    answers = scripted(read_calls(folder / CALLS))
    with tempfile.TemporaryDirectory() as temporary, OpenAIServer() as server:
        fresh = Path(temporary) / CASSETTE
        judge = ModelJudge(JUDGE, _recording(config, fresh, server.base_url))
        with Bag(folder / BAG) as bag:
            for recorded in bag.runs():
                answer = answers.pop(recorded.run.run_id)
                server.script.append(response(answer))
                observation = observation_of(bag, recorded, config)
                _check(verdict_on(config, recorded.run, observation, judge), answer)
        judge.close()
        _check_files(fresh, len(server.requests))
        shutil.rmtree(folder / CASSETTE, ignore_errors=True)
        shutil.copytree(fresh, folder / CASSETTE)
    if answers:
        raise RecordingError(f"runs that are not in {BAG}: {sorted(answers)}")


def _recording(config: EvaluationConfig, cassette: Path, base_url: str) -> ModelSettings:
    settings = config.judges[JUDGE]
    assert isinstance(settings, ModelSettings)
    if settings.model != SERVER:
        raise RecordingError(f"{CONFIG} names the model {settings.model!r}, and not {SERVER!r}")
    recorded = CassetteSettings(mode="record", folder=cassette)
    return settings.model_copy(update={"base_url": base_url, "cassette": recorded})


def _check(verdict: Verdict, answer: dict[str, Any]) -> None:
    """The verdict is the one that was scripted for this run."""
    wanted = (Status[answer["status"].upper()], answer["failure_reason"], tuple(answer["evidence"]))
    if (verdict.status, verdict.failure_reason, verdict.evidence) != wanted or verdict.kind.value:
        raise RecordingError(f"run {verdict.run_id}: {verdict} is not the answer {answer}")


def _check_files(cassette: Path, asked: int) -> None:
    """One file an answer, each marked, and nothing in them of the machine they were made on."""
    files = sorted(cassette.iterdir())
    if len(files) != asked:
        raise RecordingError(f"{asked} answers, but {len(files)} files")
    for path in files:
        if problem := told(path.read_text(encoding="utf-8")):
            raise RecordingError(f"{path.name}: {problem}")


def told(text: str) -> str:
    """What a recorded answer should not say, or does not say; empty where it is fine."""
    recording = json.loads(text)
    if not re.fullmatch(r"127\.0\.0\.1:\d+", recording["recorded_from"]):
        return f"recorded from {recording['recorded_from']}, which is not the test server"
    answer = json.loads(recording["reply"]["text"])
    said = [*answer["evidence"], *filter(None, [answer["failure_reason"]])]
    if not said or not all(line.startswith(MARK) for line in said):
        return f"not marked with {MARK!r}: {said}"
    if recording["reply"]["model"] != SERVER:
        return f"answered by {recording['reply']['model']!r}"
    if paths := re.findall(r"(?<![\w/.:])/(?:[\w.+-]+/)+[\w.+-]*", text):
        return f"holds a path: {paths}"
    return ""


def main() -> None:
    """Writes the recording."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--demo", type=Path, help="the --out of a finished `harness-ros demo`")
    demo_out = parser.parse_args().demo
    if demo_out is not None:
        record_frames(demo_out, FOLDER)
    record_answers(FOLDER)
    size = sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file())
    files = len(list((FOLDER / CASSETTE).iterdir()))
    print(f"{FOLDER.relative_to(ROOT)}: {files} answers, {size / 1e6:.2f} MB in all")


if __name__ == "__main__":
    main()
