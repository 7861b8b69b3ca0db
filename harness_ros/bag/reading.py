# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded runs and what was seen after each, as the evaluator would have seen it live.

A bag holds the topics `runs` and `verdicts` of a namespace, and the cameras and signals that
eval.yaml names. Only the messages of one run are read for it, and only until its evidence is
complete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from harness_ros import evaluation
from harness_ros.bag.definitions import standard_types
from harness_ros.bag.recorded_runs import RecordedRun, RecordedRuns
from harness_ros.bag.storage import BagReadError, Progress, Recorded, Storage
from harness_ros.capture import decoding, observing
from harness_ros.capture.decoding import DecodeError, Decoder
from harness_ros.capture.definitions import Definitions
from harness_ros.capture.diagnosis import why_not
from harness_ros.capture.images import ImageError
from harness_ros.capture.sample import NANOSECONDS, Sample, StampError
from harness_ros.capture.session import CaptureSession
from harness_ros.config import EvaluationConfig
from harness_ros.contract import HarnessError, Observation, View
from harness_ros.messages import ConversionError, run_from_message

TOOL_RUN, VERDICT = "harness_ros/msg/ToolRun", "harness_ros/msg/Verdict"
LATENESS_NS = 1 * NANOSECONDS
"""Messages that are recorded later than this after the window of evidence are not looked at."""
LEAD_NS = 2 * NANOSECONDS
"""How long before the end of a run its messages are looked at, at most: evidence is stamped after
the end, so that it comes earlier only where clocks disagree."""
AHEAD_NS = NANOSECONDS // 2
"""How long after the end of a run it is looked at how far stamps are ahead of the recording."""
JITTER_NS = NANOSECONDS // 4
"""By how much they may be further ahead at another time."""
STANDING_STEPS_S = (2, 20, 200)
"""How far before a run a standing message is looked for, before the whole bag is."""


class NoObservationError(HarnessError):
    """A run without enough evidence in the bag; the text says what is missing."""


class Bag:
    """Runs in a bag; also a context manager that closes itself.

    Args:
        path: a rosbag2 folder, or an .mcap or .db3 file.
        definitions: folders of .msg files, for types whose definition is not in the bag.
        progress: as `Storage` calls it.

    Raises:
        BagReadError: nothing of it can be read. Damage that is found later raises nothing: what is
            damaged is left out and told in `problems`, which grow while messages are read.
    """

    def __init__(
        self,
        path: Path | str,
        definitions: Sequence[Path] = (),
        progress: Progress | None = None,
    ) -> None:
        self.path = Path(path)
        self._storage = Storage(self.path, definitions, progress)
        self._decoders: dict[frozenset[str], Decoder] = {}
        self.unreadable: list[str] = []
        """What `runs` found wrong: messages that say no valid run or verdict, or another than
        before."""

    def close(self) -> None:
        """Closes the files."""
        self._storage.close()

    def __enter__(self) -> Bag:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def storage(self) -> Storage:
        """The messages."""
        return self._storage

    @property
    def problems(self) -> list[str]:
        """What is wrong in the bag and was lived with."""
        return list(self._storage.problems)

    @property
    def has_runs(self) -> bool:
        """Whether the bag has ToolRun messages, or at least their topic."""
        return bool(self._storage.topics_of(TOOL_RUN))

    def runs(self) -> list[RecordedRun]:
        """Every run in the order in which they began, with its verdict where there is one.

        Raises:
            BagReadError: no topic has runs.
        """
        topics = self._storage.topics_of(TOOL_RUN)
        if not topics:
            wrong = "".join(f"; {problem}" for problem in self.problems)
            raise BagReadError(
                f"{self.path}: no topic of type {TOOL_RUN}, so no runs; it has "
                f"{', '.join(sorted(self._storage.types)) or 'no topic at all'}{wrong}"
            )
        topics += self._storage.topics_of(VERDICT)
        decoder = self._decoder(topics)
        found = RecordedRuns()
        for message in self._storage.messages(topics):
            try:
                content = decoder.message(message.type, message.data, message.topic)
            except DecodeError as error:
                found.problems.append(str(error))
                continue
            if message.type == VERDICT:
                found.add_verdict(message, content)
            else:
                found.add_run(message, content)
        self.unreadable = found.problems
        return list(found)

    def observation(self, config: EvaluationConfig, recorded: RecordedRun) -> Observation:
        """What the evaluator would have seen after a run, with this configuration.

        Raises:
            NoObservationError: the run has no end, or the evidence is not in the bag.
            BagReadError: a topic holds messages of another type than the configuration says.
        """
        run = recorded.run
        where = f"{self.path}: run {run.run_id} of tool '{run.tool_name}'"
        if run.tool_name not in config.tools:
            known = sorted(config.tools)
            raise NoObservationError(f"{where}: the tool is not in the configuration: {known}")
        if recorded.finished_ns is None:
            raise NoObservationError(f"{where}: it did not end while the bag was recorded")
        sources = observing.sources(config, run.tool_name)
        topics = {name: recorded.resolved(source.topic) for name, source in sources.items()}
        for name, topic in topics.items():
            expected, found = observing.message_type(sources[name]), self._storage.types.get(topic)
            if found is not None and found != expected:
                raise BagReadError(
                    f"{where}: '{name}' ({topic}) is {found} in the bag, {expected} in eval.yaml"
                )
        session = CaptureSession(evaluation.capture_rule(config, run.tool_name))
        decoder = self._decoder([*topics.values(), recorded.topic])
        capture = _Capture(self._storage, decoder, config, recorded, topics, session)
        observation = capture.observation()
        if observation is None:
            missing = [
                f"'{name}' ({topic})"
                for name, topic in topics.items()
                if topic not in self._storage.types
            ]
            hint = f"; the bag has no topic of {', '.join(missing)}" if missing else ""
            raise NoObservationError(f"{where}: {why_not(session)}{hint}")
        return observation

    def frames(
        self,
        config: EvaluationConfig,
        recorded: RecordedRun,
        camera: str,
        start_ns: int,
        stop_ns: int,
    ) -> Iterator[View]:
        """Frames of a camera by the time of recording; those that cannot be decoded are left out.

        Args:
            start_ns, stop_ns: by the time of recording; the latter is left out.

        """
        source = config.cameras[camera]
        topic = recorded.resolved(source.topic)
        if self._storage.types.get(topic) != source.type:
            return
        decoder = self._decoder([topic])
        for message in self._storage.messages([topic], start_ns, stop_ns):
            sample = Sample(camera, message.log_time_ns, message.data)
            try:
                yield decoding.view(decoder, source, sample, topic)
            except (DecodeError, ImageError):
                continue

    def _decoder(self, topics: Collection[str]) -> Decoder:
        # Kept: to parse definitions and to make code of them takes longer than to read a run.
        wanted = frozenset(topics)
        if wanted not in self._decoders:
            definitions = Definitions(self._storage.typestore(wanted))
            self._decoders[wanted] = Decoder(definitions, standard_types())
        return self._decoders[wanted]


class _Capture:
    """Gives the messages of one run to a session, in the order in which they were recorded."""

    def __init__(
        self,
        storage: Storage,
        decoder: Decoder,
        config: EvaluationConfig,
        recorded: RecordedRun,
        topics: Mapping[str, str],
        session: CaptureSession,
    ) -> None:
        self._storage = storage
        self._decoder = decoder
        self._config = config
        self._recorded = recorded
        self._session = session
        self._sources = observing.sources(config, recorded.run.tool_name)
        self._by_topic: dict[str, list[str]] = {}
        for name, topic in topics.items():
            self._by_topic.setdefault(topic, []).append(name)
        self._origins = observing.Origins(topics=topics)
        self._start_ns = recorded.armed_ns

    def observation(self) -> Observation | None:
        """The Observation, or None where the bag ends before the evidence is complete."""
        rule, run = self._session.rule, self._recorded.run
        finished_ns = self._recorded.finished_ns or 0
        wait_ns = rule.settle_ns + rule.window_ns + rule.optional_wait_ns + LATENESS_NS
        stop_ns = finished_ns + wait_ns
        self._start_ns = self._first_ns(finished_ns)
        for sample in self._standing():
            self._session.add(sample)
        finished = False
        for message in self._storage.messages(
            [*self._by_topic, self._recorded.topic], self._start_ns, stop_ns
        ):
            # Live, the two messages of a run and the frames come in one order; so here.
            if not finished and message.log_time_ns >= finished_ns and self._ends(message):
                finished = True
                self._session.finish(run.ended_at_ns or 0)
            for sample in self._samples(message):
                self._session.add(sample)
            if finished:
                found = self._observed()
                if found is not None:
                    return found
        if not finished:
            # The message of its end is damaged where it is read again, or comes from elsewhere.
            self._session.finish(run.ended_at_ns or 0)
        self._session.wait_no_longer()
        return self._observed()

    def _first_ns(self, finished_ns: int) -> int:
        """Time of recording before which there is no evidence: frames before it are not read."""
        first_ns = max(self._recorded.armed_ns, finished_ns - LEAD_NS)
        ahead_ns = self._ahead_ns(finished_ns)
        if ahead_ns is None:
            return first_ns
        stamped_ns = (self._recorded.run.ended_at_ns or 0) + self._session.rule.settle_ns
        return max(first_ns, min(finished_ns, stamped_ns - ahead_ns - JITTER_NS))

    def _ahead_ns(self, finished_ns: int) -> int | None:
        """How far stamps are ahead of the recording right after the end of the run, at least 0.

        None where a source is silent then.
        """
        ahead_ns, standing = 0, self._session.rule.standing
        topics = {
            topic: [name for name in names if name not in standing]
            for topic, names in self._by_topic.items()
            if topic in self._storage.types
        }
        silent = {name for names in topics.values() for name in names}
        messages = self._storage.messages(topics, finished_ns, finished_ns + AHEAD_NS)
        while silent:
            message = next(messages, None)
            if message is None:
                return None
            for name in topics[message.topic]:
                with suppress(StampError, DecodeError):
                    stamp_ns = self._stamp_ns(name, message)
                    ahead_ns = max(ahead_ns, stamp_ns - message.log_time_ns)
                    silent.discard(name)
        return ahead_ns

    def _observed(self) -> Observation | None:
        return observing.observe(
            self._session, self._decoder, self._config, self._recorded.run, self._origins
        )

    def _ends(self, message: Recorded) -> bool:
        """Whether the run ends with this message, or before it."""
        if not self._recorded.said:
            return True
        if message.topic != self._recorded.topic:
            return False
        try:
            run = run_from_message(self._decoder.message(message.type, message.data, message.topic))
        except (DecodeError, ConversionError):
            return False
        return run.finished and run.run_id == self._recorded.run.run_id

    def _samples(self, message: Recorded) -> Iterator[Sample]:
        """The message as a sample of each source that reads its topic."""
        for name in self._by_topic.get(message.topic, ()):
            try:
                stamp_ns = self._stamp_ns(name, message)
            except (StampError, DecodeError):
                self._session.counts[name].malformed += 1
                continue
            # Not the time of recording: it may be that of another clock than the stamps'.
            yield Sample(name, stamp_ns, message.data)

    def _stamp_ns(self, name: str, message: Recorded) -> int:
        return self._decoder.stamp_ns(
            self._sources[name], message.type, message.data, message.log_time_ns
        )

    def _standing(self) -> Iterator[Sample]:
        """The last message before the run of each source whose messages count until the next."""
        wanted = set(self._session.rule.standing)
        armed_ns = stop_ns = self._start_ns
        for back_s in (*STANDING_STEPS_S, None):
            start_ns = 0 if back_s is None else max(0, armed_ns - back_s * NANOSECONDS)
            topics = [
                topic for topic, names in self._by_topic.items() if wanted.intersection(names)
            ]
            if not topics or start_ns >= stop_ns:
                return
            last: dict[str, Recorded] = {}
            for message in self._storage.messages(topics, start_ns, stop_ns):
                last[message.topic] = message
            for message in last.values():
                for sample in self._samples(message):
                    if sample.source in wanted:
                        wanted.discard(sample.source)
                        yield sample
            stop_ns = start_ns
