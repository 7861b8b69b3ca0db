# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs and Observations out of bags."""

import itertools

import pytest
from rosbags.rosbag2 import StoragePlugin

from harness_ros.bag import storage
from harness_ros.bag.reading import Bag, NoObservationError
from harness_ros.bag.storage import BagReadError
from harness_ros.contract import Kind, Status

SECOND = 1_000_000_000
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def read(path, config, number=0):
    with Bag(path) as bag:
        return bag.observation(config, bag.runs()[number])


def greys(observation):
    return [view.data[0] for view in observation.views]


# Runs


def test_a_run_has_its_call_its_times_and_its_verdict(bag):
    with Bag(bag) as opened:
        (recorded,) = opened.runs()
    run = recorded.run
    assert (run.run_id, run.call_id, run.segment) == ("run-1", "call of run-1", 1)
    assert (run.tool_name, run.arguments) == ("pick", {"target": "cup"})
    assert (run.started_at_ns, run.ended_at_ns) == (10 * SECOND, 12 * SECOND)
    assert recorded.verdict.status is Status.SUCCESS
    assert recorded.verdict.kind is Kind.JUDGED
    assert recorded.verdict.evidence == ("width 0.05 m",)


def test_runs_come_in_the_order_in_which_they_began(recorder):
    made = recorder()
    for number in (1, 2, 3):
        made.run(f"run-{number}", 10.0 * number)
    made.run("run-2", 20.0, 25.0, log_s=31)
    made.verdict("run-2", 32)
    with Bag(made.close()) as bag:
        runs = bag.runs()
    assert [item.run.run_id for item in runs] == ["run-1", "run-2", "run-3"]
    assert [item.run.finished for item in runs] == [False, True, False]
    assert [item.verdict is not None for item in runs] == [False, True, False]


def test_the_call_is_what_was_said_when_it_started(recorder):
    made = recorder()
    made.run("run-1", 10.0)
    made.run("run-1", 10.0, 12.0, arguments='{"target": "plate"}')
    with Bag(made.close()) as bag:
        (recorded,) = bag.runs()
    assert recorded.run.arguments == {"target": "cup"}
    assert recorded.run.ended_at_ns == 12 * SECOND


def test_a_run_whose_start_was_not_recorded_is_a_run(recorder, config):
    made = recorder()
    made.run("run-1", 10.0, 12.0)
    made.frame(12.2, grey=7)
    made.joints(12.2, 0.05)
    assert greys(read(made.close(), config())) == [7]


def test_messages_that_say_no_run_are_left_out_and_told(recorder):
    made = recorder()
    made.run("", 9.0)
    made.run("run-0", 9.5, arguments="[1, 2]")
    made.run("run-1", 10.0)
    made.verdict("run-1", 11, status=9)
    with Bag(made.close()) as bag:
        assert [item.run.run_id for item in bag.runs()] == ["run-1"]
        assert len(bag.unreadable) == 3
        assert "/harness/runs: " in bag.unreadable[0]
        assert "/harness/verdicts: " in bag.unreadable[2]


def test_a_bag_without_runs_names_its_topics(recorder):
    made = recorder()
    made.frame(10.0)
    with Bag(made.close()) as bag, pytest.raises(BagReadError) as caught:
        bag.runs()
    assert "no topic of type harness_ros/msg/ToolRun" in str(caught.value)
    assert "/harness/camera/image_raw" in str(caught.value)


# Observations


def test_the_evidence_is_the_first_that_is_young_enough(bag, config):
    observation = read(bag, config())
    # Frame 20 is stamped 0.05 s after the end, 21 is the first after the settle time.
    assert greys(observation) == [21]
    assert observation.run_id == "run-1"
    assert observation.views[0].stamp_ns == 12_150_000_000
    assert observation.views[0].topic == "/harness/camera/image_raw"
    assert [(item.name, item.value) for item in observation.signals] == [
        ("width", 0.05),
        ("force", 8.0),
    ]


def test_nothing_before_the_end_is_evidence_even_when_nothing_follows(recorder, config):
    made = recorder()
    made.run("run-1", 10.0)
    for step in range(20):
        made.frame(10.05 + step / 10)
        made.joints(10.05 + step / 10, 0.05)
    made.run("run-1", 10.0, 12.0)
    with pytest.raises(NoObservationError) as caught:
        read(made.close(), config())
    for word in ("run-1", "'pick'", "front", "before the evidence may begin"):
        assert word in str(caught.value)


def test_each_run_has_its_own_evidence(recorder, config):
    made = recorder()
    made.a_run("run-1", 10.0, width=0.05)
    made.a_run("run-2", 20.0, width=0.01)
    path = made.close()
    first, second = read(path, config(), 0), read(path, config(), 1)
    assert (first.signal("width").value, second.signal("width").value) == (0.05, 0.01)
    assert second.views[0].stamp_ns == 22_150_000_000


def test_relative_topics_are_those_of_the_namespace_of_the_runs(recorder, config):
    made = recorder()
    for robot, grey in (("/left", 1), ("/cell/right", 2)):
        made.run(f"run of {robot}", 10.0, topic=f"{robot}/runs")
        made.run(f"run of {robot}", 10.0, 12.0, topic=f"{robot}/runs")
        made.frame(12.2, topic=f"{robot}/camera/image_raw", grey=grey)
        made.joints(12.2, 0.05, topic=f"{robot}/gripper")
    path = made.close()
    assert [greys(read(path, config(), number)) for number in (0, 1)] == [[1], [2]]


def test_runs_without_a_namespace_have_topics_at_the_root(recorder, config):
    made = recorder()
    made.run("run-1", 10.0, 12.0, topic="/runs")
    made.frame(12.2, topic="/camera/image_raw", grey=5)
    made.joints(12.2, 0.05, topic="/gripper")
    assert greys(read(made.close(), config())) == [5]


def test_frames_of_two_cameras_form_one_set(recorder, config):
    made = recorder()
    made.run("run-1", 10.0, 12.0)
    for step in range(10):
        made.frame(12.05 + step / 10, grey=step)
        if step > 3:
            made.frame(12.07 + step / 10, topic="/side/image_raw", grey=100 + step)
        made.joints(12.05 + step / 10, 0.05)
    observation = read(made.close(), config(seen=["side", "front"]))
    assert [view.name for view in observation.views] == ["side", "front"]
    assert greys(observation) == [104, 4]


def test_a_run_that_did_not_end_has_no_observation(recorder, config):
    made = recorder()
    made.run("run-1", 10.0)
    made.frame(12.2)
    with pytest.raises(NoObservationError, match=r"run-1.*did not end while the bag was recorded"):
        read(made.close(), config())


def test_a_topic_that_the_bag_lacks_is_named(recorder, config):
    made = recorder()
    made.run("run-1", 10.0, 12.0)
    made.frame(12.2)
    with pytest.raises(NoObservationError) as caught:
        read(made.close(), config())
    assert "the bag has no topic of 'width' (/harness/gripper)" in str(caught.value)


def test_a_topic_of_another_type_is_an_error_with_both(recorder, config):
    made = recorder()
    made.run("run-1", 10.0, 12.0)
    made.joints(12.2, 0.05, topic="/harness/camera/image_raw")
    with pytest.raises(BagReadError) as caught:
        read(made.close(), config())
    message = str(caught.value)
    assert "'front' (/harness/camera/image_raw) is sensor_msgs/msg/JointState" in message
    assert "sensor_msgs/msg/Image in eval.yaml" in message


def test_a_tool_that_is_not_configured_is_named(recorder, config):
    made = recorder()
    made.run("run-1", 10.0, 12.0, tool_name="fly")
    with pytest.raises(NoObservationError, match=r"'fly'.*\['pick'\]"):
        read(made.close(), config())


def test_a_frame_that_cannot_be_decoded_gives_way_to_the_next(recorder, config):
    made = recorder()
    made.run("run-1", 10.0, 12.0)
    made.frame(12.2, pixels=3)
    made.frame(12.3, grey=9)
    made.joints(12.2, 0.05)
    made.joints(12.3, 0.05)
    assert greys(read(made.close(), config())) == [9]


def test_a_calibration_that_was_told_once_long_before_belongs_to_the_view(recorder, config):
    made = recorder()
    made.calibration(1.0)
    made.a_run(begin_s=300.0)
    cameras = {"front": {"topic": "camera/image_raw", "info_topic": "camera/camera_info"}}
    calibration = read(made.close(), config(cameras=cameras)).views[0].calibration
    assert (calibration.width, calibration.k[0]) == (8, 9.0)


def test_messages_without_stamps_count_by_the_time_of_recording(recorder, config):
    made = recorder()
    made.run("run-1", 10.0, 12.0)
    for step in range(20):
        made.frame(0.0, log_s=12.0 + step / 10, grey=step)
        made.joints(12.0 + step / 10, 0.05)
    cameras = {"front": {"topic": "camera/image_raw", "stamp": "receive"}}
    observation = read(made.close(), config(cameras=cameras))
    assert greys(observation) == [1]
    assert observation.views[0].stamped_on_receipt


@pytest.mark.parametrize(("ahead_s", "first"), [(0.0, 21), (0.5, 16), (1.0, 11)])
def test_frames_stamped_by_a_clock_ahead_are_evidence_before_the_end(
    recorder, config, ahead_s, first
):
    made = recorder()
    made.run("run-1", 10.0)
    for step in range(32):
        at_s = 10.05 + step / 10
        if step == 20:
            made.run("run-1", 10.0, 12.0)
        made.frame(at_s + ahead_s, log_s=at_s, grey=step)
        made.joints(at_s + 0.01, 0.05)
    assert greys(read(made.close(), config())) == [first]


def test_an_end_that_is_recorded_late_has_its_evidence_before_it(recorder, config):
    made = recorder()
    made.run("run-1", 10.0)
    for step in range(32):
        at_s = 10.05 + step / 10
        if step == 29:
            made.run("run-1", 10.0, 12.0, log_s=at_s)
        made.frame(at_s, grey=step)
        made.joints(at_s + 0.01, 0.05)
    assert greys(read(made.close(), config())) == [21]


def test_only_the_messages_of_the_run_are_read(recorder, config, monkeypatch):
    made = recorder()
    for number in range(5):
        made.a_run(f"run-{number}", 10.0 + 10 * number)
    path, seen = made.close(), []
    messages = storage.Storage.messages

    def counted(self, *given):
        for message in messages(self, *given):
            seen.append(message)
            yield message

    with Bag(path) as bag:
        recorded = bag.runs()[2]
        monkeypatch.setattr(storage.Storage, "messages", counted)
        bag.observation(config(), recorded)
    assert {message.topic for message in seen} == {
        "/harness/runs",
        "/harness/camera/image_raw",
        "/harness/gripper",
    }
    # Stamps are not ahead of the recording: what comes 0.25 s before the evidence cannot be any.
    assert min(message.log_time_ns for message in seen) == 31_850_000_000
    # The first set is complete at 32.16 s, and there it ends.
    assert seen[-1].log_time_ns == 32_160_000_000


def test_an_incomplete_run_is_not_searched_to_the_end_of_the_bag(recorder, config, monkeypatch):
    made = recorder()
    made.run("run-1", 10.0, 12.0)
    for second in range(12, 200):
        made.frame(float(second))
    path, seen = made.close(), []
    messages = storage.Storage.messages
    monkeypatch.setattr(
        storage.Storage,
        "messages",
        lambda self, *given: (seen.append(item) or item for item in messages(self, *given)),
    )
    with Bag(path) as bag, pytest.raises(NoObservationError):
        bag.observation(config(), bag.runs()[0])
    assert max(message.log_time_ns for message in seen) < 17 * SECOND


# Files


@pytest.mark.parametrize("plugin", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_folders_and_their_files_are_bags_in_both_formats(recorder, config, plugin):
    made = recorder(plugin=plugin)
    made.a_run()
    folder = made.close()
    (file,) = (item for item in folder.iterdir() if item.suffix in storage.FILES)
    assert read(file, config()) == read(folder, config())


def test_a_folder_without_metadata_is_read(bag, config, without_metadata):
    assert read(without_metadata(bag), config()) == read(bag, config())


def test_files_of_a_folder_without_metadata_are_read_as_one(recorder, config, tmp_path):
    first, second = recorder("first"), recorder("second")
    first.run("run-1", 10.0)
    first.frame(10.5, grey=1)
    second.run("run-1", 10.0, 12.0)
    second.frame(12.2, grey=2)
    second.joints(12.2, 0.05)
    folder = tmp_path / "both"
    folder.mkdir()
    # Named so that the later one is read first.
    (first.close() / "first.mcap").rename(folder / "b.mcap")
    (second.close() / "second.mcap").rename(folder / "a.mcap")
    with Bag(folder) as bag:
        (recorded,) = bag.runs()
        assert (recorded.armed_ns, recorded.finished_ns) == (10 * SECOND, 12 * SECOND)
        assert greys(bag.observation(config(), recorded)) == [2]


@pytest.mark.parametrize(
    ("name", "said"),
    [("none", "no such file or folder"), ("notes.txt", "no bag"), ("empty", "no bag; it holds")],
)
def test_what_is_no_bag_is_an_error_that_names_it(tmp_path, name, said):
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BagReadError) as caught:
        Bag(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert said in str(caught.value)


@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
def test_a_damaged_file_is_an_error_that_names_it(tmp_path, suffix):
    path = tmp_path / f"bag{suffix}"
    path.write_bytes(b"\x89MCAP0\r\n" + bytes(range(200)))
    with pytest.raises(BagReadError, match="cannot be read as a bag") as caught:
        Bag(path)
    assert str(path) in str(caught.value)


def test_damage_in_the_middle_costs_what_is_there_and_is_told(recorder):
    made = recorder(compressed=True)
    made.a_run()
    (file,) = made.close().glob("*.mcap")
    data = bytearray(file.read_bytes())
    chunk = data.index(ZSTD_MAGIC)
    data[chunk + 4 : chunk + 40] = b"\xff" * 36
    file.write_bytes(data)
    with Bag(file) as opened:
        assert opened.runs() == []
        assert any(str(file) in text and "is damaged" in text for text in opened.problems)


def test_messages_come_by_the_time_of_recording(bag):
    with storage.Storage(bag) as opened:
        times = [item.log_time_ns for item in opened.messages(list(opened.types))]
    assert len(times) > 60
    assert all(a <= b for a, b in itertools.pairwise(times))
