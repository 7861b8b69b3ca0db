# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""SQLite files: every schema, killed recorders, read-only folders, damaged pages."""

import itertools
import random
import shutil
import sqlite3

import bags
import pytest
from bags import BEGIN, SECOND, Message, read, some

from harness_ros.bag.storage import BagReadError, Storage


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def spoiled(path, page, page_size=4096):
    """Fills a page, counted from 1, with what no page is."""
    content = bytearray(path.read_bytes())
    content[(page - 1) * page_size : page * page_size] = b"\xa5" * page_size
    path.write_bytes(content)
    return path


def pages_of(path, table):
    """Leaf pages of a table or index, in order."""
    database = sqlite3.connect(path)
    try:
        query = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
        return [number for (number,) in database.execute(query, [table])]
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no dbstat")
    finally:
        database.close()


@pytest.fixture
def killed(tmp_path):
    """killed(messages) -> a file whose recorder in WAL mode was killed."""

    def make(messages):
        database = bags.sqlite(
            tmp_path / "live.db3",
            messages,
            pragmas=["journal_mode = WAL", "wal_autocheckpoint = 0"],
            close=False,
        )
        folder = tmp_path / "killed"
        folder.mkdir()
        for suffix in ("", "-wal"):
            shutil.copy(tmp_path / f"live.db3{suffix}", folder / f"bag.db3{suffix}")
        database.close()
        return folder / "bag.db3"

    return make


@pytest.mark.parametrize("version", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [0, 1, 40])
def test_files_of_every_schema_are_read(tmp_path, version, count):
    messages = some(count)
    path = bags.sqlite(tmp_path / "bag.db3", messages, version)
    assert read(path) == (messages, [])


def test_messages_come_in_the_order_of_recording_and_ties_as_they_were_written(tmp_path):
    rng = random.Random(3)
    messages = [item._replace(log_ns=BEGIN + rng.randrange(12)) for item in some(60)]
    expected = sorted(messages, key=lambda item: item.log_ns)
    assert read(bags.sqlite(tmp_path / "a.db3", messages))[0] == expected
    assert read(bags.sqlite(tmp_path / "b.db3", messages, index=False))[0] == expected


def test_a_window_has_its_begin_and_not_its_end(tmp_path):
    messages = some(60)
    path = bags.sqlite(tmp_path / "bag.db3", messages)
    for first, last in [(0, 60), (7, 8), (13, 41), (59, 60), (20, 20)]:
        window = (BEGIN + first * SECOND // 10, BEGIN + last * SECOND // 10)
        assert read(path, None, *window)[0] == messages[first:last]
    assert read(path, ["/b"], -1, 1 << 70)[0] == messages[1::2]


def test_messages_are_read_as_they_are_asked_for(tmp_path):
    messages = [item._replace(data=b"\0\1\0\0" + bytes(200_000)) for item in some(40)]
    path = bags.sqlite(tmp_path / "bag.db3", messages)
    with Storage(path) as storage:
        first = list(itertools.islice(storage.messages(["/a", "/b"]), 3))
        again = list(itertools.islice(storage.messages(["/a", "/b"]), 3))
        assert [item.data for item in first] == [item.data for item in again]


def test_reading_leaves_no_trace_beside_the_file(tmp_path, killed):
    bags.sqlite(tmp_path / "bag.db3", some(), pragmas=["journal_mode = WAL"])
    before = names(tmp_path)
    read(tmp_path / "bag.db3")
    assert names(tmp_path) == before
    path = killed(some())
    content = {item.name: item.read_bytes() for item in path.parent.iterdir()}
    read(path)
    assert {item.name: item.read_bytes() for item in path.parent.iterdir()} == content


# Killed recorders


def test_messages_in_a_leftover_wal_file_are_read_and_said(killed):
    messages = some()
    path = killed(messages)
    found, (problem,) = read(path)
    assert found == messages
    said = "its recorder was killed or still runs: the messages in its -wal file were read too"
    assert problem == f"{path}: {said}"


def test_a_wal_file_where_nothing_can_be_written_is_read_from_a_copy(killed):
    messages = some()
    path = killed(messages)
    # SQLite cannot make its file here, as in a read-only folder.
    path.with_name("bag.db3-shm").symlink_to(path.parent / "no" / "such" / "folder")
    with Storage(path) as storage:
        assert len(list(storage.messages(["/a", "/b"]))) == len(messages)
        (problem,) = storage.problems
        temporary = storage._temporary
        assert names(temporary)
    assert problem.endswith("the messages in its -wal file were read too, from a copy")
    assert not temporary.exists()


def test_a_damaged_wal_file_costs_no_more_than_its_messages(tmp_path):
    messages = some()
    path = bags.sqlite(tmp_path / "bag.db3", messages)
    (tmp_path / "bag.db3-wal").write_bytes(b"\xa5" * 5000)
    found, problems = read(path)
    assert found == messages
    assert problems


def test_a_leftover_journal_is_said(tmp_path):
    messages = some()
    path = bags.sqlite(tmp_path / "bag.db3", messages)
    (tmp_path / "bag.db3-journal").write_bytes(b"x" * 100)
    found, (problem,) = read(path)
    assert found == messages
    assert "its recorder was killed while it wrote" in problem


# Damage


def test_a_file_that_is_cut_off_is_read_as_far_as_it_is_there(tmp_path):
    messages = [item._replace(data=b"\0\1\0\0" + bytes(3000)) for item in some(400)]
    path = bags.sqlite(tmp_path / "bag.db3", messages)
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[: size * 2 // 3])
    found, problems = read(path)
    assert 200 < len(found) < 400
    assert found == messages[: len(found)]
    assert problems[0] == (
        f"{path}: cut off at byte {size * 2 // 3} of {size}: what is there was read"
    )


def test_a_damaged_page_of_messages_costs_those_on_it_and_says_how_many_are_left(tmp_path):
    messages = some(2000)
    path = bags.sqlite(tmp_path / "bag.db3", messages)
    leaves = pages_of(path, "messages")
    spoiled(path, leaves[len(leaves) // 2])
    found, problems = read(path)
    assert 1800 < len(found) < 2000
    assert found == [item for item in messages if item in set(found)]
    assert any("damaged" in text for text in problems)


def test_a_damaged_index_costs_nothing(tmp_path):
    messages = some(2000)
    path = bags.sqlite(tmp_path / "bag.db3", messages)
    for page in pages_of(path, "timestamp_idx"):
        spoiled(path, page)
    found, problems = read(path)
    assert found == messages
    assert any("2000 of at least 2000 messages were found" in text for text in problems)


def test_a_message_on_a_damaged_page_is_left_out_alone(tmp_path):
    messages = [item._replace(data=b"\0\1\0\0" + bytes(20_000)) for item in some(50)]
    path = bags.sqlite(tmp_path / "bag.db3", messages)
    database = sqlite3.connect(path)
    (number,) = database.execute(
        "SELECT pageno FROM dbstat WHERE name = 'messages' AND pagetype = 'overflow' "
        "ORDER BY path LIMIT 1 OFFSET 70"
    ).fetchone()
    database.close()
    spoiled(path, number)
    found, problems = read(path)
    # The page says where the rest of its message is, and nothing of any other.
    assert 48 <= len(found) < 50
    assert all(item in messages for item in found)
    assert problems


@pytest.mark.parametrize("page", range(1, 12))
def test_no_damaged_page_is_more_than_a_problem(tmp_path, page):
    messages = some(300)
    path = bags.sqlite(tmp_path / "bag.db3", messages)
    spoiled(path, page)
    try:
        found, problems = read(path)
    except BagReadError as error:
        assert str(path) in str(error)
    else:
        assert found == messages or problems
        times = [item.log_ns for item in found]
        assert times == sorted(times)


@pytest.mark.parametrize("missing", ["topics", "messages"])
def test_a_database_that_is_no_bag_is_named(tmp_path, missing):
    path = bags.sqlite(tmp_path / "bag.db3", some())
    database = sqlite3.connect(path)
    database.execute(f"DROP TABLE {missing}")
    database.close()
    with pytest.raises(BagReadError, match=f"without the tables {missing} of rosbag2"):
        Storage(path)


def test_a_view_in_place_of_a_table_is_not_run(tmp_path):
    path = bags.sqlite(tmp_path / "bag.db3", some())
    database = sqlite3.connect(path)
    database.execute("DROP TABLE messages")
    database.execute(
        "CREATE VIEW messages AS WITH RECURSIVE n(timestamp) AS "
        "(SELECT 1 UNION ALL SELECT timestamp + 1 FROM n) SELECT * FROM n"
    )
    database.close()
    with pytest.raises(BagReadError, match="without the tables messages"):
        Storage(path)


def test_rows_that_no_recorder_writes_are_left_out_and_said(tmp_path):
    messages = some(20)
    path = bags.sqlite(tmp_path / "bag.db3", messages)
    database = sqlite3.connect(path)
    database.executemany(
        "INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)",
        [
            (1, "soon", b"\0\1\0\0"),
            (1, float("inf"), b"\0\1\0\0"),
            (1, BEGIN, "text"),
            (99, BEGIN, b"\0\1\0\0"),
            ("x", BEGIN, b"\0\1\0\0"),
        ],
    )
    database.commit()
    database.close()
    found, problems = read(path)
    assert found == messages
    assert any("have no bytes" in text for text in problems)


def test_topics_whose_encoding_or_type_is_not_known_are_left_out(tmp_path):
    messages = some(20)
    odd = [Message("/odd", BEGIN, b"", "no type")]
    found, (problem,) = read(bags.sqlite(tmp_path / "a.db3", messages + odd))
    assert found == messages
    assert "topic /odd has 'no type' for its type: left out" in problem
    found, problems = read(bags.sqlite(tmp_path / "b.db3", messages, encoding="protobuf"))
    assert found == []
    assert len(problems) == 2


def test_names_that_are_no_text_are_lived_with(tmp_path):
    path = bags.sqlite(tmp_path / "bag.db3", some(4))
    database = sqlite3.connect(path)
    database.execute("UPDATE topics SET name = CAST(x'2fff61' AS TEXT) WHERE id = 1")
    database.execute("UPDATE message_definitions SET encoding = x'00ff'")
    database.commit()
    database.close()
    with Storage(path) as storage:
        assert set(storage.types) == {"/\ufffda", "/b"}
        assert len(list(storage.messages(list(storage.types)))) == 4
        storage.typestore(list(storage.types))
